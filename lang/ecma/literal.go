package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

func (p *parser) parseArray(c *cover) ast.Expression {
	open := p.tok.start
	own := c == nil
	if own {
		c = &cover{}
	}
	p.next()
	var list []ast.Expression
	for !p.is(token.RIGHT_BRACKET) {
		switch {
		case p.eat(token.COMMA):
			list = append(list, nil)
			continue
		case p.eat(token.ELLIPSIS):
			list = append(list, &ast.SpreadElement{Expression: p.parseAssign(false, c)})
			if p.is(token.COMMA) {
				p.spreadComma(list[len(list)-1])
			}
		default:
			list = append(list, p.parseAssign(false, c))
		}
		if !p.is(token.RIGHT_BRACKET) {
			p.expect(token.COMMA)
		}
	}
	shut := p.expect(token.RIGHT_BRACKET)
	if own {
		p.checkCover(c)
	}
	return &ast.ArrayLiteral{LeftBracket: idx(open), RightBracket: idx(shut), Value: list}
}

// spreadComma remembers that a comma follows a spread element, which a rest element may not have.
func (p *parser) spreadComma(e ast.Expression) {
	if p.parens == nil {
		p.parens = map[ast.Expression]int{}
	}
	p.parens[e] = p.tok.start + 1
}

func (p *parser) parseTemplate(tagged bool) *ast.TemplateLiteral {
	t := &ast.TemplateLiteral{OpenQuote: idx(p.tok.start)}
	for {
		start := p.pos
		raw, cooked, problem, problemAt, last := p.scanTemplate()
		if problem != "" && !tagged {
			p.fail(problemAt, problem)
		}
		if problem != "" {
			cooked = ""
		}
		t.Elements = append(t.Elements, &ast.TemplateElement{Idx: idx(start), Literal: raw, Parsed: cooked, Valid: problem == ""})
		p.tok.end = p.pos
		if last {
			t.CloseQuote = idx(p.pos - 1)
			p.next()
			return t
		}
		p.next()
		t.Expressions = append(t.Expressions, p.parseExpression(false, nil))
		if !p.is(token.RIGHT_BRACE) {
			p.unexpected()
		}
		p.pos = p.tok.end
	}
}

func (p *parser) parseObject(c *cover) ast.Expression {
	open := p.tok.start
	own := c == nil
	if own {
		c = &cover{}
	}
	p.next()
	o := &ast.ObjectLiteral{LeftBrace: idx(open)}
	proto := false
	for !p.is(token.RIGHT_BRACE) {
		property := p.parseProperty(c)
		if k, ok := property.(*ast.PropertyKeyed); ok && k.Kind == ast.PropertyKindValue && !k.Computed {
			if s, ok := k.Key.(*ast.StringLiteral); ok && s.Value == "__proto__" {
				if proto && c.proto == 0 {
					c.proto = offsetOf(s) + 1
				}
				proto = true
			}
		}
		o.Value = append(o.Value, property)
		if !p.is(token.RIGHT_BRACE) {
			if s, ok := property.(*ast.SpreadElement); ok && p.is(token.COMMA) {
				p.spreadComma(s)
			}
			p.expect(token.COMMA)
		}
	}
	o.RightBrace = idx(p.expect(token.RIGHT_BRACE))
	if own {
		p.checkCover(c)
	}
	return o
}

// A propertyKey is the name of a property or class element.
type propertyKey struct {
	key      ast.Expression
	computed bool
	private  bool
	text     unistring.String // of a name or string
	named    bool             // text is set
	tok      lexeme
}

