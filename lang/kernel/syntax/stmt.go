package syntax

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/orepl/orepl/lang/kernel/diag"
)

// maxDepth limits the nesting of statements and expressions, which must stay below it, so that no walk over the tree exhausts the
// stack.
const maxDepth = 2000

// enter starts a level of recursion; the caller must defer leave. It returns false if the nesting is too deep.
func (p *parse) enter(n ast.Node) bool {
	p.depth++
	if p.depth == maxDepth {
		p.errorf(p.span(n), diag.TooDeep, "split the kernel into helper functions", "the kernel nests more than %d deep", maxDepth)
	}
	return p.depth < maxDepth
}

func (p *parse) leave() { p.depth-- }

// label is a possible target of break or continue.
type label struct {
	names  []string
	loop   *Loop // nil if it is not a loop
	breaks bool  // target of an unlabelled break
}

func (p *parse) funcLiteral(f *ast.FunctionLiteral) *Func {
	name := ""
	if f.Name != nil {
		name = f.Name.Name.String()
	}
	return p.newFunc(f, name, f.Async || f.Generator, f.ParameterList, func(fn *Func) {
		fn.Body = p.stmts(f.Body.List)
	})
}

func (p *parse) arrow(f *ast.ArrowFunctionLiteral) *Func {
	return p.newFunc(f, "", f.Async, f.ParameterList, func(fn *Func) {
		switch b := f.Body.(type) {
		case *ast.BlockStatement:
			fn.Body = p.stmts(b.List)
		case *ast.ExpressionBody:
			fn.Result = p.expr(b.Expression)
		}
	})
}

func (p *parse) newFunc(n ast.Node, name string, special bool, params *ast.ParameterList, body func(*Func)) *Func {
	fn := &Func{Span: p.span(n), Name: name, Source: p.src, Outer: p.fn}
	if special {
		p.errorf(fn.Span, diag.AsyncKernel, "write a plain function", "a kernel function is neither async nor a generator")
	}
	outerLabels, outerFn := p.labels, p.fn
	p.collect(&fn.Sets, func() {
		p.labels, p.fn = nil, fn
		p.push()
		if params.Rest != nil {
			p.errorf(p.span(params.Rest), diag.BadPattern, "name each parameter", "a kernel function has no rest parameter")
		}
		for _, b := range params.List {
			fn.Params = append(fn.Params, p.pattern(b.Target, ParamDecl))
		}
		for i, b := range params.List {
			if b.Initializer != nil {
				fn.Defaults = append(fn.Defaults, Default{i, p.expr(b.Initializer)})
			}
		}
		body(fn)
		p.pop()
	})
	p.labels, p.fn = outerLabels, outerFn
	return fn
}

// stmts parses a block's statements in a new scope.
func (p *parse) stmts(list []ast.Statement) []Stmt {
	p.push()
	defer p.pop()
	return p.stmtList(list)
}

// stmtList parses statements in the current scope. It declares all names first, then parses functions, as in JavaScript.
func (p *parse) stmtList(list []ast.Statement) []Stmt {
	p.declareAll(list)
	out := make([]Stmt, 0, len(list))
	for _, s := range list {
		if st := p.stmt(s); st != nil {
			out = append(out, st)
		}
	}
	return out
}

// declareAll declares the names of a list of statements, then parses the functions among them.
func (p *parse) declareAll(list []ast.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			kind := LetDecl
			if s.Token == token.CONST {
				kind = ConstDecl
			}
			for _, b := range s.List {
				p.predeclare(b.Target, kind)
			}
		case *ast.FunctionDeclaration:
			p.predeclare(s.Function.Name, FuncDecl)
		}
	}
	for _, s := range list {
		if f, ok := s.(*ast.FunctionDeclaration); ok {
			fn := p.funcLiteral(f.Function)
			if d := p.lookup(fn.Name); d != nil {
				d.Fn = fn
			}
		}
	}
}

// predeclare declares the names of a pattern.
func (p *parse) predeclare(target ast.Expression, kind DeclKind) {
	switch t := target.(type) {
	case *ast.Identifier:
		p.declare(t.Name.String(), kind, p.nameSpan(t))
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			p.predeclare(e, kind)
		}
	case *ast.ObjectPattern:
		for _, prop := range t.Properties {
			switch prop := prop.(type) {
			case *ast.PropertyShort:
				p.declare(prop.Name.Name.String(), kind, p.nameSpan(&prop.Name))
			case *ast.PropertyKeyed:
				p.predeclare(prop.Value, kind)
			}
		}
	}
}

