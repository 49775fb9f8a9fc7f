package source

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/nesting"
)

// Options configure the compilation of a text.
type Options struct {
	Kind Kind
	// TypeScript marks a text as TypeScript. Other texts are parsed as JavaScript first.
	TypeScript bool
	// CountLoops inserts a call of the parameter step at the start of every loop body.
	CountLoops bool
	// CheckImports makes a use of an uninitialized import an error. Only cycles of imports can cause such a use.
	CheckImports bool
}

// Compile compiles a text. The error is a *[diag.Diagnostic].
func Compile(name, text string, o Options) (*Unit, error) {
	if err := CheckNesting(name, text); err != nil {
		return nil, err
	}
	if o.TypeScript {
		return compileLowered(name, text, o)
	}
	u, problem := compileText(&Unit{Name: name, Original: text, Text: text, kind: o.Kind}, o)
	if problem == nil {
		return u, nil
	}
	if problem.offset >= 0 && o.Kind == Prompt && problem.incomplete {
		return nil, problem.diagnostic(u)
	}
	// The interpreter's parser rejected the text: it is malformed, or uses unknown syntax. esbuild distinguishes the two.
	lowered, err := compileLowered(name, text, o)
	if err != nil && problem.final {
		return nil, problem.diagnostic(u)
	}
	return lowered, err
}

// compileLowered lowers the text with esbuild and compiles the result.
func compileLowered(name, text string, o Options) (*Unit, error) {
	lowered, moved, err := lower(name, text, o)
	if err != nil {
		return nil, err
	}
	if err := CheckNesting(name, lowered); err != nil {
		return nil, err
	}
	u, problem := compileText(&Unit{Name: name, Original: text, Text: lowered, kind: o.Kind, moved: moved}, o)
	if problem != nil {
		return nil, problem.diagnostic(u)
	}
	return u, nil
}

// A problem is a syntax error at an offset of a unit's text.
type problem struct {
	offset     int
	message    string
	incomplete bool // the text ended before the construct
	final      bool // found by this package: the text is malformed in every dialect
}

func (p *problem) diagnostic(u *Unit) *diag.Diagnostic {
	pos := u.Position(p.offset)
	d := &diag.Diagnostic{
		ID: "syntax", Name: "SyntaxError", Message: p.message,
		Position: pos, Excerpt: diag.Excerpted(u.Original, pos, 1),
	}
	if p.incomplete {
		d.ID = "syntax-incomplete"
	}
	advise(d, u.Original)
	return d
}

// Position returns the source position of an offset in u.Text.
func (u *Unit) Position(offset int) diag.Position {
	return diag.PositionAt(u.Name, u.Original, u.moved.original(offset))
}

// compileText compiles u.Text.
func compileText(u *Unit, o Options) (*Unit, *problem) {
	masked, syntax, err := maskModuleSyntax(u.Text)
	if err != nil {
		var se *syntaxError
		errors.As(err, &se)
		return u, &problem{offset: se.offset, message: se.message}
	}
	u.Imports, u.Exports, u.Stars = syntax.imports, syntax.exports, syntax.stars
	if o.Kind == Prompt { // exports are allowed in a prompt line, whose names are globals
		u.Exports, u.Stars, syntax.declared = nil, nil, nil
	}
	prefix, suffix := `(async function(){"use strict";`, "\n})"
	if o.Kind == Prompt {
		prefix = "(async function(){"
		if looksLikeObject(masked) {
			if parsed, p := parseWrapped(u, masked, prefix+"(", ")"+suffix); p == nil {
				return finish(u, parsed, len(prefix)+1, syntax, o)
			}
		}
	}
	parsed, p := parseWrapped(u, masked, prefix, suffix)
	if p != nil {
		return u, p
	}
	return finish(u, parsed, len(prefix), syntax, o)
}

// looksLikeObject recognizes "{a: 1}" at a prompt, which is parsed as an object instead of a block.
func looksLikeObject(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}")
}

// parseWrapped parses a text as the body of an asynchronous function.
func parseWrapped(u *Unit, text, prefix, suffix string) (*ast.FunctionLiteral, *problem) {
	if strings.HasPrefix(text, "#!") {
		text = "//" + text[2:]
	}
	if needsPlain(text, nesting.Max) {
		plain := prefix + nesting.Plain(text) + suffix
		if _, err := parseFile(u.Name, plain); err != nil {
			return nil, parseProblem(err, plain, len(prefix), len(text))
		}
	}
	whole := prefix + text + suffix
	program, err := parseFile(u.Name, whole)
	if err != nil {
		return nil, parseProblem(err, whole, len(prefix), len(text))
	}
	if len(program.Body) == 1 {
		if es, ok := program.Body[0].(*ast.ExpressionStatement); ok {
			if fn, ok := es.Expression.(*ast.FunctionLiteral); ok {
				return fn, nil
			}
		}
	}
	// The text closed the wrapping function and continued after it.
	return nil, &problem{offset: strings.LastIndexByte(text, '}'), message: `Unexpected token }`}
}

