package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/later"
)

var reserved = later.Value[map[string]bool]{Make: func() map[string]bool {
	return wordSet("break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with")
}}

var strictReserved = later.Value[map[string]bool]{Make: func() map[string]bool {
	return wordSet("implements interface let package private protected public static yield")
}}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for start, i := 0, 0; i <= len(list); i++ {
		if i == len(list) || list[i] == ' ' {
			set[list[start:i]] = true
			start = i + 1
		}
	}
	return set
}

// checkName fails if a word may not be the name of a variable here.
func (p *parser) checkName(w string, at, end int) {
	switch w {
	case "yield":
		if p.fn.generator {
			p.fail(at, "The name yield is reserved in generators")
		}
	case "await":
		if p.fn.async || p.opts.Module || p.fn.noAwait {
			p.fail(at, "The name await is reserved here")
		}
		if p.awaitNameAt == 0 {
			p.awaitNameAt = at + 1
		}
	case "arguments":
		if p.fn.noArguments {
			p.fail(at, "'arguments' is not allowed in class field initializer or static initialization block")
		}
	}
	if reserved.Get()[w] {
		if at >= len(p.src) {
			p.unexpected()
		}
		p.fail(at, "Unexpected token "+p.src[at:end])
	}
	if p.strict && strictReserved.Get()[w] {
		p.fail(at, "The name "+w+" is reserved in strict mode")
	}
}

// checkBound fails for names that strict code may not bind or assign.
func (p *parser) checkBound(w string, at int) {
	if p.strict && (w == "eval" || w == "arguments") {
		p.fail(at, "Assignment to eval or arguments is not allowed in strict mode")
	}
}

const badTarget = "Invalid assignment target"

// checkSimpleTarget fails unless e is a name or member that code here may assign.
func (p *parser) checkSimpleTarget(e ast.Expression) {
	switch t := e.(type) {
	case *ast.Identifier:
		p.checkBound(t.Name.String(), offsetOf(t))
		return
	case *ast.DotExpression:
		if !isImportMeta(t) {
			return
		}
	case *ast.BracketExpression, *ast.PrivateDotExpression:
		return
	}
	p.fail(p.startOf(e), "Invalid left-hand side in assignment")
}

func isImportMeta(e *ast.DotExpression) bool {
	id, ok := e.Left.(*ast.Identifier)
	return ok && id.Name == ImportName
}

// startOf returns the offset of an expression, including its parenthesis.
func (p *parser) startOf(e ast.Expression) int {
	if at := p.parens[e]; at > 0 {
		return at - 1
	}
	return offsetOf(e)
}

// toTarget turns an expression into the target of an assignment or, if binding is set, of a declaration. top is false for a part of a
// pattern.
func (p *parser) toTarget(e ast.Expression, binding, top bool) ast.Expression {
	parenthesized := p.parens[e] > 0
	if binding && parenthesized {
		p.fail(p.startOf(e), badTarget)
	}
	switch t := e.(type) {
	case *ast.ObjectLiteral:
		if parenthesized {
			p.fail(p.startOf(e), badTarget)
		}
		return p.objectPattern(t, binding)
	case *ast.ArrayLiteral:
		if parenthesized {
			p.fail(p.startOf(e), badTarget)
		}
		return p.arrayPattern(t, binding)
	case *ast.ObjectPattern:
		for _, property := range t.Properties {
			if k, ok := property.(*ast.PropertyKeyed); ok {
				k.Value = p.toElement(k.Value, binding)
			}
		}
		if t.Rest != nil {
			t.Rest = p.restName(t.Rest, binding)
		}
		return t
	case *ast.ArrayPattern:
		for i, x := range t.Elements {
			if x != nil {
				t.Elements[i] = p.toElement(x, binding)
			}
		}
		if t.Rest != nil {
			t.Rest = p.toTarget(t.Rest, binding, false)
		}
		return t
	case *ast.Identifier:
		if !binding {
			p.checkBound(t.Name.String(), offsetOf(t))
		}
		return t
	}
	if binding {
		p.fail(p.startOf(e), "Invalid destructuring binding target")
	}
	if top {
		p.checkSimpleTarget(e)
		return e
	}
	switch t := e.(type) {
	case *ast.DotExpression:
		if !isImportMeta(t) {
			return e
		}
	case *ast.BracketExpression, *ast.PrivateDotExpression:
		return e
	}
	p.fail(p.startOf(e), "Invalid destructuring assignment target")
	return nil
}

// toElement turns an expression into an element of a pattern, which may have a default value.
func (p *parser) toElement(e ast.Expression, binding bool) ast.Expression {
	a, ok := e.(*ast.AssignExpression)
	if !ok {
		return p.toTarget(e, binding, false)
	}
	if a.Operator != token.ASSIGN || p.parens[e] > 0 {
		p.fail(p.startOf(e), "Invalid destructuring assignment target")
	}
	a.Left = p.toTarget(a.Left, binding, false)
	return a
}

