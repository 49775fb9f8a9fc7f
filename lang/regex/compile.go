package regex

import (
	"fmt"
)

type opcode uint8

const (
	iChar     opcode = iota // consumes the unit c
	iSet                    // consumes a character of set
	iSetBack                // consumes a character of set backwards
	iStrings                // consumes one of strs, or a character of set
	iRun                    // consumes min to max characters of set
	iRunBack                // consumes min to max characters of set backwards
	iJump                   // goes to x
	iSplit                  // tries the next instruction, then x
	iSplitFar               // tries x, then the next instruction
	iSave                   // stores the position in register x
	iClear                  // clears the registers x ≤ r < y
	iProgress               // fails if the position is that in register x; see compiler.counted
	iCount                  // increments register x
	iZero                   // sets register x to 0
	iLoop                   // decides about an iteration; see compiler.counted
	iRef                    // consumes the text of a group
	iRefBack                // consumes the text of a group backwards
	iLineStart
	iLineEnd
	iWordEdge
	iLook    // begins a lookaround whose end is at x, with the stack's height in register y
	iLookEnd // ends the lookaround whose stack height is in register y
	iMatch
)

type inst struct {
	op       opcode
	lazy     bool // takes as few as possible; iStrings: goes backwards
	negate   bool // iWordEdge, iLook, iLookEnd: succeeds if the condition fails
	multi    bool // iLineStart, iLineEnd: has the flag m; iProgress: in a loop with a counter
	ignore   bool // iRef, iStrings: has the flag i
	c        rune
	follow   int32 // the unit that must follow a run, or -1
	x, y     int32
	min, max int32
	set      *matchSet
	refs     []int32           // first registers of groups
	strs     map[rune][][]rune // by first character, or last if they go backwards; -1: empty
}

// A matchSet is a set with a table for the characters below 256.
type matchSet struct {
	low  [4]uint64
	rest charSet
}

func newMatchSet(s charSet) *matchSet {
	m := &matchSet{rest: s}
	for _, r := range s {
		for c := r.lo; c <= min(r.hi, 255); c++ {
			m.low[c>>6] |= 1 << (c & 63)
		}
	}
	return m
}

func (m *matchSet) has(c rune) bool {
	if c < 256 {
		return m.low[uint8(c)>>6]>>(uint8(c)&63)&1 != 0
	}
	return m.rest.contains(c)
}

// A Program is a compiled regular expression. It is safe for concurrent use.
type Program struct {
	code      []inst
	memo      []memoInfo // of each instruction; nil if results depend on more than position and instruction
	registers int
	groups    int
	names     []string // of groups, by index; "" without a name
	flags     Flags
	unicode   bool
	first     *matchSet // units, one of which begins every match; nil if unknown
	prefix    []byte    // ASCII text with which every match begins
	anchored  bool      // every match begins at the start of the text
}

// memoInfo says when a failure at an instruction and a position is final. It never is inside of a lookaround, where ok is
// false. The position must also differ from those in the registers starts, at which the iterations of the enclosing loops
// began.
type memoInfo struct {
	ok     bool
	starts []int32
}

// Flags returns the flags with which the pattern was compiled.
func (p *Program) Flags() Flags { return p.flags }

// Groups returns the number of groups, including the whole match.
func (p *Program) Groups() int { return p.groups }

// Names returns the names of the groups by index, "" for those without one. It is nil if no group has a name.
func (p *Program) Names() []string { return p.names }

// mostCode is the maximum number of instructions of a program.
const mostCode = 1 << 20

// mostCopies is the maximum number of instructions into which a repetition with counts is expanded. A larger one becomes a loop with a
// counter.
const mostCopies = 1000

type compiler struct {
	p      *Program
	back   bool
	unique bool    // results depend on position and instruction only, see memoInfo
	look   int     // nesting of lookarounds
	starts []int32 // registers with the positions at which the iterations of the enclosing loops began
	sets   map[*node]*matchSet
}

