package ecma

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Import is one import or re-export statement.
type Import struct {
	From   string // specifier
	Type   string // type of "with { type: … }"; may be empty
	Offset int    // offset of the statement in the parsed text
	Named  int    // offset of the specifier
	// Names are the bindings of the statement; a side-effect import and a re-export have none.
	Names []ImportedName
}

// ImportedName binds an export of another module.
type ImportedName struct {
	Export string // exported name in the other module; "default"; "*" for the namespace
	Local  string // local name
	Offset int
}

// Export is an exported name of a module.
type Export struct {
	Name  string
	Local string // local binding; empty for a re-export
	// For a re-export, Import is the index of the import, and ImportName is the exported name there ("*" for the namespace).
	// Otherwise Import is -1.
	Import     int
	ImportName string
	Offset     int
}

// parseImportExpression parses import(…) or import.meta. It fails for import.meta outside of modules and lines of a prompt.
func (p *parser) parseImportExpression() ast.Expression {
	at := p.tok.start
	p.next()
	callee := &ast.Identifier{Name: ImportName, Idx: idx(at)}
	switch {
	case p.eat(token.PERIOD):
		if !p.tok.word("meta") {
			p.unexpected()
		}
		if !p.opts.Module && !p.opts.Exports {
			p.fail(at, "import.meta exists only in modules")
		}
		id := ast.Identifier{Name: "meta", Idx: idx(p.tok.start)}
		p.next()
		return &ast.DotExpression{Left: callee, Identifier: id}
	case p.is(token.LEFT_PARENTHESIS):
		open := p.tok.start
		p.next()
		if p.is(token.ELLIPSIS) || p.is(token.RIGHT_PARENTHESIS) {
			p.unexpected()
		}
		args := []ast.Expression{p.parseAssign(false, nil)}
		if p.eat(token.COMMA) && !p.is(token.RIGHT_PARENTHESIS) {
			args = append(args, p.parseAssign(false, nil))
			p.eat(token.COMMA)
		}
		shut := p.expect(token.RIGHT_PARENTHESIS)
		return &ast.CallExpression{Callee: callee, LeftParenthesis: idx(open), ArgumentList: args, RightParenthesis: idx(shut)}
	}
	p.unexpected()
	return nil
}

// importMetaAhead reports whether meta is the second token after the current one, the word import.
func (p *parser) importMetaAhead() bool {
	s := p.save()
	defer p.restore(s)
	p.next()
	p.next()
	return p.tok.word("meta")
}

// moduleItem fails unless an import or export declaration may stand here.
func (p *parser) moduleItem(what string) {
	if !p.opts.Module && !p.opts.Exports || p.scope.kind != scopeTop {
		p.fail(p.tok.start, what+" declarations stand at the top level of a module")
	}
}

// parseImport parses an import declaration and appends an empty statement for it to list. It fails for a local name that the text has
// declared before.
func (p *parser) parseImport(list []ast.Statement) []ast.Statement {
	p.moduleItem("import")
	imp := Import{Offset: p.tok.start}
	p.next()
	if !p.is(token.STRING) {
		p.parseImportClause(&imp)
		if !p.eatWord("from") {
			p.expected(`expected "from"`)
		}
	}
	p.parseFrom(&imp)
	for _, n := range imp.Names {
		p.checkBound(n.Local, n.Offset)
		if p.scope.lexical[n.Local] && p.imported(n.Local) {
			p.failEarly(n.Offset, `"`+n.Local+`" is imported twice`)
		}
		p.declare(n.Local, bindLexical, n.Offset)
	}
	p.program.Imports = append(p.program.Imports, imp)
	return append(list, &ast.EmptyStatement{Semicolon: idx(imp.Offset)})
}

// imported reports whether an earlier import declares a local name.
func (p *parser) imported(local string) bool {
	for _, imp := range p.program.Imports {
		for _, n := range imp.Names {
			if n.Local == local {
				return true
			}
		}
	}
	return false
}

// expected fails at the current token with a message about what is expected there.
func (p *parser) expected(message string) { p.fail(p.tok.start, message) }

