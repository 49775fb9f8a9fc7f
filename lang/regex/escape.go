package regex

import (
	"slices"
	"strings"
)

func appendUnits(b []uint16, c rune) []uint16 {
	if c > 0xFFFF {
		c -= 0x10000
		return append(b, uint16(0xD800+c>>10), uint16(0xDC00+c&0x3FF))
	}
	return append(b, uint16(c))
}

// string16 returns UTF-16 units as UTF-8. The units must contain no unpaired surrogates.
func string16(b []uint16) string { return string(decode(b, true)) }

// hex parses exactly n hexadecimal digits. If there are fewer, it returns -1 and consumes nothing.
func (p *parser) hex(n int) rune {
	value := rune(0)
	for i := range n {
		d := hexDigit(p.peekAt(p.at + i))
		if d < 0 {
			return -1
		}
		value = value<<4 + d
	}
	p.at += n
	return value
}

func hexDigit(c rune) rune {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}

// unicodeEscape parses what follows \u and returns the code point, which may be a surrogate. For an invalid escape it returns
// -1 and consumes nothing. The parameter unicode allows \u{…} and pairs of escapes.
func (p *parser) unicodeEscape(unicode bool) rune {
	if unicode && p.peek() == '{' {
		at := p.at
		p.at++
		value := rune(-1)
		for d := hexDigit(p.peek()); d >= 0; d = hexDigit(p.peek()) {
			if value = max(value, 0)<<4 + d; value > maxRune {
				p.at = at
				return -1
			}
			p.at++
		}
		if value < 0 || !p.eat('}') {
			p.at = at
			return -1
		}
		return value
	}
	lead := p.hex(4)
	if unicode && isLead(lead) && p.peek() == '\\' && p.peekAt(p.at+1) == 'u' {
		at := p.at
		p.at += 2
		if trail := p.hex(4); isTrail(trail) {
			return pair(lead, trail)
		}
		p.at = at
	}
	return lead
}

// escape parses what follows a backslash outside of a class, and reports whether a quantifier may follow.
func (p *parser) escape() (n *node, quantifiable bool) {
	at := p.at - 1
	c := p.peek()
	switch {
	case c < 0:
		p.fail(at, "\\ at the end of the pattern")
	case c == 'b' || c == 'B':
		p.at++
		return &node{op: opWordEdge, negate: c == 'B', set: p.words()}, false
	case '1' <= c && c <= '9':
		if n := p.backreference(at); n != nil {
			return n, true
		}
	case c == 'k':
		p.at++
		if !p.named {
			return p.char('k'), true
		}
		if !p.eat('<') {
			p.fail(at, "\\k without the name of a group")
		}
		n := &node{op: opBackref, ignore: p.ignore}
		p.pending = append(p.pending, pendingRef{n, p.groupName(at), at})
		return n, true
	}
	if s, strs, ok := p.classEscape(); ok {
		return p.setNode(s, strs), true
	}
	return p.char(p.characterEscape(false)), true
}

// words returns the characters that \w matches. With the flags i and u or v, these include all that match one of them.
func (p *parser) words() charSet {
	if p.unicode && p.ignore {
		return wordChars.union(charSet{{0x17F, 0x17F}, {0x212A, 0x212A}})
	}
	return wordChars
}

// backreference parses a decimal escape that names a group. It returns nil and stays at the escape if there is no such group. In
// Unicode mode that is an error; otherwise the escape is an octal one.
func (p *parser) backreference(at int) *node {
	start := p.at
	n, _ := p.decimal()
	if n <= p.total {
		return &node{op: opBackref, refs: []int{n}, ignore: p.ignore}
	}
	if p.unicode {
		p.fail(at, "there is no group %d", n)
	}
	p.at = start
	return nil
}

// classEscape parses \d, \p{…} and so on. It returns the characters, the strings of a property of strings, and false if
// another escape follows.
func (p *parser) classEscape() (s charSet, strs [][]rune, ok bool) {
	at := p.at - 1
	c := p.peek()
	switch c {
	case 'd', 'D':
		s = digits
	case 's', 'S':
		s = spaces
	case 'w', 'W':
		s = p.words()
	case 'p', 'P':
		if !p.unicode {
			return nil, nil, false
		}
		p.at++
		name := p.propertyName(at)
		found := propertyOf(name)
		strings := isStringProperty(name)
		if found == nil || strings && !p.sets {
			p.fail(at, "there is no property %q", name)
		}
		if strings && c == 'P' {
			p.fail(at, "\\P of a property of strings")
		}
		s, strs = p.leaf(found.set), found.strings
		if c == 'P' {
			s = s.invert()
		}
		return s, strs, true
	default:
		return nil, nil, false
	}
	p.at++
	if 'A' <= c && c <= 'Z' {
		s = s.invert()
	}
	return s, nil, true
}

