package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (p *parser) parsePrimary(c *cover) ast.Expression {
	t := p.tok
	at := idx(t.start)
	switch t.kind {
	case token.IDENTIFIER:
		return p.parseWord()
	case token.NUMBER:
		p.next()
		literal := p.src[t.start:t.end]
		if t.octal > 0 {
			literal = "0" // the interpreter's compiler has its own check of octal literals
		}
		return &ast.NumberLiteral{Idx: at, Literal: literal, Value: t.number}
	case token.STRING:
		p.next()
		return &ast.StringLiteral{Idx: at, Literal: p.src[t.start:t.end], Value: t.str}
	case token.BACKTICK:
		return p.parseTemplate(false)
	case token.SLASH, token.QUOTIENT_ASSIGN:
		pattern, flags := p.scanRegExp()
		p.tok.end = p.pos
		end := p.pos
		p.next()
		return &ast.RegExpLiteral{Idx: at, Literal: p.src[t.start:end], Pattern: pattern, Flags: flags}
	case token.LEFT_PARENTHESIS:
		return p.parseParenthesized()
	case token.LEFT_BRACKET:
		return p.parseArray(c)
	case token.LEFT_BRACE:
		return p.parseObject(c)
	}
	p.unexpected()
	return nil
}

// parseWord parses a primary expression that begins with a word.
func (p *parser) parseWord() ast.Expression {
	t := p.tok
	at := idx(t.start)
	if !t.escaped {
		switch t.text {
		case "this":
			p.next()
			return &ast.ThisExpression{Idx: at}
		case "null":
			p.next()
			return &ast.NullLiteral{Idx: at, Literal: t.text}
		case "true", "false":
			p.next()
			return &ast.BooleanLiteral{Idx: at, Literal: t.text, Value: t.text == "true"}
		case "function":
			return p.parseFunction(t.start, functionExpression)
		case "class":
			return p.parseClass(classExpression)
		case "super":
			return p.parseSuper()
		case "import":
			return p.parseImportExpression()
		case "new":
			return p.parseNew()
		case "async":
			if next := p.peek(); !next.newline {
				if next.word("function") {
					return p.parseFunction(t.start, functionExpression)
				}
				if next.kind == token.IDENTIFIER && p.arrowAt == t.start {
					return p.parseAsyncNameArrow()
				}
			}
		}
	}
	arrowAt := p.arrowAt
	id := p.parseIdentifier()
	if arrowAt == t.start && p.is(token.ARROW) && !p.tok.newline {
		if t.word("await") && p.fn.async {
			p.unexpected()
		}
		params := &ast.ParameterList{Opening: at, Closing: at, List: []*ast.Binding{{Target: id}}}
		return p.parseArrow(t.start, params, false)
	}
	return id
}

// parseAsyncNameArrow parses "async x => …", or the name async.
func (p *parser) parseAsyncNameArrow() ast.Expression {
	start := p.tok.start
	s := p.save()
	p.next()
	nameTok := p.tok
	after := p.peek()
	if after.kind != token.ARROW || after.newline {
		p.restore(s)
		return p.parseIdentifier()
	}
	if nameTok.text == "await" {
		p.fail(nameTok.start, "The name await is reserved here")
	}
	param := p.parseIdentifier()
	params := &ast.ParameterList{Opening: param.Idx, Closing: param.Idx, List: []*ast.Binding{{Target: param}}}
	return p.parseArrow(start, params, true)
}

// parseIdentifier parses a reference to a name, or the name of a binding.
func (p *parser) parseIdentifier() *ast.Identifier {
	t := p.tok
	if t.kind != token.IDENTIFIER {
		p.unexpected()
	}
	p.checkName(t.text, t.start, t.end)
	p.next()
	return &ast.Identifier{Name: name(t.text), Idx: idx(t.start)}
}

func (p *parser) parseSuper() ast.Expression {
	at := p.tok.start
	p.next()
	e := &ast.SuperExpression{Idx: idx(at)}
	switch p.tok.kind {
	case token.LEFT_PARENTHESIS:
		if !p.fn.superCall {
			p.fail(at, "'super' keyword unexpected here")
		}
	case token.PERIOD, token.LEFT_BRACKET:
		if !p.fn.superProperty {
			p.fail(at, "'super' keyword unexpected here")
		}
	default:
		p.fail(at, "'super' keyword unexpected here")
	}
	return e
}

