package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// directives parses the directives at the start of the text.
func (p *parser) directives() { p.program.Body = p.parseDirectives(p.program.Body, nil) }

// parseDirectives parses the directives at the start of a function's body or of the text. The directive "use strict" makes
// the function or the text strict.
func (p *parser) parseDirectives(list []ast.Statement, params *ast.ParameterList) []ast.Statement {
	octal := 0
	for p.is(token.STRING) {
		t := p.tok
		raw := p.src[t.start+1 : t.end-1]
		before := p.save()
		p.next()
		if !p.endsDirective() {
			p.restore(before)
			return list
		}
		if t.octal > 0 {
			octal = t.octal
		}
		if raw == "use strict" {
			if params != nil && !isSimple(params) {
				p.fail(t.start, "Illegal 'use strict' directive in function with non-simple parameter list")
			}
			p.strict = true
			if octal > 0 {
				p.fail(octal-1, "Octal escape sequences are not allowed in strict mode")
			}
			p.restore(before) // the next token is scanned as strict code
			p.next()
		}
		p.semicolon()
		list = append(list, &ast.ExpressionStatement{Expression: &ast.StringLiteral{Idx: idx(t.start), Literal: p.src[t.start:t.end], Value: t.str}})
	}
	return list
}

// endsDirective reports whether the token behind a string ends its statement.
func (p *parser) endsDirective() bool {
	switch p.tok.kind {
	case token.SEMICOLON, token.RIGHT_BRACE, token.EOF:
		return true
	case token.IDENTIFIER:
		return p.tok.newline && !p.tok.word("in") && !p.tok.word("instanceof")
	case token.STRING, token.NUMBER, token.LEFT_BRACE, token.PRIVATE_IDENTIFIER, token.NOT, token.BITWISE_NOT, token.INCREMENT, token.DECREMENT:
		return p.tok.newline
	}
	return false
}

// semicolon consumes the semicolon at the end of a statement. It fails if there is none and none can be inserted.
func (p *parser) semicolon() {
	if p.eat(token.SEMICOLON) || p.is(token.RIGHT_BRACE) || p.is(token.EOF) || p.tok.newline {
		return
	}
	p.unexpected()
}

// appendItem parses a statement or a declaration, at the top level also an import or export, and appends it to a list.
func (p *parser) appendItem(list []ast.Statement) []ast.Statement {
	t := &p.tok
	if t.kind == token.IDENTIFIER && !t.escaped {
		switch t.text {
		case "import":
			if next := p.peek(); next.kind != token.LEFT_PARENTHESIS && next.kind != token.PERIOD {
				return p.parseImport(list)
			}
		case "export":
			return p.parseExport(list)
		}
	}
	if s := p.parseDeclaration(); s != nil {
		return append(list, s)
	}
	return append(list, p.parseStatement())
}

// parseDeclaration parses a declaration, or returns nil at another statement.
func (p *parser) parseDeclaration() ast.Statement {
	t := &p.tok
	if t.kind != token.IDENTIFIER || t.escaped {
		return nil
	}
	switch t.text {
	case "const":
		return p.parseLexical(token.CONST, 0)
	case "let":
		if p.letDeclares() {
			return p.parseLexical(token.LET, 0)
		}
	case "class":
		return &ast.ClassDeclaration{Class: p.parseClass(classStatement)}
	case "function":
		return &ast.FunctionDeclaration{Function: p.parseFunction(t.start, functionStatement)}
	case "async":
		if next := p.peek(); next.word("function") && !next.newline {
			return &ast.FunctionDeclaration{Function: p.parseFunction(t.start, functionStatement)}
		}
	case "using", "await":
		if kind := p.usingAhead(false); kind != 0 {
			return p.parseUsing(kind)
		}
	}
	return nil
}

