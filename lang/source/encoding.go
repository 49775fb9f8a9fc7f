package source

import (
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/diag"
)

// CheckEncoding returns an error at the first byte of a file's text that is not UTF-8, or nil. Compilers and parsers replace such
// bytes without a message.
func CheckEncoding(name, text string) *diag.Diagnostic {
	if utf8.ValidString(text) {
		return nil
	}
	d := diag.New("syntax", "the text is not UTF-8").WithHint("save the file as UTF-8")
	d.Name = "SyntaxError"
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		d.Message = "the text is UTF-16, not UTF-8"
		d.Position = diag.Position{File: name, Line: 1, Column: 1}
		return d
	}
	at := 0
	for {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	d.Position = diag.PositionAt(name, text, at)
	return d
}
