// Package desugar turns syntax without a node in the interpreter's tree into nodes that it has. It does so for asynchronous
// generators, the loop for await, and the declarations using and await using. The code it makes calls the functions of [New].
//
// An asynchronous generator becomes a generator whose function object and objects get the prototypes of asynchronous ones; its
// awaits are yields of a mark, so that this, arguments, super and the parameters keep their meaning.
package desugar

import (
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/orepl/orepl/lang/ecma"
)

// Runtime is the name of the parameter of a program that holds the functions of [New].
const Runtime = "%rt"

// Needed reports whether a program has syntax to lower.
func Needed(p *ecma.Program) bool {
	return p.AsyncGenerators || len(p.ForAwait) > 0 || len(p.Using) > 0
}

// A Result lists what the caller of a lowered program must do.
type Result struct {
	// Generators are the function declarations to pass to asyncGenerator of the runtime when they are created.
	Generators map[*ast.FunctionLiteral]bool
	// Made are the generator expressions passed to asyncGenerator.
	Made map[*ast.FunctionLiteral]bool
	// TopUsing is the position of the first using declaration at the top level, or 0. Its resources belong to the variable
	// TopScope; see [Surround].
	TopUsing file.Idx
	// TopAwait reports whether disposing of the resources of the top level awaits.
	TopAwait bool
}

// TopScope is the variable that holds the resources of the top level.
const TopScope = "%top"

// Lower replaces syntax that the interpreter lacks in a program, and returns what the caller must do.
func Lower(p *ecma.Program) *Result {
	d := &lowerer{program: p, result: &Result{Generators: map[*ast.FunctionLiteral]bool{}, Made: map[*ast.FunctionLiteral]bool{}}}
	d.vars = &p.Vars
	d.top = true
	d.statements(&p.Body)
	return d.result
}

type lowerer struct {
	program *ecma.Program
	result  *Result
	// generator is true in the code of an asynchronous generator itself.
	generator bool
	top       bool // outside of all functions
	vars      *[]*ast.VariableDeclaration
	names     int
}

// fresh returns a name that scripts cannot write.
func (d *lowerer) fresh(kind string) string {
	d.names++
	return "%" + kind + strconv.Itoa(d.names)
}

func ident(name string, at file.Idx) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: at}
}

// helper returns a call of a function of the runtime.
func helper(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	callee := &ast.DotExpression{Left: ident(Runtime, at), Identifier: *ident(name, at)}
	return &ast.CallExpression{Callee: callee, LeftParenthesis: at, ArgumentList: args, RightParenthesis: at}
}

func text(s unistring.String, at file.Idx) ast.Expression {
	return &ast.StringLiteral{Idx: at, Literal: "''", Value: s}
}

func statement(e ast.Expression) ast.Statement { return &ast.ExpressionStatement{Expression: e} }

func constant(name string, value ast.Expression, at file.Idx) *ast.LexicalDeclaration {
	return &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{{Target: ident(name, at), Initializer: value}}}
}

func block(at file.Idx, list ...ast.Statement) *ast.BlockStatement {
	return &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: list}
}

func member(name, property string, at file.Idx) ast.Expression {
	return &ast.DotExpression{Left: ident(name, at), Identifier: *ident(property, at)}
}

func when(test ast.Expression, at file.Idx, then ...ast.Statement) ast.Statement {
	return &ast.IfStatement{If: at, Test: test, Consequent: block(at, then...)}
}

// await returns an expression that awaits e in the function that is being lowered.
func (d *lowerer) await(e ast.Expression, at file.Idx) ast.Expression {
	if d.generator {
		return &ast.YieldExpression{Yield: at, Argument: helper("await", at, e)}
	}
	return &ast.AwaitExpression{Await: at, Argument: e}
}

// statements lowers a list of statements, and the scope of its using declarations.
func (d *lowerer) statements(list *[]ast.Statement) {
	top := d.top && list == &d.program.Body
	scope, async := "", false
	for _, s := range *list {
		decl, ok := s.(*ast.LexicalDeclaration)
		kind := ecma.UsingKind(0)
		if ok {
			kind = d.program.Using[decl]
		}
		if kind == 0 {
			continue
		}
		if scope == "" {
			if scope = TopScope; !top {
				scope = d.fresh("scope")
			} else {
				d.result.TopUsing = decl.Idx
			}
		}
		async = async || kind == ecma.AwaitUsing
		d.use(decl, scope, kind)
	}
	for i := range *list {
		d.statement(&(*list)[i])
	}
	if scope == "" {
		return
	}
	if top {
		d.result.TopAwait = async
		return
	}
	*list = Surround(*list, scope, (*list)[0].Idx0(), async, d.await)
}

