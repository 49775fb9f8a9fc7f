package source

import (
	"math"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/orepl/orepl/lang/regex"
)

// expr visits the expression in slot, which may be nil. If that is a function, a call around it marks it, except in a text for eval.
func (w *walker) expr(slot *ast.Expression) {
	switch e := (*slot).(type) {
	case nil:
	case *ast.FunctionLiteral:
		w.function(e, slot, "")
	case *ast.ArrowFunctionLiteral:
		w.function(e, slot, "")
	case *ast.Identifier:
		if !strings.HasPrefix(e.Name.String(), "%") { // no name of lowered code
			w.use(e, false)
			w.noteRead(slot, e)
		}
		w.move(&e.Idx)
	case *ast.AssignExpression:
		w.assignment(slot, e)
	case *ast.UnaryExpression:
		w.unary(slot, e)
	case *ast.BinaryExpression:
		w.binary(slot, e)
	case *ast.CallExpression:
		w.callee(&e.Callee)
		w.move(&e.LeftParenthesis)
		w.move(&e.RightParenthesis)
		w.exprs(e.ArgumentList)
		if id, ok := e.Callee.(*ast.Identifier); ok && id.Name == "eval" && len(e.ArgumentList) > 0 {
			w.directEval(id, e)
		}
	case *ast.NewExpression:
		w.move(&e.New)
		w.move(&e.LeftParenthesis)
		w.move(&e.RightParenthesis)
		w.callee(&e.Callee)
		w.exprs(e.ArgumentList)
	case *ast.DotExpression:
		w.expr(&e.Left)
		w.move(&e.Identifier.Idx)
	case *ast.PrivateDotExpression:
		w.expr(&e.Left)
		w.move(&e.Identifier.Idx)
	case *ast.BracketExpression:
		w.expr(&e.Left)
		w.move(&e.LeftBracket)
		w.move(&e.RightBracket)
		if n, ok := index(e.Member); ok {
			e.Member = &ast.NumberLiteral{Idx: e.Member.Idx0(), Value: n}
		}
		w.expr(&e.Member)
	case *ast.ConditionalExpression:
		w.expr(&e.Test)
		w.expr(&e.Consequent)
		w.expr(&e.Alternate)
	case *ast.SequenceExpression:
		w.exprs(e.Sequence)
	case *ast.ArrayLiteral:
		w.move(&e.LeftBracket)
		w.move(&e.RightBracket)
		w.exprs(e.Value)
	case *ast.ObjectLiteral:
		w.object(slot, e)
	case *ast.SpreadElement:
		w.expr(&e.Expression)
		if !isEmpty(e.Expression) { // else it may be a mark of package ecma
			e.Expression = call(paramSpread, e.Expression.Idx0(), e.Expression)
		}
	case *ast.OptionalChain:
		w.expr(&e.Expression)
	case *ast.Optional:
		w.expr(&e.Expression)
	case *ast.AwaitExpression:
		at := w.offset(e.Await)
		w.move(&e.Await)
		w.expr(&e.Argument)
		if w.scope.fn.parent == nil {
			w.await = true
			w.later = append(w.later, func() { // runs after the marks, which refer to the argument's slot
				e.Argument = call(paramAwait, e.Await, e.Argument, number(at, e.Await))
				if w.unit.kind == Module {
					*slot = &ast.YieldExpression{Yield: e.Await, Argument: e.Argument}
				}
			})
		}
	case *ast.YieldExpression:
		w.move(&e.Yield)
		w.expr(&e.Argument)
	case *ast.TemplateLiteral:
		w.template(e)
	case *ast.ClassLiteral:
		w.class(e)
	case *ast.ArrayPattern, *ast.ObjectPattern, *ast.Binding:
		w.target(e, false)
	case *ast.PrivateIdentifier: // in "#x in o"
		w.move(&e.Idx)
	default:
		w.literal(e)
	}
}

