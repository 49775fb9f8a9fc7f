package source

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/ecma"
	"github.com/orepl/orepl/lang/nesting"
	"github.com/orepl/orepl/lang/regex"
)

// Limits of a text that the interpreter compiles uninterruptibly, for eval or a Function constructor.
const (
	maxEvalNesting   = 2000
	maxConstantChain = 6       // logical operators after a constant; the compiler takes exponential time
	maxConstantBits  = 1 << 20 // size of a BigInt that the compiler computes
)

// IsQuick reports whether parsing a text takes well under a millisecond, even if it is malformed. The time doubles with each
// nested arrow function in parameters and is quadratic in other nestings.
func IsQuick(text string) bool {
	const quickSize, quickArrows = 1 << 10, 6
	return len(text) <= quickSize && strings.Count(text, "=>") <= quickArrows
}

// EvalContext describes the code around a direct call of eval, as bits. Scripts pass it to [EvalText] as a number.
type EvalContext int

const (
	EvalStrict EvalContext = 1 << iota
	EvalNewTarget
	EvalSuper
	EvalSuperCall
	EvalField // in a field initializer, which has no arguments
	EvalPrivate
)

func (c EvalContext) options() ecma.Options {
	return ecma.Options{Strict: c&EvalStrict != 0, Eval: &ecma.Surroundings{
		NewTarget: c&EvalNewTarget != 0, SuperProperty: c&EvalSuper != 0, SuperCall: c&EvalSuperCall != 0,
		NoArguments: c&EvalField != 0, AnyPrivateName: c&EvalPrivate != 0,
	}}
}

// EvalText checks a text for eval and returns the text to compile instead, in which calls of eval are indirect and therefore
// also checked. The error is a *[diag.Diagnostic].
func EvalText(text string, context EvalContext) (string, error) {
	if p := nesting.Check(text, maxEvalNesting); p != nil {
		return "", refusal("<eval>", text, p.Offset, p.Message, p.Hint)
	}
	parse := func(text string) (*ecma.Program, error) {
		program, err := ecma.Parse(text, context.options())
		if err != nil {
			p := parseProblem(err, text)
			return nil, refusal("<eval>", text, p.offset, p.message, "")
		}
		return program, nil
	}
	if needsPlain(text, maxEvalNesting) {
		if _, err := parse(nesting.Plain(text)); err != nil {
			return "", err
		}
	}
	program, err := parse(text)
	if err != nil {
		return "", err
	}
	logical := strings.Count(text, "&&") + strings.Count(text, "||") + strings.Count(text, "??")
	powers := usesBigInts.MatchString(text) && (strings.Contains(text, "**") || strings.Contains(text, "<<"))
	if logical > maxConstantChain || powers || strings.Contains(text, "/") {
		c := &costly{}
		c.visit(reflect.ValueOf(program.Body))
		if c.problem != "" {
			return "", refusal("<eval>", text, c.at-1, c.problem, c.hint)
		}
		text = replaceLiterals(text, c.literals)
	}
	return IndirectEvals(text), nil
}

// IndirectEvals returns a text in which every call of eval becomes a call of globalThis.eval, which cannot access local names.
func IndirectEvals(text string) string {
	if !strings.Contains(text, "eval") {
		return text
	}
	var b strings.Builder
	done := 0
	for _, at := range nesting.Calls(text, "eval") {
		b.WriteString(text[done:at])
		b.WriteString("globalThis.")
		done = at
	}
	b.WriteString(text[done:])
	return b.String()
}

func refusal(name, text string, offset int, message, hint string) *diag.Diagnostic {
	pos := diag.PositionAt(name, text, min(max(offset, 0), len(text)))
	return &diag.Diagnostic{ID: "syntax", Name: "SyntaxError", Message: message, Hint: hint, Position: pos, Excerpt: diag.Excerpted(text, pos, 1)}
}

// costly finds expressions that are expensive for the interpreter's compiler, and patterns that it misreads.
type costly struct {
	problem, hint string
	at            int
	literals      []*ast.RegExpLiteral // that the interpreter does not compile
}

func (c *costly) refuse(at ast.Expression, problem, hint string) {
	if c.problem == "" {
		c.problem, c.hint, c.at = problem, hint, int(at.Idx0())
	}
}

const assignConstant = "assign the constant to a variable first"

func (c *costly) visit(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Interface {
			c.visit(v.Elem())
			return
		}
		switch e := v.Interface().(type) {
		case *ast.BinaryExpression:
			c.binary(e)
		case *ast.RegExpLiteral:
			if _, problem := regex.CheckLiteral(e.Pattern, e.Flags); problem != "" {
				c.refuse(e, problem, "")
			} else if !compiles(e) {
				c.literals = append(c.literals, e)
			}
		}
		c.visit(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			c.visit(v.Index(i))
		}
	case reflect.Struct:
		t := v.Type()
		for i := range v.NumField() {
			if f := t.Field(i); f.IsExported() && f.Name != "DeclarationList" && f.Name != "File" {
				c.visit(v.Field(i))
			}
		}
	}
}

func (c *costly) binary(e *ast.BinaryExpression) {
	switch e.Operator {
	case token.EXPONENT, token.SHIFT_LEFT:
		if n, ok := smallBigInt(e.Right); isConstant(e.Left) && isConstant(e.Right) && (!ok || n > maxConstantBits) {
			c.refuse(e, "the result of a constant expression with BigInts may be too large", assignConstant)
		}
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		n := 1
		left := e.Left
		for {
			inner, ok := left.(*ast.BinaryExpression)
			if !ok || !isLogical(inner.Operator) {
				break
			}
			n++
			left = inner.Left
		}
		if n > maxConstantChain && isConstant(left) {
			c.refuse(e, "a long chain of logical operators begins with a constant", assignConstant)
		}
	}
}

// compiles reports whether the interpreter compiles a literal as it is.
func compiles(e *ast.RegExpLiteral) bool {
	_, err := goja.Compile("", "/"+e.Pattern+"/"+e.Flags, false)
	return err == nil
}

// replaceLiterals replaces literals by those of [regex.Literal].
func replaceLiterals(text string, literals []*ast.RegExpLiteral) string {
	if len(literals) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	slices.SortFunc(literals, func(a, b *ast.RegExpLiteral) int { return int(a.Idx - b.Idx) })
	for _, e := range literals {
		at := int(e.Idx) - 1
		b.WriteString(text[done:at])
		b.WriteString("/" + regex.Literal(e.Pattern, e.Flags) + "/")
		done = at + len(e.Pattern) + len(e.Flags) + 2
	}
	b.WriteString(text[done:])
	return b.String()
}

func isLogical(t token.Token) bool {
	return t == token.LOGICAL_AND || t == token.LOGICAL_OR || t == token.COALESCE
}

// smallBigInt returns the value of a BigInt literal that fits 64 bits.
func smallBigInt(e ast.Expression) (uint64, bool) {
	n, ok := e.(*ast.NumberLiteral)
	if !ok {
		return 0, false
	}
	text := strings.TrimSuffix(n.Literal, "n")
	value := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' || value > 1<<40 {
			return 0, false
		}
		value = value*10 + uint64(c-'0')
	}
	return value, true
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
