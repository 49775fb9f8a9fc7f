package source

import (
	"encoding/json"
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/diag"
)

// An offsetMap maps offsets in a generated text to offsets in the text as written. A nil map is the identity.
type offsetMap struct {
	generated, written []int    // sorted by generated
	names              []string // written names that differ in the generated text; else empty
	texts              struct{ generated, written string }
}

// original returns the offset in the written text for one in the generated text. A nil map changes no offset, and an offset before
// the first mapped one becomes 0. Otherwise the result is that of the last mapped offset that is not greater. The length of the
// generated text in between, without blanks at its end, is added if the written text continues equally. Thus the parenthesis of a
// call is found, which source maps leave out: it is the offset behind the callee, where type arguments may begin.
func (m *offsetMap) original(offset int) int {
	if m == nil {
		return offset
	}
	i := sort.SearchInts(m.generated, offset+1) - 1
	if i < 0 {
		return 0
	}
	from := m.texts.generated[m.generated[i]:min(offset, len(m.texts.generated))]
	if from = strings.TrimRight(from, " "); strings.HasPrefix(m.texts.written[m.written[i]:], from) {
		return m.written[i] + len(from)
	}
	return m.written[i]
}

var errSourceMap = errors.New("malformed mappings")

// parseSourceMap parses a source map (revision 3) with one source.
func parseSourceMap(data []byte, generated, written string) (*offsetMap, error) {
	var raw struct {
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	m := &offsetMap{}
	from, to := newColumns(generated), newColumns(written)
	line, source, sourceLine, sourceColumn, name := 0, 0, 0, 0, 0
	for group := range strings.SplitSeq(raw.Mappings, ";") {
		column := 0
		for segment := range strings.SplitSeq(group, ",") {
			if segment == "" {
				continue
			}
			fields, err := decodeVLQ(segment)
			if err != nil {
				return nil, err
			}
			column += fields[0]
			if len(fields) < 4 {
				continue
			}
			source += fields[1]
			sourceLine += fields[2]
			sourceColumn += fields[3]
			m.generated = append(m.generated, from.offset(line, column))
			m.written = append(m.written, to.offset(sourceLine, sourceColumn))
			text := ""
			if len(fields) > 4 {
				if name += fields[4]; name < 0 || name >= len(raw.Names) {
					return nil, errSourceMap
				}
				text = raw.Names[name]
			}
			m.names = append(m.names, text)
		}
		line++
	}
	if !sort.IntsAreSorted(m.generated) {
		return nil, errSourceMap
	}
	return m, nil
}

// restoreNames returns the generated text with the written names, and adapts the map to it. esbuild renames local variables
// that shadow others, and errors must show the script's names. It keeps a generated name unless all uses of that name can be
// restored. It never restores a name that begins with __, as those of esbuild's functions do.
func (m *offsetMap) restoreNames(generated, written string) string {
	renamed := func(i, at int) (now, name string) {
		now, name = wordOf(generated[at:]), m.names[i]
		if name == "" || now == name || wordOf(written[m.written[i]:]) != name || strings.HasPrefix(name, "__") {
			return "", ""
		}
		return now, name
	}
	mapped := map[string]int{} // counts the restorable uses of each renamed identifier
	last := -1
	for i, at := range m.generated {
		if now, _ := renamed(i, at); now != "" && at > last {
			mapped[now]++
			last = at
		}
	}
	if len(mapped) == 0 {
		return generated
	}
	helpers, end := m.helpers(generated)
	for s := (&scanner{src: generated}); ; {
		t := s.next()
		if t.kind == lexEnd {
			break
		}
		if t.kind == lexWord && (t.start < helpers || t.start >= end) {
			mapped[s.text(t)]--
		}
	}
	var out strings.Builder
	done, shift := 0, 0
	for i, at := range m.generated {
		m.generated[i] += shift
		if now, name := renamed(i, at); now != "" && mapped[now] == 0 && at >= done {
			out.WriteString(generated[done:at])
			out.WriteString(name)
			done, shift = at+len(now), shift+len(name)-len(now)
		}
	}
	out.WriteString(generated[done:])
	return out.String()
}

// helpers returns the range of esbuild's helper functions before the text, such as __using, or 0 and 0 if there are none. Their local
// variables may share names with renamed variables of the text, but never a scope.
func (m *offsetMap) helpers(generated string) (start, end int) {
	const head = "var __"
	if !strings.HasPrefix(generated, head) {
		if start = strings.Index(generated, "\n"+head) + 1; start == 0 {
			return 0, 0
		}
	}
	i := sort.SearchInts(m.generated, start)
	if i == len(m.generated) {
		return start, len(generated)
	}
	return start, strings.LastIndexByte(generated[:m.generated[i]], '\n') + 1
}

// wordOf returns the identifier at the start of a text.
func wordOf(text string) string {
	i := 0
	for i < len(text) && (isWordStart(text[i]) || i > 0 && isDigit(text[i])) {
		i++
	}
	return text[:i]
}

// decodeVLQ decodes the numbers of one segment: base 64, with the sign in the lowest bit.
func decodeVLQ(segment string) ([]int, error) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var fields []int
	value, shift := 0, 0
	for i := range len(segment) {
		d := strings.IndexByte(digits, segment[i])
		if d < 0 || shift > 30 {
			return nil, errSourceMap
		}
		value |= (d & 31) << shift
		if shift += 5; d&32 == 0 {
			n := value >> 1
			if value&1 == 1 {
				n = -n
			}
			fields = append(fields, n)
			value, shift = 0, 0
		}
	}
	if len(fields) == 0 || shift != 0 {
		return nil, errSourceMap
	}
	return fields, nil
}

// columns converts lines and columns, in UTF-16 units as in source maps, to byte offsets.
type columns struct {
	text  string
	lines []int                              // offsets of their beginnings
	ends  []int                              // offsets of their ends, without the characters that end them
	last  struct{ line, column, offset int } // the last query, from which the next one usually continues
}

func newColumns(text string) *columns {
	c := &columns{text: text, lines: []int{0}}
	for at := 0; ; {
		end, next := diag.LineEnd(text[at:])
		c.ends = append(c.ends, at+end)
		if next == 0 {
			return c
		}
		at += next
		c.lines = append(c.lines, at)
	}
}

// offset returns the offset of a line and a column, both from 0. It returns the line's end for columns beyond it, and the text's
// end for lines that do not exist.
func (c *columns) offset(line, column int) int {
	if line < 0 || line >= len(c.lines) {
		return len(c.text)
	}
	off, end := c.lines[line], c.ends[line]
	asked, known := column, c.last
	if known.line == line && known.column <= column {
		off, column = max(off, known.offset), column-known.column
	}
	defer func() { c.last = struct{ line, column, offset int }{line, asked - column, off} }()
	for column > 0 && off < end {
		if b := c.text[off]; b < utf8.RuneSelf {
			off, column = off+1, column-1
			continue
		}
		r, size := utf8.DecodeRuneInString(c.text[off:])
		off += size
		if column--; r > 0xffff {
			column--
		}
	}
	return off
}