// directEval replaces the first argument of a direct call of eval by a call of %eval, which receives that argument and what surrounds
// the call. If the argument is a spread, %eval receives an array of all arguments.
func (w *walker) directEval(id *ast.Identifier, e *ast.CallExpression) {
	w.evals++
	around := w.around
	fn := w.scope.fn
	for fn.arrow && fn.parent != nil {
		fn = fn.parent
	}
	first, spread := e.ArgumentList[0].(*ast.SpreadElement)
	if spread {
		around |= EvalSpread
	}
	args := []ast.Expression{e.ArgumentList[0], nil}
	switch {
	case fn.outside:
		around |= EvalOutside
	case around&EvalField == 0:
		if around |= EvalArguments; w.scope.fn.arrow {
			around |= EvalArrow
		}
		pair := &ast.SequenceExpression{Sequence: []ast.Expression{ident("arguments", id.Idx), ident("arguments", id.Idx)}} // see replaceReads
		for i := range pair.Sequence {
			w.reads = append(w.reads, read{slot: &pair.Sequence[i], name: "arguments", scope: w.scope})
		}
		args = append(args, arrow(id.Idx, pair))
	}
	args[1] = number(int(around), id.Idx)
	if spread { // eval(...list, x) becomes eval(...%eval([...list, x], …)).
		args[0] = &ast.ArrayLiteral{LeftBracket: id.Idx, RightBracket: id.Idx, Value: e.ArgumentList}
		e.ArgumentList = []ast.Expression{&ast.SpreadElement{Expression: call(paramEval, first.Idx0(), args...)}}
		return
	}
	e.ArgumentList[0] = call(paramEval, id.Idx, args...)
}

// binary visits a binary expression. It hides operands that the compiler would evaluate wrongly or too slowly, and records the
// operations that [walker.notePower] describes.
func (w *walker) binary(slot *ast.Expression, e *ast.BinaryExpression) {
	w.expr(&e.Left)
	if a := opened(e); a != nil {
		w.noteWrite(&e.Right, a.Left)
		w.target(a.Left, false)
		w.expr(&a.Right)
		return
	}
	w.expr(&e.Right)
	if misfolds(e) {
		e.Left = hidden(e.Left)
	}
	if isLogical(e.Operator) && isConstant(e.Left) {
		// The compiler evaluates a constant again for every operator after it, in exponential time.
		e.Left = hidden(e.Left)
	}
	if _, literal := e.Right.(*ast.NumberLiteral); !literal || e.Operator != token.MULTIPLY { // a literal factor adds few bits
		w.notePower(e.Operator, power{slot: slot})
	}
}

// noteRead records a read of the name arguments, or of any name if imports are checked. replaceReads may replace it.
func (w *walker) noteRead(slot *ast.Expression, id *ast.Identifier) {
	if w.early || id.Name == "arguments" {
		w.reads = append(w.reads, read{slot: slot, name: id.Name.String(), scope: w.scope})
	}
}

func (w *walker) literal(e ast.Expression) {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		w.move(&e.Idx)
	case *ast.StringLiteral:
		w.move(&e.Idx)
	case *ast.BooleanLiteral:
		w.move(&e.Idx)
	case *ast.NullLiteral:
		w.move(&e.Idx)
	case *ast.RegExpLiteral:
		if at, problem := regex.CheckLiteral(e.Pattern, e.Flags); problem != "" {
			w.fail(w.offset(e.Idx)+1+at, problem)
		}
		e.Pattern, e.Flags = regex.Literal(e.Pattern, e.Flags), ""
		w.move(&e.Idx)
	case *ast.ThisExpression:
		w.move(&e.Idx)
	case *ast.SuperExpression:
		w.supers++
		w.move(&e.Idx)
	case *ast.MetaProperty:
		w.move(&e.Idx)
		w.move(&e.Meta.Idx)
		w.move(&e.Property.Idx)
	}
}

func (w *walker) exprs(list []ast.Expression) {
	for i := range list {
		w.expr(&list[i])
	}
}

// callee visits the callee of a call or of new. An immediately called function needs no mark, because no other code refers to it.
func (w *walker) callee(slot *ast.Expression) {
	if isFunction(*slot) {
		w.visitFunction(*slot)
		return
	}
	w.expr(slot)
}

func (w *walker) template(e *ast.TemplateLiteral) {
	w.expr(&e.Tag)
	w.move(&e.OpenQuote)
	w.move(&e.CloseQuote)
	for _, t := range e.Elements {
		w.move(&t.Idx)
	}
	w.exprs(e.Expressions)
}

