package source

import (
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Small trees for the rewriter, positioned at the related code.

func ident(name string, at file.Idx) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: at}
}

func number(n int, at file.Idx) ast.Expression {
	return &ast.NumberLiteral{Idx: at, Value: int64(n)}
}

func call(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{Callee: ident(name, at), LeftParenthesis: at, ArgumentList: args, RightParenthesis: at}
}

func statement(e ast.Expression) ast.Statement { return &ast.ExpressionStatement{Expression: e} }

func assign(target, value ast.Expression) ast.Expression {
	return &ast.AssignExpression{Operator: token.ASSIGN, Left: target, Right: value}
}

func undefined(at file.Idx) ast.Expression {
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: number(0, at)}
}

func arrow(at file.Idx, body ast.Expression, params ...string) ast.Expression {
	list := &ast.ParameterList{Opening: at, Closing: at}
	for _, p := range params {
		list.List = append(list.List, &ast.Binding{Target: ident(p, at)})
	}
	return &ast.ArrowFunctionLiteral{Start: at, ParameterList: list, Body: &ast.ExpressionBody{Expression: body}}
}

// selector returns (%i) => %i === 0 ? cases[0] : %i === 1 ? cases[1] : … otherwise, with further parameters.
func selector(at file.Idx, cases []ast.Expression, otherwise ast.Expression, params ...string) ast.Expression {
	body := otherwise
	for i := len(cases) - 1; i >= 0; i-- {
		body = &ast.ConditionalExpression{
			Test: &ast.BinaryExpression{
				Operator: token.STRICT_EQUAL, Left: ident("%i", at), Right: number(i, at), Comparison: true,
			},
			Consequent: cases[i],
			Alternate:  body,
		}
	}
	return arrow(at, body, append([]string{"%i"}, params...)...)
}

// markStatement returns the statement %mark(name, mark); the mark is filled in later. An asynchronous generator first gets its
// prototypes.
func markStatement(m *marking, name *ast.Identifier, asyncGenerator bool) ast.Statement {
	at := name.Idx
	fn := ast.Expression(ident(name.Name.String(), at))
	if asyncGenerator {
		fn = generatorOf(name)
	}
	c := call(paramMark, at, fn, nil).(*ast.CallExpression)
	m.place = func(mark ast.Expression) { c.ArgumentList[1] = mark }
	return statement(c)
}

// generatorOf returns an expression that sets the prototypes of the asynchronous generator with a name.
func generatorOf(name *ast.Identifier) ast.Expression {
	at := name.Idx
	callee := &ast.DotExpression{Left: ident(paramRuntime, at), Identifier: *ident("asyncGenerator", at)}
	return &ast.CallExpression{Callee: callee, LeftParenthesis: at, ArgumentList: []ast.Expression{ident(name.Name.String(), at)}, RightParenthesis: at}
}

// generatorDeclaration returns a declaration that evaluates generatorOf. Unlike an expression statement it has no completion value.
func generatorDeclaration(name *ast.Identifier) ast.Statement {
	made := ident("%made"+strconv.Itoa(int(name.Idx)), name.Idx)
	return &ast.LexicalDeclaration{Idx: name.Idx, Token: token.CONST, List: []*ast.Binding{{Target: made, Initializer: generatorOf(name)}}}
}
