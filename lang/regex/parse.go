// Package regex implements the regular expressions of ECMAScript: the parser of patterns, their programs, and a matcher that
// backtracks.
package regex

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Flags are the flags of a regular expression.
type Flags struct {
	Indices, Global, IgnoreCase, Multiline, DotAll, Unicode, Sets, Sticky bool
}

// ParseFlags reads the text of flags. It reports whether they are valid: known, each once, and not both u and v.
func ParseFlags(text string) (f Flags, ok bool) {
	for _, c := range text {
		at := f.flag(c)
		if at == nil || *at {
			return f, false
		}
		*at = true
	}
	return f, !f.Unicode || !f.Sets
}

// flag returns the field of a flag, or nil if there is no such flag.
func (f *Flags) flag(c rune) *bool {
	switch c {
	case 'd':
		return &f.Indices
	case 'g':
		return &f.Global
	case 'i':
		return &f.IgnoreCase
	case 'm':
		return &f.Multiline
	case 's':
		return &f.DotAll
	case 'u':
		return &f.Unicode
	case 'v':
		return &f.Sets
	case 'y':
		return &f.Sticky
	}
	return nil
}

// String returns the flags in alphabetic order.
func (f Flags) String() string {
	var b strings.Builder
	for _, c := range "dgimsuvy" {
		if *f.flag(c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// FullUnicode reports whether the text is matched by code points.
func (f Flags) FullUnicode() bool { return f.Unicode || f.Sets }

// An Error says what is wrong with a pattern, and at which UTF-16 unit of it.
type Error struct {
	Message string
	Offset  int
}

func (e *Error) Error() string { return e.Message }

type op uint8

const (
	opEmpty op = iota
	opSet
	opStrings // longest first, then the set
	opSeq
	opAlt
	opGroup
	opBackref
	opLineStart
	opLineEnd
	opWordEdge
	opLook
	opRepeat
)

// A node is a part of a pattern.
type node struct {
	op             op
	set            charSet
	strings        [][]rune
	kids           []*node
	index          int   // of a group
	refs           []int // groups of a backreference
	min, max       int
	lazy           bool // of a repetition: as few iterations as possible
	lo, hi         int  // the groups inside of a repetition: lo ≤ index < hi
	negate, behind bool // of a lookaround; negate also of a word edge
	ignore, multi  bool // the flags i and m at the node
}

// MaxDepth is the maximum number of groups and classes that contain one another.
const MaxDepth = 1000

const unlimited = math.MaxInt32

type parser struct {
	src           []rune // code points, or UTF-16 units without the flags u and v
	at            int    // index in src
	unicode, sets bool   // unicode: the flag u or v is set; sets: the flag v is
	ignore        bool
	multi, dotAll bool
	groups        int  // opened so far
	total         int  // in the whole pattern
	named         bool // \k is a reference to a group
	names         []namedGroup
	pending       []pendingRef
	path          []branch // alternatives around the current position
	disjunctions  int      // number of disjunctions so far
	depth         int      // number of groups and classes around the current position
}

type namedGroup struct {
	name  string
	index int
	path  []branch
}

// A branch is an alternative of a disjunction.
type branch struct{ disjunction, alternative int }

type pendingRef struct {
	node *node
	name string
	at   int
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(&Error{fmt.Sprintf(format, args...), p.units(at)})
}

// units converts an index of src to one of UTF-16 units.
func (p *parser) units(at int) int {
	n := 0
	for _, c := range p.src[:min(at, len(p.src))] {
		n++
		if c > 0xFFFF {
			n++
		}
	}
	return n
}

// parse parses a pattern of UTF-16 units. The parser that it returns has the number of the groups and their names. The error is
// an *[Error].
func parse(text []uint16, f Flags) (root *node, p *parser, err error) {
	p = &parser{unicode: f.FullUnicode(), sets: f.Sets, ignore: f.IgnoreCase, multi: f.Multiline, dotAll: f.DotAll}
	p.src = decode(text, p.unicode)
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *Error:
			err = x
		default:
			panic(x)
		}
	}()
	p.scan()
	root = p.disjunction()
	if p.at < len(p.src) {
		p.fail(p.at, "unmatched )")
	}
	for _, ref := range p.pending {
		for _, g := range p.names {
			if g.name == ref.name {
				ref.node.refs = append(ref.node.refs, g.index)
			}
		}
		if len(ref.node.refs) == 0 {
			p.fail(ref.at, "there is no group named %q", ref.name)
		}
	}
	return root, p, nil
}

// decode returns the code points of text if unicode is set, and its units otherwise.
func decode(text []uint16, unicode bool) []rune {
	out := make([]rune, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := rune(text[i])
		if unicode && isLead(c) && i+1 < len(text) && isTrail(rune(text[i+1])) {
			c = pair(c, rune(text[i+1]))
			i++
		}
		out = append(out, c)
	}
	return out
}

func isLead(c rune) bool  { return c>>10 == 0xD800>>10 }
func isTrail(c rune) bool { return c>>10 == 0xDC00>>10 }
func pair(lead, trail rune) rune {
	return (lead-0xD800)<<10 + (trail - 0xDC00) + 0x10000
}

// scan counts the groups of the pattern in p.total. It sets p.named, which makes \k a reference, if a group has a name or the flag u
// or v is set.
func (p *parser) scan() {
	class := 0
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[' && (class == 0 || p.sets):
			class++
		case c == ']' && class > 0:
			class--
		case c == '(' && class == 0:
			if p.peekAt(i+1) != '?' {
				p.total++
			} else if p.peekAt(i+2) == '<' && p.peekAt(i+3) != '=' && p.peekAt(i+3) != '!' {
				p.total++
				p.named = true
			}
		}
	}
	p.named = p.named || p.unicode
}

