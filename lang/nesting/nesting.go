// Package nesting bounds the depth of the tree that a parser makes of a text, before it makes it. Parsers and compilers
// recurse, and Go ends a process whose stack is exhausted.
package nesting

import (
	"fmt"
	"slices"
	"strings"
)

// Max is the largest depth of files and lines of the prompt. A level takes about 5 KiB of stack in the parsers and
// compilers of this module. Some need time with the square of the depth; TestLevelsFitTheStack measures both.
const Max = 8000

// maxRepeated bounds how often the parser reads the tokens of a text, in all: it reads the parameters of an arrow function
// twice, and so those of arrow functions in these parameters four times.
const maxRepeated = 1 << 22

// arrowDepth is the number of levels of an arrow function: the compiler visits it from every one around it.
const arrowDepth = 4

// maxDoubled bounds how many constructs in one another may be open that the parser of TypeScript reads twice: (a): b => behind
// a question mark, and infer A extends.
const maxDoubled = 14

// maxReread bounds how many parentheses in one another may be open that the parser of the interpreter reads twice where the text
// is malformed: as an expression with an object, an array or dots, and then as the parameters of an arrow function.
const maxReread = 16

// beforeReread are the words before such parentheses where they would otherwise be those of a call.
var beforeReread = []string{"async", "function", "let"}

// maxArrows bounds the arrow functions of a short text in which slashes may be ambiguous: each may double the time.
const maxArrows = 10

// A Problem says why a text is refused.
type Problem struct {
	Offset        int
	Message, Hint string
}

// A level is the state between two brackets.
type level struct {
	run     int   // the depth of the expression or statement that is being read
	base    int   // the part of run that belongs to statements: if (a), for (;;), label:
	begins  bool  // the next token begins a statement
	named   bool  // the last token is a word that began a statement, and may be a label
	pending []int // the depths at which an if may still get an else
	angles  int   // the angle brackets that may be open
	tokens  uint64

	group  bool // the level is between parentheses that are no call: an expression, or parameters of an arrow function
	reread bool // and has an object, an array or dots directly in it

	asked   bool // there is a question mark in the expression
	typed   bool // a colon behind a parenthesis may begin the type that an arrow function returns
	doubled int
}

type counter struct {
	*lexer
	outer []level
	level
	total  int    // depth in all: the runs of all levels
	reread int    // the open levels that are read twice
	twice  int    // the constructs that are read twice, of all levels
	closed uint64 // tokens between the parentheses that the last token closed
}

// Check computes a bound of the depth of the tree of a JavaScript or TypeScript text: brackets in brackets, chains of
// operators, prefixes, members, calls, arrows, labels and statements. It returns nil if the depth is at most limit.
func Check(src string, limit int) *Problem {
	c := &counter{lexer: newLexer(src, false), level: level{begins: true}}
	for {
		prev, before := c.prev, c.before
		control := prev.kind == shut && c.lexer.closed.control
		group := c.operandExpected() || prev.kind == word && slices.Contains(beforeReread, c.text(prev))
		t := c.next()
		if t.kind == end {
			break
		}
		if c.endsStatement(prev, control, t) {
			c.endStatement(prev, t)
		}
		if c.isDoubled(before, prev, t) {
			c.doubled++
			c.twice++
		}
		c.noteReread(t)
		c.count(prev, t)
		c.level.group = c.level.group || group && t.kind == open && c.src[t.start] == '('
		c.noteStatement(t)
		if c.total > limit {
			return &Problem{t.start, fmt.Sprintf("the code is nested more than %d deep", limit), "split the expression; load large data from a JSON file"}
		}
		if c.twice > maxDoubled {
			return &Problem{t.start, "too many arrow functions or types in one another that can be read in two ways", "declare them one by one, with names"}
		}
		if c.reread > maxReread {
			return &Problem{t.start, "too many parentheses in one another that can be read in two ways", "declare parts of the expression with names"}
		}
		if c.tokens > maxRepeated && c.tokens > 8*uint64(len(src)) {
			return &Problem{t.start, "too many arrow functions in the parameters of arrow functions", "declare functions before they are used as default values"}
		}
	}
	if c.htmlLike >= 0 && (len(src) > limit || strings.Count(src, "=>") > maxArrows) {
		return &Problem{c.htmlLike, "a comment as in HTML is not allowed in a long text", "write a space between the characters, or a comment with //"}
	}
	return nil
}

