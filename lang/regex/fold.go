package regex

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"

	"github.com/orepl/orepl/lang/later"
)

//go:embed tables/case.bin
var caseTable []byte

// folding relates the code points that match one another with the flag i.
type folding struct {
	to     map[rune]rune   // maps a code point to its canonical form, unless it is its own
	groups map[rune][]rune // maps a canonical form to the code points that have it
}

// foldings holds the relations with the flag u or v, and without these flags.
var foldings = later.Value[struct{ unicode, units folding }]{Make: func() (f struct{ unicode, units folding }) {
	r := &reader{inflate(caseTable)}
	f.unicode, f.units = readFolding(r), readFolding(r)
	return f
}}

func foldingOf(unicode bool) *folding {
	f := foldings.Get()
	if unicode {
		return &f.unicode
	}
	return &f.units
}

func readFolding(r *reader) folding {
	f := folding{to: map[rune]rune{}, groups: map[rune][]rune{}}
	from, offset := 0, 0
	for range r.number() {
		from += r.number()
		d := r.number()
		if d&1 != 0 {
			offset -= (d + 1) / 2
		} else {
			offset += d / 2
		}
		f.to[rune(from)] = rune(from + offset)
	}
	for from, to := range f.to {
		if f.groups[to] == nil {
			f.groups[to] = append(f.groups[to], to)
		}
		f.groups[to] = append(f.groups[to], from)
	}
	return f
}

// canonical returns the form under which a code point is compared with the flag i.
func canonical(c rune, unicode bool) rune {
	if c < 128 {
		switch {
		case unicode && 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		case !unicode && 'a' <= c && c <= 'z':
			return c + 'A' - 'a'
		}
		return c
	}
	if to, ok := foldingOf(unicode).to[c]; ok {
		return to
	}
	return c
}

// equivalents returns the code points that match c with the flag i.
func equivalents(c rune, unicode bool) charSet {
	if c < 128 && (!unicode || c != 'k' && c != 'K' && c != 's' && c != 'S') {
		switch {
		case 'a' <= c && c <= 'z':
			return charSet{{c + 'A' - 'a', c + 'A' - 'a'}, {c, c}}
		case 'A' <= c && c <= 'Z':
			return charSet{{c, c}, {c + 'a' - 'A', c + 'a' - 'A'}}
		}
		return single(c)
	}
	var list []charRange
	for _, r := range foldingOf(unicode).groups[canonical(c, unicode)] {
		list = append(list, charRange{r, r})
	}
	if list == nil {
		return single(c)
	}
	return newSet(list)
}

// closure returns the code points that match an element of a set with the flag i.
func (s charSet) closure(unicode bool) charSet {
	if len(s) == 0 || len(s) == 1 && s[0] == anything[0] {
		return s
	}
	var more []charRange
	if s[len(s)-1].hi < 128 && !unicode {
		lower, upper := s.intersect(charSet{{'a', 'z'}}), s.intersect(charSet{{'A', 'Z'}})
		for _, r := range lower {
			more = append(more, charRange{r.lo + 'A' - 'a', r.hi + 'A' - 'a'})
		}
		for _, r := range upper {
			more = append(more, charRange{r.lo + 'a' - 'A', r.hi + 'a' - 'A'})
		}
		return s.union(more)
	}
	for _, group := range foldingOf(unicode).groups {
		in := 0
		for _, c := range group {
			if s.contains(c) {
				in++
			}
		}
		if in == 0 || in == len(group) {
			continue
		}
		for _, c := range group {
			more = append(more, charRange{c, c})
		}
	}
	return s.union(more)
}

// A reader reads the numbers of a table.
type reader struct{ data []byte }

func (r *reader) number() int {
	n, shift := 0, 0
	for {
		b := r.data[0]
		r.data = r.data[1:]
		n |= int(b&127) << shift
		if b < 128 {
			return n
		}
		shift += 7
	}
}

func (r *reader) text() string {
	n := r.number()
	s := string(r.data[:n])
	r.data = r.data[n:]
	return s
}

// inflate decompresses a table of this package.
func inflate(data []byte) []byte {
	out, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	if err != nil {
		panic(err) // the tables are constants of this package
	}
	return out
}
