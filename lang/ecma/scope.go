package ecma

import "github.com/dop251/goja/ast"

type scopeKind int

const (
	scopeBlock scopeKind = iota
	scopeTop
	scopeFunction
	scopeCatch  // its parameter is a name
	scopeSwitch // a block whose statements follow case clauses
)

// A scope holds the names declared in a block, function or text.
type scope struct {
	outer *scope
	kind  scopeKind
	// lexical, functions and vars hold declared names. A var is in every scope from its declaration to its function.
	lexical, functions, vars map[string]bool
	declared                 []*ast.VariableDeclaration // those with var, in the scope of a function or of the text
}

func (p *parser) enter(kind scopeKind) *scope {
	p.scope = &scope{outer: p.scope, kind: kind}
	return p.scope
}

func (p *parser) leave() { p.scope = p.scope.outer }

// holdsVars reports whether s belongs to a function or the text.
func (s *scope) holdsVars() bool { return s.kind == scopeTop || s.kind == scopeFunction }

// functionsAreVars reports whether function declarations of s may repeat names of vars and functions.
func (p *parser) functionsAreVars(s *scope) bool {
	return s.kind == scopeFunction || s.kind == scopeTop && !p.opts.Module
}

// bindKind is the kind of a declaration for the rules on repeated names.
type bindKind int

const (
	bindNone bindKind = iota
	bindVar
	bindLexical
	bindFunction // of sloppy code, neither async nor a generator
	bindCatch
	bindParam
)

func add(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

// declare records a declared name, and fails if an earlier declaration forbids this one.
func (p *parser) declare(name string, kind bindKind, at int) {
	again := false
	s := p.scope
	switch kind {
	case bindLexical:
		again = s.lexical[name] || s.functions[name] || s.vars[name]
		add(&s.lexical, name)
	case bindCatch:
		again = s.lexical[name]
		add(&s.lexical, name)
	case bindFunction:
		again = s.lexical[name] || !p.functionsAreVars(s) && s.vars[name]
		add(&s.functions, name)
	case bindParam:
		add(&s.vars, name)
	case bindVar:
		for ; ; s = s.outer {
			if s.lexical[name] && s.kind != scopeCatch || !p.functionsAreVars(s) && s.functions[name] {
				again = true
			}
			add(&s.vars, name)
			if s.holdsVars() {
				break
			}
		}
	}
	if again {
		p.fail(at, "Identifier '"+name+"' has already been declared")
	}
}

// function returns the scope of the innermost function or of the text.
func (s *scope) function() *scope {
	for !s.holdsVars() {
		s = s.outer
	}
	return s
}
