package regex

import (
	"bytes"
	"errors"
)

// ErrTooDeep reports that a match needs more memory for its choices than it may use.
var ErrTooDeep = errors.New("a match of the regular expression has too many open choices")

// A Matcher holds the memory of matches; it must not be used concurrently.
type Matcher struct {
	// Poll is called now and then during a long match; it may panic to end it.
	Poll func()
	// MostFrames is the maximum number of frames on the stack, of 16 bytes each: open choices and old values of registers. 0 sets no
	// limit.
	MostFrames int

	stack     []frame
	registers []int32
	steps     int
	limit     int      // value of steps at the next poll
	memo      []uint64 // a bit for each instruction and position tried before; nil if none is remembered
	memoFrom  int      // steps from which failures are remembered
}

type frameKind int32

const (
	fBranch  frameKind = iota // goes on at pc and pos
	fRestore                  // register x gets the value pos
	fRun                      // a run up to pos may be shorter, down to x
	fLazy                     // a run up to pos may be longer, by at most x characters
	fLook                     // begins a lookaround: goes on at pc and pos if it is negative
)

type frame struct {
	kind       frameKind
	pc, pos, x int32
}

// Shrink releases the table of failures, and the stack if it has room for more than that number of frames.
func (m *Matcher) Shrink(frames int) {
	m.memo = nil
	if cap(m.stack) > frames {
		m.stack = nil
	}
}

type unit interface{ byte | uint16 }

const (
	pollSteps     = 1 << 14
	mostMemoBytes = 32 << 20
)

// MatchBytes finds the first match in a text of ASCII that begins at or after a position, or with sticky at the position. It
// returns the starts and ends of the whole match and of the groups, -1 for groups that took no part in it. It returns nil if there
// is no match. The result is valid until the next call. The error is ErrTooDeep.
func (m *Matcher) MatchBytes(p *Program, text []byte, at int, sticky bool) ([]int32, error) {
	return match(m, p, text, at, sticky)
}

// MatchUnits is MatchBytes for a text of UTF-16 units. With the flag u or v, a position inside a surrogate pair stands for the
// pair's first unit.
func (m *Matcher) MatchUnits(p *Program, text []uint16, at int, sticky bool) ([]int32, error) {
	return match(m, p, text, at, sticky)
}

func match[E unit](m *Matcher, p *Program, text []E, at int, sticky bool) ([]int32, error) {
	m.steps, m.limit, m.memo = 0, pollSteps, nil
	m.memoFrom = 1<<16 + 16*len(text)
	if cap(m.registers) < p.registers {
		m.registers = make([]int32, p.registers)
	}
	m.registers = m.registers[:p.registers]
	for i := range m.registers {
		m.registers[i] = -1
	}
	if p.unicode && at > 0 && at < len(text) && isTrail(rune(text[at])) && isLead(rune(text[at-1])) {
		at--
	}
	for ; at <= len(text); at++ {
		if !sticky {
			if at = candidate(p, text, at); at < 0 {
				return nil, nil
			}
		}
		m.step(1)
		end, err := run(m, p, text, at)
		if err != nil {
			return nil, err
		}
		if end >= 0 {
			m.registers[0], m.registers[1] = int32(at), int32(end)
			return m.registers[:2*p.groups], nil
		}
		if sticky {
			return nil, nil
		}
		if p.unicode && at+1 < len(text) && isLead(rune(text[at])) && isTrail(rune(text[at+1])) {
			at++
		}
	}
	return nil, nil
}

// candidate returns the first position from at on at which a match may begin, or -1.
func candidate[E unit](p *Program, text []E, at int) int {
	if p.anchored && at > 0 {
		return -1
	}
	if len(p.prefix) > 0 {
		return index(text, p.prefix, at)
	}
	if p.first == nil {
		return at
	}
	for i := at; i < len(text); i++ {
		c := rune(text[i])
		if !p.first.has(c) || p.unicode && i > at && isTrail(c) && isLead(rune(text[i-1])) { // no match begins inside of a pair
			continue
		}
		return i
	}
	return -1
}