func (w *walker) unary(slot *ast.Expression, e *ast.UnaryExpression) {
	w.move(&e.Idx)
	if e.Operator != token.INCREMENT && e.Operator != token.DECREMENT {
		reads := len(w.reads)
		w.expr(&e.Operand)
		if _, isName := e.Operand.(*ast.Identifier); isName && e.Operator == token.TYPEOF && len(w.reads) > reads {
			w.reads[reads].slot, w.reads[reads].typeof = slot, true
		}
		if e.Operator == token.BITWISE_NOT && isConstant(e.Operand) {
			if v, ok := constant(e.Operand); !ok || math.Abs(v) >= bitsLimit {
				e.Operand = hidden(e.Operand)
			}
		}
		return
	}
	w.noteWrite(slot, e.Operand)
	if id, ok := e.Operand.(*ast.Identifier); ok {
		w.use(id, true)
		w.move(&id.Idx)
		return
	}
	w.expr(&e.Operand)
}

func (w *walker) assignment(slot *ast.Expression, e *ast.AssignExpression) {
	w.noteWrite(slot, e.Left)
	name, named := e.Left.(*ast.Identifier)
	w.target(e.Left, true)
	if named && isLogical(e.Operator) {
		w.refs[len(w.refs)-1].logical = slot
	}
	if named && isFunction(e.Right) {
		w.function(e.Right, nil, name.Name.String())
		return
	}
	member, isMember := e.Left.(*ast.DotExpression)
	switch {
	case named:
		w.infer(e.Right, name.Name)
		w.named(&e.Right, name.Name)
	case isMember:
		w.named(&e.Right, member.Identifier.Name)
	default:
		w.expr(&e.Right)
	}
	checkRest(e.Left, &e.Right)
	if named {
		w.notePower(e.Operator, power{assign: e})
	} else if object, _ := memberOf(e.Left); object != nil && e.Operator == token.EXPONENT {
		w.powers = append(w.powers, power{slot: slot, fn: paramPowerOf})
	}
}

// checkRest wraps the value of an object pattern that has a rest element in a call that bounds the copied properties.
func checkRest(target ast.Expression, value *ast.Expression) {
	if p, ok := target.(*ast.ObjectPattern); ok && p.Rest != nil {
		*value = call(paramSpread, (*value).Idx0(), *value)
	}
}

// memberOf splits object.key and object[key]; object is nil for other expressions, including super and private names.
func memberOf(e ast.Expression) (object, key ast.Expression) {
	switch e := e.(type) {
	case *ast.DotExpression:
		object, key = e.Left, &ast.StringLiteral{Idx: e.Identifier.Idx, Literal: "''", Value: e.Identifier.Name}
	case *ast.BracketExpression:
		object, key = e.Left, e.Member
	}
	if _, super := object.(*ast.SuperExpression); super {
		return nil, nil
	}
	return object, key
}

// notePower records a power, which the engine computes. In a text that uses BigInts it also records a left shift or a product, which
// may create a large BigInt. It ignores other operators. Callers record no shift or product that assigns to a member.
func (w *walker) notePower(operator token.Token, p power) {
	switch {
	case operator == token.EXPONENT:
		p.fn = paramPower
	case operator == token.SHIFT_LEFT && w.bigInts:
		p.fn = paramShift
	case operator == token.MULTIPLY && w.bigInts:
		p.fn = paramTimes
	default:
		return
	}
	w.powers = append(w.powers, p)
}

// opened returns the assignment in N || (N = {}), which TypeScript emits for a namespace, or nil for other expressions. It
// initializes N, so it is not among the assignments of N's binding.
func opened(e *ast.BinaryExpression) *ast.AssignExpression {
	name, ok := e.Left.(*ast.Identifier)
	a, assigns := e.Right.(*ast.AssignExpression)
	if !ok || !assigns || e.Operator != token.LOGICAL_OR || a.Operator != token.ASSIGN {
		return nil
	}
	to, same := a.Left.(*ast.Identifier)
	if object, ok := a.Right.(*ast.ObjectLiteral); !same || to.Name != name.Name || !ok || len(object.Value) > 0 {
		return nil
	}
	return a
}

func (w *walker) noteWrite(slot *ast.Expression, target ast.Expression) {
	var names []string
	targets(target, func(id *ast.Identifier) { names = append(names, id.Name.String()) })
	if len(names) > 0 {
		w.writes = append(w.writes, write{slot, names, w.scope})
	}
}

