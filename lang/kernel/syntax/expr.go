package syntax

import (
	"fmt"
	"math/big"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/later"
)

var binaryOps = later.Value[map[token.Token]Op]{Make: func() map[token.Token]Op {
	return map[token.Token]Op{
		token.PLUS: Add, token.MINUS: Sub, token.MULTIPLY: Mul, token.SLASH: Div, token.REMAINDER: Rem, token.EXPONENT: Pow,
		token.AND: And, token.OR: Or, token.EXCLUSIVE_OR: Xor,
		token.SHIFT_LEFT: Shl, token.SHIFT_RIGHT: Shr, token.UNSIGNED_SHIFT_RIGHT: UShr,
		token.EQUAL: Eq, token.STRICT_EQUAL: Eq, token.NOT_EQUAL: Ne, token.STRICT_NOT_EQUAL: Ne,
		token.LESS: Lt, token.LESS_OR_EQUAL: Le, token.GREATER: Gt, token.GREATER_OR_EQUAL: Ge,
		token.LOGICAL_AND: LogicalAnd, token.LOGICAL_OR: LogicalOr,
	}
}}

// bad returns a placeholder for a rejected expression, whose error fails the parse.
func bad(at Span) Expr { return &Num{Span: at} }

func (p *parse) expr(e ast.Expression) Expr {
	defer p.leave()
	at := p.span(e)
	if !p.enter(e) {
		return bad(at)
	}
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return p.number(e, at)
	case *ast.BooleanLiteral:
		return &Bool{at, e.Value}
	case *ast.StringLiteral:
		return &Str{Span{at.Pos, at.Pos + len(e.Literal)}, e.Value.String()}
	case *ast.Identifier:
		return p.name(e)
	case *ast.UnaryExpression:
		return p.unary(e, at)
	case *ast.BinaryExpression:
		return p.binary(e, at)
	case *ast.AssignExpression:
		return p.assign(e, at)
	case *ast.ConditionalExpression:
		c := &Cond{Span: at, Test: p.expr(e.Test)}
		p.collect(&c.Sets, func() {
			c.Then = p.expr(e.Consequent)
			c.Else = p.expr(e.Alternate)
		})
		return c
	case *ast.CallExpression:
		c := &Call{Span: at, Fn: p.expr(e.Callee)}
		for _, a := range e.ArgumentList {
			c.Args = append(c.Args, p.expr(a))
		}
		return c
	case *ast.DotExpression:
		if this, ok := e.Left.(*ast.ThisExpression); ok {
			name := e.Identifier.Name.String()
			p.errorf(p.span(this), diag.UnsupportedExpr, fmt.Sprintf("copy it for the kernel: `const %s = this.%s` in front of it", name, name), "`this` is not in kernels")
			return bad(at)
		}
		return &Member{at, p.expr(e.Left), e.Identifier.Name.String()}
	case *ast.BracketExpression:
		return &Index{at, p.expr(e.Left), p.expr(e.Member)}
	case *ast.ArrayLiteral:
		a := &Array{Span: at}
		for _, x := range e.Value {
			if x == nil {
				p.errorf(at, diag.BadPattern, "write every element", "an array in a kernel has no holes")
				continue
			}
			a.Elems = append(a.Elems, p.expr(x))
		}
		return a
	case *ast.ObjectLiteral:
		return p.object(e, at)
	case *ast.TemplateLiteral:
		return p.template(e, at)
	case *ast.SequenceExpression:
		s := &Seq{Span: at}
		for _, x := range e.Sequence {
			s.List = append(s.List, p.expr(x))
		}
		return s
	case *ast.FunctionLiteral:
		return p.funcValue(at, p.funcLiteral(e))
	case *ast.ArrowFunctionLiteral:
		return p.funcValue(at, p.arrow(e))
	case *ast.NullLiteral:
		p.errorf(at, diag.UnsupportedExpr, "use 0, or a bool beside the value", "null is not in kernels")
	case *ast.ThisExpression:
		p.errorf(at, diag.UnsupportedExpr, "name the item object, the first parameter", "`this` is not in kernels")
	case *ast.NewExpression:
		p.errorf(at, diag.NoObject, "use g.private(type, n) for an array of the item, g.shared(type, n) for one of the group", "`new` is not in kernels")
	case *ast.RegExpLiteral:
		p.errorf(at, diag.NoString, "", "regular expressions are not in kernels")
	case *ast.ClassLiteral:
		p.errorf(at, diag.NoObject, "use struct({…}) for records", "classes are not in kernels")
	case *ast.Optional, *ast.OptionalChain:
		p.errorf(at, diag.UnsupportedExpr, "write `.`: nothing is null in a kernel", "`?.` is not in kernels")
	case *ast.AwaitExpression, *ast.YieldExpression:
		p.errorf(at, diag.AsyncKernel, "write a plain function", "a kernel neither awaits nor yields")
	case *ast.SpreadElement:
		p.errorf(at, diag.UnsupportedExpr, "write the elements", "`...` copies records only, as in {...ps[i]}")
	default:
		p.errorf(at, diag.UnsupportedExpr, "", "this expression is not in kernels")
	}
	return bad(at)
}