// letDeclares reports whether the word let begins a declaration.
func (p *parser) letDeclares() bool {
	next := p.peek()
	switch next.kind {
	case token.LEFT_BRACKET, token.LEFT_BRACE:
		return true
	case token.IDENTIFIER:
		if next.escaped {
			return true
		}
		return next.text != "in" && next.text != "instanceof" && (next.text != "of" || !next.newline)
	}
	return false
}

// usingAhead returns the kind of the using declaration at the current token, or 0. loop tells that the token is in the head of a loop,
// where "using of" usually begins no declaration.
func (p *parser) usingAhead(loop bool) UsingKind {
	s := p.save()
	defer p.restore(s)
	kind := Using
	if p.tok.word("await") {
		if !p.awaitIsOperator() {
			return 0
		}
		p.next()
		if !p.tok.word("using") || p.tok.newline {
			return 0
		}
		kind = AwaitUsing
	}
	if !p.tok.word("using") {
		return 0
	}
	p.next()
	t := p.tok
	if t.kind != token.IDENTIFIER || t.newline || reserved.Get()[t.text] && !t.escaped {
		return 0
	}
	if loop && kind == Using && t.word("of") {
		next := p.peek()
		if next.kind != token.ASSIGN && next.kind != token.SEMICOLON && next.kind != token.COLON {
			return 0
		}
	}
	return kind
}

// parseUsing parses a using declaration as a constant.
func (p *parser) parseUsing(kind UsingKind) ast.Statement {
	at := p.tok.start
	switch {
	case p.scope.kind == scopeSwitch:
		p.fail(at, "A using declaration cannot stand directly in a switch; put it into a block")
	case p.scope.kind == scopeTop && p.opts.Eval != nil:
		p.fail(at, "A using declaration cannot stand at the top level of a text for eval")
	}
	if kind == AwaitUsing {
		p.next()
	}
	d := p.parseLexical(token.CONST, at+1)
	p.markUsing(d, kind)
	if p.scope.kind == scopeTop && p.program.TopUsing < 0 {
		p.program.TopUsing = at
	}
	return d
}

func (p *parser) markUsing(n ast.Node, kind UsingKind) {
	if p.program.Using == nil {
		p.program.Using = map[ast.Node]UsingKind{}
	}
	p.program.Using[n] = kind
}

// parseLexical parses a declaration with let or const. using is 0, or the offset of a using declaration plus one.
func (p *parser) parseLexical(kind token.Token, using int) *ast.LexicalDeclaration {
	d := &ast.LexicalDeclaration{Idx: idx(p.tok.start), Token: kind}
	if using > 0 {
		d.Idx = idx(using - 1)
	}
	p.next()
	d.List = p.parseBindings(bindLexical, false, kind == token.CONST, using > 0)
	p.semicolon()
	return d
}

// parseBindings parses the names and initializers of a declaration. In the head of a loop with of or in, a constant or pattern
// needs no initializer.
func (p *parser) parseBindings(kind bindKind, head, constant, using bool) []*ast.Binding {
	var list []*ast.Binding
	for {
		if using && !p.is(token.IDENTIFIER) {
			p.fail(p.tok.start, "A using declaration takes names, no patterns")
		}
		b := &ast.Binding{Target: p.parseBindingTarget()}
		p.declareTarget(b.Target, kind)
		_, isName := b.Target.(*ast.Identifier)
		switch {
		case p.eat(token.ASSIGN):
			b.Initializer = p.parseAssign(head, nil)
		case head && (p.tok.word("of") || p.tok.word("in")):
		case !isName:
			p.fail(p.tok.start, "Missing initializer in destructuring declaration")
		case constant:
			p.fail(p.tok.start, "Missing initializer in const declaration")
		}
		list = append(list, b)
		if !p.eat(token.COMMA) {
			return list
		}
	}
}

func (p *parser) parseVar() *ast.VariableStatement {
	at := idx(p.tok.start)
	p.next()
	list := p.parseBindings(bindVar, false, false, false)
	f := p.scope.function()
	f.declared = append(f.declared, &ast.VariableDeclaration{Var: at, List: list})
	p.semicolon()
	return &ast.VariableStatement{Var: at, List: list}
}