// target visits the left side of an assignment, for which assigns is true, or a declared pattern.
func (w *walker) target(target ast.Expression, assigns bool) {
	switch t := target.(type) {
	case nil:
	case *ast.Identifier:
		if assigns {
			w.use(t, true)
		}
		w.move(&t.Idx)
	case *ast.Binding:
		w.target(t.Target, assigns)
		w.value(&t.Initializer)
	case *ast.AssignExpression: // a target with a default value
		w.target(t.Left, assigns)
		w.value(&t.Right)
	case *ast.SpreadElement:
		w.target(t.Expression, assigns)
	case *ast.ArrayPattern:
		w.move(&t.LeftBracket)
		w.move(&t.RightBracket)
		for _, e := range t.Elements {
			w.target(e, assigns)
		}
		w.target(t.Rest, assigns)
	case *ast.ObjectPattern:
		w.move(&t.LeftBrace)
		w.move(&t.RightBrace)
		for i, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if assigns {
					w.use(&p.Name, true)
					w.refs[len(w.refs)-1].property = &t.Properties[i]
				}
				w.move(&p.Name.Idx)
				w.value(&p.Initializer)
			case *ast.PropertyKeyed:
				w.key(&p.Key, p.Computed)
				w.target(p.Value, assigns)
			}
		}
		w.target(t.Rest, assigns)
	default:
		w.expr(&target) // a member such as a.b is never replaced, because it is not a function to wrap
	}
}

// value visits the value of a field, or the default value of a target. An anonymous function there takes the name of the field or
// target. Wrapping would remove that name, so the function stays unmarked.
func (w *walker) value(slot *ast.Expression) {
	if *slot != nil && isFunction(*slot) {
		w.visitFunction(*slot)
		return
	}
	w.expr(slot)
}

func (w *walker) key(slot *ast.Expression, computed bool) {
	if computed {
		w.expr(slot)
		return
	}
	if id, ok := (*slot).(*ast.Identifier); ok {
		w.move(&id.Idx)
		return
	}
	w.expr(slot)
}

// object visits an object literal. A call around it marks its functions together, because methods cannot be wrapped. Accessors, and
// functions whose keys are computed or numbers, get no mark.
func (w *walker) object(slot *ast.Expression, e *ast.ObjectLiteral) {
	w.move(&e.LeftBrace)
	w.move(&e.RightBrace)
	var marks []ast.Expression
	for i, p := range e.Value {
		if short, ok := p.(*ast.PropertyShort); ok && (w.early || short.Name.Name == "arguments") { // its value may be replaced
			name := short.Name
			key := &ast.StringLiteral{Idx: name.Idx, Literal: name.Name.String(), Value: name.Name}
			p = &ast.PropertyKeyed{Key: key, Kind: ast.PropertyKindValue, Value: &name}
			e.Value[i] = p
		}
		switch p := p.(type) {
		case *ast.PropertyShort:
			w.use(&p.Name, false)
			w.move(&p.Name.Idx)
			w.expr(&p.Initializer)
		case *ast.SpreadElement:
			w.expr(&p.Expression)
			p.Expression = call(paramSpread, p.Expression.Idx0(), p.Expression)
		case *ast.PropertyKeyed:
			w.key(&p.Key, p.Computed)
			plain := p.Kind == ast.PropertyKindValue || p.Kind == ast.PropertyKindMethod
			key, named := p.Key.(*ast.StringLiteral)
			if p.Kind != ast.PropertyKindValue {
				w.method = EvalSuper
			}
			if !isFunction(p.Value) {
				if named && !p.Computed {
					w.infer(p.Value, key.Value)
					w.named(&p.Value, key.Value)
				} else {
					w.expr(&p.Value)
				}
			} else if plain && named && !p.Computed && w.unit.kind != evalText {
				m := w.function(p.Value, nil, key.Value.String())
				marks = append(marks, &ast.StringLiteral{Idx: key.Idx, Literal: key.Literal, Value: key.Value}, nil)
				at := len(marks) - 1
				m.place = func(mark ast.Expression) { marks[at] = mark }
			} else {
				w.visitFunction(p.Value)
			}
		}
	}
	if len(marks) > 0 {
		w.later = append(w.later, func() { *slot = call(paramMarkAll, e.LeftBrace, append([]ast.Expression{e}, marks...)...) })
	}
}