// Compile compiles a pattern of UTF-16 units. The error is an *[Error].
func Compile(text []uint16, f Flags) (p *Program, err error) {
	root, parsed, err := parse(text, f)
	if err != nil {
		return nil, err
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *Error:
			p, err = nil, x
		default:
			panic(x)
		}
	}()
	p = &Program{groups: parsed.groups + 1, registers: 2 * (parsed.groups + 1), flags: f, unicode: f.FullUnicode()}
	if len(parsed.names) > 0 {
		p.names = make([]string, p.groups)
		for _, n := range parsed.names {
			p.names[n.index] = n.name
		}
	}
	c := &compiler{p: p, unique: true, sets: map[*node]*matchSet{}}
	c.node(root)
	c.emit(inst{op: iMatch})
	if !c.unique {
		p.memo = nil
	}
	for i := range p.code[:len(p.code)-1] {
		if in := &p.code[i]; in.op == iRun {
			in.follow = -1
			if next := &p.code[i+1]; next.op == iChar {
				in.follow = next.c
			}
		}
	}
	if first, empty := p.firstSet(root); !empty {
		p.first = newMatchSet(first)
	}
	p.prefix = prefix(root, nil)
	p.anchored = anchored(root)
	return p, nil
}

// Check parses a pattern. The error is an *[Error].
func Check(text []uint16, f Flags) error {
	_, _, err := parse(text, f)
	return err
}

// emit appends an instruction and returns its index. It panics with an [*Error] if the program is too large.
func (c *compiler) emit(in inst) int {
	if len(c.p.code) >= mostCode {
		panic(&Error{Message: "the pattern is too large"})
	}
	c.p.code = append(c.p.code, in)
	c.p.memo = append(c.p.memo, memoInfo{c.look == 0, c.starts})
	return len(c.p.code) - 1
}

func (c *compiler) here() int32 { return int32(len(c.p.code)) }

func (c *compiler) register() int32 {
	c.p.registers++
	return int32(c.p.registers - 1)
}

func (c *compiler) setOf(n *node) *matchSet {
	s := c.sets[n]
	if s == nil {
		s = newMatchSet(n.set)
		c.sets[n] = s
	}
	return s
}

func (c *compiler) node(n *node) {
	switch n.op {
	case opSet:
		r, one := n.set.one()
		switch {
		case c.back:
			c.emit(inst{op: iSetBack, set: c.setOf(n)})
		case one && r <= 0xFFFF && (!c.p.unicode || !isLead(r) && !isTrail(r)):
			c.emit(inst{op: iChar, c: r})
		default:
			c.emit(inst{op: iSet, set: c.setOf(n)})
		}
	case opStrings:
		in := inst{op: iStrings, set: c.setOf(n), strs: map[rune][][]rune{}, ignore: n.ignore, lazy: c.back}
		for _, s := range n.strings {
			key := rune(-1)
			if n.ignore {
				folded := make([]rune, len(s))
				for i, r := range s {
					folded[i] = canonical(r, true)
				}
				s = folded
			}
			if len(s) > 0 {
				key = s[0]
				if c.back {
					key = s[len(s)-1]
				}
			}
			in.strs[key] = append(in.strs[key], s)
		}
		c.emit(in)
	case opSeq:
		if c.back {
			for i := len(n.kids) - 1; i >= 0; i-- {
				c.node(n.kids[i])
			}
			return
		}
		for _, k := range n.kids {
			c.node(k)
		}
	case opAlt:
		var ends []int
		for i, k := range n.kids {
			if i == len(n.kids)-1 {
				c.node(k)
				break
			}
			split := c.emit(inst{op: iSplit})
			c.node(k)
			ends = append(ends, c.emit(inst{op: iJump}))
			c.p.code[split].x = c.here()
		}
		for _, e := range ends {
			c.p.code[e].x = c.here()
		}
	case opGroup:
		from, to := int32(2*n.index), int32(2*n.index+1)
		if c.back {
			from, to = to, from
		}
		c.emit(inst{op: iSave, x: from})
		c.node(n.kids[0])
		c.emit(inst{op: iSave, x: to})
	case opBackref:
		c.unique = false
		in := inst{op: iRef, ignore: n.ignore}
		if c.back {
			in.op = iRefBack
		}
		for _, g := range n.refs {
			in.refs = append(in.refs, int32(2*g))
		}
		c.emit(in)
	case opLineStart:
		c.emit(inst{op: iLineStart, multi: n.multi})
	case opLineEnd:
		c.emit(inst{op: iLineEnd, multi: n.multi})
	case opWordEdge:
		c.emit(inst{op: iWordEdge, negate: n.negate, set: c.setOf(n)})
	case opLook:
		was := c.back
		r := c.register()
		begin := c.emit(inst{op: iLook, y: r, negate: n.negate})
		c.back = n.behind
		c.look++
		c.node(n.kids[0])
		c.emit(inst{op: iLookEnd, y: r, negate: n.negate})
		c.look--
		c.back = was
		c.p.code[begin].x = c.here()
	case opRepeat:
		c.repeat(n)
	}
}

