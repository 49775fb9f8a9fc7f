package regex

import (
	"slices"
	"strings"
)

// An operand is a part of a class with the flag v: a character, a range, a nested class or an escape. may says that its syntax
// allows strings.
type operand struct {
	set  charSet
	strs [][]rune
	may  bool
	char rune // of a single character, else -1
	span bool // a range
}

// classSet parses the contents of a class with the flag v, and the closing bracket. It returns the characters and the
// strings of the class, and whether the class may contain strings by its syntax.
func (p *parser) classSet(at int) (charSet, [][]rune, bool) {
	p.enter(at)
	defer func() { p.depth-- }()
	var all operand
	if p.eat(']') {
		return nil, nil, false
	}
	all = p.classOperand(at, true)
	switch {
	case all.span:
	case p.eatText("--"):
		for {
			x := p.classOperand(at, false)
			all.set = all.set.subtract(x.set)
			all.strs = slices.DeleteFunc(slices.Clone(all.strs), func(s []rune) bool { return p.hasString(x.strs, s) })
			if p.eat(']') {
				return all.set, all.strs, all.may
			}
			if !p.eatText("--") {
				p.fail(p.at, "-- is missing between operands of a class")
			}
		}
	case p.peek() == '&' && p.peekAt(p.at+1) == '&':
		for p.eatText("&&") {
			if p.peek() == '&' {
				p.fail(p.at, "invalid character & in a class")
			}
			x := p.classOperand(at, false)
			all.set = all.set.intersect(x.set)
			all.strs = slices.DeleteFunc(slices.Clone(all.strs), func(s []rune) bool { return !p.hasString(x.strs, s) })
			all.may = all.may && x.may
		}
		if !p.eat(']') {
			p.fail(p.at, "&& is missing between operands of a class")
		}
		return all.set, all.strs, all.may
	}
	ranges := slices.Clone(all.set)
	for !p.eat(']') {
		x := p.classOperand(at, true)
		ranges = append(ranges, x.set...)
		for _, s := range x.strs {
			if !p.hasString(all.strs, s) {
				all.strs = append(slices.Clip(all.strs), s)
			}
		}
		all.may = all.may || x.may
	}
	return newSet(ranges), all.strs, all.may
}

// hasString reports whether a list contains a string, as the flag i compares them.
func (p *parser) hasString(list [][]rune, s []rune) bool {
	return slices.ContainsFunc(list, func(t []rune) bool {
		return slices.EqualFunc(s, t, func(a, b rune) bool {
			return a == b || p.ignore && canonical(a, true) == canonical(b, true)
		})
	})
}

// classOperand parses an operand. It may be a range if ranges is set.
func (p *parser) classOperand(at int, ranges bool) operand {
	x := p.classOperandOnly(at)
	if ranges && p.peek() == '-' && p.peekAt(p.at+1) != '-' {
		p.at++
		from := p.at
		y := p.classOperandOnly(at)
		switch {
		case x.char < 0 || y.char < 0:
			p.fail(from, "a range of a class begins or ends with a set")
		case x.char > y.char:
			p.fail(from, "range out of order in a class")
		}
		return operand{set: p.fold(charSet{{x.char, y.char}}), char: -1, span: true}
	}
	return x
}

func (p *parser) classOperandOnly(at int) operand {
	c := p.peek()
	if c < 0 {
		p.fail(at, "unterminated class")
	}
	from := p.at
	p.at++
	switch {
	case c == '[':
		negate := p.eat('^')
		set, strs, may := p.classSet(from)
		if negate {
			if may {
				p.fail(from, "a negated class contains strings")
			}
			set = set.invert()
		}
		return operand{set: set, strs: strs, may: may, char: -1}
	case c == '\\':
		if p.eatText("q{") {
			return p.classStrings(from)
		}
		name := p.at
		if s, strs, ok := p.classEscape(); ok {
			may := p.peekAt(name) == 'p' && isStringProperty(string(p.src[min(name+2, p.at):p.at-1]))
			return operand{set: s, strs: strs, may: may, char: -1}
		}
		return p.classChar(p.classSetEscape())
	case strings.ContainsRune("()]{}/-|", c):
		p.fail(from, "invalid character %c in a class; write \\%c", c, c)
	case c == p.peek() && c < 128 && strings.ContainsRune("&!#$%*+,.:;<=>?@^`~", c):
		p.fail(from, "reserved characters %c%c in a class", c, c)
	}
	return p.classChar(c)
}

func (p *parser) classChar(c rune) operand { return operand{set: p.fold(single(c)), char: c} }

// classSetEscape parses an escape of one character, behind its backslash, in a class with the flag v.
func (p *parser) classSetEscape() rune {
	switch c := p.peek(); {
	case c == 'b':
		p.at++
		return '\b'
	case c > 0 && c < 128 && strings.ContainsRune("&-!#%,:;<=>@`~", c):
		p.at++
		return c
	}
	return p.characterEscape(true)
}

// classStrings parses the alternatives of \q{…} and the closing brace.
func (p *parser) classStrings(at int) operand {
	out := operand{char: -1}
	var s []rune
	end := func() {
		if len(s) == 1 {
			out.set = out.set.union(p.fold(single(s[0])))
		} else {
			out.may = true
			if !p.hasString(out.strs, s) {
				out.strs = append(out.strs, s)
			}
		}
		s = nil
	}
	for {
		c := p.peek()
		if c < 0 {
			p.fail(at, "unterminated \\q{")
		}
		p.at++
		switch {
		case c == '}':
			end()
			return out
		case c == '|':
			end()
		case c == '\\':
			s = append(s, p.classSetEscape())
		case strings.ContainsRune("()[]{/-", c):
			p.fail(p.at-1, "invalid character %c in a class; write \\%c", c, c)
		case c == p.peek() && c < 128 && strings.ContainsRune("&!#$%*+,.:;<=>?@^`~", c):
			p.fail(p.at-1, "reserved characters %c%c in a class", c, c)
		default:
			s = append(s, c)
		}
	}
}