// caught reports whether a declaration of vars repeats the parameter of a catch clause around it, which its initializer then
// assigns. The interpreter refuses that. caught returns false for a declaration with a pattern.
func (p *parser) caught(list []*ast.Binding) bool {
	repeats := false
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			return false
		}
		for s := p.scope; !s.holdsVars(); s = s.outer {
			repeats = repeats || s.kind == scopeCatch && s.lexical[id.Name.String()]
		}
	}
	return repeats
}

// assignments returns an expression that assigns the initializers of a declaration, from which it removes them. Without
// initializers the expression is void 0.
func assignments(v *ast.VariableStatement) ast.Expression {
	e := &ast.SequenceExpression{}
	for _, b := range v.List {
		if b.Initializer != nil {
			id := *b.Target.(*ast.Identifier)
			e.Sequence = append(e.Sequence, &ast.AssignExpression{Operator: token.ASSIGN, Left: &id, Right: b.Initializer})
			b.Initializer = nil // the list of the function's declarations has the binding, too
		}
	}
	if len(e.Sequence) == 0 {
		e.Sequence = append(e.Sequence, &ast.UnaryExpression{Operator: token.VOID, Idx: v.Var, Operand: &ast.NumberLiteral{Idx: v.Var, Literal: "0", Value: int64(0)}})
	}
	return e
}

func (p *parser) parseStatement() ast.Statement {
	p.deepen()
	defer p.rise()
	t := p.tok
	switch t.kind {
	case token.SEMICOLON:
		p.next()
		return &ast.EmptyStatement{Semicolon: idx(t.start)}
	case token.LEFT_BRACE:
		return p.parseBlock(scopeBlock)
	case token.IDENTIFIER:
		if t.escaped {
			break
		}
		switch t.text {
		case "var":
			v := p.parseVar()
			if p.caught(v.List) {
				return &ast.ExpressionStatement{Expression: assignments(v)}
			}
			return v
		case "if":
			return p.parseIf()
		case "for":
			return p.parseFor()
		case "while":
			p.next()
			s := &ast.WhileStatement{While: idx(t.start), Test: p.parseTest()}
			s.Body = p.parseLoopBody()
			return s
		case "do":
			return p.parseDo()
		case "break", "continue":
			return p.parseBranch()
		case "return":
			return p.parseReturn()
		case "switch":
			return p.parseSwitch()
		case "throw":
			p.next()
			if p.tok.newline {
				p.fail(t.start, "Illegal newline after throw")
			}
			s := &ast.ThrowStatement{Throw: idx(t.start), Argument: p.parseExpression(false, nil)}
			p.semicolon()
			return s
		case "try":
			return p.parseTry()
		case "with":
			if p.strict {
				p.fail(t.start, "Strict mode code may not include a with statement")
			}
			p.next()
			s := &ast.WithStatement{With: idx(t.start), Object: p.parseTest()}
			s.Body = p.parseOnlyStatement()
			return s
		case "debugger":
			p.next()
			p.semicolon()
			return &ast.DebuggerStatement{Debugger: idx(t.start)}
		case "class", "const":
			p.fail(t.start, "A declaration cannot stand here; put it into a block")
		case "function":
			p.fail(t.start, "A function cannot be declared here; put it into a block")
		case "async":
			if next := p.peek(); next.word("function") && !next.newline {
				p.fail(t.start, "A function cannot be declared here; put it into a block")
			}
		case "let":
			if next := p.peek(); next.kind == token.LEFT_BRACKET || p.strict && p.letDeclares() {
				p.fail(t.start, "Lexical declaration cannot appear in a single-statement context")
			} else if !next.newline && p.letDeclares() {
				p.fail(t.start, "Lexical declaration cannot appear in a single-statement context")
			}
		case "using", "await":
			if p.usingAhead(false) != 0 {
				p.fail(t.start, "A declaration cannot stand here; put it into a block")
			}
		case "import":
			if next := p.peek(); next.kind != token.LEFT_PARENTHESIS && next.kind != token.PERIOD {
				p.fail(t.start, "import declarations stand at the top level of a module")
			}
		case "export":
			p.fail(t.start, "export declarations stand at the top level of a module")
		}
	}
	e := p.parseExpression(false, nil)
	if id, ok := e.(*ast.Identifier); ok && t.kind == token.IDENTIFIER && p.is(token.COLON) && p.parens[e] == 0 {
		return p.parseLabelled(id)
	}
	p.semicolon()
	if s, ok := e.(*ast.StringLiteral); ok { // no directive, which the interpreter would take it for
		e = &ast.SequenceExpression{Sequence: []ast.Expression{s}}
	}
	return &ast.ExpressionStatement{Expression: e}
}

