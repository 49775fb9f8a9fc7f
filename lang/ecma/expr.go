package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/later"
)

const tokenEnd = token.EOF

// A cover holds offsets, plus one, of syntax that only patterns or only expressions may contain. An offset of 0 means none.
type cover struct {
	initializer int // {a = 1}
	proto       int // a second __proto__
	comma       int // a comma behind a spread element
}

func (p *parser) is(kind token.Token) bool { return p.tok.kind == kind }

func (p *parser) eat(kind token.Token) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of a kind and returns its offset. It fails at another token.
func (p *parser) expect(kind token.Token) int {
	if p.tok.kind != kind {
		p.unexpected()
	}
	at := p.tok.start
	p.next()
	return at
}

func (p *parser) eatWord(w string) bool {
	if !p.tok.word(w) {
		return false
	}
	p.next()
	return true
}

func (p *parser) parseExpression(noIn bool, c *cover) ast.Expression {
	e := p.parseAssign(noIn, c)
	if !p.is(token.COMMA) {
		return e
	}
	list := []ast.Expression{e}
	for p.eat(token.COMMA) {
		list = append(list, p.parseAssign(noIn, c))
	}
	return &ast.SequenceExpression{Sequence: list}
}

var assignOperators = later.Value[map[token.Token]token.Token]{Make: func() map[token.Token]token.Token {
	return map[token.Token]token.Token{
		token.ASSIGN: token.ASSIGN, token.ADD_ASSIGN: token.PLUS, token.SUBTRACT_ASSIGN: token.MINUS, token.MULTIPLY_ASSIGN: token.MULTIPLY,
		token.EXPONENT_ASSIGN: token.EXPONENT, token.QUOTIENT_ASSIGN: token.SLASH, token.REMAINDER_ASSIGN: token.REMAINDER,
		token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.EXCLUSIVE_OR_ASSIGN: token.EXCLUSIVE_OR,
		token.SHIFT_LEFT_ASSIGN: token.SHIFT_LEFT, token.SHIFT_RIGHT_ASSIGN: token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT_ASSIGN: token.UNSIGNED_SHIFT_RIGHT,
		token.LOGICAL_AND_ASSIGN: token.LOGICAL_AND, token.LOGICAL_OR_ASSIGN: token.LOGICAL_OR, token.COALESCE_ASSIGN: token.COALESCE,
	}
}}

// parseAssign parses an AssignmentExpression. noIn excludes the operator in. If c is nil, it fails for syntax that only patterns have;
// otherwise it records this syntax in c, for the caller to check.
func (p *parser) parseAssign(noIn bool, c *cover) ast.Expression {
	p.deepen()
	defer p.rise()
	if p.fn.generator && p.tok.kind == token.IDENTIFIER && p.tok.text == "yield" {
		return p.parseYield(noIn)
	}
	own := c == nil
	var outer cover
	if own {
		c = &cover{}
	} else {
		outer = *c
		*c = cover{}
	}
	start := p.tok.start
	if k := p.tok.kind; k == token.LEFT_PARENTHESIS || k == token.IDENTIFIER {
		p.arrowAt, p.noIn = start, noIn
	}
	left := p.parseConditional(noIn, c)
	if op, ok := assignOperators.Get()[p.tok.kind]; ok && !isArrow(left) {
		_, parenthesized := p.parens[left]
		if p.is(token.ASSIGN) {
			left = p.toTarget(left, false, true)
			switch left.(type) {
			case *ast.ObjectPattern, *ast.ArrayPattern:
				*c = cover{}
			}
		} else {
			p.checkSimpleTarget(left)
		}
		p.next()
		right := p.parseAssign(noIn, nil)
		if _, isName := left.(*ast.Identifier); isName && parenthesized && isAnonymous(right) { // such a target names no function
			right = &ast.SequenceExpression{Sequence: []ast.Expression{right}}
		}
		left = &ast.AssignExpression{Operator: op, Left: left, Right: right}
	}
	if own {
		p.checkCover(c)
	} else {
		c.merge(outer)
	}
	return left
}

// merge takes over the offsets that first has, which were recorded earlier than those of c.
func (c *cover) merge(first cover) {
	for _, x := range []struct {
		to   *int
		from int
	}{{&c.initializer, first.initializer}, {&c.proto, first.proto}, {&c.comma, first.comma}} {
		if x.from > 0 {
			*x.to = x.from
		}
	}
}

