package syntax

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/orepl/orepl/lang/kernel/diag"
	nested "github.com/orepl/orepl/lang/nesting"
)

// Limits of a kernel's text, which prevent stack exhaustion by hostile text.
const (
	maxText    = 256 << 10 // bytes
	maxNesting = 500       // brackets
)

// Parse parses the text of one function. The error is a [diag.List].
func Parse(src *Source) (*Func, error) {
	p := &parse{src: src}
	fn := p.function()
	if len(p.errs) > 0 {
		return nil, p.errs.Sort()
	}
	return fn, nil
}

type parse struct {
	src   *Source
	shift int // goja's index of the text's first byte
	errs  diag.List

	fn      *Func
	scope   *scope
	sets    []*openSet
	labels  []*label
	calls   []pendingCall
	settled []settledSet
	depth   int
}

func (p *parse) function() *Func {
	text := p.src.Text
	if len(text) > maxText {
		p.errorf(Span{0, 0}, diag.TextTooLong, "move tables into typed arrays and split the kernel",
			"the kernel's text has %d bytes; the limit is %d", len(text), maxText)
		return nil
	}
	if nesting(text) > maxNesting {
		p.errorf(Span{0, 0}, diag.TooDeep, "split the kernel into helper functions", "brackets nest more than %d deep", maxNesting)
		return nil
	}
	if problem := nested.Check(text, nested.Max); problem != nil {
		p.errorf(Span{problem.Offset, problem.Offset}, diag.TooDeep, "split the kernel into helper functions", "%s", problem.Message)
		return nil
	}
	expr := p.program(text)
	if expr == nil {
		return nil
	}
	var fn *Func
	switch e := expr.(type) {
	case *ast.FunctionLiteral:
		fn = p.funcLiteral(e)
	case *ast.ArrowFunctionLiteral:
		fn = p.arrow(e)
	case *ast.ClassLiteral:
		p.errorf(p.span(e), diag.NotAFunction, "give kernel() a function", "a class is no kernel")
		return nil
	default:
		p.errorf(p.span(e), diag.NotAFunction, "give kernel() a function expression, an arrow function or a method", "this is no function")
		return nil
	}
	p.settleCalls()
	return fn
}

// program parses text as an expression, or as a method of an object, and returns the function. It returns nil after a
// syntax error, which it has recorded.
func (p *parse) program(text string) ast.Expression {
	p.shift = 2
	prog, err := parseText("(" + text + "\n)")
	if err != nil {
		method, methodErr := parseText("({" + text + "\n})")
		if methodErr != nil {
			p.syntaxErrors(err)
			return nil
		}
		p.shift, prog = 3, method
	}
	if len(prog.Body) == 1 {
		if s, ok := prog.Body[0].(*ast.ExpressionStatement); ok {
			if p.shift == 2 {
				return s.Expression
			}
			if o, ok := s.Expression.(*ast.ObjectLiteral); ok && len(o.Value) == 1 {
				if m, ok := o.Value[0].(*ast.PropertyKeyed); ok {
					return m.Value
				}
			}
		}
	}
	p.errorf(Span{0, len(text)}, diag.NotAFunction, "give kernel() one function", "this is no single function")
	return nil
}

// parseText parses text with goja's parser and converts panics, which some malformed texts cause, to errors.
func parseText(text string) (prog *ast.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed text: %v", r)
		}
	}()
	return parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
}

func (p *parse) syntaxErrors(err error) {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		p.errorf(Span{0, 0}, diag.SyntaxError, "", "%v", err)
		return
	}
	e := list[0] // the other errors follow from the first
	at := min(p.offset(e.Position.Line, e.Position.Column), len(p.src.Text))
	msg := e.Message
	if msg != "" {
		msg = strings.ToLower(msg[:1]) + msg[1:]
	}
	p.errorf(Span{at, min(at+1, len(p.src.Text))}, diag.SyntaxError, "", "%s", msg)
}

// offset converts goja's line and column in the wrapped text to an offset in the text.
func (p *parse) offset(line, col int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(p.src.Text[at:], '\n')
		if next < 0 {
			return len(p.src.Text)
		}
		at += next + 1
		if line == 2 {
			return at + max(col-1, 0)
		}
	}
	return max(col-p.shift, 0)
}

// nesting returns the maximum nesting depth of brackets. It also counts brackets in strings and comments.
func nesting(text string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth--
		}
	}
	return deepest
}

func (p *parse) span(n ast.Node) Span {
	end := len(p.src.Text)
	from := min(max(int(n.Idx0())-p.shift, 0), end)
	return Span{from, min(max(end1(n)-p.shift, from), end)}
}

// end1 returns n.Idx1; goja panics there for a case without statements and for some malformed nodes.
func end1(n ast.Node) (end int) {
	defer func() {
		if recover() != nil {
			end = int(n.Idx0()) + 1
		}
	}()
	return int(n.Idx1())
}

func (p *parse) errorf(s Span, id diag.ID, rewrite, format string, args ...any) {
	p.errs = append(p.errs, p.src.Diagnostic(s, id, rewrite, fmt.Sprintf(format, args...)))
}

// Diagnostic returns a diagnostic for a span of the source.
func (src *Source) Diagnostic(s Span, id diag.ID, rewrite, message string) *diag.Diagnostic {
	return &diag.Diagnostic{
		ID: id, Message: message, Rewrite: rewrite,
		Position: src.At(s.Pos), End: src.At(s.End), Excerpt: src.Excerpt(s),
	}
}

// At returns the position of a byte offset, which it limits to the text.
func (src *Source) At(offset int) diag.Position {
	offset = min(max(offset, 0), len(src.Text))
	if src.Position != nil {
		file, line, col := src.Position(offset)
		return diag.Position{File: file, Line: line, Column: col}
	}
	before := src.Text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return diag.Position{Line: strings.Count(before, "\n") + 1, Column: len([]rune(before[start:])) + 1}
}

// Excerpt returns the text of a span on one line, with parentheses that the tree omits. It shortens a text of more than 80
// characters, and returns "" for an empty span.
func (src *Source) Excerpt(s Span) string {
	text := src.Text
	from, to := min(max(s.Pos, 0), len(text)), min(max(s.End, 0), len(text))
	if from >= to {
		return ""
	}
	open, missing := 0, 0
	for _, c := range []byte(text[from:to]) {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				missing, open = missing+1, 0
			}
		}
	}
	for i := from - 1; missing > 0 && i >= 0 && strings.IndexByte(" \t\n\r(", text[i]) >= 0; i-- {
		if text[i] == '(' {
			missing, from = missing-1, i
		}
	}
	for i := to; open > 0 && i < len(text) && strings.IndexByte(" \t\n\r)", text[i]) >= 0; i++ {
		if text[i] == ')' {
			open, to = open-1, i+1
		}
	}
	quoted := strings.Join(strings.Fields(text[from:to]), " ")
	const longest = 80
	if r := []rune(quoted); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return quoted
}