func (p *parse) funcValue(at Span, fn *Func) Expr {
	p.uses(nil, fn)
	return &FuncLit{at, fn}
}

// number returns a literal of a Number or a BigInt with its JavaScript value.
func (p *parse) number(e *ast.NumberLiteral, at Span) Expr {
	switch v := e.Value.(type) {
	case int64:
		return &Num{at, float64(v)}
	case float64:
		return &Num{at, v}
	case *big.Int:
		return &Big{at, v}
	}
	p.errorf(at, diag.UnsupportedExpr, "", "this number is not in kernels")
	return bad(at)
}

// nameSpan returns the span of an identifier; goja's own is wrong for non-ASCII text.
func (p *parse) nameSpan(e *ast.Identifier) Span {
	from := p.span(e).Pos
	return Span{from, min(from+len(e.Name.String()), len(p.src.Text))}
}

func (p *parse) name(e *ast.Identifier) Expr {
	n := &Name{Span: p.nameSpan(e), Name: e.Name.String()}
	n.Decl = p.lookup(n.Name)
	if d := n.Decl; d != nil && (d.Kind == FuncDecl || d.Fn != nil || d.Kind == ConstDecl && d.Func != p.fn) {
		p.uses(d, d.Fn)
	}
	return n
}

func (p *parse) unary(e *ast.UnaryExpression, at Span) Expr {
	op := NoOp
	switch e.Operator {
	case token.PLUS:
		op = Add
	case token.MINUS:
		op = Sub
	case token.NOT:
		op = Not
	case token.BITWISE_NOT:
		op = BitNot
	case token.VOID:
		op = Void
	case token.INCREMENT, token.DECREMENT:
		u := &Update{Span: at, Op: Add, Prefix: !e.Postfix, X: p.place(e.Operand)}
		if e.Operator == token.DECREMENT {
			u.Op = Sub
		}
		return u
	default:
		p.errorf(at, diag.UnsupportedExpr, "types are known without it", "`%s` is not in kernels", e.Operator)
		return bad(at)
	}
	return &Unary{at, op, p.expr(e.Operand)}
}

func (p *parse) binary(e *ast.BinaryExpression, at Span) Expr {
	op, ok := binaryOps.Get()[e.Operator]
	if !ok {
		rewrite := ""
		if e.Operator == token.COALESCE {
			rewrite = "leave it out: nothing is null in a kernel"
		}
		p.errorf(at, diag.UnsupportedExpr, rewrite, "`%s` is not in kernels", e.Operator)
		return bad(at)
	}
	if op != LogicalAnd && op != LogicalOr {
		return &Binary{at, op, p.expr(e.Left), p.expr(e.Right)}
	}
	l := &Logical{Span: at, Op: op, X: p.expr(e.Left)}
	p.collect(&l.Sets, func() { l.Y = p.expr(e.Right) })
	return l
}

func (p *parse) assign(e *ast.AssignExpression, at Span) Expr {
	a := &Assign{Span: at}
	if e.Operator != token.ASSIGN {
		op, ok := binaryOps.Get()[e.Operator]
		if !ok {
			p.errorf(at, diag.UnsupportedExpr, "leave it out: nothing is null in a kernel", "`??=` is not in kernels")
			return bad(at)
		}
		a.Op = op
	}
	a.X = p.place(e.Left)
	if a.Op == LogicalAnd || a.Op == LogicalOr {
		p.collect(&a.Sets, func() {
			a.Y = p.expr(e.Right)
			p.assignTo(a.X)
		})
		return a
	}
	a.Y = p.expr(e.Right)
	return a
}

// place parses the target of an assignment and records the assigned variables. It reports names that cannot be assigned.
func (p *parse) place(e ast.Expression) Expr {
	x := p.target(e)
	p.assignTo(x)
	return x
}