// index returns the first position from at on at which text contains what, which is ASCII, or -1.
func index[E unit](text []E, what []byte, at int) int {
	if b, ok := any(text).([]byte); ok {
		if i := bytes.Index(b[at:], what); i >= 0 {
			return at + i
		}
		return -1
	}
	first := E(what[0])
search:
	for i := at; i+len(what) <= len(text); i++ {
		if text[i] != first {
			continue
		}
		for j := 1; j < len(what); j++ {
			if text[i+j] != E(what[j]) {
				continue search
			}
		}
		return i
	}
	return -1
}

func (m *Matcher) step(n int) {
	m.steps += n
	if m.steps >= m.limit {
		m.limit = m.steps + pollSteps
		if m.Poll != nil {
			m.Poll()
		}
	}
}

// after returns the character at a position of the text and the position after it. With unicode, a surrogate pair is one character.
func after[E unit](text []E, pos int, unicode bool) (rune, int) {
	c := rune(text[pos])
	pos++
	if unicode && isLead(c) && pos < len(text) && isTrail(rune(text[pos])) {
		return pair(c, rune(text[pos])), pos + 1
	}
	return c, pos
}

// before returns the character before a position, which must not be 0, and the character's position. Pairs are as for after.
func before[E unit](text []E, pos int, unicode bool) (rune, int) {
	pos--
	c := rune(text[pos])
	if unicode && isTrail(c) && pos > 0 && isLead(rune(text[pos-1])) {
		return pair(rune(text[pos-1]), c), pos - 1
	}
	return c, pos
}

// set changes a register; backtracking restores it.
func (m *Matcher) set(register, value int32) {
	m.stack = append(m.stack, frame{kind: fRestore, x: register, pos: m.registers[register]})
	m.registers[register] = value
}

// failed reports whether the match has failed before at an instruction and a position. Otherwise it notes that they are tried now,
// unless a failure there is not final or the table would be too large.
func (m *Matcher) failed(p *Program, pc, pos int32, length int) bool {
	if m.memo == nil {
		size := len(p.code) * (length + 1)
		if size/8 > mostMemoBytes {
			m.memoFrom = int(^uint(0) >> 1)
			return false
		}
		m.memo = make([]uint64, size/64+1)
	}
	info := &p.memo[pc]
	if !info.ok {
		return false
	}
	for _, r := range info.starts {
		if m.registers[r] == pos {
			return false
		}
	}
	bit := int(pc)*(length+1) + int(pos)
	if m.memo[bit>>6]>>(bit&63)&1 != 0 {
		return true
	}
	m.memo[bit>>6] |= 1 << (bit & 63)
	return false
}

