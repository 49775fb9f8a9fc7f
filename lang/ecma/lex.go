package ecma

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/regex"

	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// A lexeme is a token of the text. Words have the kind token.IDENTIFIER, including reserved words.
type lexeme struct {
	kind       token.Token
	start, end int
	newline    bool   // a line ends between the previous token and this one
	escaped    bool   // a word that contains a Unicode escape
	text       string // a word or private name, with escapes decoded
	str        unistring.String
	octal      int // offset of a legacy octal escape or literal plus one, or 0
	number     any
}

// word reports whether t is the word w, written without escapes.
func (t *lexeme) word(w string) bool {
	return t.kind == token.IDENTIFIER && !t.escaped && t.text == w
}

// next advances to the next token. A slash is an operator; primary expressions scan regular expressions themselves.
func (p *parser) next() {
	p.prevEnd = p.tok.end
	p.tok = lexeme{newline: false}
	p.skipBlank()
	t := &p.tok
	t.start = p.pos
	if p.pos >= len(p.src) {
		t.kind, t.end = token.EOF, p.pos
		return
	}
	c := p.src[p.pos]
	switch {
	case isAsciiStart(c) || c == '\\' || c >= utf8.RuneSelf:
		t.kind = token.IDENTIFIER
		t.text = p.scanWord()
	case c == '#':
		p.pos++
		t.kind = token.PRIVATE_IDENTIFIER
		if p.pos >= len(p.src) || !p.atWordStart() {
			p.fail(t.start, "Unexpected character '#'")
		}
		t.text = p.scanWord()
	case isDigit(c) || c == '.' && p.pos+1 < len(p.src) && isDigit(p.src[p.pos+1]):
		t.kind = token.NUMBER
		p.scanNumber()
	case c == '"' || c == '\'':
		t.kind = token.STRING
		p.scanString(c)
	case c == '`':
		p.pos++
		t.kind = token.BACKTICK
	default:
		p.scanPunctuator(c)
	}
	t.end = p.pos
}

// state is a position in the token stream.
type state struct {
	tok          lexeme
	pos, prevEnd int
}

func (p *parser) save() state { return state{p.tok, p.pos, p.prevEnd} }

func (p *parser) restore(s state) { p.tok, p.pos, p.prevEnd = s.tok, s.pos, s.prevEnd }

// peek returns the token after the current one.
func (p *parser) peek() lexeme {
	s := p.save()
	p.next()
	t := p.tok
	p.restore(s)
	return t
}

func (p *parser) skipBlank() {
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			p.pos++
		case c == '\n' || c == '\r':
			p.tok.newline = true
			p.pos++
		case c == '/' && strings.HasPrefix(p.src[p.pos:], "//"):
			p.skipLine()
		case c == '/' && strings.HasPrefix(p.src[p.pos:], "/*"):
			start := p.pos
			n := strings.Index(p.src[p.pos+2:], "*/")
			if n < 0 {
				p.fail(len(p.src), "Unexpected end of input")
			}
			p.pos += n + 4
			if strings.ContainsAny(p.src[start:p.pos], "\n\r\u2028\u2029") {
				p.tok.newline = true
			}
		case c == '<' && !p.opts.Module && strings.HasPrefix(p.src[p.pos:], "<!--"):
			p.skipLine()
		case c == '-' && !p.opts.Module && (p.tok.newline || p.blankSoFar()) && strings.HasPrefix(p.src[p.pos:], "-->"):
			p.skipLine()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p.src[p.pos:])
			switch {
			case r == '\u2028' || r == '\u2029':
				p.tok.newline = true
			case r != '\ufeff' && !unicode.Is(unicode.Zs, r):
				return
			}
			p.pos += size
		default:
			return
		}
	}
}

// blankSoFar reports whether no token precedes the current position.
func (p *parser) blankSoFar() bool { return p.prevEnd == 0 }

func (p *parser) skipLine() {
	for p.pos < len(p.src) {
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		if isLineEnd(r) {
			return
		}
		p.pos += size
	}
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAsciiStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

func isIDStart(r rune) bool {
	if r < utf8.RuneSelf {
		return r > 0 && isAsciiStart(byte(r))
	}
	// The tables of regular expressions know a later version of Unicode, but are slower.
	return unicode.IsLetter(r) && r != '\u2e2f' || unicode.In(r, unicode.Nl, unicode.Other_ID_Start) || regex.IsIDStart(r)
}

func isIDPart(r rune) bool {
	if r < utf8.RuneSelf {
		return r > 0 && (isAsciiStart(byte(r)) || isDigit(byte(r)))
	}
	return isIDStart(r) || r == '\u200c' || r == '\u200d' ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) || regex.IsIDPart(r)
}