func (p *parser) parseLabelled(id *ast.Identifier) ast.Statement {
	w := id.Name.String()
	for _, l := range p.fn.labels {
		if l.name == w {
			p.fail(offsetOf(id), "Label '"+w+"' has already been declared")
		}
	}
	s := &ast.LabelledStatement{Label: id, Colon: idx(p.expect(token.COLON))}
	if p.labelEnd != offsetOf(id) || p.labelEnd == 0 { // not directly behind another label, which would name the same statement
		p.labelLoop = p.loopAhead()
	}
	p.labelEnd = p.tok.start
	p.fn.labels = append(p.fn.labels, label{w, p.labelLoop})
	switch {
	case p.tok.word("function") && !p.strict:
		start := p.tok.start
		if next := p.peek(); next.kind == token.MULTIPLY {
			p.fail(start, "Generators can only be declared at top level or inside a block.")
		}
		s.Statement = &ast.FunctionDeclaration{Function: p.parseFunction(start, functionStatement)}
	default:
		s.Statement = p.parseStatement()
	}
	p.fn.labels = p.fn.labels[:len(p.fn.labels)-1]
	return s
}

// loopAhead reports whether a loop follows, possibly behind further labels.
func (p *parser) loopAhead() bool {
	s := p.save()
	defer p.restore(s)
	for p.is(token.IDENTIFIER) && !reserved.Get()[p.tok.text] {
		p.next()
		if !p.is(token.COLON) {
			return false
		}
		p.next()
	}
	return p.tok.word("for") || p.tok.word("while") || p.tok.word("do")
}

func (p *parser) parseBlock(kind scopeKind) *ast.BlockStatement {
	b := &ast.BlockStatement{LeftBrace: idx(p.expect(token.LEFT_BRACE))}
	p.enter(kind)
	for !p.is(token.RIGHT_BRACE) {
		b.List = p.appendItem(b.List)
	}
	p.leave()
	b.RightBrace = idx(p.expect(token.RIGHT_BRACE))
	return b
}

// parseTest parses an expression in parentheses.
func (p *parser) parseTest() ast.Expression {
	p.expect(token.LEFT_PARENTHESIS)
	e := p.parseExpression(false, nil)
	p.expect(token.RIGHT_PARENTHESIS)
	return e
}

func (p *parser) parseIf() ast.Statement {
	s := &ast.IfStatement{If: idx(p.tok.start)}
	p.next()
	s.Test = p.parseTest()
	s.Consequent = p.parseBranchOfIf()
	if p.eatWord("else") {
		s.Alternate = p.parseBranchOfIf()
	}
	return s
}

// parseBranchOfIf parses the body of an if statement. In sloppy code that may be a function, which is put into a block.
func (p *parser) parseBranchOfIf() ast.Statement {
	if !p.tok.word("function") || p.strict {
		return p.parseOnlyStatement()
	}
	start := p.tok.start
	p.enter(scopeBlock)
	f := p.parseFunction(start, functionInIf)
	p.leave()
	return &ast.BlockStatement{LeftBrace: f.Function, RightBrace: f.Body.RightBrace, List: []ast.Statement{&ast.FunctionDeclaration{Function: f}}}
}