// checkCover fails if c has recorded syntax that only patterns may contain.
func (p *parser) checkCover(c *cover) {
	if c.initializer > 0 {
		p.fail(c.initializer-1, "Invalid shorthand property initializer")
	}
	if c.proto > 0 {
		p.fail(c.proto-1, "Duplicate __proto__ fields are not allowed in object literals")
	}
}

func isArrow(e ast.Expression) bool {
	_, ok := e.(*ast.ArrowFunctionLiteral)
	return ok
}

// isAnonymous reports whether e is a function or class that takes the name of what it is assigned to.
func isAnonymous(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.FunctionLiteral:
		return e.Name == nil
	case *ast.ClassLiteral:
		return e.Name == nil
	case *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

func (p *parser) parseConditional(noIn bool, c *cover) ast.Expression {
	start := p.tok.start
	test := p.parseBinary(noIn, c)
	if isArrow(test) && offsetOf(test) == start && p.parens[test] == 0 {
		return test
	}
	if !p.is(token.QUESTION_MARK) {
		return test
	}
	p.next()
	consequent := p.parseAssign(false, nil)
	p.expect(token.COLON)
	return &ast.ConditionalExpression{Test: test, Consequent: consequent, Alternate: p.parseAssign(noIn, nil)}
}

// precedence returns the precedence of the current token as a binary operator, or 0 if it is none, and the token.
func (p *parser) precedence(noIn bool) (int, token.Token) {
	switch k := p.tok.kind; k {
	case token.COALESCE:
		return 1, k
	case token.LOGICAL_OR:
		return 2, k
	case token.LOGICAL_AND:
		return 3, k
	case token.OR:
		return 4, k
	case token.EXCLUSIVE_OR:
		return 5, k
	case token.AND:
		return 6, k
	case token.EQUAL, token.NOT_EQUAL, token.STRICT_EQUAL, token.STRICT_NOT_EQUAL:
		return 7, k
	case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL:
		return 8, k
	case token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
		return 9, k
	case token.PLUS, token.MINUS:
		return 10, k
	case token.MULTIPLY, token.SLASH, token.REMAINDER:
		return 11, k
	case token.EXPONENT:
		return 12, k
	case token.IDENTIFIER:
		switch {
		case p.tok.word("instanceof"):
			return 8, token.INSTANCEOF
		case p.tok.word("in") && !noIn:
			return 8, token.IN
		}
	}
	return 0, 0
}

func (p *parser) parseBinary(noIn bool, c *cover) ast.Expression {
	start := p.tok.start
	var left ast.Expression
	if p.is(token.PRIVATE_IDENTIFIER) {
		id := p.parsePrivateName()
		if !p.tok.word("in") || noIn {
			p.unexpected()
		}
		left = id
		return p.climb(left, start, 0, noIn, true)
	}
	left = p.parseUnary(c)
	if isArrow(left) && offsetOf(left) == start && p.parens[left] == 0 {
		return left
	}
	return p.climb(left, start, 0, noIn, false)
}

// climb parses the binary operators behind left that bind closer than level. private is true if left is a private name, which
// only in may follow.
func (p *parser) climb(left ast.Expression, start, level int, noIn, private bool) ast.Expression {
	for n := 0; ; n++ {
		p.checkDepth(n)
		prec, op := p.precedence(noIn)
		if prec <= level {
			return left
		}
		if private && prec > 8 {
			p.unexpected()
		}
		at := p.tok.start
		p.next()
		rightStart := p.tok.start
		var right ast.Expression
		if op == token.EXPONENT {
			if u, ok := left.(*ast.UnaryExpression); ok && !u.Postfix && u.Operator != token.INCREMENT && u.Operator != token.DECREMENT && p.parens[left] == 0 {
				p.fail(at, "A unary operator before ** needs parentheses")
			}
			if _, ok := left.(*ast.AwaitExpression); ok && p.parens[left] == 0 {
				p.fail(at, "A unary operator before ** needs parentheses")
			}
			p.deepen()
			right = p.climb(p.parseOperand(), rightStart, prec-1, noIn, false)
			p.rise()
		} else {
			if p.is(token.PRIVATE_IDENTIFIER) {
				if prec >= 8 {
					p.unexpected()
				}
				id := p.parsePrivateName()
				if !p.tok.word("in") || noIn {
					p.unexpected()
				}
				right = p.climb(id, rightStart, prec, noIn, true)
			} else {
				right = p.climb(p.parseOperand(), rightStart, prec, noIn, false)
			}
		}
		e := &ast.BinaryExpression{Operator: op, Left: left, Right: right}
		switch op {
		case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.EQUAL, token.NOT_EQUAL, token.STRICT_EQUAL, token.STRICT_NOT_EQUAL:
			e.Comparison = true
		case token.COALESCE, token.LOGICAL_OR, token.LOGICAL_AND:
			p.checkMixed(op, left, at)
			p.checkMixed(op, right, at)
		}
		left, private = e, false
	}
}

// parseOperand parses the operand of a unary operator, or the first operand to the right of a binary one. Neither can be an arrow
// function.
func (p *parser) parseOperand() ast.Expression {
	p.arrowAt = -1
	return p.parseUnary(nil)
}

// checkMixed fails if ?? and || or && stand together without parentheses.
func (p *parser) checkMixed(op token.Token, operand ast.Expression, at int) {
	b, ok := operand.(*ast.BinaryExpression)
	if !ok || p.parens[operand] > 0 {
		return
	}
	logical := b.Operator == token.LOGICAL_OR || b.Operator == token.LOGICAL_AND
	if op == token.COALESCE && logical || op != token.COALESCE && b.Operator == token.COALESCE {
		p.fail(at, "?? and || or && cannot be mixed without parentheses")
	}
}

func (p *parser) parsePrivateName() *ast.PrivateIdentifier {
	t := p.tok
	p.usePrivate(t.text, t.start)
	p.next()
	return &ast.PrivateIdentifier{Identifier: ast.Identifier{Name: name(t.text), Idx: idx(t.start)}}
}

func (p *parser) parseUnary(c *cover) ast.Expression {
	p.deepen()
	defer p.rise()
	start := p.tok.start
	var op token.Token
	switch p.tok.kind {
	case token.PLUS, token.MINUS, token.NOT, token.BITWISE_NOT:
		op = p.tok.kind
	case token.INCREMENT, token.DECREMENT:
		op = p.tok.kind
		p.next()
		operand := p.parseOperand()
		p.checkSimpleTarget(operand)
		return &ast.UnaryExpression{Operator: op, Idx: idx(start), Operand: operand}
	case token.IDENTIFIER:
		if p.tok.escaped {
			break
		}
		switch p.tok.text {
		case "typeof":
			op = token.TYPEOF
		case "void":
			op = token.VOID
		case "delete":
			op = token.DELETE
		case "await":
			if p.awaitIsOperator() {
				return p.parseAwait()
			}
		}
	}
	if op != 0 {
		p.next()
		operand := p.parseOperand()
		if op == token.DELETE {
			p.checkDelete(operand, start)
		}
		return &ast.UnaryExpression{Operator: op, Idx: idx(start), Operand: operand}
	}
	e := p.parseLeftHandSide(c)
	if k := p.tok.kind; (k == token.INCREMENT || k == token.DECREMENT) && !p.tok.newline && !isArrowAt(e, start, p) {
		at := p.tok.start
		p.checkSimpleTarget(e)
		p.next()
		return &ast.UnaryExpression{Operator: k, Idx: idx(at), Operand: e, Postfix: true}
	}
	return e
}

func isArrowAt(e ast.Expression, start int, p *parser) bool {
	return isArrow(e) && offsetOf(e) == start && p.parens[e] == 0
}

// awaitIsOperator reports whether await is an operator here, not a name.
func (p *parser) awaitIsOperator() bool { return p.fn.async }

func (p *parser) parseAwait() ast.Expression {
	at := p.tok.start
	if p.awaitAt == 0 {
		p.awaitAt = at + 1
	}
	p.next()
	return &ast.AwaitExpression{Await: idx(at), Argument: p.parseOperand()}
}

func (p *parser) parseYield(noIn bool) ast.Expression {
	at := p.tok.start
	if p.tok.escaped {
		p.fail(at, "A keyword must not contain escapes")
	}
	if p.yieldAt == 0 {
		p.yieldAt = at + 1
	}
	p.next()
	y := &ast.YieldExpression{Yield: idx(at)}
	switch {
	case p.tok.newline:
		return y
	case p.is(token.MULTIPLY):
		p.next()
		y.Delegate = true
		y.Argument = p.parseAssign(noIn, nil)
	case p.startsExpression():
		y.Argument = p.parseAssign(noIn, nil)
	}
	return y
}

// startsExpression reports whether the current token may begin an expression. It returns false for the words in and of.
func (p *parser) startsExpression() bool {
	switch p.tok.kind {
	case token.EOF, token.SEMICOLON, token.RIGHT_BRACE, token.RIGHT_BRACKET, token.RIGHT_PARENTHESIS, token.COMMA, token.COLON, token.QUESTION_MARK:
		return false
	case token.IDENTIFIER:
		return !p.tok.word("in") && !p.tok.word("of")
	}
	return true
}

// checkDelete fails if the operand of a delete at an offset is a private member or, in strict code, a name.
func (p *parser) checkDelete(e ast.Expression, at int) {
	if _, isName := e.(*ast.Identifier); isName && p.strict {
		p.fail(at, "Delete of an unqualified identifier in strict mode")
	}
	for {
		switch x := e.(type) {
		case *ast.OptionalChain:
			e = x.Expression
			continue
		case *ast.PrivateDotExpression:
			p.fail(at, "Private fields can not be deleted")
		}
		return
	}
}

func (p *parser) parseLeftHandSide(c *cover) ast.Expression {
	start := p.tok.start
	var e ast.Expression
	if p.tok.word("new") {
		e = p.parseNew()
	} else {
		e = p.parsePrimary(c)
	}
	if isArrowAt(e, start, p) {
		return e
	}
	return p.parseChain(e, start, false)
}

// parseChain parses member accesses and calls behind e; without calls if noCalls is set.
func (p *parser) parseChain(e ast.Expression, start int, noCalls bool) ast.Expression {
	id, async := e.(*ast.Identifier)
	async = async && id.Name == "async" && p.parens[e] == 0 && p.src[start:p.prevEnd] == "async" && !p.tok.newline && start == p.arrowAt && !noCalls
	optional := false
	for n := 0; ; n++ {
		p.checkDepth(n)
		switch p.tok.kind {
		case token.QUESTION_DOT:
			if noCalls {
				p.fail(p.tok.start, "Optional chaining is not allowed in the callee of new")
			}
			if _, super := e.(*ast.SuperExpression); super {
				p.unexpected()
			}
			optional = true
			e = &ast.Optional{Expression: e}
			p.next()
			switch p.tok.kind {
			case token.LEFT_PARENTHESIS, token.LEFT_BRACKET:
			case token.BACKTICK:
				p.unexpected()
			default:
				e = p.parseMemberName(e)
			}
		case token.PERIOD:
			p.next()
			e = p.parseMemberName(e)
		case token.LEFT_BRACKET:
			open := p.tok.start
			p.next()
			member := p.parseExpression(false, nil)
			shut := p.expect(token.RIGHT_BRACKET)
			e = &ast.BracketExpression{Left: e, Member: member, LeftBracket: idx(open), RightBracket: idx(shut)}
		case token.LEFT_PARENTHESIS:
			if noCalls {
				return e
			}
			if async && !optional {
				if arrow := p.parseAsyncArrow(start, e); arrow != nil {
					if isArrow(arrow) {
						return arrow
					}
					e, async = arrow, false
					continue
				}
			}
			open := p.tok.start
			list, shut := p.parseArguments()
			e = &ast.CallExpression{Callee: e, LeftParenthesis: idx(open), ArgumentList: list, RightParenthesis: idx(shut)}
		case token.BACKTICK:
			if optional {
				p.fail(p.tok.start, "Invalid template literal on optional chain")
			}
			t := p.parseTemplate(true)
			t.Tag = e
			e = t
		default:
			if optional {
				markCalls(e)
				e = &ast.OptionalChain{Expression: e}
			}
			return e
		}
		async = false
	}
}

// markCalls marks the calls from the first ?. of a chain on, each by a further spread argument without elements. By the marks package
// instructions knows what is on the stack where the chain ends early. The mark of a call of another call's result is an empty text.
// Other calls get an empty array if they are optional and spread nothing, or if their last spread is an empty text. If no call
// needs a text or has a spread, markCalls changes nothing.
func markCalls(e ast.Expression) {
	var calls []*ast.CallExpression
	needed := false
	for inner := e; inner != nil; inner = behind(inner) {
		if c, ok := inner.(*ast.CallExpression); ok && mayEnd(c.Callee) {
			calls = append(calls, c)
			needed = needed || ofResult(c) || spread(c) != nil
		}
	}
	if !needed {
		return
	}
	for _, c := range calls {
		at := c.RightParenthesis
		_, direct := c.Callee.(*ast.Optional)
		last := spread(c)
		switch text, ok := last.(*ast.StringLiteral); {
		case ofResult(c):
			c.ArgumentList = append(c.ArgumentList, &ast.SpreadElement{Expression: &ast.StringLiteral{Idx: at, Literal: "''"}})
		case ok && text.Value == "", direct && last == nil:
			c.ArgumentList = append(c.ArgumentList, &ast.SpreadElement{Expression: &ast.ArrayLiteral{LeftBracket: at, RightBracket: at}})
		}
	}
}

// behind returns the part of a chain that is evaluated before the last step, or nil.
func behind(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.CallExpression:
		return e.Callee
	case *ast.DotExpression:
		return e.Left
	case *ast.PrivateDotExpression:
		return e.Left
	case *ast.BracketExpression:
		return e.Left
	case *ast.Optional:
		return e.Expression
	}
	return nil
}