func (p *parser) parseImportClause(imp *Import) {
	local := func(export string) {
		if !p.is(token.IDENTIFIER) {
			p.expected("expected names to import")
		}
		at := p.tok.start
		id := p.parseIdentifier()
		imp.Names = append(imp.Names, ImportedName{Export: export, Local: id.Name.String(), Offset: at})
	}
	if p.is(token.IDENTIFIER) {
		local("default")
		if !p.eat(token.COMMA) {
			return
		}
	}
	switch {
	case p.eat(token.MULTIPLY):
		if !p.eatWord("as") {
			p.expected(`expected "as" behind "*"`)
		}
		local("*")
	case p.eat(token.LEFT_BRACE):
		for !p.is(token.RIGHT_BRACE) {
			t := p.tok
			export, isWord := p.parseModuleName("expected a name")
			switch {
			case p.eatWord("as"):
				local(export)
			case !isWord:
				p.expected(`expected "as" behind a name in quotes`)
			default:
				p.checkName(t.text, t.start, t.end)
				imp.Names = append(imp.Names, ImportedName{Export: export, Local: export, Offset: t.start})
			}
			if !p.is(token.RIGHT_BRACE) && !p.eat(token.COMMA) {
				p.expected(`expected "," or "}"`)
			}
		}
		p.next()
	default:
		p.expected("expected names to import")
	}
}

// parseModuleName parses the name of an export, which is a word or a string, and reports whether it is a word.
func (p *parser) parseModuleName(message string) (export string, isWord bool) {
	t := p.tok
	switch t.kind {
	case token.IDENTIFIER:
		export, isWord = t.text, true
	case token.STRING:
		if hasLoneSurrogate(t.str) {
			p.fail(t.start, "The name of an export is no well-formed Unicode text")
		}
		export = t.str.String()
	default:
		p.expected(message)
	}
	p.next()
	return export, isWord
}

func hasLoneSurrogate(s unistring.String) bool {
	units := s.AsUtf16()
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u>>10 == 0xd800>>10:
			if i+1 == len(units) || units[i+1]>>10 != 0xdc00>>10 {
				return true
			}
			i++
		case u>>10 == 0xdc00>>10:
			return true
		}
	}
	return false
}

