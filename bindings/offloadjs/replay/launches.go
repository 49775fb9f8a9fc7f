package replay

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/ecma"
)

// Meaning is the kind of value that a name outside of a function has.
type Meaning int

// The meanings of names. A captured variable that may still change is Other, whatever its value.
const (
	Absent   Meaning = iota // the function captures no variable of this name, but may declare the name itself
	Other                   // any other value, and any variable that may change
	Constant                // a primitive value
	Kernel                  // a kernel of the module 'offload'
	Type                    // an element type, which converts numbers
	Native                  // a builtin function, for "Math.max" and other names of two parts
	Failure                 // a builtin class of errors
)

// OnlyLaunches reports whether a function only launches kernels. All that it launches must depend on its argument and constants
// alone. outside tells the meaning of names that the function does not declare. A function that it does not understand counts as
// one that does more.
func OnlyLaunches(text string, outside func(name string) Meaning) bool {
	return check(text, outside, true)
}

// IsPure reports whether a function only computes a value from its argument and constants. Its parameters are those of OnlyLaunches,
// and it is false for a function that it does not understand.
func IsPure(text string, outside func(name string) Meaning) bool { return check(text, outside, false) }

// checker walks a function. ok becomes false at the first part that may do something else.
type checker struct {
	outside  func(name string) Meaning
	launches bool            // launches are allowed
	locals   map[string]bool // names that the function declares
	special  map[string]bool // local names of the argument's queue and device
	ok       bool
}

func check(text string, outside func(name string) Meaning, launches bool) bool {
	parameters, body := parse(text)
	if parameters == nil {
		return false
	}
	c := &checker{outside: outside, launches: launches, locals: map[string]bool{}, special: map[string]bool{}, ok: true}
	c.parameters(parameters)
	switch body := body.(type) {
	case *ast.BlockStatement:
		c.declare(body.List)
		c.statements(body.List)
	case *ast.ExpressionBody:
		c.effect(body.Expression)
	}
	for name := range c.locals {
		if outside(name) != Absent { // also the name of an outer variable, in another block
			return false
		}
	}
	return c.ok
}

// parse returns the parameters and the body of a function's text: of a function, an arrow function or a method. Both are nil
// for generators and other texts.
func parse(text string) (*ast.ParameterList, ast.ConciseBody) {
	for _, around := range [][2]string{{"(", "\n)"}, {"({", "\n})"}} {
		program, err := ecma.Parse(around[0]+text+around[1], ecma.Options{Strict: true})
		if err != nil || len(program.Body) != 1 {
			continue
		}
		statement, ok := program.Body[0].(*ast.ExpressionStatement)
		if !ok {
			continue
		}
		value := statement.Expression
		if o, ok := value.(*ast.ObjectLiteral); ok && len(o.Value) == 1 {
			if p, ok := o.Value[0].(*ast.PropertyKeyed); ok && !p.Computed && p.Kind == ast.PropertyKindMethod {
				value = p.Value
			}
		}
		switch f := value.(type) {
		case *ast.FunctionLiteral:
			if !f.Generator {
				return f.ParameterList, f.Body
			}
		case *ast.ArrowFunctionLiteral:
			return f.ParameterList, f.Body
		}
	}
	return nil, nil
}

func (c *checker) refuse() { c.ok = false }

// parameters declares the names that the function takes out of its argument. It refuses a second parameter, and any parameter
// but a pattern of an object without defaults.
func (c *checker) parameters(list *ast.ParameterList) {
	if len(list.List) > 1 || list.Rest != nil {
		c.refuse()
		return
	}
	for _, b := range list.List {
		pattern, ok := b.Target.(*ast.ObjectPattern)
		if !ok || pattern.Rest != nil || b.Initializer != nil {
			c.refuse()
			return
		}
		for _, p := range pattern.Properties {
			from, to := "", ast.Expression(nil)
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Initializer == nil {
					from, to = p.Name.Name.String(), &p.Name
				}
			case *ast.PropertyKeyed:
				if key, ok := p.Key.(*ast.StringLiteral); ok && !p.Computed {
					from, to = key.Value.String(), p.Value
				}
			}
			id, ok := to.(*ast.Identifier)
			if !ok {
				c.refuse()
				return
			}
			c.locals[id.Name.String()] = true
			if from == "queue" || from == "device" {
				c.special[id.Name.String()] = true
			}
		}
	}
}