func (p *parser) parseKey() propertyKey {
	t := p.tok
	k := propertyKey{tok: t}
	switch t.kind {
	case token.IDENTIFIER:
		k.text, k.named = name(t.text), true
		k.key = &ast.StringLiteral{Idx: idx(t.start), Literal: p.src[t.start:t.end], Value: k.text}
	case token.STRING:
		k.text, k.named = t.str, true
		k.key = &ast.StringLiteral{Idx: idx(t.start), Literal: p.src[t.start:t.end], Value: t.str}
	case token.NUMBER:
		literal := p.src[t.start:t.end]
		if t.octal > 0 {
			literal = "0"
		}
		k.key = &ast.NumberLiteral{Idx: idx(t.start), Literal: literal, Value: t.number}
	case token.LEFT_BRACKET:
		p.next()
		k.key, k.computed = p.parseAssign(false, nil), true
		p.expect(token.RIGHT_BRACKET)
		return k
	case token.PRIVATE_IDENTIFIER:
		k.text, k.private = name(t.text), true
		k.key = &ast.PrivateIdentifier{Identifier: ast.Identifier{Name: k.text, Idx: idx(t.start)}}
	default:
		p.unexpected()
	}
	p.next()
	return k
}

func (p *parser) parseProperty(c *cover) ast.Property {
	if p.is(token.ELLIPSIS) {
		p.next()
		return &ast.SpreadElement{Expression: p.parseAssign(false, c)}
	}
	start := p.tok.start
	m := p.parseModifiers(false)
	k := p.parseKey()
	if k.private {
		p.fail(k.tok.start, "Unexpected private name")
	}
	if m.kind != "" || p.is(token.LEFT_PARENTHESIS) {
		kind := m.kind
		if kind == "" {
			kind = ast.PropertyKindMethod
		}
		fn := p.parseMethod(start, kind, m.generator, m.async, false)
		// The interpreter takes each __proto__ that is not computed for the prototype.
		return &ast.PropertyKeyed{Key: k.key, Kind: kind, Value: fn, Computed: k.computed || k.text == "__proto__"}
	}
	if p.eat(token.COLON) {
		return &ast.PropertyKeyed{Key: k.key, Kind: ast.PropertyKindValue, Value: p.parseAssign(false, c), Computed: k.computed}
	}
	if k.tok.kind != token.IDENTIFIER || k.computed {
		p.unexpected()
	}
	p.checkName(k.tok.text, k.tok.start, k.tok.end)
	short := &ast.PropertyShort{Name: ast.Identifier{Name: k.text, Idx: idx(k.tok.start)}}
	if p.is(token.ASSIGN) {
		if c.initializer == 0 {
			c.initializer = p.tok.start + 1
		}
		p.next()
		short.Initializer = p.parseAssign(false, nil)
	}
	return short
}

// modifiers are the words before the name of a method.
type modifiers struct {
	kind             ast.PropertyKind
	async, generator bool
}

// parseModifiers parses get, set, async and * before the name of a method.
func (p *parser) parseModifiers(class bool) (m modifiers) {
	if p.tok.kind == token.IDENTIFIER && !p.tok.escaped {
		w := p.tok.text
		if w == "get" || w == "set" || w == "async" {
			if next := p.peek(); p.keyAhead(next, w == "async", class) {
				p.next()
				switch w {
				case "get":
					m.kind = ast.PropertyKindGet
				case "set":
					m.kind = ast.PropertyKindSet
				default:
					m.kind, m.async = ast.PropertyKindMethod, true
				}
			}
		}
	}
	if (m.kind == "" || m.async) && p.is(token.MULTIPLY) {
		p.next()
		m.kind, m.generator = ast.PropertyKindMethod, true
	}
	return m
}

// keyAhead reports whether next, behind get, set or async, begins the name of a method, or is the * of a generator behind async. async
// tells that the word is async, behind which the line must not end.
func (p *parser) keyAhead(next lexeme, async, class bool) bool {
	switch next.kind {
	case token.IDENTIFIER, token.STRING, token.NUMBER, token.LEFT_BRACKET, token.PRIVATE_IDENTIFIER:
		return !async || !next.newline
	case token.MULTIPLY:
		return async && !next.newline
	}
	return false
}
