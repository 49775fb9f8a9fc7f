package source

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestAdvice checks the hints of syntax errors.
func TestAdvice(t *testing.T) {
	const fit = "write a comma or an operator before it, or "
	for text, want := range map[string]string{
		"f(-2**31)":                 "write -(x ** y) or (-x) ** y: a sign before a power needs parentheses",
		"const o = { a: 1 b: 2 }":   fit + "}",
		"f('a' 'b')":                fit + ")",
		"let x = [1 2]":             fit + "]",
		"if (1 { f() }":             "write )",
		"let class = 3":             "class is a word of the language: take another name",
		"elif (x) { }":              "write else if (condition) { … }",
		"while True: f()":           "blocks are in braces: write if (condition) { … }",
		"let y = a ?? b || c":       "write (a ?? b) || c, or a ?? (b || c)",
		"let x = 5 # five":          "comments begin with //",
		"let s = “text”":            `write straight quotes: ' or "`,
		"var 1a = 3":                "a name does not begin with a digit, nor does a number end with a letter; other texts are in quotes",
		"/* a":                      "close the comment with */",
		"x = [1, 2":                 "write ]",
		"import x form 'fs'":        "write from",
		"let t = 'a:b' + c ? d : ;": "look before this place: a value, comma, quote or bracket is missing there, or there is one too many",
	} {
		_, err := Compile("a.js", text, Options{Kind: Module})
		var d *diag.Diagnostic
		if !errors.As(err, &d) {
			t.Errorf("%s: %v", text, err)
		} else if d.Hint != want {
			t.Errorf("%s: the hint is %q, want %q", text, d.Hint, want)
		}
	}
}