func (p *parse) stmt(s ast.Statement) Stmt {
	defer p.leave()
	if !p.enter(s) {
		return nil
	}
	at := p.span(s)
	switch s := s.(type) {
	case *ast.BlockStatement:
		return &Block{at, p.stmts(s.List)}
	case *ast.EmptyStatement:
		return nil
	case *ast.ExpressionStatement:
		if lit, ok := s.Expression.(*ast.StringLiteral); ok && (lit.Value == "use strict") {
			return nil
		}
		return &ExprStmt{at, p.expr(s.Expression)}
	case *ast.LexicalDeclaration:
		return p.lexical(s)
	case *ast.FunctionDeclaration:
		return nil // already declared
	case *ast.VariableStatement:
		p.errorf(at, diag.NoVar, "write `let` or `const`", "`var` is not in kernels")
	case *ast.IfStatement:
		st := &If{Span: at, Test: p.expr(s.Test)}
		p.collect(&st.Sets, func() {
			st.Then = p.body(s.Consequent)
			if s.Alternate != nil {
				st.Else = p.body(s.Alternate)
			}
		})
		return st
	case *ast.ForStatement, *ast.WhileStatement, *ast.DoWhileStatement, *ast.SwitchStatement:
		return p.breakable(s, nil)
	case *ast.LabelledStatement:
		return p.labelled(s)
	case *ast.BranchStatement:
		return p.branch(s)
	case *ast.ReturnStatement:
		st := &Return{Span: at}
		p.fn.Returns++
		if s.Argument != nil {
			st.X = p.expr(s.Argument)
		}
		return st
	case *ast.ForOfStatement:
		p.errorf(at, diag.UnsupportedStmt, "write `for (let i = 0; i < xs.length; i++)`", "for…of is not in kernels")
	case *ast.ForInStatement:
		p.errorf(at, diag.UnsupportedStmt, "write `for (let i = 0; i < xs.length; i++)`", "for…in is not in kernels")
	case *ast.ThrowStatement:
		p.errorf(at, diag.UnsupportedStmt, "write `g.assert(condition, 'message')`", "exceptions are not in kernels")
	case *ast.TryStatement:
		p.errorf(at, diag.UnsupportedStmt, "test for the condition before", "exceptions are not in kernels")
	case *ast.WithStatement:
		p.errorf(at, diag.UnsupportedStmt, "name the object at each use", "`with` is not in kernels")
	case *ast.ClassDeclaration:
		p.errorf(at, diag.NoObject, "use struct({…}) for records", "classes are not in kernels")
	case *ast.DebuggerStatement:
		p.errorf(at, diag.UnsupportedStmt, "use g.print, or kernel.debug from the script", "`debugger` is not in kernels")
	default:
		p.errorf(at, diag.UnsupportedStmt, "", "this statement is not in kernels")
	}
	return nil
}

// body parses a nested statement and never returns nil.
func (p *parse) body(s ast.Statement) Stmt {
	p.push()
	defer p.pop()
	if st := p.stmt(s); st != nil {
		return st
	}
	return &Block{Span: p.span(s)}
}

func (p *parse) lexical(s *ast.LexicalDeclaration) Stmt {
	kind := LetDecl
	if s.Token == token.CONST {
		kind = ConstDecl
	}
	var list []Stmt
	for _, b := range s.List {
		d := &Declare{Span: p.span(b), Kind: kind}
		d.Target = p.target(b.Target)
		if b.Initializer != nil {
			d.Init = p.expr(b.Initializer)
			p.nameFunction(d)
		} else if _, ok := d.Target.(*Name); !ok {
			p.errorf(d.Span, diag.BadPattern, "", "a destructuring declaration needs an initialiser")
		}
		list = append(list, d)
	}
	if len(list) == 1 {
		return list[0]
	}
	return &Many{p.span(s), list}
}

// nameFunction records that a declared name is a helper function, if the initializer is one.
func (p *parse) nameFunction(d *Declare) {
	f, ok := d.Init.(*FuncLit)
	name, isName := d.Target.(*Name)
	if !ok || !isName || name.Decl == nil {
		return
	}
	if f.Fn.Name == "" {
		f.Fn.Name = name.Name
	}
	name.Decl.Fn = f.Fn
}