// run matches at a position and returns the end, or -1. The error is ErrTooDeep.
func run[E unit](m *Matcher, p *Program, text []E, start int) (int, error) {
	m.stack = m.stack[:0]
	pc, pos := int32(0), start
	unicode, code := p.unicode, p.code
	for {
		in := &code[pc]
		ok := false
		switch in.op {
		case iChar:
			if ok = pos < len(text) && rune(text[pos]) == in.c; ok {
				pos++
			}
		case iSet:
			if pos < len(text) {
				c, next := after(text, pos, unicode)
				if ok = in.set.has(c); ok {
					pos = next
				}
			}
		case iSetBack:
			if pos > 0 {
				c, next := before(text, pos, unicode)
				if ok = in.set.has(c); ok {
					pos = next
				}
			}
		case iStrings:
			pos = matchStrings(m, in, text, pos, pc+1)
			ok = pos >= 0
		case iRun:
			pos, ok = repeat(m, in, pc, text, pos, unicode)
		case iRunBack:
			pos, ok = repeatBack(m, in, pc, text, pos, unicode)
		case iJump:
			m.step(1)
			if in.x >= pc || m.steps < m.memoFrom || p.memo == nil || !m.failed(p, in.x, int32(pos), len(text)) {
				pc = in.x
				continue
			}
		case iSplit:
			m.stack = append(m.stack, frame{fBranch, in.x, int32(pos), 0})
			if m.tooDeep() {
				return -1, ErrTooDeep
			}
			ok = true
		case iSplitFar:
			m.stack = append(m.stack, frame{fBranch, pc + 1, int32(pos), 0})
			if m.tooDeep() {
				return -1, ErrTooDeep
			}
			pc = in.x
			continue
		case iLoop:
			if m.tooDeep() {
				return -1, ErrTooDeep
			}
			pc = m.loop(in, pc, pos)
			continue
		case iRef, iRefBack:
			pos = refer(m, in, text, pos, unicode)
			ok = pos >= 0
		case iLineStart, iLineEnd, iWordEdge:
			ok = holds(in, text, pos)
		case iLookEnd:
			pos, ok = m.endLook(in)
		case iMatch:
			return pos, nil
		default:
			ok = m.count(in, pos)
		}
		if ok {
			pc++
			continue
		}
		if pc, pos = resume(m, p, text); pc < 0 {
			return -1, nil
		}
	}
}

// tooDeep reports whether the stack holds more frames than the matcher allows.
func (m *Matcher) tooDeep() bool { return len(m.stack) > m.MostFrames && m.MostFrames > 0 }

// repeat matches a set as often as possible, or as rarely if the instruction is lazy. It returns the position after the last match,
// and false if there are fewer matches than in.min.
func repeat[E unit](m *Matcher, in *inst, pc int32, text []E, pos int, unicode bool) (int, bool) {
	n, least := int32(0), pos
	for n < in.max && pos < len(text) {
		if in.lazy && n >= in.min {
			break
		}
		c := rune(text[pos])
		next := pos + 1
		if unicode && isLead(c) {
			c, next = after(text, pos, true)
		}
		if !in.set.has(c) {
			break
		}
		pos = next
		n++
		if n == in.min {
			least = pos
		}
	}
	return pos, m.repeated(in, pc, n, pos, least)
}

// repeatBack matches a set like repeat, but before pos, in the direction of a lookbehind. It returns the position before
// the last match, and false if there are fewer matches than in.min.
func repeatBack[E unit](m *Matcher, in *inst, pc int32, text []E, pos int, unicode bool) (int, bool) {
	n, least := int32(0), pos
	for n < in.max && pos > 0 {
		if in.lazy && n >= in.min {
			break
		}
		c, next := before(text, pos, unicode)
		if !in.set.has(c) {
			break
		}
		pos = next
		n++
		if n == in.min {
			least = pos
		}
	}
	return pos, m.repeated(in, pc, n, pos, least)
}

// repeated pushes the frame for other counts, if there may be any, of a repetition that matched n times. least is the position after
// in.min times. It returns false if n is below in.min.
func (m *Matcher) repeated(in *inst, pc, n int32, pos, least int) bool {
	if n < in.min {
		return false
	}
	m.step(int(n >> 4))
	if in.lazy {
		if in.max > in.min {
			m.stack = append(m.stack, frame{fLazy, pc, int32(pos), in.max - in.min})
		}
	} else if pos != least {
		m.stack = append(m.stack, frame{fRun, pc, int32(pos), int32(least)})
	}
	return true
}

// loop decides whether a counted loop continues, and returns the index of the next instruction. If both ways are allowed, it pushes a
// frame for the other one.
func (m *Matcher) loop(in *inst, pc int32, pos int) int32 {
	switch n := m.registers[in.y]; {
	case n < in.min:
		return pc + 1
	case n >= in.max && in.max != unlimited:
		return in.x
	case in.lazy:
		m.stack = append(m.stack, frame{fBranch, pc + 1, int32(pos), 0})
		return in.x
	}
	m.stack = append(m.stack, frame{fBranch, in.x, int32(pos), 0})
	return pc + 1
}