// parseOnlyStatement parses the body of a loop, an if or a with statement. It fails if that is a function, even one with a
// label.
func (p *parser) parseOnlyStatement() ast.Statement {
	at := p.tok.start
	s := p.parseStatement()
	for inner := s; ; {
		switch x := inner.(type) {
		case *ast.LabelledStatement:
			inner = x.Statement
			continue
		case *ast.FunctionDeclaration:
			p.fail(at, "A function cannot be declared here; put it into a block")
		}
		return s
	}
}

func (p *parser) parseLoopBody() ast.Statement {
	p.fn.loops++
	p.fn.breaks++
	s := p.parseOnlyStatement()
	p.fn.loops--
	p.fn.breaks--
	return s
}

func (p *parser) parseDo() ast.Statement {
	s := &ast.DoWhileStatement{Do: idx(p.tok.start)}
	p.next()
	s.Body = p.parseLoopBody()
	if !p.eatWord("while") {
		p.unexpected()
	}
	p.expect(token.LEFT_PARENTHESIS)
	s.Test = p.parseExpression(false, nil)
	s.RightParenthesis = idx(p.expect(token.RIGHT_PARENTHESIS))
	p.eat(token.SEMICOLON)
	return s
}

func (p *parser) parseBranch() ast.Statement {
	t := p.tok
	s := &ast.BranchStatement{Idx: idx(t.start), Token: token.BREAK}
	if t.text == "continue" {
		s.Token = token.CONTINUE
	}
	p.next()
	if p.is(token.IDENTIFIER) && !p.tok.newline {
		s.Label = p.parseIdentifier()
		w := s.Label.Name.String()
		found := false
		for _, l := range p.fn.labels {
			if l.name == w {
				if found = true; s.Token == token.CONTINUE && !l.loop {
					p.fail(t.start, "Illegal continue statement: '"+w+"' does not denote an iteration statement")
				}
			}
		}
		if !found {
			p.fail(t.start, "Undefined label '"+w+"'")
		}
	} else if s.Token == token.BREAK && p.fn.breaks == 0 || s.Token == token.CONTINUE && p.fn.loops == 0 {
		p.fail(t.start, "Illegal "+t.text+" statement")
	}
	p.semicolon()
	return s
}

func (p *parser) parseReturn() ast.Statement {
	at := p.tok.start
	if !p.fn.function {
		p.failEarly(at, "return outside a function")
	}
	s := &ast.ReturnStatement{Return: idx(at)}
	p.next()
	if !p.is(token.SEMICOLON) && !p.is(token.RIGHT_BRACE) && !p.is(token.EOF) && !p.tok.newline {
		s.Argument = p.parseExpression(false, nil)
	}
	p.semicolon()
	return s
}

func (p *parser) parseSwitch() ast.Statement {
	s := &ast.SwitchStatement{Switch: idx(p.tok.start), Default: -1}
	p.next()
	s.Discriminant = p.parseTest()
	p.expect(token.LEFT_BRACE)
	p.enter(scopeSwitch)
	p.fn.breaks++
	for !p.is(token.RIGHT_BRACE) {
		c := &ast.CaseStatement{Case: idx(p.tok.start)}
		switch {
		case p.eatWord("case"):
			c.Test = p.parseExpression(false, nil)
		case p.tok.word("default"):
			if s.Default >= 0 {
				p.fail(p.tok.start, "Already saw a default in switch")
			}
			s.Default = len(s.Body)
			p.next()
		default:
			p.unexpected()
		}
		p.expect(token.COLON)
		for !p.is(token.RIGHT_BRACE) && !p.tok.word("case") && !p.tok.word("default") {
			c.Consequent = p.appendItem(c.Consequent)
		}
		s.Body = append(s.Body, c)
	}
	p.fn.breaks--
	p.leave()
	s.RightBrace = idx(p.expect(token.RIGHT_BRACE))
	return s
}