func (p *parse) labelled(s *ast.LabelledStatement) Stmt {
	names := []string{s.Label.Name.String()}
	inner := s.Statement
	for {
		next, ok := inner.(*ast.LabelledStatement)
		if !ok {
			break
		}
		names = append(names, next.Label.Name.String())
		inner = next.Statement
	}
	switch inner.(type) {
	case *ast.ForStatement, *ast.WhileStatement, *ast.DoWhileStatement, *ast.SwitchStatement:
		return p.breakable(inner, names)
	}
	st := &Labelled{Span: p.span(s), Labels: names}
	p.collect(&st.Sets, func() {
		p.labels = append(p.labels, &label{names: names})
		st.Body = p.body(inner)
		p.labels = p.labels[:len(p.labels)-1]
	})
	return st
}

// breakable parses a loop or switch.
func (p *parse) breakable(s ast.Statement, names []string) Stmt {
	p.push()
	defer p.pop()
	if s, ok := s.(*ast.SwitchStatement); ok {
		return p.switchStmt(s, names)
	}
	l := &Loop{Span: p.span(s), Labels: names, TestFirst: true}
	within := func(body ast.Statement) Stmt {
		p.labels = append(p.labels, &label{names: names, loop: l, breaks: true})
		defer func() { p.labels = p.labels[:len(p.labels)-1] }()
		return p.body(body)
	}
	switch s := s.(type) {
	case *ast.ForStatement:
		l.Init = p.forInit(s.Initializer)
		p.collect(&l.Sets, func() {
			if s.Test != nil {
				l.Test = p.expr(s.Test)
			}
			if s.Update != nil {
				l.Update = p.expr(s.Update)
			}
			l.Body = within(s.Body)
		})
	case *ast.WhileStatement:
		p.collect(&l.Sets, func() {
			l.Test = p.expr(s.Test)
			l.Body = within(s.Body)
		})
	case *ast.DoWhileStatement:
		l.TestFirst = false
		p.collect(&l.Sets, func() {
			l.Body = within(s.Body)
			l.Test = p.expr(s.Test)
		})
	}
	return l
}

func (p *parse) forInit(init ast.ForLoopInitializer) []Stmt {
	switch init := init.(type) {
	case *ast.ForLoopInitializerExpression:
		return []Stmt{&ExprStmt{p.span(init), p.expr(init.Expression)}}
	case *ast.ForLoopInitializerVarDeclList:
		p.errorf(p.span(init), diag.NoVar, "write `let`", "`var` is not in kernels")
		for _, b := range init.List {
			p.predeclare(b.Target, LetDecl)
		}
	case *ast.ForLoopInitializerLexicalDecl:
		return p.stmtList([]ast.Statement{&init.LexicalDeclaration})
	}
	return nil
}

func (p *parse) switchStmt(s *ast.SwitchStatement, names []string) Stmt {
	st := &Switch{Span: p.span(s), Labels: names, X: p.expr(s.Discriminant)}
	// all clauses share one scope
	p.push()
	defer p.pop()
	var all []ast.Statement
	for _, c := range s.Body {
		all = append(all, c.Consequent...)
	}
	p.collect(&st.Sets, func() {
		p.labels = append(p.labels, &label{names: names, breaks: true})
		defer func() { p.labels = p.labels[:len(p.labels)-1] }()
		for i, c := range s.Body {
			clause := &Case{Span: p.span(c)}
			if c.Test != nil {
				clause.Test = p.expr(c.Test)
			}
			p.collect(&clause.Sets, func() {
				if i == 0 {
					p.declareAll(all)
				}
				for _, b := range c.Consequent {
					if b := p.stmt(b); b != nil {
						clause.Body = append(clause.Body, b)
					}
				}
			})
			st.Cases = append(st.Cases, clause)
		}
	})
	return st
}

func (p *parse) branch(s *ast.BranchStatement) Stmt {
	b := &Branch{Span: p.span(s), Continue: s.Token == token.CONTINUE}
	if s.Label != nil {
		b.Label = s.Label.Name.String()
	}
	for i := len(p.labels) - 1; i >= 0; i-- {
		l := p.labels[i]
		if b.Label == "" {
			if !l.breaks || (b.Continue && l.loop == nil) {
				continue
			}
		} else if !slices.Contains(l.names, b.Label) {
			continue
		}
		if b.Continue {
			if l.loop == nil {
				p.errorf(b.Span, diag.MisplacedBreak, "", "%s is the label of no loop", b.Label)
				return nil
			}
			l.loop.Continues = true
		}
		return b
	}
	p.errorf(b.Span, diag.MisplacedBreak, "", "no statement around this one can be left or continued so")
	return nil
}