// function visits a function and returns its marking. The mark wraps slot. If slot is nil, the caller may set the marking's place.
// Functions in a text for eval get no mark.
func (w *walker) function(e ast.Expression, slot *ast.Expression, name string) *marking {
	site := &Site{Unit: w.unit, Name: name, Start: w.offset(e.Idx0())}
	switch e := e.(type) {
	case *ast.FunctionLiteral:
		site.Async, site.Generator, site.Params = e.Async, e.Generator, len(e.ParameterList.List)
		site.End = site.Start + len(e.Source)
		if name == "" && e.Name != nil {
			site.Name = e.Name.Name.String()
		}
	case *ast.ArrowFunctionLiteral:
		site.Async, site.Params = e.Async, len(e.ParameterList.List)
		site.End = site.Start + len(e.Source)
	}
	m := &marking{site: site, node: e, slot: slot}
	if w.unit.kind != evalText {
		w.markings = append(w.markings, m)
	}
	m.fn = w.visitFunction(e)
	return m
}

// visitFunction visits a function or an arrow function, and returns its record. Of other expressions it visits nothing.
func (w *walker) visitFunction(e ast.Expression) *function {
	fn := &function{parent: w.scope.fn}
	evals := w.evals
	defer func() {
		if w.evals > evals {
			bindBody(e)
		}
	}()
	switch e := e.(type) {
	case *ast.FunctionLiteral:
		defer w.surround(w.around&(EvalStrict|EvalPrivate) | EvalNewTarget | w.method)()
		w.move(&e.Function)
		fn.scope = w.openScope(fn)
		if e.Name != nil {
			if !w.scope.parent.declares(e.Name) {
				w.declare(e.Name, KindFunction, fn.scope)
			}
			w.move(&e.Name.Idx)
		}
		w.parameters(e.ParameterList)
		w.hoistVars(e.DeclarationList)
		w.hoist(e.Body.List)
		w.body(e.Body)
		w.closeScope()
	case *ast.ArrowFunctionLiteral:
		w.move(&e.Start)
		fn.arrow = true
		fn.scope = w.openScope(fn)
		w.parameters(e.ParameterList)
		w.hoistVars(e.DeclarationList)
		switch body := e.Body.(type) {
		case *ast.BlockStatement:
			w.hoist(body.List)
			w.body(body)
		case *ast.ExpressionBody:
			w.expr(&body.Expression)
		}
		w.closeScope()
	}
	return fn
}

// bindBody adds a binding to the body of a function with a direct eval and parameters that are not all names. The compiler
// counts the scope of such a body, but creates none without a binding.
func bindBody(e ast.Expression) {
	at := e.Idx0()
	none := &ast.LexicalDeclaration{Idx: at, Token: token.LET, List: []*ast.Binding{{Target: ident("%body", at)}}}
	switch e := e.(type) {
	case *ast.FunctionLiteral:
		if !simple(e.ParameterList) {
			e.Body.List = append([]ast.Statement{none}, e.Body.List...)
		}
	case *ast.ArrowFunctionLiteral:
		if simple(e.ParameterList) {
			return
		}
		switch body := e.Body.(type) {
		case *ast.BlockStatement:
			body.List = append([]ast.Statement{none}, body.List...)
		case *ast.ExpressionBody:
			// The slot of the expression must stay, because later changes refer to it.
			inner := &ast.ArrowFunctionLiteral{Start: at, ParameterList: &ast.ParameterList{Opening: at, Closing: at}, Body: body, Async: e.Async}
			call := ast.Expression(&ast.CallExpression{Callee: inner, LeftParenthesis: at, RightParenthesis: at})
			if e.Async {
				call = &ast.AwaitExpression{Await: at, Argument: call}
			}
			e.Body = &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: []ast.Statement{none, &ast.ReturnStatement{Return: at, Argument: call}}}
		}
	}
}

// simple reports whether parameters are names without default values and without a rest parameter.
func simple(list *ast.ParameterList) bool {
	for _, b := range list.List {
		if _, name := b.Target.(*ast.Identifier); !name || b.Initializer != nil {
			return false
		}
	}
	return list.Rest == nil
}

// surround sets what direct calls of eval may refer to, and returns a function that restores it. It also clears w.method.
func (w *walker) surround(around EvalContext) func() {
	outer := w.around
	w.around, w.method = around, 0
	return func() { w.around = outer }
}

func (w *walker) body(b *ast.BlockStatement) {
	w.move(&b.LeftBrace)
	w.move(&b.RightBrace)
	w.list(&b.List)
}

