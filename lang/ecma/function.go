package ecma

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

type functionMode int

const (
	functionExpression functionMode = iota
	functionStatement
	functionDefault // export default, which needs no name
	functionInIf    // the body of an if statement
)

// parseFunction parses a function at the word async or function.
func (p *parser) parseFunction(start int, mode functionMode) *ast.FunctionLiteral {
	f := &ast.FunctionLiteral{Function: idx(start)}
	if p.tok.word("async") {
		f.Async = true
		p.next()
	}
	p.next() // function
	if p.is(token.MULTIPLY) {
		f.Generator = true
		p.next()
	}
	if mode == functionInIf && (f.Async || f.Generator) {
		p.fail(start, "Only a function that is neither async nor a generator can be the body of an if statement")
	}
	cx := &context{async: f.Async, generator: f.Generator, function: true, newTarget: true}
	switch {
	case mode == functionExpression:
		if p.is(token.IDENTIFIER) {
			outer := p.fn
			p.fn = &context{async: f.Async, generator: f.Generator, noAwait: false}
			f.Name = p.parseIdentifier()
			p.fn = outer
			p.checkBound(f.Name.Name.String(), offsetOf(f.Name))
		}
	case mode == functionDefault && !p.is(token.IDENTIFIER):
	default:
		f.Name = p.parseIdentifier()
		w := f.Name.Name.String()
		p.checkBound(w, offsetOf(f.Name))
		kind := bindFunction
		if p.strict || f.Async || f.Generator {
			if kind = bindLexical; p.functionsAreVars(p.scope) {
				kind = bindVar
			}
		}
		p.declare(w, kind, offsetOf(f.Name))
	}
	p.finishFunction(f, cx, false, "")
	return f
}

func (p *parser) parseMethod(start int, kind ast.PropertyKind, generator, async, derived bool) *ast.FunctionLiteral {
	f := &ast.FunctionLiteral{Function: idx(start), Async: async, Generator: generator}
	cx := &context{async: async, generator: generator, function: true, newTarget: true, superProperty: true, superCall: derived}
	p.finishFunction(f, cx, true, kind)
	return f
}

// finishFunction parses the parameters and the body of a function in the context cx. If method is set, the parameters' names must be
// unique. If kind is that of a getter or setter, finishFunction checks the number of parameters.
func (p *parser) finishFunction(f *ast.FunctionLiteral, cx *context, method bool, kind ast.PropertyKind) {
	if f.Async && f.Generator {
		p.program.AsyncGenerators = true
	}
	leave := p.enterFunction(cx)
	open := p.tok.start
	f.ParameterList = p.parseParameters()
	switch list := f.ParameterList; {
	case kind == ast.PropertyKindGet && (len(list.List) > 0 || list.Rest != nil):
		p.fail(open, "Getter must not have any formal parameters.")
	case kind == ast.PropertyKindSet && (len(list.List) != 1 || list.Rest != nil):
		p.fail(open, "Setter must have exactly one formal parameter.")
	}
	f.Body = p.parseBody(f.ParameterList, method, f.Name)
	f.DeclarationList = p.scope.declared
	f.Source = p.src[offsetOf(f):p.prevEndOf(f.Body)]
	leave()
}

func (p *parser) prevEndOf(b *ast.BlockStatement) int { return int(b.RightBrace) }

// enterFunction enters the context cx and a scope for a function that is parsed. Its result restores the state before.
func (p *parser) enterFunction(cx *context) func() {
	fn, strict, yieldAt, awaitAt, awaitNameAt := p.fn, p.strict, p.yieldAt, p.awaitAt, p.awaitNameAt
	p.yieldAt, p.awaitAt, p.awaitNameAt = 0, 0, 0
	cx.outer = fn
	p.fn = cx
	p.enter(scopeFunction)
	return func() {
		p.leave()
		p.fn, p.strict, p.yieldAt, p.awaitAt, p.awaitNameAt = fn, strict, yieldAt, awaitAt, awaitNameAt
	}
}

func (p *parser) parseParameters() *ast.ParameterList {
	list := &ast.ParameterList{Opening: idx(p.expect(token.LEFT_PARENTHESIS))}
	for !p.is(token.RIGHT_PARENTHESIS) {
		if p.eat(token.ELLIPSIS) {
			list.Rest = p.parseBindingTarget()
			break
		}
		b := &ast.Binding{Target: p.parseBindingTarget()}
		if p.eat(token.ASSIGN) {
			b.Initializer = p.parseAssign(false, nil)
		}
		list.List = append(list.List, b)
		if !p.is(token.RIGHT_PARENTHESIS) {
			p.expect(token.COMMA)
		}
	}
	list.Closing = idx(p.expect(token.RIGHT_PARENTHESIS))
	if p.yieldAt > 0 {
		p.fail(p.yieldAt-1, "Yield expression not allowed in formal parameter")
	}
	if p.awaitAt > 0 {
		p.fail(p.awaitAt-1, "Illegal await-expression in formal parameters of async function")
	}
	return list
}

