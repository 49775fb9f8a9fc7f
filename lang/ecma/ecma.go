// Package ecma parses ECMAScript into the syntax tree of the interpreter, and reports every early error of the language.
//
// The parser follows the grammar of ECMAScript 2025 with the declarations "using" and "await using". Syntax without a node in
// the interpreter's tree is marked in the [Program]: package desugar turns it into nodes that the interpreter has.
package ecma

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"

	"github.com/orepl/orepl/lang/nesting"
)

// Options say how a text is parsed.
type Options struct {
	// Module marks the text as a module: strict, with import and export.
	Module bool
	// Exports allows import and export in a text that is no module: a line of a prompt.
	Exports bool
	// Await makes await an operator at the top level. In modules it always is.
	Await bool
	// Strict marks the text as strict code.
	Strict bool
	// Expression parses a single expression instead of statements.
	Expression bool
	// Eval marks a text for eval or of a Function constructor, and lists what the code around it permits. It is nil for other texts.
	Eval *Surroundings
}

// Surroundings list the syntax that a text for eval may use.
type Surroundings struct {
	NewTarget, SuperProperty, SuperCall bool
	// NoArguments forbids the name arguments, as in field initializers.
	NoArguments bool
	// AnyPrivateName allows private names that the text does not declare.
	AnyPrivateName bool
}

// UsingKind distinguishes the declarations using and await using.
type UsingKind int

const (
	Using UsingKind = iota + 1
	AwaitUsing
)

// Program is a parsed text. Positions in the tree are offsets in the text plus one.
type Program struct {
	Body   []ast.Statement
	Vars   []*ast.VariableDeclaration
	Strict bool

	Imports []Import
	Exports []Export
	Stars   []int // indices in Imports of the "export *" statements
	// DefaultFunction is the variable of "export default function" without a name, or nil.
	DefaultFunction *ast.Binding

	// Using holds the *ast.LexicalDeclaration and *ast.ForDeclaration nodes that are using declarations.
	Using map[ast.Node]UsingKind
	// ForAwait holds the loops that are for await.
	ForAwait map[*ast.ForOfStatement]bool
	// AsyncGenerators reports whether the text has asynchronous generators.
	AsyncGenerators bool
	// TopUsing is the offset of the first using declaration at the top level, or -1.
	TopUsing int
}

// ImportName is the name of the function that implements import(…), which scripts cannot write. import.meta is its property.
const ImportName = "%import"

// DefaultName is the variable of a default export without a name. Scripts cannot declare it.
const DefaultName = "default"

// Error is an error in a text.
type Error struct {
	Offset  int
	Message string
	// Incomplete reports whether the text ends within a construct that more text could complete.
	Incomplete bool
	// Early reports whether the text is known to follow the grammar and to break another rule of the language.
	Early bool
	// Unknown reports whether the error is the character @ of a decorator, which is in no edition of the language.
	Unknown bool
}

func (e *Error) Error() string { return e.Message }

// Parse parses a text. The error is an *[Error].
func Parse(text string, o Options) (program *Program, err error) {
	p := &parser{scanner: scanner{src: text, module: o.Module, strict: o.Strict || o.Module}, opts: o}
	p.program.TopUsing = -1
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			program, err = nil, e
		}
	}()
	p.parseProgram()
	return &p.program, nil
}

type parser struct {
	scanner
	opts    Options
	program Program

	fn    *context
	scope *scope
	class *classNames
	// parens holds the offset of the parenthesis around an expression, or of the comma after a spread element, plus one.
	parens map[ast.Expression]int
	// arrowAt is the offset of a token that may begin an arrow function, or -1.
	arrowAt int
	// noIn excludes the operator in from the body of an arrow function at arrowAt.
	noIn  bool
	depth int
	// labelEnd is the offset of the token behind the last label, and labelLoop whether the label names a loop.
	labelEnd  int
	labelLoop bool
	// yieldAt, awaitAt and awaitNameAt are the offsets plus one of the first yield expression, await expression and name await in a
	// function or in parentheses. They are 0 if there is none.
	yieldAt, awaitAt, awaitNameAt int
}

// A context holds the syntax that the innermost function allows.
type context struct {
	outer            *context
	async, generator bool
	arrow            bool
	function         bool // return is allowed
	top              bool
	// noArguments forbids the name arguments, noAwait the name await.
	noArguments, noAwait                bool
	superProperty, superCall, newTarget bool

	labels        []label
	loops, breaks int // depths of loops, and of loops and switches
}

type label struct {
	name string
	loop bool
}

// failEarly fails for a text that follows the grammar, with an error whose field Early is set.
func (p *parser) failEarly(offset int, message string) {
	panic(&Error{Offset: offset, Message: message, Early: true})
}

// unexpected fails because the grammar does not allow the current token.
func (p *parser) unexpected() {
	switch t := &p.tok; t.kind {
	case 0:
		p.fail(t.start, "Unexpected token")
	default:
		if t.start >= len(p.src) {
			p.fail(t.start, "Unexpected end of input")
		}
		p.fail(t.start, "Unexpected token "+p.src[t.start:t.end])
	}
}

// deepen counts a level of the tree, which rise ends. It fails if the tree is too deep.
func (p *parser) deepen() {
	p.depth++
	p.checkDepth(0)
}

func (p *parser) rise() { p.depth-- }

// checkDepth fails if more levels below the present ones would make the tree too deep for the stacks of this parser and of the
// compilers.
func (p *parser) checkDepth(more int) {
	if p.depth+more > 2*nesting.Max {
		p.fail(p.tok.start, fmt.Sprintf("the code is nested more than %d deep", nesting.Max))
	}
}

func idx(offset int) file.Idx { return file.Idx(offset + 1) }

func offsetOf(n ast.Node) int { return int(n.Idx0()) - 1 }

func name(s string) unistring.String { return unistring.NewFromString(s) }

func (p *parser) parseProgram() {
	o := p.opts
	p.fn = &context{top: true, async: o.Await || o.Module}
	if e := o.Eval; e != nil {
		p.fn.newTarget, p.fn.superProperty, p.fn.superCall, p.fn.noArguments = e.NewTarget, e.SuperProperty, e.SuperCall, e.NoArguments
		if e.AnyPrivateName {
			p.class = &classNames{any: true}
		}
	}
	p.enter(scopeTop)
	if len(p.src) > 1 && p.src[0] == '#' && p.src[1] == '!' {
		p.skipLine()
	}
	p.next()
	if o.Expression {
		e := p.parseExpression(false, nil)
		if p.tok.kind != tokenEnd {
			p.unexpected()
		}
		p.program.Body = []ast.Statement{&ast.ExpressionStatement{Expression: e}}
		p.program.Vars = p.scope.declared
		return
	}
	p.directives()
	for p.tok.kind != tokenEnd {
		p.program.Body = p.appendItem(p.program.Body)
	}
	p.checkExports()
	p.program.Vars = append(p.program.Vars, p.scope.declared...)
	p.program.Strict = p.strict
}