// declare records the names that statements declare, also in inner blocks.
func (c *checker) declare(list []ast.Statement) {
	bindings := func(list []*ast.Binding) {
		for _, b := range list {
			c.target(b.Target, func(name string) { c.locals[name] = true })
		}
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ast.VariableStatement:
			bindings(s.List)
		case *ast.LexicalDeclaration:
			bindings(s.List)
		case *ast.BlockStatement:
			c.declare(s.List)
		case *ast.IfStatement:
			c.declare([]ast.Statement{s.Consequent, s.Alternate})
		case *ast.WhileStatement:
			c.declare([]ast.Statement{s.Body})
		case *ast.ForStatement:
			switch i := s.Initializer.(type) {
			case *ast.ForLoopInitializerVarDeclList:
				bindings(i.List)
			case *ast.ForLoopInitializerLexicalDecl:
				bindings(i.LexicalDeclaration.List)
			}
			c.declare([]ast.Statement{s.Body})
		}
	}
}

// target calls fn for the names of a pattern, which may take elements, the length and the shape of values. It refuses other
// patterns.
func (c *checker) target(target ast.Expression, fn func(name string)) {
	switch t := target.(type) {
	case *ast.Identifier:
		fn(t.Name.String())
	case *ast.ArrayPattern:
		if t.Rest != nil {
			c.refuse()
		}
		for _, e := range t.Elements {
			if e != nil {
				c.target(e, fn)
			}
		}
	case *ast.ObjectPattern:
		if t.Rest != nil {
			c.refuse()
		}
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Initializer != nil || !isFact(p.Name.Name.String()) {
					c.refuse()
				}
				fn(p.Name.Name.String())
			case *ast.PropertyKeyed:
				if key, ok := p.Key.(*ast.StringLiteral); !ok || p.Computed || !isFact(key.Value.String()) {
					c.refuse()
				}
				c.target(p.Value, fn)
			default:
				c.refuse()
			}
		}
	default:
		c.refuse()
	}
}

// isFact reports whether a property of buffers, arrays and texts has a constant value that can be read without effects.
func isFact(name string) bool { return name == "length" || name == "shape" }

func (c *checker) statements(list []ast.Statement) {
	for _, s := range list {
		c.statement(s)
	}
}

func (c *checker) statement(s ast.Statement) {
	switch s := s.(type) {
	case nil, *ast.EmptyStatement:
	case *ast.ExpressionStatement:
		c.effect(s.Expression)
	case *ast.VariableStatement:
		c.bindings(s.List)
	case *ast.LexicalDeclaration:
		c.bindings(s.List)
	case *ast.BlockStatement:
		c.statements(s.List)
	case *ast.IfStatement:
		c.pure(s.Test)
		c.statement(s.Consequent)
		c.statement(s.Alternate)
	case *ast.WhileStatement:
		c.pure(s.Test)
		c.statement(s.Body)
	case *ast.ForStatement:
		switch i := s.Initializer.(type) {
		case nil:
		case *ast.ForLoopInitializerVarDeclList:
			c.bindings(i.List)
		case *ast.ForLoopInitializerLexicalDecl:
			c.bindings(i.LexicalDeclaration.List)
		default:
			c.refuse()
		}
		c.optional(s.Test)
		if s.Update != nil {
			c.effect(s.Update)
		}
		c.statement(s.Body)
	case *ast.BranchStatement: // break and continue
	case *ast.ReturnStatement:
		if s.Argument != nil {
			c.effect(s.Argument)
		}
	case *ast.ThrowStatement:
		if n, ok := s.Argument.(*ast.NewExpression); ok && c.outsideOf(n.Callee) == Failure {
			c.all(n.ArgumentList)
			return
		}
		c.pure(s.Argument)
	default:
		c.refuse()
	}
}

func (c *checker) bindings(list []*ast.Binding) {
	for _, b := range list {
		if b.Initializer != nil {
			c.pure(b.Initializer)
		}
	}
}

// effect checks an expression whose value is dropped, or is the result of the function.
func (c *checker) effect(e ast.Expression) {
	switch e := e.(type) {
	case *ast.AwaitExpression:
		c.effect(e.Argument)
	case *ast.SequenceExpression:
		for _, one := range e.Sequence {
			c.effect(one)
		}
	case *ast.AssignExpression:
		c.target(e.Left, c.assigned)
		c.pure(e.Right)
	case *ast.UnaryExpression:
		if e.Operator == token.INCREMENT || e.Operator == token.DECREMENT {
			c.target(e.Operand, c.assigned)
			return
		}
		c.pure(e)
	case *ast.CallExpression:
		if !c.launch(e) {
			c.pure(e)
		}
	default:
		c.pure(e)
	}
}

// assigned refuses an assignment to a variable that is not the function's own, or that holds the queue or the device.
func (c *checker) assigned(name string) {
	if !c.locals[name] || c.special[name] {
		c.refuse()
	}
}