// leaf returns the set of a property for use in a pattern. With the flags v and i it has all characters that match one of the set,
// as the operations on classes require.
func (p *parser) leaf(s charSet) charSet {
	if p.sets {
		return p.fold(s)
	}
	return s
}

func (p *parser) propertyName(at int) string {
	if !p.eat('{') {
		p.fail(at, "\\p without {name}")
	}
	var b strings.Builder
	for {
		c := p.peek()
		p.at++
		switch {
		case c == '}':
			return b.String()
		case c == '=' || c < 128 && isIDPart(c) && c != '$':
			b.WriteRune(c)
		default:
			p.fail(at, "invalid name of a property")
		}
	}
}

// characterEscape parses an escape of one character, behind the backslash, and returns the character.
func (p *parser) characterEscape(inClass bool) rune {
	at := p.at - 1
	c := p.peek()
	if c < 0 {
		p.fail(at, "\\ at the end of the pattern")
	}
	p.at++
	switch c {
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'c':
		letter := p.peek()
		if isASCIILetter(letter) || inClass && !p.unicode && (letter == '_' || '0' <= letter && letter <= '9') {
			p.at++
			return letter & 31
		}
		if p.unicode {
			p.fail(at, "invalid escape \\c")
		}
		p.at-- // the backslash is a character
		return '\\'
	case 'x':
		if v := p.hex(2); v >= 0 {
			return v
		}
		if p.unicode {
			p.fail(at, "invalid escape \\x")
		}
		return c
	case 'u':
		if v := p.unicodeEscape(p.unicode); v >= 0 {
			return v
		}
		if p.unicode {
			p.fail(at, "invalid escape \\u")
		}
		return c
	case '0', '1', '2', '3', '4', '5', '6', '7':
		next := p.peek()
		if p.unicode {
			if c != '0' || '0' <= next && next <= '9' {
				p.fail(at, "invalid escape of digits")
			}
			return 0
		}
		v := c - '0'
		for n := 1; n < 3 && '0' <= p.peek() && p.peek() <= '7' && v*8+p.peek()-'0' < 256; n++ {
			v = v*8 + p.peek() - '0'
			p.at++
		}
		return v
	}
	if p.unicode {
		if c < 128 && strings.ContainsRune("^$\\.*+?()[]{}|/", c) || inClass && c == '-' {
			return c
		}
		p.fail(at, "invalid escape \\%c", c)
	}
	if c == 'k' && p.named {
		p.fail(at, "invalid escape \\k")
	}
	return c
}

func isASCIILetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// setNode returns a node that matches a character of a set or one of some strings, the longest first.
func (p *parser) setNode(s charSet, strs [][]rune) *node {
	s = p.fold(s)
	if len(strs) == 0 {
		return &node{op: opSet, set: s}
	}
	strs = slices.Clone(strs)
	slices.SortStableFunc(strs, func(a, b []rune) int { return len(b) - len(a) })
	return &node{op: opStrings, set: s, strings: strs, ignore: p.ignore}
}

// class parses a class after its bracket.
func (p *parser) class() *node {
	at := p.at - 1
	negate := p.eat('^')
	if p.sets {
		set, strs, may := p.classSet(at)
		if negate {
			if may {
				p.fail(at, "a negated class contains strings")
			}
			set = p.fold(set).invert()
			return &node{op: opSet, set: set}
		}
		return p.setNode(set, strs)
	}
	var ranges []charRange
	add := func(s charSet) { ranges = append(ranges, s...) }
	for !p.eat(']') {
		if p.at >= len(p.src) {
			p.fail(at, "unterminated class")
		}
		from := p.at
		lo, set := p.classAtom()
		if p.peek() != '-' || p.peekAt(p.at+1) == ']' || p.peekAt(p.at+1) < 0 {
			add(set)
			continue
		}
		p.at++
		hi, set2 := p.classAtom()
		switch {
		case lo < 0 || hi < 0:
			if p.unicode {
				p.fail(from, "a range of a class begins or ends with a set")
			}
			add(set)
			add(set2)
			add(single('-'))
		case lo > hi:
			p.fail(from, "range out of order in a class")
		default:
			add(charSet{{lo, hi}})
		}
	}
	set := p.fold(newSet(ranges))
	if negate {
		set = set.invert()
	}
	return &node{op: opSet, set: set}
}

// classAtom parses a character or an escape of a class and returns its set. The character is -1 for an escape of several ones.
func (p *parser) classAtom() (rune, charSet) {
	c := p.src[p.at]
	p.at++
	if c == '\\' {
		if p.peek() == 'b' {
			p.at++
			return '\b', single('\b')
		}
		if s, _, ok := p.classEscape(); ok {
			return -1, s
		}
		c = p.characterEscape(true)
	}
	return c, single(c)
}