func (w *walker) parameters(list *ast.ParameterList) {
	if list == nil {
		return
	}
	w.move(&list.Opening)
	w.move(&list.Closing)
	for _, b := range list.List {
		w.declareTarget(b.Target, KindParam)
	}
	if list.Rest != nil {
		w.declareTarget(list.Rest, KindParam)
	}
	for _, b := range list.List {
		w.target(b.Target, false)
		w.value(&b.Initializer)
	}
	w.target(list.Rest, false)
}

func (w *walker) class(e *ast.ClassLiteral) {
	w.move(&e.Class)
	w.move(&e.RightBrace)
	w.expr(&e.SuperClass)
	w.openScope(w.scope.fn)
	defer w.surround(w.around | EvalStrict | EvalPrivate)()
	inferred, evals := w.inferred, w.evals
	w.inferred = ""
	if e.Name != nil {
		w.declare(e.Name, KindClass, w.scope)
		w.move(&e.Name.Idx)
	}
	for _, el := range e.Body {
		switch el := el.(type) {
		case *ast.FieldDefinition:
			w.move(&el.Idx)
			w.key(&el.Key, el.Computed)
			restore := w.surround(EvalStrict | EvalPrivate | EvalNewTarget | EvalSuper | EvalField)
			supers := w.supers
			if key, ok := el.Key.(*ast.StringLiteral); ok && !el.Computed && el.Initializer != nil && !isFunction(el.Initializer) {
				w.infer(el.Initializer, key.Value)
				w.named(&el.Initializer, key.Value)
			} else {
				w.value(&el.Initializer)
			}
			if w.supers > supers { // the compiler looks for the object of super where the class stands, except in functions
				w.last = append(w.last, func() {
					body := arrow(el.Idx, el.Initializer)
					el.Initializer = &ast.CallExpression{Callee: body, LeftParenthesis: el.Idx, RightParenthesis: el.Idx}
				})
			}
			restore()
		case *ast.MethodDefinition:
			w.move(&el.Idx)
			w.key(&el.Key, el.Computed)
			w.method = EvalSuper
			if key, ok := el.Key.(*ast.StringLiteral); ok && !el.Computed && !el.Static && key.Value == "constructor" && e.SuperClass != nil {
				w.method |= EvalSuperCall
			}
			w.visitFunction(el.Body)
		case *ast.ClassStaticBlock:
			w.move(&el.Static)
			w.staticBlock(el)
		}
	}
	w.closeScope()
	if e.Name == nil && w.evals > evals {
		w.nameClass(e, inferred)
	}
}

// nameClass names a class without a name that has a direct eval, with name as the value of its property name. The compiler counts the
// scope of such a class, but creates none without a binding.
func (w *walker) nameClass(e *ast.ClassLiteral, name unistring.String) {
	const hidden = "%class"
	at := e.Class
	w.unit.Lowered = true
	e.Name = ident(hidden, at)
	callee := &ast.DotExpression{Left: ident(paramRuntime, at), Identifier: *ident("className", at)}
	set := &ast.CallExpression{Callee: callee, LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{
		&ast.ThisExpression{Idx: at}, &ast.StringLiteral{Idx: at, Literal: "''", Value: hidden}, &ast.StringLiteral{Idx: at, Literal: "''", Value: name}}}
	block := &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: []ast.Statement{statement(set)}}
	e.Body = append([]ast.ClassElement{&ast.ClassStaticBlock{Static: at, Block: block}}, e.Body...)
}

// infer notes the name that an expression takes if it is a class without one.
func (w *walker) infer(e ast.Expression, name unistring.String) {
	if c, ok := e.(*ast.ClassLiteral); ok && c.Name == nil {
		w.inferred = name
	}
}

func (w *walker) staticBlock(el *ast.ClassStaticBlock) {
	fn := &function{parent: w.scope.fn}
	fn.scope = w.openScope(fn)
	defer w.surround(EvalStrict | EvalPrivate | EvalNewTarget | EvalSuper | EvalField)()
	w.hoistVars(el.DeclarationList)
	w.hoist(el.Block.List)
	w.body(el.Block)
	w.closeScope()
}

// isEmpty reports whether an expression is an empty string literal or array literal.
func isEmpty(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value == ""
	case *ast.ArrayLiteral:
		return len(e.Value) == 0
	}
	return false
}
