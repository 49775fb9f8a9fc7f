package nesting

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	word
	number
	text // a string, or a template without substitutions
	regexp
	open  // a bracket, or the first part of a template
	shut  // a bracket, or the last part of a template
	reset // the middle part of a template, between two substitutions
	punct
)

func (k kind) operand() bool { return k == word || k == number || k == text || k == regexp }

type token struct {
	kind       kind
	start, end int
	newline    bool // a line break precedes the token
}

// A lexer splits JavaScript and TypeScript into tokens. The preceding tokens distinguish a division from a regular expression.
// plain, if not nil, receives the text described at [Plain].
type lexer struct {
	src         string
	pos         int
	plain       []byte
	prev        token
	before      token // token before prev
	open        []bracket
	closed      bracket // pair of the last closing bracket
	bodies      []body  // functions, classes and cases whose body or colon has not yet been read
	starts      bool    // the last word begins a statement
	asyncStarts bool    // the last word is async and begins a declaration
	label       bool    // the last colon ends a label or a case
	postfix     bool    // the last exclamation mark follows an operand, as in TypeScript
	htmlLike    int     // offset of the first HTML-like comment, or -1
}

type bracket struct {
	char    byte // ( [ { or $ of a template
	control bool // ( after if, for, while, with
	value   bool // { of an object, or of the body of a function or class expression
	members bool // { of an object or a class, which directly contains no statements
}

// A body records a keyword whose continuation has not yet been read. Functions and classes continue with the brace of their body,
// cases with their colon.
type body struct {
	word      string
	depth     int  // number of open brackets around it
	value     bool // part of an operand
	questions int  // conditional expressions after case whose colon has not yet been read
}

func newLexer(src string, plain bool) *lexer {
	l := &lexer{src: src, htmlLike: -1}
	if plain {
		l.plain = []byte(src)
	}
	return l
}

func (l *lexer) text(t token) string { return l.src[t.start:t.end] }

