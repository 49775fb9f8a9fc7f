package diag

import (
	"strings"
	"unicode/utf8"
)

// excerptBefore is the number of context lines before the marked line.
const excerptBefore = 2

// Excerpted returns the line of p and up to excerptBefore lines before it, with a marker of width characters, at least one. It
// returns nil if text has no such line.
func Excerpted(text string, p Position, width int) *Excerpt {
	if !p.IsValid() {
		return nil
	}
	first := max(1, p.Line-excerptBefore)
	lines := Lines(text, first, p.Line)
	if len(lines) != p.Line-first+1 {
		return nil
	}
	return &Excerpt{FirstLine: first, Lines: lines, Width: max(width, 1)}
}

// Lines returns lines first to last, 1-based, without line ends. Lines behind the end of text are left out.
func Lines(text string, first, last int) []string {
	lines := make([]string, 0, max(last-first+1, 0))
	for n := 1; n <= last; n++ {
		at, next := LineEnd(text)
		if n >= first {
			lines = append(lines, text[:at])
		}
		if next == 0 {
			break
		}
		text = text[next:]
	}
	return lines
}

// LineEnd returns the offset of the first line end of ECMAScript in text, and the offset of the line after it. Without a line end
// it returns the length of text, and 0.
func LineEnd(text string) (at, next int) {
	const mark = 0xE2 // first byte of the two separators
	for at := range len(text) {
		switch c := text[at]; {
		case c > '\r' && c != mark:
		case c == '\r' && strings.HasPrefix(text[at:], "\r\n"):
			return at, at + 2
		case c == '\n', c == '\r':
			return at, at + 1
		case strings.HasPrefix(text[at:], "\u2028"), strings.HasPrefix(text[at:], "\u2029"):
			return at, at + len("\u2028")
		}
	}
	return len(text), 0
}

// PositionAt returns the position of a byte offset in text. It limits the offset to 0 and the length of text.
func PositionAt(file, text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	if strings.HasSuffix(before, "\r") && strings.HasPrefix(text[offset:], "\n") {
		before = before[:offset-1] // within a line end
	}
	line, start := 1-strings.Count(before, "\r\n"), 0
	for _, end := range []string{"\n", "\r", "\u2028", "\u2029"} {
		if n := strings.Count(before, end); n > 0 {
			line, start = line+n, max(start, strings.LastIndex(before, end)+len(end))
		}
	}
	return Position{File: file, Line: line, Column: 1 + utf8.RuneCountInString(text[start:offset])}
}

// InCharacters converts a column in bytes to a column in characters, bounded by the length of the line.
func InCharacters(text string, p Position) Position {
	if !p.IsValid() || p.Column <= 1 {
		return p
	}
	if lines := Lines(text, p.Line, p.Line); len(lines) == 1 {
		line := lines[0]
		p.Column = 1 + utf8.RuneCountInString(line[:min(p.Column-1, len(line))])
	}
	return p
}
