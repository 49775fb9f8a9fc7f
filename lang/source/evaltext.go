package source

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/ecma"
	"github.com/orepl/orepl/lang/nesting"
)

// maxEvalNesting is the maximum nesting depth of a text for eval or a Function constructor. The interpreter compiles such a text
// uninterruptibly.
const maxEvalNesting = 2000

// IsQuick reports whether parsing a text takes well under a millisecond, even if it is malformed. The time doubles with each
// nested arrow function in parameters and is quadratic in other nestings.
func IsQuick(text string) bool {
	const quickSize, quickArrows = 1 << 10, 6
	return len(text) <= quickSize && strings.Count(text, "=>") <= quickArrows
}

// EvalContext describes the code around a direct call of eval, as bits. Rewritten texts pass it to %eval as a number.
type EvalContext int

const (
	EvalStrict EvalContext = 1 << iota
	EvalNewTarget
	EvalSuper
	EvalSuperCall
	EvalField // in a field initializer, which has no arguments
	EvalPrivate
	// EvalOutside marks a call outside of all functions, where the name arguments is not declared.
	EvalOutside
	// EvalArguments marks a call that passes a function that returns the arguments object, and EvalArrow one in an arrow
	// function.
	EvalArguments
	EvalArrow
	// EvalSpread marks arguments with a spread, which %eval receives as an array.
	EvalSpread
	// EvalCounted makes loops call %step, as [Options].CountLoops does.
	EvalCounted
)

func (c EvalContext) options() ecma.Options {
	return ecma.Options{Strict: c&EvalStrict != 0, Eval: &ecma.Surroundings{
		NewTarget: c&EvalNewTarget != 0, SuperProperty: c&EvalSuper != 0, SuperCall: c&EvalSuperCall != 0,
		NoArguments: c&EvalField != 0, AnyPrivateName: c&EvalPrivate != 0,
	}}
}

// An EvalTree is a text for eval as a tree for the interpreter's compiler. Its code refers to functions by the names of [EvalNames].
// In a direct eval they are the parameters of the program around the call, otherwise the globals of [DeclareEvalNames].
type EvalTree struct {
	Program *ast.Program
	Strict  bool
	// Lowered reports whether the code calls functions of package desugar.
	Lowered bool
}

// ParseEval parses and rewrites a text for eval. The error is a *[diag.Diagnostic].
func ParseEval(text string, context EvalContext) (*EvalTree, error) {
	if p := nesting.Check(text, maxEvalNesting); p != nil {
		return nil, refusal(evalName, text, p.Offset, p.Message, p.Hint)
	}
	parse := func(text string) (*ecma.Program, error) {
		program, err := ecma.Parse(text, context.options())
		if err != nil {
			p := parseProblem(err, text)
			return nil, refusal(evalName, text, p.offset, p.message, "")
		}
		return program, nil
	}
	if needsPlain(text, maxEvalNesting) {
		if _, err := parse(nesting.Plain(text)); err != nil {
			return nil, err
		}
	}
	program, err := parse(text)
	if err != nil {
		return nil, err
	}
	u := &Unit{Name: evalName, Original: text, Text: text, kind: evalText}
	w := &walker{unit: u, bigInts: usesBigInts(text), lowered: &desugar.Result{}, around: context & (EvalOutside - 1),
		countLoops: context&EvalCounted != 0}
	if u.Lowered = desugar.Needed(program); u.Lowered {
		w.lowered = desugar.Lower(program)
	}
	top := &function{outside: context&EvalOutside != 0}
	if context&EvalArguments != 0 && (program.Strict || context&EvalArrow != 0) {
		top.arguments = evalArguments
	}
	top.scope = w.openScope(top)
	w.hoistVars(program.Vars)
	w.hoist(program.Body)
	w.list(&program.Body)
	if w.err != nil {
		return nil, refusal(evalName, text, w.err.offset, w.err.message, "")
	}
	(&rewriter{walker: w, top: top.scope}).change()
	if at := w.lowered.TopUsing; at != 0 {
		program.Body = desugar.Surround(program.Body, desugar.TopScope, at, false, nil)
	}
	if top.named { // const %arguments = %eval()
		const at = 1
		list := []*ast.Binding{{Target: ident(evalArguments, at), Initializer: call(paramEval, at)}}
		program.Body = slices.Insert(program.Body, desugar.Directives(program.Body), ast.Statement(&ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: list}))
	}
	tree := &ast.Program{Body: program.Body, DeclarationList: program.Vars, File: file.NewFile(evalName, text, 1)}
	return &EvalTree{Program: tree, Strict: program.Strict, Lowered: u.Lowered}, nil
}