// isSimple reports whether parameters are names without default values and without a rest parameter.
func isSimple(list *ast.ParameterList) bool {
	for _, b := range list.List {
		if _, ok := b.Target.(*ast.Identifier); !ok || b.Initializer != nil {
			return false
		}
	}
	return list.Rest == nil
}

// parseBody parses the body of a function in braces, and declares the function's parameters. unique is as for declareParameters. If the
// body makes the function strict, it also checks fnName, which may be nil.
func (p *parser) parseBody(params *ast.ParameterList, unique bool, fnName *ast.Identifier) *ast.BlockStatement {
	body := &ast.BlockStatement{LeftBrace: idx(p.tok.start)}
	if !p.is(token.LEFT_BRACE) {
		p.unexpected()
	}
	strict := p.strict
	p.next()
	body.List = p.parseDirectives(nil, params)
	if p.strict && !strict && fnName != nil {
		w := fnName.Name.String()
		p.checkName(w, offsetOf(fnName), offsetOf(fnName)+len(w))
		p.checkBound(w, offsetOf(fnName))
	}
	p.declareParameters(params, unique)
	for !p.is(token.RIGHT_BRACE) {
		body.List = p.appendItem(body.List)
	}
	body.RightBrace = idx(p.tok.start)
	// The token behind a body belongs to the surrounding code.
	if p.strict != strict {
		p.strict = strict
		p.next()
		p.strict = true
	} else {
		p.next()
	}
	return body
}

// declareParameters declares the names of parameters. They must be unique if unique is set, in strict code, and if the parameters are
// not all plain names.
func (p *parser) declareParameters(params *ast.ParameterList, unique bool) {
	unique = unique || p.strict || !isSimple(params)
	declare := func(id *ast.Identifier) {
		w := id.Name.String()
		p.checkBound(w, offsetOf(id))
		if p.strict && strictReserved.Get()[w] {
			p.fail(offsetOf(id), "The name "+w+" is reserved in strict mode")
		}
		if unique && p.scope.vars[w] {
			p.fail(offsetOf(id), "Duplicate parameter name not allowed in this context")
		}
		p.declare(w, bindParam, offsetOf(id))
	}
	for _, b := range params.List {
		names(b.Target, declare)
	}
	names(params.Rest, declare)
}

// parseArrow parses an arrow function at the arrow.
func (p *parser) parseArrow(start int, params *ast.ParameterList, async bool) ast.Expression {
	noIn := p.noIn
	outer := p.fn
	cx := &context{async: async, arrow: true, function: true, newTarget: outer.newTarget,
		superProperty: outer.superProperty, superCall: outer.superCall, noArguments: outer.noArguments}
	leave := p.enterFunction(cx)
	f := &ast.ArrowFunctionLiteral{Start: idx(start), ParameterList: params, Async: async}
	p.next()
	var end int
	if p.is(token.LEFT_BRACE) {
		body := p.parseBody(params, true, nil)
		f.Body, end = body, int(body.RightBrace)
	} else {
		p.declareParameters(params, true)
		f.Body = &ast.ExpressionBody{Expression: p.parseAssign(noIn, nil)}
		end = p.prevEnd
	}
	f.DeclarationList = p.scope.declared
	f.Source = p.src[start:end]
	leave()
	return f
}

// classNames are the private names of a class.
type classNames struct {
	outer    *classNames
	any      bool // further names are declared outside of the text
	declared map[string]ast.PropertyKind
	static   map[string]bool // whether a name of declared is static
	used     []privateUse    // uses of names that may be declared later or outside
}

type privateUse struct {
	name string
	at   int
}

const noPrivate = "' must be declared in an enclosing class"

func (p *parser) usePrivate(name string, at int) {
	if p.class == nil {
		p.fail(at, "Private field '#"+name+noPrivate)
	}
	p.class.used = append(p.class.used, privateUse{name, at})
}

// declare declares a private name, and fails if the class has declared it. A getter and a setter may share a name if both are static, or
// neither.
func (c *classNames) declare(p *parser, name string, kind ast.PropertyKind, static bool, at int) {
	was, ok := c.declared[name]
	pair := was == ast.PropertyKindGet && kind == ast.PropertyKindSet || was == ast.PropertyKindSet && kind == ast.PropertyKindGet
	if ok && (!pair || c.static[name] != static) {
		p.fail(at, "Identifier '#"+name+"' has already been declared")
	}
	if ok {
		kind = ast.PropertyKindMethod // both exist: no third declaration
	}
	if c.declared == nil {
		c.declared, c.static = map[string]ast.PropertyKind{}, map[string]bool{}
	}
	c.declared[name], c.static[name] = kind, static
}

