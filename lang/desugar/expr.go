package desugar

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

func (d *lowerer) bindings(list []*ast.Binding) {
	for _, b := range list {
		d.target(b.Target)
		d.named(&b.Initializer, nameOf(b.Target))
	}
}

func nameOf(target ast.Expression) unistring.String {
	if id, ok := target.(*ast.Identifier); ok {
		return id.Name
	}
	return ""
}

// named lowers the value of a variable or property. An asynchronous generator without a name gets that of the variable or property.
func (d *lowerer) named(slot *ast.Expression, name unistring.String) {
	if f, ok := (*slot).(*ast.FunctionLiteral); ok && f.Async && f.Generator && f.Name == nil {
		d.function(f)
		d.made(slot, f, name)
		return
	}
	d.expr(slot)
}

// made wraps the expression of an asynchronous generator function in a call that sets its prototypes, and its name if it is
// anonymous.
func (d *lowerer) made(slot *ast.Expression, f *ast.FunctionLiteral, name unistring.String) {
	d.result.Made[f] = true
	at := f.Idx0()
	args := []ast.Expression{f}
	if f.Name == nil {
		args = append(args, text(name, at))
	}
	*slot = helper("asyncGenerator", at, args...)
}

func (d *lowerer) expr(slot *ast.Expression) {
	switch e := (*slot).(type) {
	case nil:
	case *ast.FunctionLiteral:
		wrap := e.Async && e.Generator
		d.function(e)
		if wrap {
			d.made(slot, e, "")
		}
	case *ast.ArrowFunctionLiteral:
		d.arrow(e)
	case *ast.ClassLiteral:
		d.class(e)
	case *ast.ObjectLiteral:
		d.object(slot, e)
	case *ast.AssignExpression:
		d.target(e.Left)
		d.named(&e.Right, nameOf(e.Left))
	case *ast.UnaryExpression:
		d.expr(&e.Operand)
	case *ast.BinaryExpression:
		d.expr(&e.Left)
		d.expr(&e.Right)
	case *ast.CallExpression:
		d.expr(&e.Callee)
		d.exprs(e.ArgumentList)
	case *ast.NewExpression:
		d.expr(&e.Callee)
		d.exprs(e.ArgumentList)
	case *ast.DotExpression:
		d.expr(&e.Left)
	case *ast.PrivateDotExpression:
		d.expr(&e.Left)
	case *ast.BracketExpression:
		d.expr(&e.Left)
		d.expr(&e.Member)
	case *ast.ConditionalExpression:
		d.expr(&e.Test)
		d.expr(&e.Consequent)
		d.expr(&e.Alternate)
	case *ast.SequenceExpression:
		d.exprs(e.Sequence)
	case *ast.ArrayLiteral:
		d.exprs(e.Value)
	case *ast.SpreadElement:
		d.expr(&e.Expression)
	case *ast.OptionalChain:
		d.expr(&e.Expression)
	case *ast.Optional:
		d.expr(&e.Expression)
	case *ast.TemplateLiteral:
		d.expr(&e.Tag)
		d.exprs(e.Expressions)
	case *ast.AwaitExpression:
		d.expr(&e.Argument)
		if d.generator {
			*slot = d.await(e.Argument, e.Await)
		}
	case *ast.YieldExpression:
		d.expr(&e.Argument)
		if d.generator && e.Delegate {
			*slot = &ast.YieldExpression{Yield: e.Yield, Argument: helper("delegate", e.Yield, e.Argument)}
		}
	}
}

func (d *lowerer) exprs(list []ast.Expression) {
	for i := range list {
		d.expr(&list[i])
	}
}

// target lowers the expressions in the target of an assignment or declaration.
func (d *lowerer) target(target ast.Expression) {
	switch t := target.(type) {
	case nil, *ast.Identifier:
	case *ast.AssignExpression:
		d.target(t.Left)
		d.named(&t.Right, nameOf(t.Left))
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			d.target(e)
		}
		d.target(t.Rest)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				d.named(&p.Initializer, p.Name.Name)
			case *ast.PropertyKeyed:
				if p.Computed {
					d.expr(&p.Key)
				}
				d.target(p.Value)
			}
		}
		d.target(t.Rest)
	case *ast.DotExpression:
		d.expr(&t.Left)
	case *ast.PrivateDotExpression:
		d.expr(&t.Left)
	case *ast.BracketExpression:
		d.expr(&t.Left)
		d.expr(&t.Member)
	}
}

// within calls body to lower code of a function. generator tells whether it is an asynchronous generator; vars receives its new
// variables.
func (d *lowerer) within(generator bool, vars *[]*ast.VariableDeclaration, body func()) {
	outer := *d
	d.generator, d.top, d.vars = generator, false, vars
	body()
	d.generator, d.top, d.vars = outer.generator, outer.top, outer.vars
}

func (d *lowerer) function(f *ast.FunctionLiteral) {
	d.parameters(f.ParameterList)
	generator := f.Async && f.Generator
	if generator {
		f.Async = false
	}
	d.within(generator, &f.DeclarationList, func() { d.statements(&f.Body.List) })
}

