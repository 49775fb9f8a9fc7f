package ir

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// ParseText parses the text form of a module; name is the file name in errors of type [*ParseError]. It checks the grammar and
// that names are declared. [Module.Verify] checks the rest.
func ParseText(name, text string) (m *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			pe, ok := r.(*ParseError)
			if !ok {
				panic(r)
			}
			m, err = nil, pe
		}
	}()
	p := &parser{lexer: lexer{file: name, src: text}, m: &Module{}}
	p.advance()
	p.module()
	return p.m, nil
}

type parser struct {
	lexer
	tok token
	m   *Module

	// State of the current kernel.
	k      *Kernel
	arrays map[string]*Array
	values map[int]*Value
	labels map[int]*Instr
	depth  int
}

func (p *parser) advance() { p.tok = p.next() }

// failHere reports an error at the current token.
func (p *parser) failHere(format string, args ...any) { p.fail(p.tok.pos, format, args...) }

func (p *parser) is(punct string) bool { return p.tok.kind == tokPunct && p.tok.text == punct }

func (p *parser) isWord(word string) bool { return p.tok.kind == tokIdent && p.tok.text == word }

func (p *parser) accept(punct string) bool {
	if !p.is(punct) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.failHere("expected '%s', found %v", punct, p.tok)
	}
}

func (p *parser) word(word string) {
	if !p.isWord(word) {
		p.failHere("expected '%s', found %v", word, p.tok)
	}
	p.advance()
}

// name parses an identifier or a quoted name.
func (p *parser) name(what string) string {
	if p.tok.kind != tokIdent && p.tok.kind != tokString {
		p.failHere("expected %s, found %v", what, p.tok)
	}
	s := p.tok.text
	p.advance()
	return s
}

func (p *parser) quotedString(what string) string {
	if p.tok.kind != tokString {
		p.failHere("expected %s in quotes, found %v", what, p.tok)
	}
	s := p.tok.text
	p.advance()
	return s
}

func (p *parser) number(what string) int {
	n, err := strconv.ParseInt(p.tok.text, 10, 64)
	if p.tok.kind != tokNumber || err != nil || n < 0 || n > MaxDim {
		p.failHere("expected %s, found %v", what, p.tok)
	}
	p.advance()
	return int(n)
}

func (p *parser) typ() Type {
	t, ok := ParseType(p.tok.text)
	if p.tok.kind != tokIdent || !ok {
		p.failHere("expected a type, found %v", p.tok)
	}
	p.advance()
	return t
}

func (p *parser) skipLines() {
	for p.tok.kind == tokNewline {
		p.advance()
	}
}

func (p *parser) endLine() {
	if p.tok.kind == tokEOF || p.is("}") {
		return
	}
	if p.tok.kind != tokNewline {
		p.failHere("expected the end of the line, found %v", p.tok)
	}
	p.skipLines()
}

func (p *parser) module() {
	p.skipLines()
	if !strings.HasPrefix(p.src[p.tok.pos:], textHeader+" ") {
		p.failHere("expected '%s %d'", textHeader, Version)
	}
	p.at = p.tok.pos + len(textHeader)
	p.advance()
	at := p.tok.pos
	version := p.number("the version")
	if version < 1 || version > Version {
		p.fail(at, "this program reads the versions 1 to %d, and this is version %d", Version, version)
	}
	p.endLine()
	for p.tok.kind != tokEOF {
		switch {
		case p.isWord("file"):
			p.advance()
			if n := p.number("the file's number"); n != len(p.m.Files) {
				p.failHere("files are numbered in order: expected %d", len(p.m.Files))
			}
			p.m.Files = append(p.m.Files, p.quotedString("the file's name"))
		case p.isWord("record"):
			p.advance()
			p.record()
		case p.isWord("kernel"):
			p.advance()
			p.kernel()
		default:
			p.failHere("expected file, record or kernel, found %v", p.tok)
		}
		p.endLine()
	}
	if uses := p.m.Version(); uses > version {
		p.fail(at, "the module has operations of version %d, and says that it is version %d", uses, version)
	}
}