// parseFrom parses the specifier and attributes of an import or re-export, and the end of the statement.
func (p *parser) parseFrom(imp *Import) {
	if !p.is(token.STRING) {
		p.expected("expected the name of a module in quotes")
	}
	imp.From, imp.Named = p.tok.str.String(), p.tok.start
	if raw := p.src[p.tok.start+1 : p.tok.end-1]; strings.Contains(raw, `\`) && !strings.Contains(raw, `\u`) && !strings.Contains(raw, `\x`) {
		imp.From = raw // a path of Windows, which is reported as such
	}
	p.next()
	if p.tok.word("with") || p.tok.word("assert") && !p.tok.newline {
		p.next()
		p.parseAttributes(imp)
	}
	p.semicolon()
}

func (p *parser) parseAttributes(imp *Import) {
	if !p.eat(token.LEFT_BRACE) {
		p.expected(`expected "{" behind "with"`)
	}
	seen := map[string]bool{}
	for !p.is(token.RIGHT_BRACE) {
		at := p.tok.start
		key := ""
		switch p.tok.kind {
		case token.IDENTIFIER:
			key = p.tok.text
		case token.STRING:
			key = p.tok.str.String()
		default:
			p.unexpected()
		}
		p.next()
		p.expect(token.COLON)
		if !p.is(token.STRING) {
			p.expected("the value of an import attribute is a string")
		}
		value := p.tok.str.String()
		p.next()
		if seen[key] {
			p.fail(at, "the import attribute "+key+" is given twice")
		}
		seen[key] = true
		if key != "type" {
			p.fail(at, `the only import attribute is type, as in { type: "text" }`)
		}
		imp.Type = value
		if !p.is(token.RIGHT_BRACE) {
			p.expect(token.COMMA)
		}
	}
	p.next()
}

// parseExport parses an export declaration and appends what it declares to list.
func (p *parser) parseExport(list []ast.Statement) []ast.Statement {
	p.moduleItem("export")
	at := p.tok.start
	p.next()
	empty := &ast.EmptyStatement{Semicolon: idx(at)}
	switch {
	case p.tok.word("default"):
		p.next()
		return append(list, p.parseExportDefault(at))
	case p.eat(token.MULTIPLY):
		p.parseExportStar(at)
		return append(list, empty)
	case p.eat(token.LEFT_BRACE):
		p.parseExportNames(at)
		return append(list, empty)
	}
	var s ast.Statement
	if p.tok.word("var") {
		s = p.parseVar()
	} else if !p.tok.word("using") && !p.tok.word("await") {
		s = p.parseDeclaration()
	}
	export := func(id *ast.Identifier) {
		w := id.Name.String()
		p.export(Export{Name: w, Local: w, Import: -1, Offset: at})
	}
	switch d := s.(type) {
	case *ast.FunctionDeclaration:
		export(d.Function.Name)
	case *ast.ClassDeclaration:
		export(d.Class.Name)
	case *ast.LexicalDeclaration:
		for _, b := range d.List {
			names(b.Target, export)
		}
	case *ast.VariableStatement:
		for _, b := range d.List {
			names(b.Target, export)
		}
	default:
		p.expected(`expected a declaration, "default", "{" or "*" behind "export"`)
	}
	return append(list, s)
}

func (p *parser) export(e Export) { p.program.Exports = append(p.program.Exports, e) }

// parseExportDefault parses what follows "export default". A value without a name becomes that of the variable DefaultName.
func (p *parser) parseExportDefault(at int) ast.Statement {
	t := p.tok
	var value ast.Expression
	isFunction := t.word("function")
	if t.word("async") {
		next := p.peek()
		isFunction = next.word("function") && !next.newline
	}
	switch {
	case isFunction:
		f := p.parseFunction(t.start, functionDefault)
		if f.Name != nil {
			w := f.Name.Name.String()
			p.export(Export{Name: "default", Local: w, Import: -1, Offset: at})
			return &ast.FunctionDeclaration{Function: f}
		}
		value = f
	case t.word("class"):
		c := p.parseClass(classDefault)
		if c.Name != nil {
			w := c.Name.Name.String()
			p.export(Export{Name: "default", Local: w, Import: -1, Offset: at})
			return &ast.ClassDeclaration{Class: c}
		}
		value = c
	default:
		value = p.parseAssign(false, nil)
		p.semicolon()
		if p.parens[value] > 0 && !isAnonymous(value) {
			break
		}
	}
	p.export(Export{Name: "default", Local: DefaultName, Import: -1, Offset: at})
	list := []*ast.Binding{{Target: &ast.Identifier{Name: DefaultName, Idx: idx(at)}, Initializer: value}}
	f := p.scope.function()
	f.declared = append(f.declared, &ast.VariableDeclaration{Var: idx(at), List: list})
	if isFunction {
		p.program.DefaultFunction = list[0]
	}
	return &ast.VariableStatement{Var: idx(at), List: list}
}

func (p *parser) parseExportStar(at int) {
	imp := Import{Offset: at}
	export, named := "", false
	if p.eatWord("as") {
		export, _ = p.parseModuleName(`expected a name behind "as"`)
		named = true
	}
	if !p.eatWord("from") {
		p.expected(`expected "from"`)
	}
	p.parseFrom(&imp)
	last := len(p.program.Imports)
	p.program.Imports = append(p.program.Imports, imp)
	if named {
		p.export(Export{Name: export, Import: last, ImportName: "*", Offset: at})
	} else {
		p.program.Stars = append(p.program.Stars, last)
	}
}

func (p *parser) parseExportNames(at int) {
	type pair struct {
		name, as string
		word     bool
		tok      lexeme
	}
	var pairs []pair
	for !p.is(token.RIGHT_BRACE) {
		x := pair{tok: p.tok}
		x.name, x.word = p.parseModuleName("expected a name")
		if x.as = x.name; p.eatWord("as") {
			x.as, _ = p.parseModuleName(`expected a name behind "as"`)
		}
		pairs = append(pairs, x)
		if !p.is(token.RIGHT_BRACE) && !p.eat(token.COMMA) {
			p.expected(`expected "," or "}"`)
		}
	}
	p.next()
	if p.eatWord("from") {
		imp := Import{Offset: at}
		p.parseFrom(&imp)
		for _, x := range pairs {
			p.export(Export{Name: x.as, Import: len(p.program.Imports), ImportName: x.name, Offset: x.tok.start})
		}
		p.program.Imports = append(p.program.Imports, imp)
		return
	}
	p.semicolon()
	for _, x := range pairs {
		if !x.word {
			p.fail(x.tok.start, "A name in quotes can be exported only from another module")
		}
		p.checkName(x.tok.text, x.tok.start, x.tok.end)
		p.export(Export{Name: x.as, Local: x.name, Import: -1, Offset: x.tok.start})
	}
}

// checkExports fails for names exported twice, and in a module for exported names that are not declared.
func (p *parser) checkExports() {
	seen := map[string]bool{}
	for _, e := range p.program.Exports {
		if seen[e.Name] {
			p.failEarly(e.Offset, `"`+e.Name+`" is exported twice`)
		}
		seen[e.Name] = true
		if s := p.scope; e.Local != "" && e.Local != DefaultName && p.opts.Module && !s.lexical[e.Local] && !s.vars[e.Local] && !s.functions[e.Local] {
			p.failEarly(e.Offset, `"`+e.Local+`" is exported but declared nowhere in this file`)
		}
	}
}