// closeClass ends a class. Its uses of private names that it does not declare become those of the class around it. Without a class
// around it closeClass fails for such a use, and where c.outer.any is set it accepts the use.
func (p *parser) closeClass() {
	c := p.class
	p.class = c.outer
	for _, use := range c.used {
		switch {
		case c.declared[use.name] != "":
		case c.outer != nil && c.outer.any:
		case c.outer != nil:
			c.outer.used = append(c.outer.used, use)
		default:
			p.fail(use.at, "Private field '#"+use.name+noPrivate)
		}
	}
}

type classMode int

const (
	classExpression classMode = iota
	classStatement
	classDefault
)

func (p *parser) parseClass(mode classMode) *ast.ClassLiteral {
	start := p.tok.start
	strict := p.strict
	p.strict = true
	p.next()
	c := &ast.ClassLiteral{Class: idx(start)}
	if p.is(token.IDENTIFIER) && !p.tok.word("extends") {
		c.Name = p.parseIdentifier()
		w := c.Name.Name.String()
		p.checkBound(w, offsetOf(c.Name))
		if mode != classExpression {
			p.declare(w, bindLexical, offsetOf(c.Name))
		}
	} else if mode == classStatement {
		p.unexpected()
	}
	if p.eatWord("extends") {
		p.arrowAt = -1
		c.SuperClass = p.parseLeftHandSide(nil)
	}
	p.class = &classNames{outer: p.class}
	p.expect(token.LEFT_BRACE)
	constructor := false
	for !p.is(token.RIGHT_BRACE) {
		if p.eat(token.SEMICOLON) {
			continue
		}
		c.Body = append(c.Body, p.parseClassElement(c.SuperClass != nil, &constructor))
	}
	c.RightBrace = idx(p.tok.start)
	p.closeClass()
	p.strict = strict
	p.next()
	c.Source = p.src[start:int(c.RightBrace)]
	return c
}

func (p *parser) parseClassElement(derived bool, constructor *bool) ast.ClassElement {
	start := p.tok.start
	static := false
	if p.tok.word("static") {
		switch next := p.peek(); next.kind {
		case token.ASSIGN, token.SEMICOLON, token.RIGHT_BRACE, token.LEFT_PARENTHESIS:
		case token.LEFT_BRACE:
			p.next()
			return p.parseStaticBlock(start)
		default:
			static = true
			p.next()
		}
	}
	fnStart := p.tok.start
	m := p.parseModifiers(true)
	k := p.parseKey()
	const text = unistring.String("constructor")
	if k.private && k.text == text {
		p.fail(k.tok.start, "Classes may not have a private member named '#constructor'")
	}
	isConstructor := !static && k.named && k.text == text
	if m.kind == "" && !p.is(token.LEFT_PARENTHESIS) {
		if k.named && (k.text == text || static && k.text == "prototype") {
			p.fail(k.tok.start, "Classes may not have a field named '"+k.text.String()+"'")
		}
		return p.parseField(start, static, k)
	}
	kind := m.kind
	if kind == "" {
		kind = ast.PropertyKindMethod
	}
	switch {
	case static && k.named && k.text == "prototype":
		p.fail(k.tok.start, "Classes may not have a static property named 'prototype'")
	case isConstructor && kind != ast.PropertyKindMethod:
		p.fail(k.tok.start, "Class constructor may not be an accessor")
	case isConstructor && (m.async || m.generator):
		p.fail(k.tok.start, "Class constructor may not be async or a generator")
	case isConstructor && *constructor:
		p.fail(k.tok.start, "A class may only have one constructor")
	}
	*constructor = *constructor || isConstructor
	if k.private {
		p.class.declare(p, k.tok.text, kind, static, k.tok.start)
	}
	body := p.parseMethod(fnStart, kind, m.generator, m.async, derived && isConstructor)
	return &ast.MethodDefinition{Idx: idx(start), Key: k.key, Kind: kind, Body: body, Computed: k.computed, Static: static}
}

func (p *parser) parseField(start int, static bool, k propertyKey) ast.ClassElement {
	f := &ast.FieldDefinition{Idx: idx(start), Key: k.key, Computed: k.computed, Static: static}
	if k.private {
		p.class.declare(p, k.tok.text, ast.PropertyKindValue, static, k.tok.start)
	}
	if p.eat(token.ASSIGN) {
		leave := p.enterFunction(&context{superProperty: true, newTarget: true, noArguments: true})
		f.Initializer = p.parseAssign(false, nil)
		leave()
	}
	p.semicolon()
	return f
}

func (p *parser) parseStaticBlock(start int) ast.ClassElement {
	leave := p.enterFunction(&context{superProperty: true, newTarget: true, noArguments: true, noAwait: true})
	b := &ast.ClassStaticBlock{Static: idx(start), Block: &ast.BlockStatement{LeftBrace: idx(p.tok.start)}}
	p.next()
	for !p.is(token.RIGHT_BRACE) {
		b.Block.List = p.appendItem(b.Block.List)
	}
	b.Block.RightBrace = idx(p.tok.start)
	b.DeclarationList = p.scope.declared
	b.Source = p.src[offsetOf(b.Block):int(b.Block.RightBrace)]
	leave()
	p.next()
	return b
}