// mayEnd reports whether a chain may end early in e.
func mayEnd(e ast.Expression) bool {
	for ; e != nil; e = behind(e) {
		if _, ok := e.(*ast.Optional); ok {
			return true
		}
	}
	return false
}

// ofResult reports whether a call's function is the result of a call behind which the chain may end.
func ofResult(c *ast.CallExpression) bool {
	callee := c.Callee
	if o, ok := callee.(*ast.Optional); ok {
		callee = o.Expression
	}
	inner, ok := callee.(*ast.CallExpression)
	return ok && mayEnd(inner.Callee)
}

// spread returns the last spread argument of a call, or nil.
func spread(c *ast.CallExpression) (last ast.Expression) {
	for _, arg := range c.ArgumentList {
		if s, ok := arg.(*ast.SpreadElement); ok {
			last = s.Expression
		}
	}
	return last
}

func (p *parser) parseMemberName(left ast.Expression) ast.Expression {
	t := p.tok
	switch t.kind {
	case token.PRIVATE_IDENTIFIER:
		if _, super := left.(*ast.SuperExpression); super {
			p.unexpected()
		}
		id := p.parsePrivateName()
		return &ast.PrivateDotExpression{Left: left, Identifier: *id}
	case token.IDENTIFIER:
		p.next()
		return &ast.DotExpression{Left: left, Identifier: ast.Identifier{Name: name(t.text), Idx: idx(t.start)}}
	}
	p.unexpected()
	return nil
}

