// Package nesting bounds the depth of a text's syntax tree before the text is parsed. Parsers and compilers recurse, and Go
// ends a process whose stack is exhausted.
//
// # Design
//
// One pass over the tokens computes an upper bound of the depth before any parser runs. The bound is right only if this scanner
// and the parser agree on what is code. Texts of more than 8000 bytes are therefore first parsed in a plain form.
package nesting

import (
	"fmt"
	"slices"
	"strings"
)

// Max is the maximum depth of files and prompt lines. A level takes about 5 KiB of stack in the parsers and compilers. Some
// take quadratic time in the depth; TestLevelsFitTheStack measures both.
const Max = 8000

// maxRepeated is the maximum number of tokens that the parser reads, repetitions included, unless the text has at least an eighth as
// many bytes. The parser reads the parameters of an arrow function twice, so those of an arrow function in parameters four times.
const maxRepeated = 1 << 22

// arrowDepth is the number of levels counted per arrow function, because the compiler visits it from each enclosing one.
const arrowDepth = 4

// maxDoubled is the maximum nesting of constructs that the TypeScript parser reads twice: (a): b => after a question mark, and
// infer A extends.
const maxDoubled = 14

// maxReread is the maximum nesting of parentheses, other than those of calls, that directly contain an object, an array or dots. In
// malformed text the interpreter's parser may parse such parentheses again as parameters of an arrow function.
const maxReread = 16

// beforeReread are the words after which parentheses are not those of a call, so that maxReread concerns them.
var beforeReread = []string{"async", "function", "let"}

// maxArrows is the maximum number of arrow functions in a text with an HTML-like comment. A text with slashes and more arrow functions is
// first parsed in its plain form. Each arrow function may double the time.
const maxArrows = 10

// A Problem is the reason for rejecting a text.
type Problem struct {
	Offset        int
	Message, Hint string
}

// A level is the state inside one pair of brackets.
type level struct {
	run     int   // depth of the current expression or statement
	base    int   // part of run that belongs to statements: if (a), for (;;), label:
	begins  bool  // the next token begins a statement
	named   bool  // the last token is a word at the start of a statement and may be a label
	pending []int // depths at which an if may still have an else
	angles  int   // upper bound of open angle brackets
	tokens  uint64

	group  bool // the parentheses are not those of a call: a group, or parameters of an arrow function
	reread bool // a group that directly contains an object, an array or dots

	asked   bool // the expression contains a question mark
	typed   bool // a colon after a parenthesis may begin an arrow function's return type
	doubled int
}

type counter struct {
	*lexer
	outer []level
	level
	total  int    // total depth: the sum of run over all levels
	reread int    // open levels that are read twice
	twice  int    // constructs that are read twice, over all levels
	closed uint64 // tokens between the parentheses that the last token closed
}

// Check computes an upper bound of a text's tree depth. It counts nested brackets and chains of operators, prefixes, members,
// calls, arrows, labels and statements. It returns a problem if the bound exceeds limit, or if the parser would read parts of the
// text too many times. An HTML-like comment is a problem in a text of more than limit bytes or maxArrows arrow functions. Otherwise
// Check returns nil.
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
		c.noteReread(prev, t)
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

// noteReread counts a level when a token shows that it is read twice, and discounts it at its end.
func (c *counter) noteReread(prev, t token) {
	switch {
	case t.kind == shut:
		if c.level.reread {
			c.reread--
		}
	case t.kind == open && c.src[t.start] == '{' && (prev.kind == shut || prev.kind == punct && c.text(prev) == "=>"): // the body of a function
	case c.group && !c.level.reread && (t.kind == open && c.src[t.start] != '(' || t.kind == punct && c.text(t) == "..."):
		c.level.reread = true
		c.reread++
	}
}

func (c *counter) add(n int) {
	c.run += n
	c.total += n
}

// count counts a token. prev is the token before it.
func (c *counter) count(prev, t token) {
	c.tokens++
	switch t.kind {
	case open:
		c.add(1) // calls and members extend the chain after the bracket
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
			if angles := c.angles; angles > 0 { // may close type arguments
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

// isTemplate reports whether a token is a template without substitutions; it continues the preceding operand.
func (c *counter) isTemplate(t token) bool { return t.kind == text && c.src[t.start] == '`' }

// restart begins another expression at a depth.
func (c *counter) restart(run int) {
	c.total += run - c.run
	c.twice -= c.doubled
	c.run, c.angles, c.doubled, c.asked, c.typed = run, 0, 0, false, false
}

// endStatement discounts the statement that ended between prev and t. It does nothing if t is an else, or a while behind
// punctuation, as in "if (a) do; while (b); else". Then t may continue an enclosing statement.
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

// noteStatement records the effect of the last counted token on statements, angle brackets and colons.
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

// isDoubled reports whether a token shows that the TypeScript parser reads the construct around it twice. It updates c.typed.
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

// Ambiguous reports whether parsing a short text could take long if [Check] misclassified its tokens.
func Ambiguous(src string) bool {
	return strings.Contains(src, "/") && strings.Count(src, "=>") > maxArrows
}

// continuing are the words that can follow an operand or a closed brace without beginning a statement.
var continuing = []string{"else", "in", "of", "instanceof", "catch", "finally", "while", "as", "satisfies", "is", "extends", "from", "implements"}

// awaiting are the words after which a statement, expression or type can continue on the next line.
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

// Plain returns a text of the same size and with the same tokens, but without ambiguous ones. Comments are blank, strings and
// regular expressions have harmless contents, templates are arrays, and divisions are multiplications. If a parser accepts it,
// the parser reads the original with the same tokens as [Check]. If Check mistook a division for a regular expression, or the
// reverse, parsers reject it.
func Plain(src string) string {
	l := newLexer(src, true)
	for l.next().kind != end {
	}
	return string(l.plain)
}