func (l *lexer) at(offset int) byte {
	if i := l.pos + offset; i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// fill overwrites a range of the plain text with c, except \n and \r. Without a plain text it does nothing.
func (l *lexer) fill(from, to int, c byte) {
	for i := from; i < to && l.plain != nil; i++ {
		if l.plain[i] != '\n' && l.plain[i] != '\r' {
			l.plain[i] = c
		}
	}
}

func (l *lexer) put(at int, text string) {
	if l.plain != nil {
		copy(l.plain[at:], text)
	}
}

func (l *lexer) next() token {
	t := token{newline: l.skipBlank()}
	t.start = l.pos
	if l.pos < len(l.src) {
		t.kind = l.scan(t)
	}
	t.end = l.pos
	l.noteBody(t)
	l.before, l.prev = l.prev, t
	return t
}

// noteBody updates bodies, starts, asyncStarts and label for a token, before the token becomes prev.
func (l *lexer) noteBody(t token) {
	if n := len(l.bodies); n > 0 && l.bodies[n-1].depth > len(l.open) {
		l.bodies = l.bodies[:n-1]
	}
	afterClass := l.prev.kind == word && l.text(l.prev) == "class"
	switch w := l.text(t); {
	case t.kind == word:
		l.starts = l.beginsStatement(t)
		isName := l.prev.kind == punct && (l.text(l.prev) == "." || l.text(l.prev) == "?.")
		if (w == "function" || w == "class" || w == "case" && l.starts) && !isName {
			async := l.prev.kind == word && l.text(l.prev) == "async"
			declared := l.starts || async && l.asyncStarts || l.prev.kind == word && (l.text(l.prev) == "export" || l.text(l.prev) == "default")
			l.bodies = append(l.bodies, body{word: w, depth: len(l.open), value: !declared})
		}
		l.asyncStarts = w == "async" && (l.starts || l.prev.kind == word && (l.text(l.prev) == "export" || l.text(l.prev) == "default"))
	case t.kind == open:
		if afterClass && w == "(" {
			l.dropBody() // a method named class
		}
	case t.kind == punct:
		l.label = w == ":" && (l.prev.kind == word && l.starts)
		n := len(l.bodies)
		if n == 0 || l.bodies[n-1].depth != len(l.open) {
			return
		}
		switch b := &l.bodies[n-1]; {
		case b.word == "case" && w == "?":
			b.questions++
		case b.word == "case" && w == ":" && b.questions > 0:
			b.questions--
		case b.word == "case" && w == ":":
			l.label = true
			l.dropBody()
		case b.word != "case" && l.prev.kind == word && l.text(l.prev) == b.word && w != "*":
			l.dropBody() // a property named function or class
		}
	}
}

func (l *lexer) dropBody() {
	if n := len(l.bodies); n > 0 {
		l.bodies = l.bodies[:n-1]
	}
}

// beginsStatement reports whether a word seems to begin a statement.
func (l *lexer) beginsStatement(t token) bool {
	switch l.prev.kind {
	case end:
		return true
	case open:
		top := l.top()
		return top.char == '{' && !top.members
	case punct:
		p := l.text(l.prev)
		return p == ";" || p == ":" && l.label
	case shut:
		return l.closed.char == '{' && !l.closed.value || l.closed.control || t.newline
	case word:
		w := l.text(l.prev)
		return (w == "else" || w == "do") && !l.isMember() || t.newline && !slices.Contains(beforeOperand, w)
	case number, text, regexp:
		return t.newline
	}
	return false
}

// scan scans the token at the current position and returns its kind. t is the token, with only its start and newline set.
func (l *lexer) scan(t token) kind {
	switch c := l.src[l.pos]; {
	case isWord(c):
		l.scanWord()
		return word
	case isDigit(c) || c == '.' && isDigit(l.at(1)):
		l.scanNumber()
		return number
	case c == '"' || c == '\'':
		l.scanString(c)
		return text
	case c == '`':
		return l.scanTemplate()
	case c == '}' && l.top().char == '$':
		return l.scanTemplate()
	case c == '/' && l.operandExpected():
		l.scanRegexp()
		return regexp
	case strings.IndexByte("([{", c) >= 0:
		b := bracket{char: c, control: c == '(' && l.isControl()}
		if c == '{' {
			b.value, b.members = l.brace()
		}
		l.open = append(l.open, b)
		l.pos++
		return open
	case strings.IndexByte(")]}", c) >= 0:
		l.pos++
		if top := l.top().char; top == '(' && c == ')' || top == '[' && c == ']' || top == '{' && c == '}' {
			l.closed = l.open[len(l.open)-1]
			l.open = l.open[:len(l.open)-1]
			return shut
		}
		return punct // unmatched bracket: the text is malformed
	}
	l.scanPunct(t)
	return punct
}

func (l *lexer) top() bracket {
	if len(l.open) == 0 {
		return bracket{}
	}
	return l.open[len(l.open)-1]
}

func (l *lexer) skipBlank() (newline bool) {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			l.pos++
		case c == '\n' || c == '\r':
			newline = true
			l.pos++
		case c == '/' && l.at(1) == '/', l.pos == 0 && c == '#' && l.at(1) == '!':
			n := lineEnd(l.src[l.pos:])
			l.fill(l.pos, l.pos+n, ' ')
			l.pos += n
		case c == '/' && l.at(1) == '*':
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				n = len(l.src) - l.pos - 4
			}
			comment := l.src[l.pos : l.pos+n+4]
			newline = newline || lineEnd(comment) < len(comment)
			l.fill(l.pos, l.pos+n+4, ' ')
			l.pos += n + 4
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return newline
			}
			newline = newline || isLineSeparator(r)
			l.pos += n
		default:
			return newline
		}
	}
	return newline
}

func isLineSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' }

// lineEnd returns the offset where the first line of a text ends.
func lineEnd(s string) int {
	if n := strings.IndexAny(s, "\n\r\u2028\u2029"); n >= 0 {
		return n
	}
	return len(s)
}

func (l *lexer) scanWord() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if unicode.IsSpace(r) || r == '\ufeff' {
				return
			}
			l.pos += n
			continue
		}
		if !isWord(c) && !isDigit(c) {
			return
		}
		l.pos++
	}
}

func (l *lexer) scanNumber() {
	digits := func() {
		for isDigit(l.at(0)) || l.at(0) == '_' {
			l.pos++
		}
	}
	if l.at(0) == '0' && strings.IndexByte("xXoObB", l.at(1)) >= 0 && l.at(1) != 0 {
		l.pos += 2
		for isDigit(l.at(0)) || l.at(0) < utf8.RuneSelf && isWord(l.at(0)) && l.at(0) != '\\' && l.at(0) != '#' {
			l.pos++
		}
		return
	}
	digits()
	if l.at(0) == '.' {
		l.pos++
		digits()
	}
	if l.at(0)|0x20 == 'e' && (isDigit(l.at(1)) || (l.at(1) == '+' || l.at(1) == '-') && isDigit(l.at(2))) {
		l.pos += 2
		digits()
	}
	if l.at(0) == 'n' {
		l.pos++
	}
}

func (l *lexer) scanString(quote byte) {
	start := l.pos + 1
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case '\\':
			l.pos++
			if l.at(0) == '\r' && l.at(1) == '\n' {
				l.pos++
			}
		case quote:
			l.clean(start, l.pos)
			l.pos++
			return
		case '\n', '\r':
			return
		}
	}
	l.pos = len(l.src)
}