func (d *lowerer) arrow(f *ast.ArrowFunctionLiteral) {
	d.parameters(f.ParameterList)
	d.within(false, &f.DeclarationList, func() {
		switch body := f.Body.(type) {
		case *ast.BlockStatement:
			d.statements(&body.List)
		case *ast.ExpressionBody:
			d.expr(&body.Expression)
		}
	})
}

func (d *lowerer) parameters(list *ast.ParameterList) {
	d.within(false, d.vars, func() {
		for _, b := range list.List {
			d.target(b.Target)
			d.named(&b.Initializer, nameOf(b.Target))
		}
		d.target(list.Rest)
	})
}

// variable declares a variable in the function that is being lowered, and returns a reference to it. kind is part of its name.
func (d *lowerer) variable(kind string, at file.Idx) *ast.Identifier {
	name := d.fresh(kind)
	b := []*ast.Binding{{Target: ident(name, at)}}
	*d.vars = append(*d.vars, &ast.VariableDeclaration{Var: at, List: b})
	return ident(name, at)
}

// key returns the key of a method as an expression. A computed key is evaluated once, where the method is defined.
func (d *lowerer) key(slot *ast.Expression, computed bool) ast.Expression {
	at := (*slot).Idx0()
	if !computed {
		return *slot
	}
	v := d.variable("key", at)
	*slot = &ast.AssignExpression{Operator: token.ASSIGN, Left: v, Right: helper("key", at, *slot)}
	return ident(v.Name.String(), at)
}

func (d *lowerer) object(slot *ast.Expression, o *ast.ObjectLiteral) {
	var keys []ast.Expression
	for _, p := range o.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			d.expr(&p.Initializer)
		case *ast.SpreadElement:
			d.expr(&p.Expression)
		case *ast.PropertyKeyed:
			if p.Computed {
				d.expr(&p.Key)
			}
			f, ok := p.Value.(*ast.FunctionLiteral)
			switch {
			case ok && p.Kind != ast.PropertyKindValue:
				if f.Async && f.Generator {
					keys = append(keys, d.key(&p.Key, p.Computed))
				}
				d.function(f)
			default:
				d.named(&p.Value, staticName(p.Key, p.Computed))
			}
		}
	}
	if len(keys) > 0 {
		*slot = helper("asyncGenerators", o.LeftBrace, append([]ast.Expression{o}, keys...)...)
	}
}

// staticName returns the name of a property whose key is not computed, and "" for other keys.
func staticName(key ast.Expression, computed bool) unistring.String {
	if computed {
		return ""
	}
	switch k := key.(type) {
	case *ast.StringLiteral:
		return k.Value
	case *ast.PrivateIdentifier:
		return "#" + k.Name
	case *ast.NumberLiteral:
		return unistring.String(k.Literal)
	}
	return ""
}

// class lowers a class. A static block before its elements sets the prototypes of asynchronous generator methods. A private field
// does so for private methods of instances.
func (d *lowerer) class(c *ast.ClassLiteral) {
	d.expr(&c.SuperClass)
	at := c.Class
	var first []ast.Statement // of the static block
	var private []ast.Expression
	for _, el := range c.Body {
		switch el := el.(type) {
		case *ast.FieldDefinition:
			if el.Computed {
				d.expr(&el.Key)
			}
			d.within(false, d.vars, func() { d.named(&el.Initializer, staticName(el.Key, el.Computed)) })
		case *ast.ClassStaticBlock:
			d.within(false, &el.DeclarationList, func() { d.statements(&el.Block.List) })
		case *ast.MethodDefinition:
			if el.Computed {
				d.expr(&el.Key)
			}
			if f := el.Body; f.Async && f.Generator {
				this := &ast.ThisExpression{Idx: at}
				id, isPrivate := el.Key.(*ast.PrivateIdentifier)
				switch {
				case isPrivate && !el.Static:
					private = append(private, helper("asyncGenerator", at, &ast.PrivateDotExpression{Left: this, Identifier: *id}))
				case isPrivate:
					first = append(first, statement(helper("asyncGenerator", at, &ast.PrivateDotExpression{Left: this, Identifier: *id})))
				case el.Static:
					first = append(first, statement(helper("asyncGenerators", at, this, d.key(&el.Key, el.Computed))))
				default:
					proto := &ast.DotExpression{Left: this, Identifier: *ident("prototype", at)}
					first = append(first, statement(helper("asyncGenerators", at, proto, d.key(&el.Key, el.Computed))))
				}
			}
			d.function(el.Body)
		}
	}
	var head []ast.ClassElement
	if len(first) > 0 {
		head = append(head, &ast.ClassStaticBlock{Static: at, Block: block(at, first...)})
	}
	if len(private) > 0 {
		field := &ast.PrivateIdentifier{Identifier: *ident(d.fresh("generators"), at)}
		head = append(head, &ast.FieldDefinition{Idx: at, Key: field, Initializer: &ast.SequenceExpression{Sequence: private}})
	}
	if len(head) > 0 {
		c.Body = append(head, c.Body...)
	}
}
