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

// A scanner divides a text into tokens. Its errors are panics with an *[Error].
type scanner struct {
	src     string
	module  bool // the text is a module, which has no HTML comments
	strict  bool // legacy octal literals are refused
	pos     int  // offset behind the current token
	tok     lexeme
	prevEnd int // offset behind the token before the current one
}

// fail ends the scan with an error at an offset.
func (s *scanner) fail(offset int, message string) {
	panic(&Error{Offset: min(offset, len(s.src)), Message: message, Incomplete: offset >= len(s.src)})
}

// next advances to the next token. A slash is an operator; primary expressions scan regular expressions themselves.
func (s *scanner) next() {
	s.prevEnd = s.tok.end
	s.tok = lexeme{newline: false}
	s.skipBlank()
	t := &s.tok
	t.start = s.pos
	if s.pos >= len(s.src) {
		t.kind, t.end = token.EOF, s.pos
		return
	}
	c := s.src[s.pos]
	switch {
	case isAsciiStart(c) || c == '\\' || c >= utf8.RuneSelf:
		t.kind = token.IDENTIFIER
		t.text = s.scanWord()
	case c == '#':
		s.pos++
		t.kind = token.PRIVATE_IDENTIFIER
		if s.pos >= len(s.src) || !s.atWordStart() {
			s.fail(t.start, "Unexpected character '#'")
		}
		t.text = s.scanWord()
	case isDigit(c) || c == '.' && s.pos+1 < len(s.src) && isDigit(s.src[s.pos+1]):
		t.kind = token.NUMBER
		s.scanNumber()
	case c == '"' || c == '\'':
		t.kind = token.STRING
		s.scanString(c)
	case c == '`':
		s.pos++
		t.kind = token.BACKTICK
	default:
		s.scanPunctuator(c)
	}
	t.end = s.pos
}

// state is a position in the token stream.
type state struct {
	tok          lexeme
	pos, prevEnd int
}

func (s *scanner) save() state { return state{s.tok, s.pos, s.prevEnd} }

func (s *scanner) restore(to state) { s.tok, s.pos, s.prevEnd = to.tok, to.pos, to.prevEnd }

// peek returns the token after the current one.
func (s *scanner) peek() lexeme {
	here := s.save()
	s.next()
	t := s.tok
	s.restore(here)
	return t
}

func (s *scanner) skipBlank() {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			s.pos++
		case c == '\n' || c == '\r':
			s.tok.newline = true
			s.pos++
		case c == '/' && strings.HasPrefix(s.src[s.pos:], "//"):
			s.skipLine()
		case c == '/' && strings.HasPrefix(s.src[s.pos:], "/*"):
			start := s.pos
			n := strings.Index(s.src[s.pos+2:], "*/")
			if n < 0 {
				s.fail(len(s.src), "Unexpected end of input")
			}
			s.pos += n + 4
			if strings.ContainsAny(s.src[start:s.pos], "\n\r\u2028\u2029") {
				s.tok.newline = true
			}
		case c == '<' && !s.module && strings.HasPrefix(s.src[s.pos:], "<!--"):
			s.skipLine()
		case c == '-' && !s.module && (s.tok.newline || s.blankSoFar()) && strings.HasPrefix(s.src[s.pos:], "-->"):
			s.skipLine()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s.src[s.pos:])
			switch {
			case r == '\u2028' || r == '\u2029':
				s.tok.newline = true
			case r != '\ufeff' && !unicode.Is(unicode.Zs, r):
				return
			}
			s.pos += size
		default:
			return
		}
	}
}

// blankSoFar reports whether no token precedes the current position.
func (s *scanner) blankSoFar() bool { return s.prevEnd == 0 }