// clean replaces the quotes, backslashes, line ends and non-ASCII bytes of a string by the letter a in the plain text, if there is one.
// A parser could mistake some of them for the string's end.
func (l *lexer) clean(from, to int) {
	for i := from; i < to && l.plain != nil; i++ {
		switch c := l.plain[i]; {
		case c == '\\' || c == '"' || c == '\'' || c == '`' || c == '\n' || c == '\r' || c >= utf8.RuneSelf:
			l.plain[i] = 'a'
		}
	}
}

// scanTemplate advances past the closing quote or the next "${", and returns the kind of the part before. In the plain text a
// template with substitutions becomes an array of arrays. Any other template keeps its quotes, with letters a between them.
func (l *lexer) scanTemplate() kind {
	start, head := l.pos, l.src[l.pos] == '`'
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '`':
			l.pos++
			if head {
				l.clean(start+1, l.pos-1)
				l.fill(start+1, l.pos-1, 'a')
				return text
			}
			l.fill(start, l.pos, ' ')
			l.put(start, "]]")
			l.closed = l.open[len(l.open)-1]
			l.open = l.open[:len(l.open)-1]
			return shut
		case c == '$' && l.at(1) == '{':
			l.pos += 2
			l.fill(start, l.pos, ' ')
			if head {
				l.put(start, "[[")
				l.open = append(l.open, bracket{char: '$'})
				return open
			}
			l.put(start, "],[")
			return reset
		}
	}
	l.pos = len(l.src)
	return text
}

func (l *lexer) scanRegexp() {
	start, class := l.pos, false
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '\n' || c == '\r':
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.fill(start+1, l.pos, 'a')
			l.put(start, "/]")
			l.pos++
			for isWord(l.at(0)) && l.at(0) < utf8.RuneSelf || isDigit(l.at(0)) {
				l.pos++
			}
			return
		}
	}
	l.pos = len(l.src)
}

// operators are the tokens of several characters, longest first.
var operators = []string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
}

func (l *lexer) scanPunct(t token) {
	rest := l.src[l.pos:]
	if rest[0] == '!' {
		l.postfix = !t.newline && !l.operandExpected()
	}
	if strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "-->") && (t.newline || l.prev.kind == end) {
		if l.htmlLike < 0 {
			l.htmlLike = l.pos
		}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) && !(op == "?." && isDigit(l.at(2))) {
			if op == "/=" {
				l.put(l.pos, "*")
			}
			l.pos += len(op)
			return
		}
	}
	if rest[0] == '/' {
		l.put(l.pos, "*")
	}
	l.pos++
}

var beforeOperand = []string{
	"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield", "instanceof", "extends", "default",
}

// operandExpected reports whether a slash as the next token begins a regular expression.
func (l *lexer) operandExpected() bool {
	switch l.prev.kind {
	case end, open, reset:
		return true
	case word:
		w := l.text(l.prev)
		return slices.Contains(beforeOperand, w) && !l.isMember() && (w != "of" || l.top().control)
	case shut:
		switch l.closed.char {
		case '(':
			return l.closed.control
		case '{':
			return !l.closed.value
		}
		return false
	case punct:
		p := l.text(l.prev)
		return p != "++" && p != "--" && p != "]" && p != ")" && !(p == "!" && l.postfix)
	}
	return false
}

// isMember reports whether the last word names a member.
func (l *lexer) isMember() bool {
	return l.before.kind == punct && (l.text(l.before) == "." || l.text(l.before) == "?.")
}

func (l *lexer) isControl() bool {
	if l.prev.kind != word {
		return false
	}
	switch l.text(l.prev) {
	case "if", "for", "while", "with":
		return !l.isMember()
	case "await":
		return l.before.kind == word && l.text(l.before) == "for"
	}
	return false
}

// brace classifies the brace of the next token: whether it is part of an operand, and whether it contains members. If the brace
// belongs to the last of bodies, brace drops that.
func (l *lexer) brace() (value, members bool) {
	if n := len(l.bodies); n > 0 && l.bodies[n-1].depth == len(l.open) && l.bodies[n-1].word != "case" {
		b := l.bodies[n-1]
		l.dropBody()
		return b.value, b.word == "class"
	}
	object := l.isObject()
	return object, object
}

// isObject reports whether a brace begins an object literal.
func (l *lexer) isObject() bool {
	switch l.prev.kind {
	case open:
		return l.open[len(l.open)-1].char != '{'
	case reset:
		return true
	case word:
		w := l.text(l.prev)
		return w != "else" && w != "do" && slices.Contains(beforeOperand, w) && !l.isMember()
	case punct:
		p := l.text(l.prev)
		return p != ";" && p != "=>" && !(p == ":" && l.label)
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c == '#' || c == '\\' || c >= 0x80
}