// count runs an instruction that reads or writes registers. It returns false if the match fails.
func (m *Matcher) count(in *inst, pos int) bool {
	switch in.op {
	case iSave:
		m.set(in.x, int32(pos))
	case iClear:
		for r := in.x; r < in.y; r++ {
			if m.registers[r] != -1 {
				m.set(r, -1)
			}
		}
	case iProgress:
		stays := m.registers[in.x] == int32(pos)
		if stays && (!in.multi || m.registers[in.y] >= in.min) {
			return false
		}
		if in.multi && stays && in.min-m.registers[in.y] > mostCopies {
			m.set(in.y, in.min-1) // further iterations would match the same
		}
	case iCount:
		m.set(in.x, m.registers[in.x]+1)
	case iZero:
		m.set(in.x, 0)
	case iLook:
		m.set(in.y, int32(len(m.stack)+1))
		m.stack = append(m.stack, frame{fLook, in.x, int32(pos), 0})
		if in.negate {
			m.stack[len(m.stack)-1].x = 1
		}
	}
	return true
}

// holds reports whether an assertion on the characters around a position holds.
func holds[E unit](in *inst, text []E, pos int) bool {
	switch in.op {
	case iLineStart:
		return pos == 0 || in.multi && lineEnds.contains(rune(text[pos-1]))
	case iLineEnd:
		return pos == len(text) || in.multi && lineEnds.contains(rune(text[pos]))
	}
	a := pos > 0 && in.set.has(rune(text[pos-1]))
	b := pos < len(text) && in.set.has(rune(text[pos]))
	return (a != b) != in.negate
}

// endLook ends a lookaround whose body matched, and removes the choices that remain in the body. It returns the position at its start,
// and false if the lookaround is negative.
func (m *Matcher) endLook(in *inst) (int, bool) {
	h := int(m.registers[in.y])
	pos := int(m.stack[h].pos)
	if in.negate {
		for i := len(m.stack) - 1; i > h; i-- {
			if f := &m.stack[i]; f.kind == fRestore {
				m.registers[f.x] = f.pos
			}
		}
		m.stack = m.stack[:h]
		return pos, false
	}
	kept := m.stack[:h]
	for _, f := range m.stack[h+1:] {
		if f.kind == fRestore {
			kept = append(kept, f)
		}
	}
	m.stack = kept
	return pos, true
}

// resume restores the newest choice and returns its instruction and position. The instruction is -1 if no choice is left.
func resume[E unit](m *Matcher, p *Program, text []E) (pc int32, pos int) {
	m.step(1)
	for {
		if len(m.stack) == 0 {
			return -1, 0
		}
		f := &m.stack[len(m.stack)-1]
		switch f.kind {
		case fRestore:
			m.registers[f.x] = f.pos
			m.stack = m.stack[:len(m.stack)-1]
			continue
		case fBranch:
			pc, pos = f.pc, int(f.pos)
			m.stack = m.stack[:len(m.stack)-1]
		case fLook:
			m.stack = m.stack[:len(m.stack)-1]
			if f.x == 0 {
				continue
			}
			pc, pos = f.pc, int(f.pos)
		case fRun:
			pc, pos = f.pc+1, fewer(m, p, f, text)
			if pos == int(f.x) {
				m.stack = m.stack[:len(m.stack)-1]
			} else {
				f.pos = int32(pos)
			}
		case fLazy:
			var ok bool
			if pos, ok = more(p, f, text); !ok {
				m.stack = m.stack[:len(m.stack)-1]
				continue
			}
			pc = f.pc + 1
			f.pos = int32(pos)
			if f.x != unlimited {
				f.x--
			}
			if f.x == 0 {
				m.stack = m.stack[:len(m.stack)-1]
			}
		}
		if m.steps >= m.memoFrom && p.memo != nil && m.failed(p, pc, int32(pos), len(text)) {
			m.step(1)
			continue
		}
		return pc, pos
	}
}