func parseProblem(err error, whole string, prefix, size int) *problem {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return &problem{message: err.Error()}
	}
	first := list[0]
	offset := lineOffset(whole, first.Position.Line) + first.Position.Column - 1 - prefix
	p := &problem{offset: min(max(offset, 0), size), message: first.Message}
	text := whole[prefix : prefix+size]
	if (offset >= size || strings.Contains(first.Message, "Unexpected end of input")) && !closesTooMuch(text) {
		p.incomplete = true
		p.message = "Unexpected end of input"
		p.offset = size
	}
	return p
}

// closesTooMuch reports whether a text has an unmatched closing bracket, which further input cannot complete.
func closesTooMuch(text string) bool {
	s := &scanner{src: text}
	for {
		open := s.depth()
		t := s.next()
		if t.kind == lexEnd {
			return false
		}
		if t.kind == lexPunct && open == 0 && strings.Contains(")]}", s.text(t)) {
			return true
		}
	}
}

func lineOffset(text string, line int) int {
	off := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(text[off:], '\n')
		if n < 0 {
			return off
		}
		off += n + 1
	}
	return off
}

// usesBigInts matches texts that may create BigInts.
var usesBigInts = regexp.MustCompile(`[\da-fA-F]n\b|\bBig(?:Int|Uint)`)

// finish analyses, rewrites and compiles a parsed text.
func finish(u *Unit, wrapper *ast.FunctionLiteral, prefix int, syntax *moduleSyntax, o Options) (*Unit, *problem) {
	w := &walker{unit: u, prefix: prefix, syntax: syntax, countLoops: o.CountLoops, early: o.CheckImports, bigInts: usesBigInts.MatchString(u.Text)}
	top := &function{}
	top.scope = w.openScope(top)
	for _, imp := range u.Imports {
		for _, n := range imp.Names {
			if top.scope.bindings[n.Local] != nil {
				w.fail(n.Offset, fmt.Sprintf("%q is imported twice", n.Local))
			}
			id := ident(n.Local, file.Idx(n.Offset+1+prefix))
			w.declare(id, KindImport, top.scope)
		}
	}
	w.nameDeclaredExports(wrapper.Body.List)
	if n := len(wrapper.Body.List); n > 0 && o.Kind == Prompt {
		w.result = hasValue(wrapper.Body.List[n-1])
	}
	w.hoistVars(wrapper.DeclarationList)
	w.hoist(wrapper.Body.List)
	w.list(&wrapper.Body.List)
	w.rewrite(wrapper)
	if w.err != nil {
		return u, &problem{offset: w.err.offset, message: w.err.message, final: true}
	}
	u.Async, u.top = w.await, top.scope.bindings
	wrapper.Function = 1
	program := &ast.Program{
		Body: []ast.Statement{&ast.ExpressionStatement{Expression: wrapper}},
		File: file.NewFile(u.Name, u.Original, 1),
	}
	// Modules are strict by option, because a "use strict" directive would have to precede the rewriter's code.
	compiled, err := goja.CompileAST(program, o.Kind == Module)
	if err != nil {
		return u, compileProblem(err)
	}
	u.Program = compiled
	return u, nil
}

// compileProblem converts an error of the interpreter's compiler, whose offsets refer to the text as written.
func compileProblem(err error) *problem {
	var syntaxErr *goja.CompilerSyntaxError
	if errors.As(err, &syntaxErr) {
		return &problem{offset: syntaxErr.Offset, message: syntaxErr.Message, final: true}
	}
	return &problem{message: err.Error(), final: true}
}

// nameDeclaredExports adds the names declared by "export const …" and similar statements to the exports.
func (w *walker) nameDeclaredExports(list []ast.Statement) {
	for _, at := range w.syntax.declared {
		for _, s := range list {
			if w.offset(s.Idx0()) <= at {
				continue
			}
			if _, empty := s.(*ast.EmptyStatement); empty {
				continue
			}
			w.exportStatement(s, at)
			break
		}
	}
}

func (w *walker) exportStatement(s ast.Statement, at int) {
	export := func(id *ast.Identifier) {
		name := id.Name.String()
		w.unit.Exports = append(w.unit.Exports, Export{Name: name, Local: name, Import: -1, Offset: at})
	}
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		export(s.Function.Name)
	case *ast.ClassDeclaration:
		export(s.Class.Name)
	case *ast.LexicalDeclaration:
		for _, b := range s.List {
			targets(b.Target, export)
		}
	case *ast.VariableStatement:
		for _, b := range s.List {
			targets(b.Target, export)
		}
	}
}