func (p *parser) record() {
	r := &Record{}
	at := p.tok.pos
	r.Name = p.name("the record's name")
	if p.findRecord(r.Name) != nil {
		p.fail(at, "record %s is declared twice", quoteName(r.Name))
	}
	p.expect("{")
	for !p.is("}") {
		var f Field
		f.Name = p.name("a field's name")
		p.expect(":")
		f.Elem = p.elem()
		if p.is("[") {
			f.Dims = p.dims()
		}
		p.expect("@")
		f.Offset = p.number("the field's offset")
		r.Fields = append(r.Fields, f)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	p.word("size")
	r.Size = p.number("the size")
	p.word("align")
	r.Align = p.number("the alignment")
	p.m.Records = append(p.m.Records, r)
}

func (p *parser) findRecord(name string) *Record {
	for _, r := range p.m.Records {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// elem parses an element type: a scalar type, or the name of a record.
func (p *parser) elem() Elem {
	if t, ok := ParseType(p.tok.text); ok && p.tok.kind == tokIdent {
		p.advance()
		return Elem{Scalar: t}
	}
	at := p.tok.pos
	name := p.name("a type or a record")
	r := p.findRecord(name)
	if r == nil {
		p.fail(at, "there is no type or record %s", quoteName(name))
	}
	return Elem{Record: r}
}

func (p *parser) dims() []int {
	var dims []int
	p.expect("[")
	for {
		dims = append(dims, p.number("an extent"))
		if !p.accept(",") {
			break
		}
	}
	p.expect("]")
	return dims
}

func (p *parser) kernel() {
	k := &Kernel{Body: &Block{}}
	p.k, p.arrays, p.values, p.labels, p.depth = k, map[string]*Array{}, map[int]*Value{}, map[int]*Instr{}, 0
	at := p.tok.pos
	k.Name = p.name("the kernel's name")
	if p.m.Kernel(k.Name) != nil {
		p.fail(at, "kernel %s is declared twice", quoteName(k.Name))
	}
	p.expect("(")
	for !p.is(")") {
		p.param()
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.isWord("real") {
		p.advance()
		k.Real = p.typ()
	}
	p.expect("{")
	p.endLine()
	for {
		switch {
		case p.isWord("shared"):
			p.staticArray(Shared)
		case p.isWord("private"):
			p.staticArray(Private)
		case p.isWord("table"):
			p.staticArray(Table)
		case p.isWord("site"):
			p.siteDecl()
		default:
			p.block(k.Body)
			p.expect("}")
			p.m.Kernels = append(p.m.Kernels, k)
			return
		}
		p.endLine()
	}
}

func (p *parser) param() {
	at := p.tok.pos
	param := Param{Name: p.name("a parameter's name")}
	if p.tok.kind == tokValue {
		v := p.define(nil)
		p.expect(":")
		v.Type = p.typ()
		param.Type = v.Type
		p.k.Body.Params = append(p.k.Body.Params, v)
	} else {
		p.expect(":")
		a := &Array{Name: param.Name, Space: Global, Elem: p.elem()}
		p.expect("[")
		for {
			p.expect("*")
			a.Rank++
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
		p.addArray(a, at)
		param.Array = a
	}
	p.k.Params = append(p.k.Params, param)
}

func (p *parser) addArray(a *Array, at int) {
	if p.arrays[a.Name] != nil {
		p.fail(at, "array %s is declared twice", quoteName(a.Name))
	}
	a.ID = len(p.k.Arrays)
	p.arrays[a.Name] = a
	p.k.Arrays = append(p.k.Arrays, a)
}

func (p *parser) staticArray(space Space) {
	p.advance()
	at := p.tok.pos
	a := &Array{Name: p.name("the array's name"), Space: space}
	p.expect(":")
	a.Elem = p.elem()
	a.Dims = p.dims()
	a.Rank = len(a.Dims)
	p.addArray(a, at)
	if space != Table {
		return
	}
	p.expect("=")
	if p.isWord("hex") {
		p.advance()
		data, err := hex.DecodeString(p.tok.text)
		if p.tok.kind != tokString || err != nil {
			p.failHere("expected bytes as hexadecimal digits in quotes")
		}
		p.advance()
		a.Data = data
		return
	}
	p.expect("[")
	if a.Elem.Record != nil || a.Elem.Scalar == Void {
		p.failHere("a table of records is written hex \"…\"")
	}
	for !p.is("]") {
		bits := p.constant(a.Elem.Scalar)
		for i := range a.Elem.Scalar.Size() {
			a.Data = append(a.Data, byte(bits>>(8*i)))
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("]")
}

func (p *parser) siteDecl() {
	p.advance()
	if n := p.number("the site's number"); n != len(p.k.Sites) {
		p.failHere("sites are numbered in order: expected %d", len(p.k.Sites))
	}
	var s Site
	p.expect("=")
	s.File = p.number("the file's number")
	p.expect(":")
	s.Line = p.number("the line")
	p.expect(":")
	s.Col = p.number("the column")
	s.Text = p.quotedString("the expression")
	p.k.Sites = append(p.k.Sites, s)
}

// constant parses the bits of a constant of type t.
func (p *parser) constant(t Type) uint64 {
	tok := p.tok
	p.advance()
	if tok.kind == tokIdent && tok.text == "bits" {
		bits, err := strconv.ParseUint(strings.TrimPrefix(p.tok.text, "0x"), 16, 64)
		if p.tok.kind != tokNumber || err != nil || !strings.HasPrefix(p.tok.text, "0x") {
			p.failHere("expected bits as 0x and hexadecimal digits")
		}
		p.advance()
		return bits
	}
	if tok.kind == tokIdent || tok.kind == tokNumber {
		if bits, ok := parseConst(t, tok.text); ok {
			return bits
		}
	}
	p.fail(tok.pos, "expected a constant of type %v, found %v", t, tok)
	return 0
}

// parseConst parses the output of constText, except for plain bits. It returns false for other texts.
func parseConst(t Type, s string) (bits uint64, ok bool) {
	width := 8 * t.Size()
	switch {
	case t == Bool:
		return map[string]uint64{"true": 1}[s], s == "true" || s == "false"
	case t.IsInt() && t.IsSigned():
		n, err := strconv.ParseInt(s, 10, width)
		return uint64(n) << (64 - width) >> (64 - width), err == nil
	case t.IsInt():
		n, err := strconv.ParseUint(s, 10, width)
		return n, err == nil
	case t == F32 || t == F64:
		switch s {
		case "nan":
			if t == F32 {
				return NaN32, true
			}
			return NaN64, true
		case "inf", "-inf":
			return FloatBits(t, math.Inf(map[bool]int{true: 1, false: -1}[s == "inf"])), true
		}
		x, err := strconv.ParseFloat(s, width)
		return FloatBits(t, x), err == nil && x == x && !math.IsInf(x, 0)
	}
	return 0, false
}
