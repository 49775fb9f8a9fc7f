// Package printable makes text from elsewhere safe to print on a terminal: names in files, of devices and workers, labels, errors.
//
// A terminal obeys control characters. Text from a file could move the cursor, change the window's title, or hide a line.
// Characters that change the direction of text could show it in another order. Both become visible.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text of several lines without characters that a terminal obeys. U+FFFD replaces each control character but tab and
// newline, those that change the direction of text, and bytes that are not UTF-8.
func Text(s string) string { return clean(s, false) }

// Line is Text for a text that must stay on its line and in its column: newlines and tabs become U+FFFD, too.
func Line(s string) string { return clean(s, true) }

func clean(s string, line bool) string {
	bad := func(r rune) bool {
		switch {
		case r == '\t', r == '\n':
			return line
		}
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}
	if utf8.ValidString(s) && strings.IndexFunc(s, bad) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return unicode.ReplacementChar
		}
		return r // Map reads a wrong byte as U+FFFD
	}, s)
}