func (p *parser) atWordStart() bool {
	if p.pos >= len(p.src) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return r == '\\' || isIDStart(r)
}

// scanWord scans an identifier name and returns it with escapes decoded.
func (p *parser) scanWord() string {
	start := p.pos
	for p.pos < len(p.src) && (isAsciiStart(p.src[p.pos]) || isDigit(p.src[p.pos])) {
		p.pos++
	}
	if p.pos >= len(p.src) || p.src[p.pos] != '\\' && p.src[p.pos] < utf8.RuneSelf {
		return p.src[start:p.pos]
	}
	var b strings.Builder
	b.WriteString(p.src[start:p.pos])
	for p.pos < len(p.src) {
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		at := p.pos
		if r == '\\' {
			p.tok.escaped = true
			p.pos++
			if p.pos >= len(p.src) || p.src[p.pos] != 'u' {
				p.fail(at, "Expected a Unicode escape")
			}
			p.pos++
			var problem string
			if r, problem = p.scanUnicodeEscape(); problem != "" {
				p.fail(at, problem)
			}
			if b.Len() == 0 && !isIDStart(r) || !isIDPart(r) {
				p.fail(at, "Invalid Unicode escape in a name")
			}
		} else {
			if r == utf8.RuneError || b.Len() == 0 && !isIDStart(r) || !isIDPart(r) {
				break
			}
			p.pos += size
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
		p.fail(p.pos, "Unexpected character '"+string(r)+"'")
	}
	return b.String()
}

// scanUnicodeEscape scans the part of \uXXXX or \u{X} behind the u. It returns the character, or the problem of an invalid
// escape.
func (p *parser) scanUnicodeEscape() (r rune, problem string) {
	const bad = "Invalid Unicode escape sequence"
	if p.pos < len(p.src) && p.src[p.pos] == '{' {
		p.pos++
		n := 0
		for p.pos < len(p.src) && p.src[p.pos] != '}' {
			d := hexValue(p.src[p.pos])
			if d < 0 {
				return 0, bad
			}
			if r = r<<4 | rune(d); r > unicode.MaxRune {
				return 0, "Undefined Unicode code point"
			}
			p.pos++
			n++
		}
		if n == 0 || p.pos >= len(p.src) {
			return 0, bad
		}
		p.pos++
		return r, ""
	}
	return p.scanHex(4, bad)
}

func (p *parser) scanHex(digits int, bad string) (r rune, problem string) {
	for range digits {
		if p.pos >= len(p.src) {
			return 0, bad
		}
		d := hexValue(p.src[p.pos])
		if d < 0 {
			return 0, bad
		}
		r = r<<4 | rune(d)
		p.pos++
	}
	return r, ""
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

var punctuators = [...]struct {
	text string
	kind token.Token
}{ // the longer ones of a first character come first
	{">>>=", token.UNSIGNED_SHIFT_RIGHT_ASSIGN}, {"...", token.ELLIPSIS}, {"===", token.STRICT_EQUAL}, {"!==", token.STRICT_NOT_EQUAL},
	{"**=", token.EXPONENT_ASSIGN}, {"<<=", token.SHIFT_LEFT_ASSIGN}, {">>=", token.SHIFT_RIGHT_ASSIGN}, {">>>", token.UNSIGNED_SHIFT_RIGHT},
	{"&&=", token.LOGICAL_AND_ASSIGN}, {"||=", token.LOGICAL_OR_ASSIGN}, {"??=", token.COALESCE_ASSIGN},
	{"=>", token.ARROW}, {"==", token.EQUAL}, {"!=", token.NOT_EQUAL}, {"<=", token.LESS_OR_EQUAL}, {">=", token.GREATER_OR_EQUAL},
	{"&&", token.LOGICAL_AND}, {"||", token.LOGICAL_OR}, {"??", token.COALESCE}, {"?.", token.QUESTION_DOT}, {"++", token.INCREMENT}, {"--", token.DECREMENT},
	{"+=", token.ADD_ASSIGN}, {"-=", token.SUBTRACT_ASSIGN}, {"*=", token.MULTIPLY_ASSIGN}, {"/=", token.QUOTIENT_ASSIGN}, {"%=", token.REMAINDER_ASSIGN},
	{"<<", token.SHIFT_LEFT}, {">>", token.SHIFT_RIGHT}, {"&=", token.AND_ASSIGN}, {"|=", token.OR_ASSIGN}, {"^=", token.EXCLUSIVE_OR_ASSIGN}, {"**", token.EXPONENT},
	{"{", token.LEFT_BRACE}, {"}", token.RIGHT_BRACE}, {"(", token.LEFT_PARENTHESIS}, {")", token.RIGHT_PARENTHESIS}, {"[", token.LEFT_BRACKET}, {"]", token.RIGHT_BRACKET},
	{";", token.SEMICOLON}, {",", token.COMMA}, {"<", token.LESS}, {">", token.GREATER}, {"+", token.PLUS}, {"-", token.MINUS}, {"*", token.MULTIPLY},
	{"/", token.SLASH}, {"%", token.REMAINDER}, {"&", token.AND}, {"|", token.OR}, {"^", token.EXCLUSIVE_OR}, {"!", token.NOT}, {"~", token.BITWISE_NOT},
	{"?", token.QUESTION_MARK}, {":", token.COLON}, {"=", token.ASSIGN}, {".", token.PERIOD},
}

// punctuatorsOf lists the punctuators of each first character.
var punctuatorsOf = func() (table [128][]int) {
	for i, x := range punctuators {
		table[x.text[0]] = append(table[x.text[0]], i)
	}
	return table
}()

func (p *parser) scanPunctuator(c byte) {
	rest := p.src[p.pos:]
	if strings.HasPrefix(rest, "?.") && len(rest) > 2 && isDigit(rest[2]) {
		p.tok.kind = token.QUESTION_MARK
		p.pos++
		return
	}
	for _, i := range punctuatorsOf[c] {
		if x := &punctuators[i]; strings.HasPrefix(rest, x.text) {
			p.tok.kind = x.kind
			p.pos += len(x.text)
			return
		}
	}
	panic(&Error{Offset: p.pos, Message: "Unexpected character '" + string(rune(c)) + "'", Unknown: c == '@'})
}

// textBuilder collects the UTF-16 code units of a string.
type textBuilder struct {
	ascii []byte
	units []uint16 // used as soon as a unit is not ASCII; begins with the mark of unistring
}

func (b *textBuilder) add(r rune) {
	if b.units == nil && r < utf8.RuneSelf {
		b.ascii = append(b.ascii, byte(r))
		return
	}
	if b.units == nil {
		b.units = append(make([]uint16, 0, len(b.ascii)+16), unistring.BOM)
		for _, c := range b.ascii {
			b.units = append(b.units, uint16(c))
		}
	}
	if r > 0xffff {
		r -= 0x10000
		b.units = append(b.units, 0xd800+uint16(r>>10), 0xdc00+uint16(r&0x3ff))
		return
	}
	b.units = append(b.units, uint16(r))
}

func (b *textBuilder) string() unistring.String {
	if b.units == nil {
		return unistring.String(b.ascii)
	}
	return unistring.FromUtf16(b.units)
}

func (p *parser) scanString(quote byte) {
	start := p.pos
	p.pos++
	for i := p.pos; i < len(p.src); i++ { // most strings have no escapes
		c := p.src[i]
		if c == quote {
			p.tok.str = unistring.String(p.src[p.pos:i])
			p.pos = i + 1
			return
		}
		if c == '\\' || c == '\n' || c == '\r' || c >= utf8.RuneSelf {
			break
		}
	}
	var b textBuilder
	for {
		if p.pos >= len(p.src) {
			p.fail(start, "Unterminated string literal")
		}
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		switch {
		case r == rune(quote):
			p.pos++
			p.tok.str = b.string()
			return
		case r == '\n' || r == '\r':
			p.fail(start, "Unterminated string literal")
		case r == '\\':
			at := p.pos
			p.pos++
			if problem := p.scanEscape(&b, false); problem != "" {
				p.fail(at, problem)
			}
		default:
			b.add(r)
			p.pos += size
		}
	}
}

// scanEscape scans an escape sequence behind its backslash and adds its characters to b. It returns the problem of an
// invalid escape, or "".
func (p *parser) scanEscape(b *textBuilder, template bool) (problem string) {
	if p.pos >= len(p.src) {
		return "Unterminated string literal"
	}
	at := p.pos
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += size
	switch r {
	case 'n':
		b.add('\n')
	case 't':
		b.add('\t')
	case 'r':
		b.add('\r')
	case 'b':
		b.add('\b')
	case 'v':
		b.add('\v')
	case 'f':
		b.add('\f')
	case '\r':
		if p.pos < len(p.src) && p.src[p.pos] == '\n' {
			p.pos++
		}
	case '\n', '\u2028', '\u2029':
	case 'x':
		x, problem := p.scanHex(2, "Invalid hexadecimal escape sequence")
		if problem != "" {
			return problem
		}
		b.add(x)
	case 'u':
		x, problem := p.scanUnicodeEscape()
		if problem != "" {
			return problem
		}
		b.add(x)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if r == '0' && (p.pos >= len(p.src) || !isDigit(p.src[p.pos])) {
			b.add(0)
			return ""
		}
		if template {
			return "Octal escape sequences are not allowed in template strings"
		}
		p.tok.octal = at
		if p.strict {
			return "Octal escape sequences are not allowed in strict mode"
		}
		if r >= '8' {
			b.add(r)
			return ""
		}
		n := r - '0'
		for range 2 {
			if p.pos >= len(p.src) || p.src[p.pos] < '0' || p.src[p.pos] > '7' || n*8+rune(p.src[p.pos]-'0') > 255 {
				break
			}
			n = n*8 + rune(p.src[p.pos]-'0')
			p.pos++
		}
		b.add(n)
	default:
		b.add(r)
	}
	return ""
}

// scanTemplate scans the characters of a template up to ` or ${, and reports as last which of them it was. A problem is
// that of the first invalid escape, and its offset.
func (p *parser) scanTemplate() (raw string, cooked unistring.String, problem string, problemAt int, last bool) {
	start := p.pos
	var b textBuilder
	for {
		if p.pos >= len(p.src) {
			p.fail(len(p.src), "Unterminated template")
		}
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		switch {
		case r == '`' || r == '$' && strings.HasPrefix(p.src[p.pos:], "${"):
			raw = p.src[start:p.pos]
			if strings.Contains(raw, "\r") {
				raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")
			}
			last = r == '`'
			if p.pos++; !last {
				p.pos++
			}
			return raw, b.string(), problem, problemAt, last
		case r == '\\':
			at := p.pos
			p.pos++
			if s := p.scanEscape(&b, true); s != "" && problem == "" {
				problem, problemAt = s, at
			}
		case r == '\r':
			p.pos++
			if p.pos < len(p.src) && p.src[p.pos] == '\n' {
				p.pos++
			}
			b.add('\n')
		default:
			b.add(r)
			p.pos += size
		}
	}
}

// scanRegExp scans a regular expression whose slash is the current token.
func (p *parser) scanRegExp() (pattern, flags string) {
	start := p.tok.start
	p.pos = start + 1
	class := false
	for {
		if p.pos >= len(p.src) {
			p.fail(start, "Unterminated regular expression")
		}
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		if r == '\\' {
			p.pos++
			if p.pos >= len(p.src) {
				p.fail(start, "Unterminated regular expression")
			}
			r, size = utf8.DecodeRuneInString(p.src[p.pos:])
			if !isLineEnd(r) {
				p.pos += size
				continue
			}
		}
		if isLineEnd(r) {
			p.fail(start, "Unterminated regular expression")
		}
		if r == '[' {
			class = true
		} else if r == ']' {
			class = false
		} else if r == '/' && !class {
			break
		}
		p.pos += size
	}
	pattern = p.src[start+1 : p.pos]
	p.pos++
	at := p.pos
	if p.atWordStart() {
		escaped := p.tok.escaped
		flags = p.scanWord()
		if p.tok.escaped && !escaped {
			p.fail(at, "Invalid regular expression flags")
		}
	}
	for i, f := range flags {
		if !strings.ContainsRune("dgimsuvy", f) || strings.ContainsRune(flags[:i], f) {
			p.fail(at+i, "Invalid regular expression flags")
		}
	}
	if strings.Contains(flags, "u") && strings.Contains(flags, "v") {
		p.fail(at, "Invalid regular expression flags")
	}
	return pattern, flags
}
