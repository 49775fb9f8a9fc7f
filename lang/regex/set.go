package regex

import "slices"

const maxRune = 0x10FFFF

// A charRange is a range of code points; both ends belong to it.
type charRange struct{ lo, hi rune }

// A charSet is a set of code points: sorted ranges that neither overlap nor touch.
type charSet []charRange

// newSet returns the set of the code points of all ranges. It overwrites the slice.
func newSet(ranges []charRange) charSet {
	slices.SortFunc(ranges, func(a, b charRange) int { return int(a.lo - b.lo) })
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func single(r rune) charSet { return charSet{{r, r}} }

func (s charSet) contains(r rune) bool {
	lo, hi := 0, len(s)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch {
		case r < s[mid].lo:
			hi = mid
		case r > s[mid].hi:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

func (s charSet) union(t charSet) charSet {
	if len(s) == 0 {
		return t
	}
	if len(t) == 0 {
		return s
	}
	return newSet(slices.Concat(s, t))
}

func (s charSet) invert() charSet {
	out := make(charSet, 0, len(s)+1)
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, charRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= maxRune {
		out = append(out, charRange{next, maxRune})
	}
	return out
}

func (s charSet) intersect(t charSet) charSet {
	var out charSet
	for i, j := 0, 0; i < len(s) && j < len(t); {
		if lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi); lo <= hi {
			out = append(out, charRange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s charSet) subtract(t charSet) charSet { return s.intersect(t.invert()) }

// below returns the part of a set under a limit.
func (s charSet) below(limit rune) charSet { return s.intersect(charSet{{0, limit - 1}}) }

// one returns the only code point of a set, or false if the set has none or several.
func (s charSet) one() (rune, bool) {
	if len(s) == 1 && s[0].lo == s[0].hi {
		return s[0].lo, true
	}
	return 0, false
}

var (
	digits      = charSet{{'0', '9'}}
	wordChars   = charSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	lineEnds    = charSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
	notLineEnds = lineEnds.invert()
	anything    = charSet{{0, maxRune}}
	spaces      = charSet{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}}
)