// evalArguments is the name of a constant that holds the arguments object of the function around a direct eval. In strict texts
// the interpreter's compiler takes the name arguments for a variable of the text. Where an arrow function calls eval, the
// compiler drops the object of the function around it.
const evalArguments = "%arguments"

// evalName is the file name in positions of texts for eval.
const evalName = "<eval>"

// EvalProblem returns the diagnostic of an error that the interpreter's compiler found in a text for eval.
func EvalProblem(text string, err error) error {
	p := compileProblem(err)
	return refusal(evalName, text, p.offset, p.message, "")
}

// ParseFunction composes the text of a function that a constructor makes, and parses it. kind is "function", "async function*" or
// the like. The error is a *[diag.Diagnostic]; text is then the text that has the error.
func ParseFunction(kind, parameters, body string, context EvalContext) (text string, tree *EvalTree, err error) {
	whole := func(parameters, body string) string {
		return "(" + kind + " anonymous(" + parameters + "\n) {\n" + body + "\n})"
	}
	for _, part := range []string{whole(parameters, ""), whole("", body)} { // each must be well-formed by itself
		if parameters == "" || body == "" {
			break
		}
		if err := isFunctionText(part); err != nil {
			return part, nil, err
		}
	}
	text = whole(parameters, body)
	if err := isFunctionText(text); err != nil {
		return text, nil, err
	}
	tree, err = ParseEval(text, context)
	return text, tree, err
}

// isFunctionText returns an error if a text in parentheses is not one function.
func isFunctionText(text string) error {
	if p := nesting.Check(text, maxEvalNesting); p != nil {
		return refusal(evalName, text, p.Offset, p.Message, p.Hint)
	}
	program, err := ecma.Parse(text, EvalContext(0).options())
	if err != nil {
		p := parseProblem(err, text)
		return refusal(evalName, text, p.offset, p.message, "")
	}
	if len(program.Body) == 1 {
		if s, ok := program.Body[0].(*ast.ExpressionStatement); ok {
			if f, ok := s.Expression.(*ast.FunctionLiteral); ok && len(f.Source) == len(text)-len("()") {
				return nil
			}
		}
	}
	return refusal(evalName, text, 0, "the parameters or the body end the function", "")
}

// EvalNames are the names of the engine's functions in texts for eval. The function that [DeclareEvalNames] makes takes their values
// in this order.
var EvalNames = []string{paramImport, paramStep, paramPower, paramPowerOf, paramShift, paramTimes, paramSpread, paramEval, paramRuntime}

// DeclareEvalNames returns a program that declares [EvalNames] for global code and evaluates to a function that sets their values.
func DeclareEvalNames() (*goja.Program, error) {
	const at = 1
	decl := &ast.LexicalDeclaration{Idx: at, Token: token.LET}
	var sets []ast.Expression
	var params []string
	for _, name := range EvalNames {
		decl.List = append(decl.List, &ast.Binding{Target: ident(name, at)})
		value := name + " value"
		params, sets = append(params, value), append(sets, assign(ident(name, at), ident(value, at)))
	}
	set := arrow(at, &ast.SequenceExpression{Sequence: sets}, params...)
	return goja.CompileAST(&ast.Program{Body: []ast.Statement{decl, statement(set)}, File: file.NewFile("", "", 1)}, true)
}

func refusal(name, text string, offset int, message, hint string) *diag.Diagnostic {
	pos := diag.PositionAt(name, text, min(max(offset, 0), len(text)))
	return &diag.Diagnostic{ID: "syntax", Name: "SyntaxError", Message: message, Hint: hint, Position: pos, Excerpt: diag.Excerpted(text, pos, 1)}
}

func isLogical(t token.Token) bool {
	return t == token.LOGICAL_AND || t == token.LOGICAL_OR || t == token.COALESCE
}

// isConstant reports whether the compiler may evaluate an expression at compile time.
func isConstant(e ast.Expression) bool {
	for {
		switch x := e.(type) {
		case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.TemplateLiteral, *ast.RegExpLiteral:
			return true
		case *ast.UnaryExpression:
			e = x.Operand
		case *ast.BinaryExpression:
			e = x.Left
		default:
			return false
		}
	}
}