// noteReread counts a level that turns out to be one that is read twice, and those that end.
func (c *counter) noteReread(t token) {
	switch {
	case t.kind == shut:
		if c.level.reread {
			c.reread--
		}
	case c.group && !c.level.reread && (t.kind == open && c.src[t.start] != '(' || t.kind == punct && c.text(t) == "..."):
		c.level.reread = true
		c.reread++
	}
}

func (c *counter) add(n int) {
	c.run += n
	c.total += n
}

func (c *counter) count(prev, t token) {
	c.tokens++
	switch t.kind {
	case open:
		c.add(1) // a call or a member stays in the chain when the bracket is closed
		c.outer = append(c.outer, c.level)
		c.level = level{begins: true}
	case shut:
		c.total -= c.run
		c.twice -= c.doubled
		tokens := c.tokens
		c.level = c.outer[len(c.outer)-1]
		c.outer = c.outer[:len(c.outer)-1]
		c.tokens += tokens
		c.closed = tokens
		return
	case reset:
		c.restart(0)
	case punct:
		switch c.text(t) {
		case ";":
			c.restart(0)
		case ",":
			if angles := c.angles; angles > 0 { // it may be one of type arguments
				c.total += c.base + angles - c.run
				c.run = c.base + angles
			} else {
				c.restart(c.base)
			}
		case "=>":
			if prev.kind == shut {
				c.tokens += c.closed
			}
			c.add(arrowDepth)
		default:
			c.add(1)
		}
	case word:
		switch c.text(t) {
		case "if":
			if !c.isMember() {
				c.pending = append(c.pending, c.run)
			}
		case "else":
			if n := len(c.pending); n > 0 && !c.isMember() {
				c.restart(c.pending[n-1] + 2)
				c.pending = c.pending[:n-1]
				return
			}
		}
		fallthrough
	default:
		if prev.kind.operand() && !t.newline || prev.kind == word || c.isTemplate(t) {
			c.add(1)
		}
	}
}

// isTemplate reports whether a token is a template without substitutions, which goes on with the operand before it.
func (c *counter) isTemplate(t token) bool { return t.kind == text && c.src[t.start] == '`' }

// restart begins another expression at a depth.
func (c *counter) restart(run int) {
	c.total += run - c.run
	c.twice -= c.doubled
	c.run, c.angles, c.doubled, c.asked, c.typed = run, 0, 0, false, false
}

// endStatement forgets the statement that ended, but for those around it that an else continues: also behind the while of a
// do, as in "if (a) do; while (b); else".
func (c *counter) endStatement(prev, t token) {
	switch c.text(t) {
	case "else":
		return
	case "while":
		if prev.kind == punct {
			return
		}
	}
	c.pending = c.pending[:0]
	c.restart(0)
	c.base, c.begins = 0, true
}

// noteStatement records the effect of a token, just counted, on statements, angle brackets and colons.
func (c *counter) noteStatement(t token) {
	began, named := c.begins, c.named
	c.begins, c.named = t.kind == open || t.kind == reset, false
	switch t.kind {
	case shut:
		if c.lexer.closed.control {
			c.base, c.begins = c.run, true
		}
	case word:
		switch w := c.text(t); {
		case (w == "else" || w == "do") && !c.isMember():
			c.base, c.begins = c.run, true
		default:
			c.named = began
		}
	case punct:
		switch w := c.text(t); w {
		case ";":
			c.base, c.begins = 0, true
		case ":":
			if named {
				c.base, c.begins = c.run, true
			}
		case "?":
			c.asked = true
		case "<":
			c.angles++
		case ">", ">=":
			c.angles = max(c.angles-1, 0)
		case ">>", ">>=":
			c.angles = max(c.angles-2, 0)
		case ">>>", ">>>=":
			c.angles = max(c.angles-3, 0)
		}
	}
}