func (p *parse) assignTo(x Expr) {
	switch x := x.(type) {
	case *Name:
		switch d := x.Decl; {
		case d == nil:
			p.errorf(x.Span, diag.AssignConst, "store results in a buffer; declare variables with `let`",
				"%s is captured from the script: a kernel cannot assign it", x.Name)
		case d.Kind == ConstDecl || d.Kind == FuncDecl:
			err := p.src.Diagnostic(x.Span, diag.AssignConst, "declare it with `let`", x.Name+" is a constant")
			err.Notes = []diag.Note{{Position: p.src.At(d.Pos), Message: "declared here"}}
			p.errs = append(p.errs, err)
		default:
			p.assigned(d)
		}
	case *ArrayPat:
		for _, e := range x.Elems {
			if e != nil {
				p.assignTo(e)
			}
		}
	case *ObjectPat:
		for _, pr := range x.Props {
			p.assignTo(pr.Value)
		}
	}
}

// target parses the left side of an assignment or declaration, whose names are already declared.
func (p *parse) target(e ast.Expression) Expr {
	at := p.span(e)
	switch e := e.(type) {
	case *ast.Identifier:
		return &Name{p.nameSpan(e), e.Name.String(), p.lookup(e.Name.String())}
	case *ast.DotExpression, *ast.BracketExpression:
		return p.expr(e)
	case *ast.ArrayPattern:
		pat := &ArrayPat{Span: at}
		if e.Rest != nil {
			p.errorf(p.span(e.Rest), diag.BadPattern, "name each element", "a pattern in a kernel has no rest element")
		}
		for _, x := range e.Elements {
			if x == nil {
				pat.Elems = append(pat.Elems, nil)
				continue
			}
			pat.Elems = append(pat.Elems, p.target(x))
		}
		return pat
	case *ast.ObjectPattern:
		pat := &ObjectPat{Span: at}
		if e.Rest != nil {
			p.errorf(p.span(e.Rest), diag.BadPattern, "name each field", "a pattern in a kernel has no rest element")
		}
		for _, x := range e.Properties {
			switch x := x.(type) {
			case *ast.PropertyShort:
				if x.Initializer != nil {
					p.errorf(p.span(x), diag.BadPattern, "leave it out: every field has a value", "a pattern in a kernel has no default values")
				}
				s := p.nameSpan(&x.Name)
				pat.Props = append(pat.Props, Prop{Span: s, Name: x.Name.Name.String(), Value: p.target(&x.Name)})
			case *ast.PropertyKeyed:
				name, ok := keyName(x)
				if !ok {
					p.errorf(p.span(x), diag.BadPattern, "name the field", "a computed name is not in kernels")
					continue
				}
				pat.Props = append(pat.Props, Prop{Span: p.span(x), Name: name, Value: p.target(x.Value)})
			}
		}
		return pat
	case *ast.AssignExpression:
		p.errorf(at, diag.BadPattern, "leave it out: every element has a value", "a pattern in a kernel has no default values")
	default:
		p.errorf(at, diag.BadAssignTarget, "assign to a variable, an element or a field", "this cannot be assigned to")
	}
	return bad(at)
}

// pattern parses a parameter and declares its names.
func (p *parse) pattern(e ast.Expression, kind DeclKind) Expr {
	p.predeclare(e, kind)
	return p.target(e)
}

// keyName returns the name of a key, or false if the key is computed, or neither a name nor a string.
func keyName(x *ast.PropertyKeyed) (string, bool) {
	if x.Computed {
		return "", false
	}
	switch k := x.Key.(type) {
	case *ast.StringLiteral:
		return k.Value.String(), true
	case *ast.Identifier:
		return k.Name.String(), true
	}
	return "", false
}

func (p *parse) object(e *ast.ObjectLiteral, at Span) Expr {
	o := &Object{Span: at}
	for _, x := range e.Value {
		switch x := x.(type) {
		case *ast.PropertyShort:
			s := p.nameSpan(&x.Name)
			o.Props = append(o.Props, Prop{Span: s, Name: x.Name.Name.String(), Value: p.name(&x.Name)})
		case *ast.PropertyKeyed:
			name, ok := keyName(x)
			if !ok || x.Kind != ast.PropertyKindValue {
				p.errorf(p.span(x), diag.NoObject, "write name: value", "a record has fields with plain names only")
				continue
			}
			o.Props = append(o.Props, Prop{Span: p.span(x), Name: name, Value: p.expr(x.Value)})
		case *ast.SpreadElement:
			o.Props = append(o.Props, Prop{Span: p.span(x.Expression), Spread: true, Value: p.expr(x.Expression)})
		}
	}
	return o
}

func (p *parse) template(e *ast.TemplateLiteral, at Span) Expr {
	if e.Tag != nil {
		p.errorf(at, diag.NoString, "use a plain template string", "tagged templates are not in kernels")
		return bad(at)
	}
	t := &Template{Span: at}
	for _, el := range e.Elements {
		t.Texts = append(t.Texts, el.Parsed.String())
	}
	for _, x := range e.Expressions {
		t.Values = append(t.Values, p.expr(x))
	}
	return t
}
