package editor

import (
	"strings"
	"unicode/utf8"
)

// painter highlights code; its zero value does nothing.
type painter struct{ colors bool }

// span is a colored part of a text.
type span struct {
	from, to int
	color    string
}

type spans []span

const (
	wordColor    = "\x1b[35m"
	textColor    = "\x1b[32m"
	numberColor  = "\x1b[33m"
	commentColor = "\x1b[90m"
	noColor      = "\x1b[0m"
)

var colored = func() map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields("async await break case catch class const continue debugger default delete do else export extends " +
		"finally for function if import in instanceof let new of return static super switch this throw try typeof using var void while with yield") {
		m[w] = wordColor
	}
	for _, w := range strings.Fields("true false null undefined NaN Infinity") {
		m[w] = numberColor
	}
	return m
}()

// spans returns the colored parts of JavaScript. It returns nil without colors, and for commands of the prompt. It treats
// regular expressions as divisions and code in templates as text.
func (p painter) spans(text string) spans {
	if !p.colors || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "?") {
		return nil
	}
	var list spans
	add := func(from, to int, color string) { list = append(list, span{from, to, color}) }
	for i := 0; i < len(text); {
		from, c := i, text[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c && (c == '`' || text[i] != '\n'); i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
			add(from, i, textColor)
		case strings.HasPrefix(text[i:], "//"):
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
			add(from, i, commentColor)
		case strings.HasPrefix(text[i:], "/*"):
			if n := strings.Index(text[i+2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(text)
			}
			add(from, i, commentColor)
		case c >= '0' && c <= '9':
			for i < len(text) && (isNameByte(text[i]) || text[i] == '.') {
				i++
			}
			add(from, i, numberColor)
		case isNameByte(c):
			for i < len(text) && isNameByte(text[i]) {
				i++
			}
			if color := colored[text[from:i]]; color != "" && (from == 0 || text[from-1] != '.') {
				add(from, i, color)
			}
		default:
			i++
		}
	}
	return list
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// write writes a part of a text with its colors, and blanks for tabs.
func (s spans) write(out *strings.Builder, text string, from, to int) {
	plain := func(from, to int) {
		for i := from; i < to; i++ {
			if text[i] == '\t' {
				out.WriteString(strings.Repeat(" ", tabWidth))
			} else {
				out.WriteByte(text[i])
			}
		}
	}
	first, last := 0, len(s) // binary search for the first span that ends after from
	for first < last {
		if m := (first + last) / 2; s[m].to <= from {
			first = m + 1
		} else {
			last = m
		}
	}
	for _, p := range s[first:] {
		if p.from >= to {
			break
		}
		a, b := max(p.from, from), min(p.to, to)
		plain(from, a)
		out.WriteString(p.color)
		plain(a, b)
		out.WriteString(noColor)
		from = b
	}
	plain(from, to)
}