// fewer returns the position of a greedy repetition with fewer characters than the frame's. It skips positions at which the next
// instruction fails.
func fewer[E unit](m *Matcher, p *Program, f *frame, text []E) int {
	in := &p.code[f.pc]
	if in.op == iRunBack {
		_, pos := after(text, int(f.pos), p.unicode)
		return pos
	}
	_, pos := before(text, int(f.pos), p.unicode)
	if in.follow >= 0 {
		skipped := pos
		for pos > int(f.x) && rune(text[pos]) != in.follow {
			_, pos = before(text, pos, p.unicode)
		}
		m.step((skipped - pos) >> 4)
	}
	return pos
}

// more returns the position of a lazy repetition with one more character than the frame's, or false if it does not match.
func more[E unit](p *Program, f *frame, text []E) (pos int, ok bool) {
	in := &p.code[f.pc]
	pos = int(f.pos)
	var c rune
	switch {
	case in.op == iRunBack && pos > 0:
		c, pos = before(text, pos, p.unicode)
	case in.op != iRunBack && pos < len(text):
		c, pos = after(text, pos, p.unicode)
	default:
		return pos, false
	}
	return pos, in.set.has(c)
}

// refer matches the text of the first group of in.refs that took part in the match, and returns the new position, or -1. It
// returns pos if no group took part.
func refer[E unit](m *Matcher, in *inst, text []E, pos int, unicode bool) int {
	for _, r := range in.refs {
		from, to := int(m.registers[r]), int(m.registers[r+1])
		if from < 0 || to < 0 {
			continue
		}
		length := to - from
		at := pos
		if in.op == iRefBack {
			at -= length
		}
		if at < 0 || at+length > len(text) {
			return -1
		}
		for i, j := from, at; i < to; {
			if text[i] == text[j] {
				i++
				j++
				continue
			}
			if !in.ignore {
				return -1
			}
			a, nextI := after(text, i, unicode)
			b, nextJ := after(text, j, unicode)
			if canonical(a, unicode) != canonical(b, unicode) || nextI-i != nextJ-j {
				return -1
			}
			i, j = nextI, nextJ
		}
		m.step(length >> 4)
		if in.op == iRefBack {
			return at
		}
		return at + length
	}
	return pos
}

// matchStrings matches one of the strings of an instruction, or a character of its set. It returns the end of the first
// choice, or −1, and pushes the other choices.
func matchStrings[E unit](m *Matcher, in *inst, text []E, pos int, next int32) int {
	back := in.lazy
	var ends [2]int
	found := ends[:0]
	read := func(at int) (rune, int, bool) {
		if back && at > 0 {
			c, to := before(text, at, true)
			return c, to, true
		} else if !back && at < len(text) {
			c, to := after(text, at, true)
			return c, to, true
		}
		return 0, 0, false
	}
	form := func(c rune) rune {
		if in.ignore {
			return canonical(c, true)
		}
		return c
	}
	c, one, ok := read(pos)
	if ok {
	list:
		for _, s := range in.strs[form(c)] {
			at := pos
			for i := range s {
				want := s[i]
				if back {
					want = s[len(s)-1-i]
				}
				c, to, ok := read(at)
				if !ok || form(c) != want {
					continue list
				}
				at = to
			}
			found = append(found, at)
		}
		if in.set.has(c) {
			found = append(found, one)
		}
	}
	if len(in.strs[-1]) > 0 {
		found = append(found, pos)
	}
	if len(found) == 0 {
		return -1
	}
	for i := len(found) - 1; i > 0; i-- {
		m.stack = append(m.stack, frame{fBranch, next, int32(found[i]), 0})
	}
	return found[0]
}