func (p *parser) restName(e ast.Expression, binding bool) ast.Expression {
	if binding {
		if _, ok := e.(*ast.Identifier); !ok {
			p.fail(p.startOf(e), "A rest element of an object must be a name")
		}
		return p.toTarget(e, true, false)
	}
	switch e.(type) {
	case *ast.ObjectLiteral, *ast.ArrayLiteral, *ast.ObjectPattern, *ast.ArrayPattern:
		p.fail(p.startOf(e), "A rest element of an object must be a name or member")
	}
	return p.toTarget(e, false, false)
}

func (p *parser) objectPattern(o *ast.ObjectLiteral, binding bool) *ast.ObjectPattern {
	t := &ast.ObjectPattern{LeftBrace: o.LeftBrace, RightBrace: o.RightBrace, Properties: o.Value}
	for i, property := range o.Value {
		switch x := property.(type) {
		case *ast.PropertyShort:
			if !binding {
				p.checkBound(x.Name.Name.String(), offsetOf(x))
			}
		case *ast.PropertyKeyed:
			if x.Kind != ast.PropertyKindValue {
				p.fail(offsetOf(x), "Invalid destructuring assignment target")
			}
			x.Value = p.toElement(x.Value, binding)
		case *ast.SpreadElement:
			if comma := p.parens[x]; comma > 0 {
				p.fail(comma-1, "A rest element must be the last one")
			}
			t.Rest = p.restName(x.Expression, binding)
			t.Properties = o.Value[:i]
		}
	}
	return t
}

func (p *parser) arrayPattern(a *ast.ArrayLiteral, binding bool) *ast.ArrayPattern {
	t := &ast.ArrayPattern{LeftBracket: a.LeftBracket, RightBracket: a.RightBracket, Elements: a.Value}
	for i, x := range a.Value {
		if x == nil {
			continue
		}
		if s, ok := x.(*ast.SpreadElement); ok {
			if comma := p.parens[x]; comma > 0 {
				p.fail(comma-1, "A rest element must be the last one")
			}
			if _, assigned := s.Expression.(*ast.AssignExpression); assigned {
				p.fail(p.startOf(s.Expression), "A rest element has no default value")
			}
			t.Rest = p.toTarget(s.Expression, binding, false)
			t.Elements = a.Value[:i]
			break
		}
		a.Value[i] = p.toElement(x, binding)
	}
	return t
}

// parseBindingTarget parses the name or pattern of a declaration.
func (p *parser) parseBindingTarget() ast.BindingTarget {
	switch p.tok.kind {
	case token.LEFT_BRACKET:
		return p.toTarget(p.parseArray(&cover{}), true, true).(ast.BindingTarget)
	case token.LEFT_BRACE:
		return p.toTarget(p.parseObject(&cover{}), true, true).(ast.BindingTarget)
	}
	return p.parseIdentifier()
}

// toParameters turns the expressions in parentheses into the parameters of an arrow function.
func (p *parser) toParameters(list []ast.Expression, open, shut int) *ast.ParameterList {
	params := &ast.ParameterList{Opening: idx(open), Closing: idx(shut)}
	for i, e := range list {
		switch x := e.(type) {
		case *ast.SpreadElement:
			if i != len(list)-1 {
				p.fail(p.startOf(x.Expression), "A rest parameter must be the last one")
			}
			if _, assigned := x.Expression.(*ast.AssignExpression); assigned {
				p.fail(p.startOf(x.Expression), "A rest parameter has no default value")
			}
			params.Rest = p.toTarget(x.Expression, true, false)
		case *ast.AssignExpression:
			p.toElement(x, true)
			params.List = append(params.List, &ast.Binding{Target: x.Left.(ast.BindingTarget), Initializer: x.Right})
		default:
			params.List = append(params.List, &ast.Binding{Target: p.toTarget(e, true, false).(ast.BindingTarget)})
		}
	}
	return params
}

// names calls visit for every name that a target binds.
func names(target ast.Expression, visit func(*ast.Identifier)) {
	switch t := target.(type) {
	case *ast.Identifier:
		visit(t)
	case *ast.AssignExpression:
		names(t.Left, visit)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			names(e, visit)
		}
		names(t.Rest, visit)
	case *ast.ObjectPattern:
		for _, property := range t.Properties {
			switch x := property.(type) {
			case *ast.PropertyShort:
				visit(&x.Name)
			case *ast.PropertyKeyed:
				names(x.Value, visit)
			}
		}
		names(t.Rest, visit)
	}
}

// declareTarget declares the names of a target.
func (p *parser) declareTarget(target ast.Expression, kind bindKind) {
	names(target, func(id *ast.Identifier) {
		w := id.Name.String()
		p.checkBound(w, offsetOf(id))
		if kind == bindLexical && w == "let" {
			p.fail(offsetOf(id), "let is disallowed as a lexically bound name")
		}
		p.declare(w, kind, offsetOf(id))
	})
}
