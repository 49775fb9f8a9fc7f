package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/ecma"
	"github.com/orepl/orepl/lang/instructions"
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

// Compile compiles a text. The error is a *[diag.Diagnostic]. Its ID is syntax, or syntax-incomplete if the text ends within a
// construct.
func Compile(name, text string, o Options) (*Unit, error) {
	if d := CheckEncoding(name, text); d != nil {
		return nil, d
	}
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
	if problem.final {
		return nil, problem.diagnostic(u)
	}
	// The text is malformed, or has decorators, or is TypeScript at the prompt. esbuild's messages say more about errors.
	lowered, err := compileLowered(name, text, o)
	if err == nil && o.Kind == Module && !problem.unknown {
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
	incomplete bool // the text ends within a construct
	final      bool // the text is malformed in every dialect, as by an early error
	unknown    bool // decorators, which are in no edition of the language
}

// A syntaxError is an error at an offset of the parsed text.
type syntaxError struct {
	offset  int
	message string
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

// Positions returns the source positions of offsets in u.Text.
func (u *Unit) Positions(offsets []int) (list []diag.Position) {
	for _, off := range offsets {
		list = append(list, u.Position(off))
	}
	return list
}

// compileText compiles u.Text, and returns the problem of the first error, if any.
func compileText(u *Unit, o Options) (*Unit, *problem) {
	program, p := parse(u.Text, o.Kind)
	if p != nil {
		return u, p
	}
	u.Imports, u.Exports, u.Stars = program.Imports, program.Exports, program.Stars
	if o.Kind == Prompt { // exports are allowed in a prompt line, whose names are globals
		u.Exports, u.Stars = nil, nil
	}
	return finish(u, program, o)
}

// parse parses a text and returns the problem of the first error, if any. A prompt line that looks like an object is parsed
// as an expression if that is possible.
func parse(text string, kind Kind) (*ecma.Program, *problem) {
	if needsPlain(text, nesting.Max) {
		if _, p := parsePlain(nesting.Plain(text), kind); p != nil {
			return nil, p
		}
	}
	return parsePlain(text, kind)
}

func parsePlain(text string, kind Kind) (*ecma.Program, *problem) {
	o := ecma.Options{Module: kind == Module, Exports: kind == Prompt, Await: true}
	if kind == Prompt && looksLikeObject(text) {
		o.Expression = true
		if program, err := ecma.Parse(text, o); err == nil {
			return program, nil
		}
		o.Expression = false
	}
	program, err := ecma.Parse(text, o)
	if err != nil {
		return nil, parseProblem(err, text)
	}
	return program, nil
}

// looksLikeObject reports whether a line of the prompt begins and ends with braces, like {a: 1}, and may be an object instead of a
// block.
func looksLikeObject(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}")
}

func parseProblem(err error, text string) *problem {
	var e *ecma.Error
	if !errors.As(err, &e) {
		return &problem{message: err.Error()}
	}
	p := &problem{offset: e.Offset, message: e.Message, unknown: e.Unknown, final: e.Early}
	if e.Incomplete && !closesTooMuch(text) {
		p.incomplete = true
		p.message = "Unexpected end of input"
		p.offset = len(text)
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

// CallsOperators reports whether a text may have operators that are compiled as calls: powers, and left shifts and products in
// a text that uses BigInts.
func CallsOperators(text string) bool {
	return strings.Contains(text, "**") || (strings.Contains(text, "*") || strings.Contains(text, "<<")) && usesBigInts(text)
}

// usesBigInts reports whether a text may create BigInts. Such a text has a decimal or hexadecimal digit before an n that ends a
// word, or a word that begins with BigInt or BigUint. A regular expression would allocate more than most texts are long.
func usesBigInts(text string) bool {
	inWord := func(at int) bool {
		return at >= 0 && at < len(text) && (isDigit(text[at]) || text[at] == '_' || 'a' <= text[at]|0x20 && text[at]|0x20 <= 'z')
	}
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], 'n')
		if next < 0 {
			break
		}
		if at += next; at > 0 && !inWord(at+1) && (isDigit(text[at-1]) || 'a' <= text[at-1]|0x20 && text[at-1]|0x20 <= 'f') {
			return true
		}
	}
	for at := 0; ; at++ {
		next := strings.Index(text[at:], "Big")
		if next < 0 {
			return false
		}
		if at += next; !inWord(at-1) && (strings.HasPrefix(text[at:], "BigInt") || strings.HasPrefix(text[at:], "BigUint")) {
			return true
		}
	}
}

// finish analyses, rewrites and compiles a parsed text.
func finish(u *Unit, parsed *ecma.Program, o Options) (*Unit, *problem) {
	w := &walker{unit: u, countLoops: o.CountLoops, early: o.CheckImports, bigInts: usesBigInts(u.Text), lowered: &desugar.Result{}}
	if u.Lowered = desugar.Needed(parsed); u.Lowered {
		w.lowered = desugar.Lower(parsed)
	}
	wrapper := &ast.FunctionLiteral{Function: 1, Body: &ast.BlockStatement{LeftBrace: 1, List: parsed.Body, RightBrace: 1}, DeclarationList: parsed.Vars}
	if o.Kind == Module {
		w.around = EvalStrict
	}
	top := &function{outside: true}
	top.scope = w.openScope(top)
	for _, imp := range u.Imports {
		for _, n := range imp.Names {
			if top.scope.bindings[n.Local] != nil {
				w.fail(n.Offset, fmt.Sprintf("%q is imported twice", n.Local)) // by a line of a prompt
			}
			id := ident(n.Local, file.Idx(n.Offset+1))
			w.declare(id, KindImport, top.scope)
		}
	}
	if n := len(wrapper.Body.List); n > 0 && o.Kind == Prompt {
		w.result = hasValue(wrapper.Body.List[n-1])
	}
	w.hoistVars(wrapper.DeclarationList)
	w.hoist(wrapper.Body.List)
	w.list(&wrapper.Body.List)
	(&rewriter{walker: w, top: top.scope, defaultFunction: parsed.DefaultFunction}).rewrite(wrapper)
	if w.err != nil {
		return u, &problem{offset: w.err.offset, message: w.err.message, final: true}
	}
	u.Async, u.top = w.await, top.scope.bindings
	u.Lowered = u.Lowered || w.evals > 0 // a text may call the functions of package desugar
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
	if err := instructions.Correct(compiled); err != nil {
		return u, &problem{message: err.Error(), final: true}
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