func (p *parser) peekAt(i int) rune {
	if i < len(p.src) {
		return p.src[i]
	}
	return -1
}

func (p *parser) peek() rune { return p.peekAt(p.at) }

func (p *parser) eat(c rune) bool {
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) eatText(s string) bool {
	for i, c := range s { // ASCII
		if p.peekAt(p.at+i) != c {
			return false
		}
	}
	p.at += len(s)
	return true
}

func (p *parser) enter(at int) {
	if p.depth++; p.depth > MaxDepth {
		p.fail(at, "groups are nested more than %d deep", MaxDepth)
	}
}

func (p *parser) disjunction() *node {
	p.disjunctions++
	id := p.disjunctions
	alt := &node{op: opAlt}
	for i := 0; ; i++ {
		p.path = append(p.path, branch{id, i})
		alt.kids = append(alt.kids, p.alternative())
		p.path = p.path[:len(p.path)-1]
		if !p.eat('|') {
			break
		}
	}
	if len(alt.kids) == 1 {
		return alt.kids[0]
	}
	return alt
}

func (p *parser) alternative() *node {
	seq := &node{op: opSeq}
	for p.at < len(p.src) && p.peek() != '|' && p.peek() != ')' {
		seq.kids = append(seq.kids, p.term())
	}
	if len(seq.kids) == 1 {
		return seq.kids[0]
	}
	return seq
}

func (p *parser) term() *node {
	at, first := p.at, p.groups
	n, quantifiable := p.atom()
	min, max, lazy, ok := p.quantifier()
	if !ok {
		return n
	}
	if !quantifiable {
		p.fail(at, "nothing to repeat")
	}
	if max < min {
		p.fail(at, "numbers out of order in {} quantifier")
	}
	return &node{op: opRepeat, kids: []*node{n}, min: min, max: max, lazy: lazy, lo: first + 1, hi: p.groups + 1}
}

// quantifier parses a quantifier, and returns false if there is none. Its maximum may be unlimited.
func (p *parser) quantifier() (low, high int, lazy, ok bool) {
	switch p.peek() {
	case '*':
		low, high = 0, unlimited
		p.at++
	case '+':
		low, high = 1, unlimited
		p.at++
	case '?':
		low, high = 0, 1
		p.at++
	case '{':
		at := p.at
		if low, high, ok = p.braces(); !ok {
			if p.unicode {
				p.fail(at, "incomplete quantifier")
			}
			p.at = at
			return 0, 0, false, false
		}
	default:
		return 0, 0, false, false
	}
	return low, high, p.eat('?'), true
}

// braces parses {n}, {n,} or {n,m}. It returns false for other texts, whose first characters it may have passed.
func (p *parser) braces() (low, high int, ok bool) {
	p.at++
	if low, ok = p.decimal(); !ok {
		return 0, 0, false
	}
	high = low
	if p.eat(',') {
		if high, ok = p.decimal(); !ok {
			high = unlimited
		}
	}
	return low, high, p.eat('}')
}

// decimal parses a number and returns at most unlimited. It returns false if there is no digit.
func (p *parser) decimal() (n int, ok bool) {
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		n = min(n*10+int(c-'0'), unlimited)
		p.at++
		ok = true
	}
	return n, ok
}

// atom parses an atom or an assertion, and reports whether it may be repeated.
func (p *parser) atom() (n *node, quantifiable bool) {
	at := p.at
	c := p.src[p.at]
	p.at++
	switch c {
	case '^':
		return &node{op: opLineStart, multi: p.multi}, false
	case '$':
		return &node{op: opLineEnd, multi: p.multi}, false
	case '(':
		p.enter(at)
		defer func() { p.depth-- }()
		return p.group(at)
	case '.':
		if p.dotAll {
			return &node{op: opSet, set: anything}, true
		}
		return &node{op: opSet, set: notLineEnds}, true
	case '[':
		return p.class(), true
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.fail(at, "nothing to repeat")
	case '{':
		if p.unicode {
			p.fail(at, "nothing to repeat")
		}
		p.at = at
		if _, _, ok := p.braces(); ok {
			p.fail(at, "nothing to repeat")
		}
		p.at = at + 1
	case '}', ']':
		if p.unicode {
			p.fail(at, "lone %c; write \\%c", c, c)
		}
	}
	return p.char(c), true
}