func (p *parser) parseTry() ast.Statement {
	s := &ast.TryStatement{Try: idx(p.tok.start)}
	p.next()
	s.Body = p.parseBlock(scopeBlock)
	if p.tok.word("catch") {
		c := &ast.CatchStatement{Catch: idx(p.tok.start)}
		p.next()
		kind := scopeBlock
		if p.eat(token.LEFT_PARENTHESIS) {
			c.Parameter = p.parseBindingTarget()
			if _, isName := c.Parameter.(*ast.Identifier); isName {
				kind = scopeCatch
			}
			p.expect(token.RIGHT_PARENTHESIS)
		}
		p.enter(kind)
		if c.Parameter != nil {
			p.declareTarget(c.Parameter, bindCatch)
		}
		// The names of the parameter and of the block may not be the same: both are in one scope.
		b := &ast.BlockStatement{LeftBrace: idx(p.expect(token.LEFT_BRACE))}
		for !p.is(token.RIGHT_BRACE) {
			b.List = p.appendItem(b.List)
		}
		p.leave()
		b.RightBrace = idx(p.expect(token.RIGHT_BRACE))
		c.Body = b
		s.Catch = c
	}
	if p.eatWord("finally") {
		s.Finally = p.parseBlock(scopeBlock)
	}
	if s.Catch == nil && s.Finally == nil {
		if p.is(token.EOF) {
			p.unexpected()
		}
		p.fail(offsetOf(s), "Missing catch or finally after try")
	}
	return s
}

func (p *parser) parseFor() ast.Statement {
	at := idx(p.tok.start)
	p.next()
	await := false
	if p.tok.word("await") {
		if !p.awaitIsOperator() {
			p.unexpected()
		}
		if p.awaitAt == 0 {
			p.awaitAt = p.tok.start + 1
		}
		await = true
		p.next()
	}
	p.expect(token.LEFT_PARENTHESIS)
	p.enter(scopeBlock)
	defer p.leave()
	h := p.parseForHead(await)
	if h.into != nil {
		p.next() // of or in
		if h.of {
			source := p.parseAssign(false, nil)
			p.expect(token.RIGHT_PARENTHESIS)
			s := &ast.ForOfStatement{For: at, Into: h.into, Source: source, Body: p.parseLoopBody()}
			if await {
				if p.program.ForAwait == nil {
					p.program.ForAwait = map[*ast.ForOfStatement]bool{}
				}
				p.program.ForAwait[s] = true
			}
			return s
		}
		source := p.parseExpression(false, nil)
		p.expect(token.RIGHT_PARENTHESIS)
		return &ast.ForInStatement{For: at, Into: h.into, Source: source, Body: p.parseLoopBody()}
	}
	if await {
		p.unexpected()
	}
	s := &ast.ForStatement{For: at, Initializer: h.init}
	p.expect(token.SEMICOLON)
	if !p.is(token.SEMICOLON) {
		s.Test = p.parseExpression(false, nil)
	}
	p.expect(token.SEMICOLON)
	if !p.is(token.RIGHT_PARENTHESIS) {
		s.Update = p.parseExpression(false, nil)
	}
	p.expect(token.RIGHT_PARENTHESIS)
	s.Body = p.parseLoopBody()
	return s
}

// A forHead is the part of a loop's head before the first semicolon, of or in. into is nil in a loop with semicolons.
type forHead struct {
	init ast.ForLoopInitializer
	into ast.ForInto
	of   bool
}

// intoAhead reports by ok whether the current token is the word "of" or "in". The result named of is true for "of".
func (p *parser) intoAhead() (of, ok bool) {
	of = p.tok.word("of")
	return of, of || p.tok.word("in")
}