// isDoubled reports whether a token is in a construct that the parser of TypeScript reads twice.
func (c *counter) isDoubled(before, prev, t token) bool {
	switch c.text(t) {
	case ":":
		c.typed = c.asked && prev.kind == shut
	case "=>":
		typed := c.typed
		c.typed = false
		return typed
	case "extends":
		return prev.kind == word && before.kind == word && c.text(before) == "infer"
	}
	return false
}

// Ambiguous reports whether a text, though short, could cost much time if [Check] mistook its tokens.
func Ambiguous(src string) bool {
	return strings.Contains(src, "/") && strings.Count(src, "=>") > maxArrows
}

// continuing are the words that can stand behind an operand or a closed brace without beginning a statement.
var continuing = []string{"else", "in", "of", "instanceof", "catch", "finally", "while", "as", "satisfies", "is", "extends", "from", "implements"}

// awaiting are the words that a line may end with although the expression goes on.
var awaiting = []string{
	"else", "do", "new", "typeof", "void", "delete", "await", "in", "of", "instanceof", "case", "extends", "yield", "async", "as", "satisfies", "is",
	"keyof", "readonly", "unique", "infer", "asserts", "abstract", "declare", "export", "default", "implements", "throw", "class", "function", "static",
}

// endsStatement reports whether a statement ends between two tokens.
func (c *counter) endsStatement(prev token, control bool, t token) bool {
	if prev.kind == punct && c.text(prev) == ";" {
		return true
	}
	if !t.kind.operand() || c.isTemplate(t) || t.kind == word && slices.Contains(continuing, c.text(t)) {
		return false
	}
	switch prev.kind {
	case shut:
		return c.lexer.closed.char == '{' || t.newline && !control
	case word:
		return t.newline && !slices.Contains(awaiting, c.text(prev))
	case number, text, regexp:
		return t.newline
	}
	return false
}

// Plain returns a text of the same size with the same tokens, in which a parser cannot mistake one kind of token for
// another. Comments are blank, strings and regular expressions have harmless contents, templates are arrays, and
// divisions are multiplications. If a parser accepts it, the parser reads the original with the same tokens as [Check].
// If Check took a division for a regular expression, or the reverse, a parser refuses it.
func Plain(src string) string {
	l := newLexer(src, true)
	for l.next().kind != end {
	}
	return string(l.plain)
}

// Calls returns the offsets where a text calls a function by a name.
func Calls(src, name string) []int {
	l := newLexer(src, false)
	var calls, maybe []int // maybe holds, for each open bracket, the offset of the call that it belongs to, or -1
	behind := -1           // the call whose parenthesis the last token closed
	for {
		prev, before := l.prev, l.before
		t := l.next()
		if method := t.kind == open && l.top().char == '{' && !t.newline; behind >= 0 && !method {
			calls = append(calls, behind)
		}
		behind = -1
		switch t.kind {
		case end:
			slices.Sort(calls)
			return calls
		case open:
			at := -1
			named := prev.kind == word && l.text(prev) == name && l.src[t.start] == '('
			if named && !(before.kind == punct && (l.text(before) == "." || l.text(before) == "?.")) && !(before.kind == word && l.text(before) == "function") {
				at = prev.start
			}
			maybe = append(maybe, at)
		case shut:
			behind, maybe = maybe[len(maybe)-1], maybe[:len(maybe)-1]
		}
	}
}
