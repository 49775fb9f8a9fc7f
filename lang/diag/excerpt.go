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
	lines := linesOf(text, first, p.Line)
	if len(lines) != p.Line-first+1 {
		return nil
	}
	return &Excerpt{FirstLine: first, Lines: lines, Width: max(width, 1)}
}

// linesOf returns lines first to last, 1-based, without line ends. Lines behind the end of text are left out.
func linesOf(text string, first, last int) []string {
	lines := make([]string, 0, max(last-first+1, 0))
	for n := 1; n <= last; n++ {
		line, rest, more := strings.Cut(text, "\n")
		if n >= first {
			lines = append(lines, strings.TrimSuffix(line, "\r"))
		}
		if !more {
			break
		}
		text = rest
	}
	return lines
}

// PositionAt returns the position of a byte offset in text. It limits the offset to 0 and the length of text.
func PositionAt(file, text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return Position{
		File:   file,
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[start:]),
	}
}

// InCharacters converts a column in bytes to a column in characters, bounded by the length of the line.
func InCharacters(text string, p Position) Position {
	if !p.IsValid() || p.Column <= 1 {
		return p
	}
	if lines := linesOf(text, p.Line, p.Line); len(lines) == 1 {
		line := lines[0]
		p.Column = 1 + utf8.RuneCountInString(line[:min(p.Column-1, len(line))])
	}
	return p
}