func (p *parser) parseForHead(await bool) forHead {
	if p.is(token.SEMICOLON) {
		return forHead{}
	}
	t := p.tok
	if t.kind == token.IDENTIFIER && !t.escaped {
		switch t.text {
		case "var":
			p.next()
			list := p.parseBindings(bindVar, true, false, false)
			p.scope.function().declared = append(p.scope.function().declared, &ast.VariableDeclaration{Var: idx(t.start), List: list})
			if of, ok := p.intoAhead(); ok {
				p.checkForBinding(list, of, !of && !p.strict)
				if caught := p.caught(list); caught && of {
					p.fail(offsetOf(list[0].Target), "Identifier '"+list[0].Target.(*ast.Identifier).Name.String()+"' has already been declared")
				} else if caught && list[0].Initializer == nil {
					id := *list[0].Target.(*ast.Identifier)
					return forHead{into: &ast.ForIntoExpression{Expression: &id}}
				}
				return forHead{into: &ast.ForIntoVar{Binding: list[0]}, of: of}
			}
			if p.caught(list) {
				v := &ast.VariableStatement{Var: idx(t.start), List: list}
				return forHead{init: &ast.ForLoopInitializerExpression{Expression: assignments(v)}}
			}
			return forHead{init: &ast.ForLoopInitializerVarDeclList{Var: idx(t.start), List: list}}
		case "const":
			return p.parseForLexical(token.CONST, 0)
		case "let":
			if p.letDeclares() {
				return p.parseForLexical(token.LET, 0)
			}
		case "using", "await":
			if kind := p.usingAhead(true); kind != 0 {
				if kind == AwaitUsing {
					p.next()
				}
				return p.parseForLexical(token.CONST, kind)
			}
		}
	}
	var c cover
	e := p.parseForExpression(&c)
	if of, ok := p.intoAhead(); ok {
		if of && p.parens[e] == 0 && (t.word("let") || t.word("async") && !await && p.src[t.start:p.prevEnd] == "async") {
			p.fail(t.start, "The left side of for-of cannot be "+t.text)
		}
		return forHead{into: &ast.ForIntoExpression{Expression: p.toTarget(e, false, true)}, of: of}
	}
	p.checkCover(&c)
	return forHead{init: &ast.ForLoopInitializerExpression{Expression: e}}
}

// parseForExpression parses the expression of a loop's head, in which in is no operator.
func (p *parser) parseForExpression(c *cover) ast.Expression {
	e := p.parseAssign(true, c)
	if !p.is(token.COMMA) {
		return e
	}
	list := []ast.Expression{e}
	for p.eat(token.COMMA) {
		list = append(list, p.parseAssign(true, nil))
	}
	return &ast.SequenceExpression{Sequence: list}
}

func (p *parser) parseForLexical(kind token.Token, using UsingKind) forHead {
	at := idx(p.tok.start)
	p.next()
	list := p.parseBindings(bindLexical, true, kind == token.CONST, using != 0)
	if of, ok := p.intoAhead(); ok {
		p.checkForBinding(list, of, false)
		d := &ast.ForDeclaration{Idx: at, IsConst: kind == token.CONST, Target: list[0].Target}
		if using != 0 {
			if !of {
				p.fail(int(at)-1, "The loop for-in has no using declarations")
			}
			p.markUsing(d, using)
		}
		return forHead{into: d, of: of}
	}
	d := &ast.ForLoopInitializerLexicalDecl{LexicalDeclaration: ast.LexicalDeclaration{Idx: at, Token: kind, List: list}}
	if using != 0 {
		p.markUsing(&d.LexicalDeclaration, using)
	}
	return forHead{init: d}
}

// checkForBinding fails if a loop over elements declares several names or initializes them. initializer allows a value for the name of
// a loop with in.
func (p *parser) checkForBinding(list []*ast.Binding, of, initializer bool) {
	if len(list) != 1 {
		p.fail(offsetOf(list[1]), "A loop over elements declares one name or pattern")
	}
	if b := list[0]; b.Initializer != nil {
		if _, isName := b.Target.(*ast.Identifier); of || !initializer || !isName {
			p.fail(offsetOf(b.Initializer), "for-in loop variable declaration may not have an initializer")
		}
	}
}