// launch checks kernel.launch(options, …) or queue.launch(kernel, options, …), and reports whether e is one.
func (c *checker) launch(e *ast.CallExpression) bool {
	callee, ok := e.Callee.(*ast.DotExpression)
	if !ok || callee.Identifier.Name != "launch" || !c.launches {
		return false
	}
	arguments := e.ArgumentList
	if id, ok := callee.Left.(*ast.Identifier); ok && c.special[id.Name.String()] {
		if len(arguments) == 0 || c.outsideOf(arguments[0]) != Kernel {
			return false
		}
		arguments = arguments[1:]
	} else if c.outsideOf(callee.Left) != Kernel {
		return false
	}
	if len(arguments) == 0 {
		return false
	}
	options, ok := arguments[0].(*ast.ObjectLiteral)
	if !ok {
		return false
	}
	for _, p := range options.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			if !c.special[p.Name.Name.String()] {
				c.pure(&p.Name)
			}
		case *ast.PropertyKeyed:
			id, ok := p.Value.(*ast.Identifier)
			if !ok || !c.special[id.Name.String()] {
				c.property(p)
			}
		default:
			c.refuse()
		}
	}
	c.all(arguments[1:])
	return true
}

// outsideOf returns the meaning of an expression that is a name of an outer variable, and Other for any other expression.
func (c *checker) outsideOf(e ast.Expression) Meaning {
	if id, ok := e.(*ast.Identifier); ok && !c.locals[id.Name.String()] {
		return c.outside(id.Name.String())
	}
	return Other
}

func (c *checker) all(list []ast.Expression) {
	for _, e := range list {
		c.pure(e)
	}
}

func (c *checker) optional(e ast.Expression) {
	if e != nil {
		c.pure(e)
	}
}

// property checks a property of an object literal.
func (c *checker) property(p *ast.PropertyKeyed) {
	if _, ok := p.Key.(*ast.StringLiteral); !ok || p.Computed || p.Kind != ast.PropertyKindValue {
		c.refuse()
		return
	}
	c.pure(p.Value)
}

// pure checks an expression that must do nothing but compute.
func (c *checker) pure(e ast.Expression) {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
	case *ast.Identifier:
		name := e.Name.String()
		if known := c.locals[name] && !c.special[name]; !known && !slices.Contains([]Meaning{Constant, Type}, c.outsideOf(e)) {
			c.refuse()
		}
	case *ast.TemplateLiteral:
		if e.Tag != nil {
			c.refuse()
		}
		c.all(e.Expressions)
	case *ast.UnaryExpression:
		if slices.Contains([]token.Token{token.DELETE, token.INCREMENT, token.DECREMENT}, e.Operator) {
			c.refuse()
			return
		}
		c.pure(e.Operand)
	case *ast.BinaryExpression:
		if e.Operator == token.IN || e.Operator == token.INSTANCEOF {
			c.refuse()
		}
		c.pure(e.Left)
		c.pure(e.Right)
	case *ast.ConditionalExpression:
		c.all([]ast.Expression{e.Test, e.Consequent, e.Alternate})
	case *ast.ArrayLiteral:
		for _, x := range e.Value {
			c.optional(x)
		}
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			switch p := p.(type) {
			case *ast.PropertyShort:
				c.pure(&p.Name)
			case *ast.PropertyKeyed:
				c.property(p)
			default:
				c.refuse()
			}
		}
	case *ast.DotExpression:
		if !isFact(e.Identifier.Name.String()) {
			c.refuse()
		}
		c.pure(e.Left)
	case *ast.BracketExpression:
		c.element(e)
	case *ast.CallExpression:
		c.call(e)
	default:
		c.refuse()
	}
}

// element checks x.shape[i], or list[i] of a name or of an array literal.
func (c *checker) element(e *ast.BracketExpression) {
	switch left := e.Left.(type) {
	case *ast.Identifier, *ast.ArrayLiteral:
	case *ast.DotExpression:
		if left.Identifier.Name != "shape" {
			c.refuse()
		}
	default:
		c.refuse()
	}
	c.pure(e.Left)
	c.pure(e.Member)
}

// call checks calls such as f32(x), Math.max(x, y) and x.shape.toReversed(), and refuses others.
func (c *checker) call(e *ast.CallExpression) {
	c.all(e.ArgumentList)
	callee, ok := e.Callee.(*ast.DotExpression)
	if !ok {
		if c.outsideOf(e.Callee) != Type {
			c.refuse()
		}
		return
	}
	name := callee.Identifier.Name.String()
	switch left := callee.Left.(type) {
	case *ast.Identifier:
		if left.Name != "Math" || name == "random" || c.locals["Math"] || c.outside("Math."+name) != Native {
			c.refuse()
		}
	case *ast.DotExpression:
		if left.Identifier.Name != "shape" || name != "toReversed" && name != "slice" || c.outside("Array."+name) != Native {
			c.refuse()
		}
		c.pure(left)
	default:
		c.refuse()
	}
}