// char returns a node that matches a code point, with the flag i also those that match it.
func (p *parser) char(c rune) *node { return &node{op: opSet, set: p.fold(single(c))} }

// fold returns a set, with the flag i together with all characters that match one of the set.
func (p *parser) fold(s charSet) charSet {
	if !p.ignore {
		return s
	}
	if c, ok := s.one(); ok {
		return equivalents(c, p.unicode)
	}
	return s.closure(p.unicode)
}

// group parses the rest of a group or of a lookaround, and reports whether a quantifier may follow.
func (p *parser) group(at int) (n *node, quantifiable bool) {
	close := func() {
		if !p.eat(')') {
			p.fail(at, "unterminated group")
		}
	}
	if !p.eat('?') {
		p.groups++
		n = &node{op: opGroup, index: p.groups}
		n.kids = []*node{p.disjunction()}
		close()
		return n, true
	}
	look := func(behind, negate bool) (*node, bool) {
		n := &node{op: opLook, behind: behind, negate: negate, lo: p.groups + 1}
		n.kids = []*node{p.disjunction()}
		n.hi = p.groups + 1
		close()
		return n, !behind && !p.unicode
	}
	switch {
	case p.eat(':'):
		n = p.disjunction()
		close()
		return n, true
	case p.eat('='):
		return look(false, false)
	case p.eat('!'):
		return look(false, true)
	case p.eatText("<="):
		return look(true, false)
	case p.eatText("<!"):
		return look(true, true)
	case p.eat('<'):
		name := p.groupName(at)
		p.groups++
		p.declare(name, at)
		n = &node{op: opGroup, index: p.groups}
		n.kids = []*node{p.disjunction()}
		close()
		return n, true
	}
	p.modifiers(at)
	was := [3]bool{p.ignore, p.multi, p.dotAll}
	p.setModifiers(at)
	n = p.disjunction()
	p.ignore, p.multi, p.dotAll = was[0], was[1], was[2]
	close()
	return n, true
}

// modifiers checks the flags of a group (?ims-ims:, and leaves the position at their start.
func (p *parser) modifiers(at int) {
	start := p.at
	seen := ""
	dash, any := false, false
	for ; p.peek() != ':'; p.at++ {
		c := p.peek()
		switch {
		case c == '-' && !dash:
			dash = true
		case c > 0 && strings.ContainsRune("ims", c) && !strings.ContainsRune(seen, c):
			seen += string(c)
			any = true
		default:
			p.fail(at, "invalid group")
		}
	}
	if !any {
		p.fail(at, "invalid group")
	}
	p.at = start
}

func (p *parser) setModifiers(at int) {
	value := true
	for ; p.peek() != ':'; p.at++ {
		switch p.peek() {
		case '-':
			value = false
		case 'i':
			p.ignore = value
		case 'm':
			p.multi = value
		case 's':
			p.dotAll = value
		}
	}
	p.at++
}

// declare adds a named group. Two groups may have one name in different alternatives.
func (p *parser) declare(name string, at int) {
	for _, g := range p.names {
		if g.name == name && !differ(g.path, p.path) {
			p.fail(at, "two groups are named %q", name)
		}
	}
	p.names = append(p.names, namedGroup{name, p.groups, slices.Clone(p.path)})
}

// differ reports whether two places are in different alternatives of one disjunction.
func differ(a, b []branch) bool {
	for _, x := range a {
		for _, y := range b {
			if x.disjunction == y.disjunction && x.alternative != y.alternative {
				return true
			}
		}
	}
	return false
}

// groupName parses a name and the closing bracket. Errors are at index at.
func (p *parser) groupName(at int) string {
	var b []uint16
	for first := true; ; first = false {
		c := p.peek()
		p.at++
		if c == '>' && !first {
			return string16(b)
		}
		if c == '\\' {
			if !p.eat('u') {
				p.fail(at, "invalid name of a group")
			}
			if c = p.unicodeEscape(true); c < 0 {
				p.fail(at, "invalid escape in the name of a group")
			}
		} else if isLead(c) && isTrail(p.peek()) {
			c = pair(c, p.peek())
			p.at++
		}
		if c < 0 || first && !isIDStart(c) || !first && !isIDPart(c) {
			p.fail(at, "invalid name of a group")
		}
		b = appendUnits(b, c)
	}
}