// parseParenthesized parses an expression in parentheses, or an arrow function.
func (p *parser) parseParenthesized() ast.Expression {
	start := p.tok.start
	mayBeArrow := p.arrowAt == start
	yieldAt, awaitAt := p.yieldAt, p.awaitAt
	p.yieldAt, p.awaitAt = 0, 0
	p.next()
	var list []ast.Expression
	var c cover
	rest, lastComma := -1, -1
	for !p.is(token.RIGHT_PARENTHESIS) {
		if p.is(token.ELLIPSIS) {
			rest = p.tok.start
			p.next()
			list = append(list, &ast.SpreadElement{Expression: p.parseBindingTarget()})
			if p.is(token.ASSIGN) {
				p.fail(p.tok.start, "A rest parameter has no default value")
			}
			break
		}
		var own cover
		list = append(list, p.parseAssign(false, &own))
		own.merge(c)
		c = own
		lastComma = -1
		if !p.is(token.RIGHT_PARENTHESIS) {
			lastComma = p.tok.start
			p.expect(token.COMMA)
		}
	}
	end := p.expect(token.RIGHT_PARENTHESIS)
	if mayBeArrow && p.is(token.ARROW) && !p.tok.newline {
		if p.yieldAt > 0 {
			p.fail(p.yieldAt-1, "Yield expression not allowed in formal parameter")
		}
		if p.awaitAt > 0 {
			p.fail(p.awaitAt-1, "Illegal await-expression in formal parameters")
		}
		p.yieldAt, p.awaitAt = yieldAt, awaitAt
		return p.parseArrow(start, p.toParameters(list, start, end), false)
	}
	switch {
	case len(list) == 0:
		if p.tok.kind == tokenEnd {
			p.unexpected()
		}
		p.fail(end, "Unexpected token )")
	case rest >= 0:
		p.fail(rest, "Unexpected token ...")
	case lastComma >= 0:
		p.fail(lastComma, "Unexpected token ,")
	}
	p.checkCover(&c)
	if yieldAt > 0 {
		p.yieldAt = yieldAt
	}
	if awaitAt > 0 {
		p.awaitAt = awaitAt
	}
	e := list[0]
	if len(list) > 1 {
		e = &ast.SequenceExpression{Sequence: list}
	}
	if p.parens == nil {
		p.parens = map[ast.Expression]int{}
	}
	p.parens[e] = start + 1
	return e
}

// parseAsyncArrow parses "async (…)" at the parenthesis: an arrow function, or a call of async.
func (p *parser) parseAsyncArrow(start int, callee ast.Expression) ast.Expression {
	open := p.tok.start
	yieldAt, awaitAt, awaitNameAt := p.yieldAt, p.awaitAt, p.awaitNameAt
	p.yieldAt, p.awaitAt, p.awaitNameAt = 0, 0, 0
	p.next()
	var list []ast.Expression
	var c cover
	comma := -1
	for !p.is(token.RIGHT_PARENTHESIS) {
		var own cover
		if p.is(token.ELLIPSIS) {
			p.next()
			spread := &ast.SpreadElement{Expression: p.parseAssign(false, &own)}
			list = append(list, spread)
			if p.is(token.COMMA) && comma < 0 {
				comma = p.tok.start
			}
		} else {
			list = append(list, p.parseAssign(false, &own))
		}
		own.merge(c)
		c = own
		if !p.is(token.RIGHT_PARENTHESIS) {
			p.expect(token.COMMA)
		}
	}
	shut := p.expect(token.RIGHT_PARENTHESIS)
	if p.is(token.ARROW) && !p.tok.newline {
		switch {
		case p.yieldAt > 0:
			p.fail(p.yieldAt-1, "Yield expression not allowed in formal parameter")
		case p.awaitAt > 0:
			p.fail(p.awaitAt-1, "Illegal await-expression in formal parameters of async function")
		case p.awaitNameAt > 0:
			p.fail(p.awaitNameAt-1, "The name await is reserved in async functions")
		case comma >= 0:
			p.fail(comma, "A rest parameter must be the last one")
		}
		p.yieldAt, p.awaitAt, p.awaitNameAt = yieldAt, awaitAt, awaitNameAt
		return p.parseArrow(start, p.toParameters(list, open, shut), true)
	}
	p.checkCover(&c)
	for to, from := range map[*int]int{&p.yieldAt: yieldAt, &p.awaitAt: awaitAt, &p.awaitNameAt: awaitNameAt} {
		if from > 0 {
			*to = from
		}
	}
	return &ast.CallExpression{Callee: callee, LeftParenthesis: idx(open), ArgumentList: list, RightParenthesis: idx(shut)}
}