func (c *compiler) repeat(n *node) {
	body := n.kids[0]
	if n.max == 0 {
		return
	}
	if body.op == opSet {
		in := inst{op: iRun, set: c.setOf(body), min: int32(n.min), max: int32(n.max), lazy: n.lazy, follow: -1}
		if c.back {
			in.op = iRunBack
		}
		c.emit(in)
		return
	}
	if n.min == n.max && size(body)*n.min <= mostCopies {
		for range n.min {
			c.iteration(n)
		}
		return
	}
	copies := n.min
	if n.max != unlimited {
		copies = n.max
	}
	if size(body)*copies > mostCopies {
		c.counted(n)
		return
	}
	for range n.min {
		c.iteration(n)
	}
	if n.max == unlimited {
		c.loop(n)
		return
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, c.split(n.lazy))
		c.guarded(n, func() { c.iteration(n) })
	}
	for _, s := range splits {
		c.p.code[s].x = c.here()
	}
}

// split emits a choice between the next instruction and another one, whose index is set later.
func (c *compiler) split(lazy bool) int {
	if lazy {
		return c.emit(inst{op: iSplitFar})
	}
	return c.emit(inst{op: iSplit})
}

// iteration emits the body of a repetition, before which its groups are cleared.
func (c *compiler) iteration(n *node) {
	if n.hi > n.lo {
		c.emit(inst{op: iClear, x: int32(2 * n.lo), y: int32(2 * n.hi)})
	}
	c.node(n.kids[0])
}

// guarded emits an iteration by calling emit. If the body of n may be empty, an iteration that consumes nothing fails.
func (c *compiler) guarded(n *node, emit func()) {
	if !mayBeEmpty(n.kids[0]) {
		emit()
		return
	}
	r := c.register()
	c.emit(inst{op: iSave, x: r})
	was := c.starts
	c.starts = append(was[:len(was):len(was)], r)
	emit()
	c.emit(inst{op: iProgress, x: r})
	c.starts = was
}

// loop emits iterations without a limit.
func (c *compiler) loop(n *node) {
	head := c.here()
	s := c.split(n.lazy)
	c.guarded(n, func() { c.iteration(n) })
	c.emit(inst{op: iJump, x: head})
	c.p.code[s].x = c.here()
}

// counted emits a loop with a counter in register y. iLoop goes to instruction x, behind the loop, once the counter is max, and may go
// there once it is min. An iteration that consumes nothing fails only after min iterations.
func (c *compiler) counted(n *node) {
	c.unique = false
	counter, start := c.register(), c.register()
	c.emit(inst{op: iZero, x: counter})
	head := c.emit(inst{op: iLoop, y: counter, min: int32(n.min), max: int32(n.max), lazy: n.lazy})
	c.emit(inst{op: iSave, x: start})
	c.iteration(n)
	if mayBeEmpty(n.kids[0]) {
		c.emit(inst{op: iProgress, x: start, y: counter, min: int32(n.min), multi: true})
	}
	c.emit(inst{op: iCount, x: counter})
	c.emit(inst{op: iJump, x: int32(head)})
	c.p.code[head].x = c.here()
}

