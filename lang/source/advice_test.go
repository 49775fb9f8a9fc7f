package source

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestAdvice checks the hints of syntax errors.
func TestAdvice(t *testing.T) {
	const typed = "this is TypeScript, which is for files that end in .ts or .mts"
	const fit = "write a comma or an operator before it, or "
	for text, want := range map[string]string{
		"f(-2**31)":                   "write -(x ** y) or (-x) ** y: a sign before a power needs parentheses",
		"const o = { a: 1 b: 2 }":     fit + "}",
		"f('a' 'b')":                  fit + ")",
		"let x = [1 2]":               fit + "]",
		"if (1 { f() }":               "write )",
		"let class = 3":               "class is a word of the language: take another name",
		"elif (x) { }":                "write else if (condition) { … }",
		"while True: f()":             "blocks are in braces: write if (condition) { … }",
		"let y = a ?? b || c":         "write (a ?? b) || c, or a ?? (b || c)",
		"let x = 5 # five":            "comments begin with //",
		"let s = “text”":              `write straight quotes: ' or "`,
		"var 1a = 3":                  "a name does not begin with a digit, nor does a number end with a letter; other texts are in quotes",
		"/* a":                        "close the comment with */",
		"class A { m() { this.#y } }": "declare it in the body of the class: class A { #y; … }",
		"function f() { yield 1 }":    "write function* to make the function a generator",
		"delete x":                    "delete removes properties, as in delete object.name; a variable ends with its block",
		"a?.b = 1":                    "only variables, properties and patterns of them are assigned; a?.b is not, and == compares",
		"[1].forEach(x => { break })": "break ends a loop, a switch or a block with a label; return ends a function, as in forEach",
		"for (;;) { continue outer }": "write the label before the loop or block around this place, as in outer: for (…) { … }",
		"const x":                     "write const x = value, or let x",
		"let y = if (1) 2 else 3":     "if is a statement; a value that depends on a condition is written condition ? a : b",
		"x = 1 + throw 2":             "throw begins a statement, and a value is expected here",
		"const d = <div>hi</div>":     "a value is expected before it; JSX is not part of the language",
		"if (1) class B {}":           "put the declaration into braces",
		"{ a: 1, b: 2 }":              "put an object at the start of a statement into parentheses: ({ name: value })",
		"let x = { a: 1; b: 2 }":      "write a comma, or }",
		"let x: number = 1":           typed,
		"function f(a: number) {}":    typed,
		"const f = (a): number => a":  typed,
		"const y = x as number":       typed,
		"interface A { x: number }":   typed,
		"export enum E { A }":         typed,
		"const t = c ? a : b : d":     "write ;",
		"const t = f(c ? a : b : d)":  "write )",
		"new.target":                  "new.target is for functions, methods and constructors",
		"function f(a, a) {}":         "rename one of the parameters",
		"x = [1, 2":                   "write ]",
		"import x form 'fs'":          "write from",
		"let t = 'a:b' + c ? d : ;":   "look before this place: a value, comma, quote or bracket is missing there, or there is one too many",
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
