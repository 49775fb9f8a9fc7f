package source

import (
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// lexemeKind distinguishes code from strings, templates and other literals.
type lexemeKind int

const (
	lexEnd lexemeKind = iota
	lexWord
	lexNumber
	lexString
	lexTemplate // a template, or its part before or after a substitution
	lexRegexp
	lexPunct
)

type lexeme struct {
	kind       lexemeKind
	start, end int
}

// A scanner splits JavaScript into tokens, accurately enough to find brackets and words. The preceding token distinguishes a
// division from a regular expression. Syntax errors are ignored, since the parser reports them.
type scanner struct {
	src    string
	pos    int
	prev   lexeme
	nested []bracket
	// control is true after the parenthesis of if, for, while and with, where an expression may begin.
	control bool
}

// A bracket is an open bracket.
type bracket struct {
	open    byte // ( [ { or $ for a template substitution
	control bool // ( after if, for, while, with
}

func (s *scanner) text(t lexeme) string { return s.src[t.start:t.end] }

func (s *scanner) depth() int { return len(s.nested) }

// next skips spaces and comments and returns the lexeme after them. At the end of the text its kind is lexEnd.
func (s *scanner) next() lexeme {
	s.skipBlank()
	t := lexeme{start: s.pos}
	if s.pos >= len(s.src) {
		t.end = s.pos
		return t
	}
	c := s.src[s.pos]
	switch {
	case isWordStart(c):
		for s.pos < len(s.src) && (isWordStart(s.src[s.pos]) || isDigit(s.src[s.pos])) {
			s.pos++
		}
		t.kind = lexWord
	case isDigit(c) || c == '.' && s.pos+1 < len(s.src) && isDigit(s.src[s.pos+1]):
		s.scanNumber()
		t.kind = lexNumber
	case c == '"' || c == '\'':
		s.scanString(c)
		t.kind = lexString
	case c == '`':
		s.pos++
		s.scanTemplate()
		t.kind = lexTemplate
	case c == '}' && len(s.nested) > 0 && s.nested[len(s.nested)-1].open == '$':
		s.nested = s.nested[:len(s.nested)-1]
		s.pos++
		s.scanTemplate()
		t.kind = lexTemplate
	case c == '/' && s.regexpMayStart():
		s.scanRegexp()
		t.kind = lexRegexp
	default:
		s.scanPunct(c)
		t.kind = lexPunct
	}
	t.end = s.pos
	s.prev = t
	return t
}

func (s *scanner) skipBlank() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			s.pos++
		case strings.HasPrefix(s.src[s.pos:], "//"), s.pos == 0 && strings.HasPrefix(s.src, "#!"):
			n, _ := diag.LineEnd(s.src[s.pos:])
			s.pos += n
		case strings.HasPrefix(s.src[s.pos:], "/*"):
			n := strings.Index(s.src[s.pos+2:], "*/")
			if n < 0 {
				s.pos = len(s.src)
				return
			}
			s.pos += n + 4
		default:
			return
		}
	}
}

func (s *scanner) scanNumber() {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		exponent := (c == '+' || c == '-') && (s.src[s.pos-1]|0x20) == 'e' && !strings.HasPrefix(s.src[s.prev.end:], "0x")
		if !isWordStart(c) && !isDigit(c) && c != '.' && !exponent {
			return
		}
		s.pos++
	}
}

func (s *scanner) scanString(quote byte) {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case quote:
			s.pos++
			return
		case '\n':
			return
		}
	}
	s.pos = len(s.src)
}

// scanTemplate advances past the closing quote or the next "${".
func (s *scanner) scanTemplate() {
	for ; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '`':
			s.pos++
			return
		case '$':
			if strings.HasPrefix(s.src[s.pos:], "${") {
				s.nested = append(s.nested, bracket{open: '$'})
				s.pos += 2
				return
			}
		}
	}
	s.pos = len(s.src)
}

func (s *scanner) scanRegexp() {
	class := false
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '\n':
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos++
			for s.pos < len(s.src) && isWordStart(s.src[s.pos]) {
				s.pos++
			}
			return
		}
	}
	s.pos = len(s.src)
}

func (s *scanner) scanPunct(c byte) {
	s.control = false
	switch c {
	case '(':
		s.nested = append(s.nested, bracket{open: c, control: s.prev.kind == lexWord && isControl(s.text(s.prev))})
	case '[', '{':
		s.nested = append(s.nested, bracket{open: c})
	case ')', ']', '}':
		if n := len(s.nested); n > 0 {
			s.control = s.nested[n-1].control
			s.nested = s.nested[:n-1]
		}
	case '+', '-':
		if s.pos+1 < len(s.src) && s.src[s.pos+1] == c {
			s.pos++
		}
	}
	s.pos++
}

func (s *scanner) regexpMayStart() bool {
	switch s.prev.kind {
	case lexEnd:
		return true
	case lexWord:
		switch s.text(s.prev) {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield", "instanceof":
			return true
		}
		return false
	case lexTemplate:
		return strings.HasSuffix(s.text(s.prev), "${")
	case lexPunct:
		switch s.text(s.prev) {
		case ")":
			return s.control
		case "]", "++", "--":
			return false
		}
		return true
	}
	return false
}

func isControl(word string) bool {
	return word == "if" || word == "for" || word == "while" || word == "with"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordStart reports whether a byte can start an identifier, a private name or an escape, or is part of a multi-byte character.
func isWordStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c == '#' || c == '\\' || c >= 0x80
}