// use makes the initializers of a using declaration resources of a scope.
func (d *lowerer) use(decl *ast.LexicalDeclaration, scope string, kind ecma.UsingKind) {
	for _, b := range decl.List {
		b.Initializer = helper(useName(kind), decl.Idx, ident(scope, decl.Idx), b.Initializer)
	}
}

func useName(kind ecma.UsingKind) string {
	if kind == ecma.AwaitUsing {
		return "useAsync"
	}
	return "use"
}

// Surround returns a list of statements that disposes of the resources of a scope at its end. If async is set, disposing awaits
// promises, with expressions that await makes. Otherwise await may be nil.
func Surround(list []ast.Statement, scope string, at file.Idx, async bool, await func(ast.Expression, file.Idx) ast.Expression) []ast.Statement {
	const failure = "%failure"
	end := []ast.Statement{statement(helper("dispose", at, ident(scope, at)))}
	if async {
		wait := &ast.TryStatement{Try: at, Body: block(at, statement(await(member(scope, "pending", at), at))),
			Catch: &ast.CatchStatement{Catch: at, Parameter: ident(failure, at),
				Body: block(at, statement(helper("suppress", at, ident(scope, at), ident(failure, at))))}}
		end = []ast.Statement{
			&ast.WhileStatement{While: at, Test: helper("disposing", at, ident(scope, at)), Body: block(at, wait)},
			statement(helper("disposed", at, ident(scope, at))),
		}
	}
	directives := Directives(list)
	out := append([]ast.Statement{}, list[:directives]...)
	return append(out, constant(scope, helper("scope", at), at), &ast.TryStatement{
		Try:  at,
		Body: block(at, list[directives:]...),
		Catch: &ast.CatchStatement{Catch: at, Parameter: ident(failure, at),
			Body: block(at, statement(helper("failed", at, ident(scope, at), ident(failure, at))))},
		Finally: block(at, end...),
	})
}

// Directives returns the number of directives that a list of statements begins with.
func Directives(list []ast.Statement) int {
	n := 0
	for n < len(list) && isDirective(list[n]) {
		n++
	}
	return n
}

func isDirective(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	_, ok = e.Expression.(*ast.StringLiteral)
	return ok
}

func (d *lowerer) statement(slot *ast.Statement) {
	switch s := (*slot).(type) {
	case *ast.BlockStatement:
		d.statements(&s.List)
	case *ast.ExpressionStatement:
		d.expr(&s.Expression)
	case *ast.VariableStatement:
		d.bindings(s.List)
	case *ast.LexicalDeclaration:
		d.bindings(s.List)
	case *ast.FunctionDeclaration:
		if f := s.Function; f.Async && f.Generator {
			d.result.Generators[f] = true
		}
		d.function(s.Function)
	case *ast.ClassDeclaration:
		d.class(s.Class)
	case *ast.ReturnStatement:
		d.expr(&s.Argument)
		if d.generator && s.Argument != nil {
			s.Argument = d.await(s.Argument, s.Return)
		}
	case *ast.IfStatement:
		d.expr(&s.Test)
		d.statement(&s.Consequent)
		if s.Alternate != nil {
			d.statement(&s.Alternate)
		}
	case *ast.DoWhileStatement:
		d.statement(&s.Body)
		d.expr(&s.Test)
	case *ast.WhileStatement:
		d.expr(&s.Test)
		d.statement(&s.Body)
	case *ast.ForStatement:
		d.forStatement(slot, s)
	case *ast.ForInStatement:
		d.into(s.Into)
		d.expr(&s.Source)
		d.statement(&s.Body)
	case *ast.ForOfStatement:
		d.forOf(slot, s, nil)
	case *ast.TryStatement:
		d.statements(&s.Body.List)
		if s.Catch != nil {
			d.target(s.Catch.Parameter)
			d.statements(&s.Catch.Body.List)
		}
		if s.Finally != nil {
			d.statements(&s.Finally.List)
		}
	case *ast.ThrowStatement:
		d.expr(&s.Argument)
	case *ast.SwitchStatement:
		d.expr(&s.Discriminant)
		for _, c := range s.Body {
			d.expr(&c.Test)
			d.statements(&c.Consequent)
		}
	case *ast.LabelledStatement:
		d.labelled(slot, s)
	case *ast.WithStatement:
		d.expr(&s.Object)
		d.statement(&s.Body)
	}
}

// labelled lowers a statement with labels; those of a loop for await stay with the loop that replaces it.
func (d *lowerer) labelled(slot *ast.Statement, s *ast.LabelledStatement) {
	labels := []*ast.LabelledStatement{s}
	for {
		last := labels[len(labels)-1]
		inner, ok := last.Statement.(*ast.LabelledStatement)
		if !ok {
			break
		}
		labels = append(labels, inner)
	}
	last := labels[len(labels)-1]
	if loop, ok := last.Statement.(*ast.ForOfStatement); ok {
		d.forOf(slot, loop, labels)
		return
	}
	d.statement(&last.Statement)
}

