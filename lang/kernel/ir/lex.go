package ir

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokNewline
	tokIdent
	tokNumber
	tokString // text is the string's value
	tokValue  // %name.id: text is the name, id the number
	tokPunct
)

type token struct {
	kind tokenKind
	text string
	id   int
	pos  int // byte offset
}

func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "end of text"
	case tokNewline:
		return "end of line"
	case tokString:
		return strconv.Quote(t.text)
	case tokValue:
		return (&Value{ID: t.id, Name: t.text}).String()
	}
	return "'" + t.text + "'"
}

// lexer splits the text form into tokens. Newlines are tokens outside parentheses and square brackets.
type lexer struct {
	file  string
	src   string
	at    int
	depth int // open parentheses and square brackets
}

// fail panics with a *ParseError, which ParseText returns.
func (l *lexer) fail(pos int, format string, args ...any) {
	line := 1 + strings.Count(l.src[:pos], "\n")
	start := strings.LastIndexByte(l.src[:pos], '\n') + 1
	panic(&ParseError{File: l.file, Line: line, Col: 1 + utf8.RuneCountInString(l.src[start:pos]), Msg: fmt.Sprintf(format, args...)})
}

func (l *lexer) space() {
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && l.depth > 0:
			l.at++
		case strings.HasPrefix(l.src[l.at:], "//"):
			if n := strings.IndexByte(l.src[l.at:], '\n'); n >= 0 {
				l.at += n
			} else {
				l.at = len(l.src)
			}
		default:
			return
		}
	}
}

func (l *lexer) next() token {
	l.space()
	start := l.at
	if start == len(l.src) {
		return token{kind: tokEOF, pos: start}
	}
	switch c := l.src[start]; {
	case c == '\n':
		l.at++
		return token{kind: tokNewline, pos: start}
	case c == '"':
		return token{kind: tokString, text: l.quoted(), pos: start}
	case c == '%':
		l.at++
		return l.value(start)
	case isDigit(c) || c == '-':
		l.at++
		for l.at < len(l.src) && isNumberByte(l.src[l.at], l.src[l.at-1]) {
			l.at++
		}
		return token{kind: tokNumber, text: l.src[start:l.at], pos: start}
	}
	if name := l.ident(); name != "" {
		return token{kind: tokIdent, text: name, pos: start}
	}
	r, size := utf8.DecodeRuneInString(l.src[start:])
	if !strings.ContainsRune("@!=:,.()[]{}*", r) {
		l.fail(start, "unexpected character %q", r)
	}
	switch r {
	case '(', '[':
		l.depth++
	case ')', ']':
		l.depth = max(l.depth-1, 0)
	}
	l.at += size
	return token{kind: tokPunct, text: l.src[start:l.at], pos: start}
}

// value scans the rest of a value after its percent sign.
func (l *lexer) value(start int) token {
	t := token{kind: tokValue, pos: start}
	named := true
	switch {
	case l.at < len(l.src) && l.src[l.at] == '"':
		t.text = l.quoted()
	case l.at < len(l.src) && isDigit(l.src[l.at]):
		named = false
	default:
		if t.text = l.ident(); t.text == "" {
			l.fail(start, "a value is written %%number or %%name.number")
		}
	}
	if named {
		if l.at == len(l.src) || l.src[l.at] != '.' {
			l.fail(l.at, "expected '.' and the number of the value")
		}
		l.at++
	}
	digits := l.at
	for l.at < len(l.src) && isDigit(l.src[l.at]) {
		l.at++
	}
	id, err := strconv.ParseInt(l.src[digits:l.at], 10, 32)
	if err != nil {
		l.fail(digits, "bad number of a value")
	}
	t.id = int(id)
	return t
}

func (l *lexer) quoted() string {
	q, err := strconv.QuotedPrefix(l.src[l.at:])
	if err != nil {
		l.fail(l.at, "the string does not end on its line, or has a bad escape")
	}
	s, err := strconv.Unquote(q)
	if err != nil {
		l.fail(l.at, "bad string")
	}
	l.at += len(q)
	return s
}

func (l *lexer) ident() string {
	start := l.at
	for i, r := range l.src[start:] {
		if !isIdentRune(r, i == 0) {
			break
		}
		l.at = start + i + utf8.RuneLen(r)
	}
	return l.src[start:l.at]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNumberByte(c, before byte) bool {
	return isDigit(c) || c == '.' || c < utf8.RuneSelf && unicode.IsLetter(rune(c)) || (c == '+' || c == '-') && before == 'e'
}