// size estimates the number of instructions of a node.
func size(n *node) int {
	total := 1
	for _, k := range n.kids {
		total += size(k) + 1
	}
	if n.op == opRepeat {
		if n.max != unlimited && total*n.max <= mostCopies {
			return total * max(n.max, 1)
		}
		return total*max(1, min(n.min, mostCopies)) + 3
	}
	return total
}

// mayBeEmpty reports whether a node may match without consuming anything.
func mayBeEmpty(n *node) bool {
	switch n.op {
	case opSet:
		return false
	case opStrings:
		last := n.strings[len(n.strings)-1]
		return len(last) == 0
	case opSeq:
		for _, k := range n.kids {
			if !mayBeEmpty(k) {
				return false
			}
		}
		return true
	case opAlt:
		for _, k := range n.kids {
			if mayBeEmpty(k) {
				return true
			}
		}
		return false
	case opGroup:
		return mayBeEmpty(n.kids[0])
	case opRepeat:
		return n.min == 0 || mayBeEmpty(n.kids[0])
	}
	return true
}

// firstSet returns the units with which a match of a node may begin, and whether it may be empty.
func (p *Program) firstSet(n *node) (s charSet, empty bool) {
	switch n.op {
	case opSet:
		return p.unitsOf(n.set), false
	case opStrings:
		s = p.unitsOf(n.set)
		for _, str := range n.strings {
			if len(str) == 0 {
				empty = true
				continue
			}
			first := single(str[0])
			if n.ignore {
				first = equivalents(str[0], true)
			}
			s = s.union(p.unitsOf(first))
		}
		return s, empty
	case opSeq:
		for _, k := range n.kids {
			first, e := p.firstSet(k)
			s = s.union(first)
			if !e {
				return s, false
			}
		}
		return s, true
	case opAlt:
		for _, k := range n.kids {
			first, e := p.firstSet(k)
			s = s.union(first)
			empty = empty || e
		}
		return s, empty
	case opGroup:
		return p.firstSet(n.kids[0])
	case opRepeat:
		s, empty = p.firstSet(n.kids[0])
		return s, empty || n.min == 0
	case opBackref:
		return anything, true
	}
	return nil, true // an assertion
}

// unitsOf returns the UTF-16 units with which the characters of a set begin. For characters beyond U+FFFF it adds all lead
// surrogates. Without the flags u and v the set is returned as it is.
func (p *Program) unitsOf(s charSet) charSet {
	if !p.unicode || len(s) == 0 || s[len(s)-1].hi <= 0xFFFF {
		return s
	}
	return s.below(0x10000).union(charSet{{0xD800, 0xDBFF}})
}

// prefix appends ASCII text with which every match of a node begins, as far as it is known.
func prefix(n *node, to []byte) []byte {
	switch n.op {
	case opSet:
		if c, ok := n.set.one(); ok && c < 128 {
			return append(to, byte(c))
		}
	case opGroup:
		return prefix(n.kids[0], to)
	case opSeq:
		for _, k := range n.kids {
			before := len(to)
			to = prefix(k, to)
			if k.op != opSet || len(to) == before {
				break
			}
		}
	}
	return to
}

// anchored reports whether every match of a node is known to begin at the start of the text.
func anchored(n *node) bool {
	switch n.op {
	case opLineStart:
		return !n.multi
	case opSeq:
		return len(n.kids) > 0 && anchored(n.kids[0])
	case opGroup:
		return anchored(n.kids[0])
	case opAlt:
		for _, k := range n.kids {
			if !anchored(k) {
				return false
			}
		}
		return true
	}
	return false
}

func (in *inst) String() string { return fmt.Sprintf("%d x=%d y=%d", in.op, in.x, in.y) }