func (s *scanner) skipLine() {
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if isLineEnd(r) {
			return
		}
		s.pos += size
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

// atWordStart reports whether a word or an escape begins at the current position.
func (s *scanner) atWordStart() bool {
	if s.pos >= len(s.src) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
	return r == '\\' || isIDStart(r)
}

// scanWord scans an identifier name and returns it with escapes decoded.
func (s *scanner) scanWord() string {
	start := s.pos
	for s.pos < len(s.src) && (isAsciiStart(s.src[s.pos]) || isDigit(s.src[s.pos])) {
		s.pos++
	}
	if s.pos >= len(s.src) || s.src[s.pos] != '\\' && s.src[s.pos] < utf8.RuneSelf {
		return s.src[start:s.pos]
	}
	var b strings.Builder
	b.WriteString(s.src[start:s.pos])
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		at := s.pos
		if r == '\\' {
			s.tok.escaped = true
			s.pos++
			if s.pos >= len(s.src) || s.src[s.pos] != 'u' {
				s.fail(at, "Expected a Unicode escape")
			}
			s.pos++
			var problem string
			if r, problem = s.scanUnicodeEscape(); problem != "" {
				s.fail(at, problem)
			}
			if b.Len() == 0 && !isIDStart(r) || !isIDPart(r) {
				s.fail(at, "Invalid Unicode escape in a name")
			}
		} else {
			if r == utf8.RuneError || b.Len() == 0 && !isIDStart(r) || !isIDPart(r) {
				break
			}
			s.pos += size
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
		s.fail(s.pos, "Unexpected character '"+string(r)+"'")
	}
	return b.String()
}

// scanUnicodeEscape scans the part of \uXXXX or \u{X…} behind the u. It returns the code point, which may be a surrogate, or
// the problem of an invalid escape.
func (s *scanner) scanUnicodeEscape() (r rune, problem string) {
	const bad = "Invalid Unicode escape sequence"
	if s.pos < len(s.src) && s.src[s.pos] == '{' {
		s.pos++
		n := 0
		for s.pos < len(s.src) && s.src[s.pos] != '}' {
			d := hexValue(s.src[s.pos])
			if d < 0 {
				return 0, bad
			}
			if r = r<<4 | rune(d); r > unicode.MaxRune {
				return 0, "Undefined Unicode code point"
			}
			s.pos++
			n++
		}
		if n == 0 || s.pos >= len(s.src) {
			return 0, bad
		}
		s.pos++
		return r, ""
	}
	return s.scanHex(4, bad)
}

// scanHex scans that number of hexadecimal digits and returns their value. problem is bad if one is missing, or else "".
func (s *scanner) scanHex(digits int, bad string) (r rune, problem string) {
	for range digits {
		if s.pos >= len(s.src) {
			return 0, bad
		}
		d := hexValue(s.src[s.pos])
		if d < 0 {
			return 0, bad
		}
		r = r<<4 | rune(d)
		s.pos++
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

// punctuatorsOf has for each first character the indices in punctuators.
var punctuatorsOf = func() (table [128][]int) {
	for i, x := range punctuators {
		table[x.text[0]] = append(table[x.text[0]], i)
	}
	return table
}()

func (s *scanner) scanPunctuator(c byte) {
	rest := s.src[s.pos:]
	if strings.HasPrefix(rest, "?.") && len(rest) > 2 && isDigit(rest[2]) {
		s.tok.kind = token.QUESTION_MARK
		s.pos++
		return
	}
	for _, i := range punctuatorsOf[c] {
		if x := &punctuators[i]; strings.HasPrefix(rest, x.text) {
			s.tok.kind = x.kind
			s.pos += len(x.text)
			return
		}
	}
	panic(&Error{Offset: s.pos, Message: "Unexpected character '" + string(rune(c)) + "'", Unknown: c == '@'})
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

func (s *scanner) scanString(quote byte) {
	start := s.pos
	s.pos++
	for i := s.pos; i < len(s.src); i++ { // most strings have no escapes
		c := s.src[i]
		if c == quote {
			s.tok.str = unistring.String(s.src[s.pos:i])
			s.pos = i + 1
			return
		}
		if c == '\\' || c == '\n' || c == '\r' || c >= utf8.RuneSelf {
			break
		}
	}
	var b textBuilder
	for {
		if s.pos >= len(s.src) {
			s.fail(start, "Unterminated string literal")
		}
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		switch {
		case r == rune(quote):
			s.pos++
			s.tok.str = b.string()
			return
		case r == '\n' || r == '\r':
			s.fail(start, "Unterminated string literal")
		case r == '\\':
			at := s.pos
			s.pos++
			if problem := s.scanEscape(&b, false); problem != "" {
				s.fail(at, problem)
			}
		default:
			b.add(r)
			s.pos += size
		}
	}
}

// scanEscape scans an escape sequence behind its backslash and adds its characters to b. It returns the problem of an
// invalid escape, or "". In a template octal escapes are invalid.
func (s *scanner) scanEscape(b *textBuilder, template bool) (problem string) {
	if s.pos >= len(s.src) {
		return "Unterminated string literal"
	}
	at := s.pos
	r, size := utf8.DecodeRuneInString(s.src[s.pos:])
	s.pos += size
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
		if s.pos < len(s.src) && s.src[s.pos] == '\n' {
			s.pos++
		}
	case '\n', '\u2028', '\u2029':
	case 'x':
		x, problem := s.scanHex(2, "Invalid hexadecimal escape sequence")
		if problem != "" {
			return problem
		}
		b.add(x)
	case 'u':
		x, problem := s.scanUnicodeEscape()
		if problem != "" {
			return problem
		}
		b.add(x)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if r == '0' && (s.pos >= len(s.src) || !isDigit(s.src[s.pos])) {
			b.add(0)
			return ""
		}
		if template {
			return "Octal escape sequences are not allowed in template strings"
		}
		s.tok.octal = at
		if s.strict {
			return "Octal escape sequences are not allowed in strict mode"
		}
		if r >= '8' {
			b.add(r)
			return ""
		}
		n := r - '0'
		for range 2 {
			if s.pos >= len(s.src) || s.src[s.pos] < '0' || s.src[s.pos] > '7' || n*8+rune(s.src[s.pos]-'0') > 255 {
				break
			}
			n = n*8 + rune(s.src[s.pos]-'0')
			s.pos++
		}
		b.add(n)
	default:
		b.add(r)
	}
	return ""
}

// scanTemplate scans the characters of a template up to ` or ${; last reports whether it was `. problem and problemAt are those of the
// first invalid escape.
func (s *scanner) scanTemplate() (raw string, cooked unistring.String, problem string, problemAt int, last bool) {
	start := s.pos
	var b textBuilder
	for {
		if s.pos >= len(s.src) {
			s.fail(len(s.src), "Unterminated template")
		}
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		switch {
		case r == '`' || r == '$' && strings.HasPrefix(s.src[s.pos:], "${"):
			raw = s.src[start:s.pos]
			if strings.Contains(raw, "\r") {
				raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")
			}
			last = r == '`'
			if s.pos++; !last {
				s.pos++
			}
			return raw, b.string(), problem, problemAt, last
		case r == '\\':
			at := s.pos
			s.pos++
			if bad := s.scanEscape(&b, true); bad != "" && problem == "" {
				problem, problemAt = bad, at
			}
		case r == '\r':
			s.pos++
			if s.pos < len(s.src) && s.src[s.pos] == '\n' {
				s.pos++
			}
			b.add('\n')
		default:
			b.add(r)
			s.pos += size
		}
	}
}

// scanRegExp scans a regular expression whose slash is the current token.
func (s *scanner) scanRegExp() (pattern, flags string) {
	start := s.tok.start
	s.pos = start + 1
	class := false
	for {
		if s.pos >= len(s.src) {
			s.fail(start, "Unterminated regular expression")
		}
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if r == '\\' {
			s.pos++
			if s.pos >= len(s.src) {
				s.fail(start, "Unterminated regular expression")
			}
			r, size = utf8.DecodeRuneInString(s.src[s.pos:])
			if !isLineEnd(r) {
				s.pos += size
				continue
			}
		}
		if isLineEnd(r) {
			s.fail(start, "Unterminated regular expression")
		}
		if r == '[' {
			class = true
		} else if r == ']' {
			class = false
		} else if r == '/' && !class {
			break
		}
		s.pos += size
	}
	pattern = s.src[start+1 : s.pos]
	s.pos++
	at := s.pos
	if s.atWordStart() {
		escaped := s.tok.escaped
		flags = s.scanWord()
		if s.tok.escaped && !escaped {
			s.fail(at, "Invalid regular expression flags")
		}
	}
	for i, f := range flags {
		if !strings.ContainsRune("dgimsuvy", f) || strings.ContainsRune(flags[:i], f) {
			s.fail(at+i, "Invalid regular expression flags")
		}
	}
	if strings.Contains(flags, "u") && strings.Contains(flags, "v") {
		s.fail(at, "Invalid regular expression flags")
	}
	return pattern, flags
}