// forStatement lowers a loop with semicolons; using declarations in its head become constants of a block around it.
func (d *lowerer) forStatement(slot *ast.Statement, s *ast.ForStatement) {
	if init, ok := s.Initializer.(*ast.ForLoopInitializerLexicalDecl); ok {
		if kind := d.program.Using[&init.LexicalDeclaration]; kind != 0 {
			decl := init.LexicalDeclaration
			d.program.Using[&decl] = kind
			s.Initializer = nil
			outer := block(s.For, &decl, s)
			*slot = outer
			d.statement(slot)
			return
		}
	}
	switch init := s.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		d.expr(&init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		d.bindings(init.List)
	case *ast.ForLoopInitializerLexicalDecl:
		d.bindings(init.LexicalDeclaration.List)
	}
	d.expr(&s.Test)
	d.expr(&s.Update)
	d.statement(&s.Body)
}

// forOf lowers the parts of a loop with of, and replaces the loop if it has await. labels are the labelled statements around it
// that name it.
func (d *lowerer) forOf(slot *ast.Statement, s *ast.ForOfStatement, labels []*ast.LabelledStatement) {
	at := s.For
	d.useElement(s)
	d.expr(&s.Source)
	d.into(s.Into)
	d.statement(&s.Body)
	if !d.program.ForAwait[s] {
		return
	}
	loop, failure := d.fresh("loop"), d.fresh("failure")
	value := member(loop, "value", at)
	var bind ast.Statement
	switch into := s.Into.(type) {
	case *ast.ForIntoVar:
		bind = &ast.VariableStatement{Var: at, List: []*ast.Binding{{Target: into.Binding.Target, Initializer: value}}}
	case *ast.ForDeclaration:
		kind := token.LET
		if into.IsConst {
			kind = token.CONST
		}
		bind = &ast.LexicalDeclaration{Idx: into.Idx, Token: kind, List: []*ast.Binding{{Target: into.Target, Initializer: value}}}
	case *ast.ForIntoExpression:
		bind = statement(&ast.AssignExpression{Operator: token.ASSIGN, Left: into.Expression, Right: value})
	}
	step := helper("step", at, ident(loop, at), d.await(helper("next", at, ident(loop, at)), at))
	inner := ast.Statement(&ast.ForStatement{For: at, Test: step, Body: block(at, bind, s.Body)})
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i].Statement = inner
		inner = labels[i]
	}
	open := func() ast.Expression { return member(loop, "open", at) }
	shut := statement(&ast.AssignExpression{Operator: token.ASSIGN, Left: open(), Right: &ast.BooleanLiteral{Idx: at, Literal: "false"}})
	mayClose := func() ast.Expression { return helper("mayClose", at, ident(loop, at)) }
	closing := func() ast.Expression { return d.await(helper("close", at, ident(loop, at)), at) }
	quiet := &ast.TryStatement{Try: at, Body: block(at, when(mayClose(), at, statement(closing()))), Catch: &ast.CatchStatement{Catch: at, Body: block(at)}}
	*slot = block(at,
		constant(loop, helper("loop", at, s.Source), at),
		&ast.TryStatement{
			Try:  at,
			Body: block(at, inner),
			Catch: &ast.CatchStatement{Catch: at, Parameter: ident(failure, at), Body: block(at,
				when(open(), at, shut, quiet),
				&ast.ThrowStatement{Throw: at, Argument: ident(failure, at)})},
			Finally: block(at, when(open(), at, shut,
				when(mayClose(), at, statement(helper("closed", at, closing()))))),
		})
}

// useElement turns the using declaration in the head of a loop into one in its body.
func (d *lowerer) useElement(s *ast.ForOfStatement) {
	decl, ok := s.Into.(*ast.ForDeclaration)
	if !ok || d.program.Using[decl] == 0 {
		return
	}
	element := d.fresh("element")
	use := &ast.LexicalDeclaration{Idx: decl.Idx, Token: token.CONST, List: []*ast.Binding{{Target: decl.Target, Initializer: ident(element, decl.Idx)}}}
	d.program.Using[use] = d.program.Using[decl]
	s.Into = &ast.ForDeclaration{Idx: decl.Idx, IsConst: true, Target: ident(element, decl.Idx)}
	s.Body = block(s.Body.Idx0(), use, s.Body)
}

func (d *lowerer) into(into ast.ForInto) {
	switch into := into.(type) {
	case *ast.ForIntoVar:
		d.target(into.Binding.Target)
		d.expr(&into.Binding.Initializer)
	case *ast.ForDeclaration:
		d.target(into.Target)
	case *ast.ForIntoExpression:
		d.target(into.Expression)
	}
}