// parseArguments parses the arguments of a call, at the opening parenthesis. It returns them and the offset of the closing
// one.
func (p *parser) parseArguments() (list []ast.Expression, shut int) {
	p.expect(token.LEFT_PARENTHESIS)
	for !p.is(token.RIGHT_PARENTHESIS) {
		if p.eat(token.ELLIPSIS) {
			list = append(list, &ast.SpreadElement{Expression: p.parseAssign(false, nil)})
		} else {
			list = append(list, p.parseAssign(false, nil))
		}
		if !p.is(token.RIGHT_PARENTHESIS) {
			p.expect(token.COMMA)
		}
	}
	return list, p.expect(token.RIGHT_PARENTHESIS)
}

func (p *parser) parseNew() ast.Expression {
	p.deepen()
	defer p.rise()
	start := p.tok.start
	p.next()
	if p.eat(token.PERIOD) {
		if !p.tok.word("target") {
			p.unexpected()
		}
		if !p.fn.newTarget {
			p.fail(start, "new.target expression is not allowed here")
		}
		property := &ast.Identifier{Name: "target", Idx: idx(p.tok.start)}
		p.next()
		return &ast.MetaProperty{Meta: &ast.Identifier{Name: "new", Idx: idx(start)}, Property: property, Idx: idx(start)}
	}
	calleeStart := p.tok.start
	if p.tok.word("import") {
		if next := p.peek(); next.kind != token.PERIOD || !p.importMetaAhead() {
			p.fail(calleeStart, "Cannot use new with import")
		}
	}
	p.arrowAt = -1
	var callee ast.Expression
	if p.tok.word("new") {
		callee = p.parseNew()
	} else {
		callee = p.parsePrimary(nil)
	}
	callee = p.parseChain(callee, calleeStart, true)
	e := &ast.NewExpression{New: idx(start), Callee: callee}
	if p.is(token.LEFT_PARENTHESIS) {
		e.LeftParenthesis = idx(p.tok.start)
		list, shut := p.parseArguments()
		e.RightParenthesis = idx(shut)
		if e.ArgumentList = list; list == nil {
			e.ArgumentList = []ast.Expression{}
		}
	}
	return e
}
