package source

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/later"
)

// advise sets the hint of a syntax error if it has none. For a line in the form of another language it replaces the hint.
func advise(d *diag.Diagnostic, text string) {
	if d.Excerpt != nil {
		if hint := habits.Form(d.Excerpt.Lines[len(d.Excerpt.Lines)-1]); hint != "" {
			d.Hint = hint
			return
		}
	}
	if d.Hint == "" {
		d.Hint = advice(d.Message, text)
	}
}

// found matches the messages that name a missing text and what stands in its place.
var found = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^Expected "(.+)" but found "(.+)"$`) }}

// missing returns a hint for a message that suggests a text.
func missing(m api.Message) string {
	hint := "write " + m.Location.Suggestion
	names := found.Get().FindStringSubmatch(m.Text)
	if names == nil {
		return hint
	}
	want, got := names[1], names[2]
	switch {
	case want == ";" && reserved[got] && declaring.Get().MatchString(m.Location.LineText[:min(m.Location.Column, len(m.Location.LineText))]):
		return got + " is a word of the language: take another name"
	case want == ";" && got == ":" && strings.HasPrefix(strings.TrimSpace(m.Location.LineText), "{"):
		return "put an object at the start of a statement into parentheses: ({ name: value })"
	case strings.Contains(")]}", want) && got == ";":
		return "write a comma, or " + want
	case strings.Contains(")]}", want) && !reserved[got] && value.Get().MatchString(got):
		return "write a comma or an operator before it, or " + want
	}
	return hint
}

// declaring matches a line up to the name of a variable, and value the beginning of a name, number or text.
var (
	declaring = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\b(?:let|const|var)\s*$`) }}
	value     = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile("^[\\w$'\"`\\pL]") }}
)

// reserved are the words of the language that are no names.
var reserved = map[string]bool{
	"break": true, "case": true, "catch": true, "class": true, "const": true, "continue": true, "debugger": true, "default": true, "delete": true,
	"do": true, "else": true, "enum": true, "export": true, "extends": true, "false": true, "finally": true, "for": true, "function": true, "if": true,
	"import": true, "in": true, "instanceof": true, "new": true, "null": true, "return": true, "super": true, "switch": true, "this": true, "throw": true,
	"true": true, "try": true, "typeof": true, "var": true, "void": true, "while": true, "with": true,
}

// advice returns a hint for a message of package ecma or of esbuild, or "" if it has none.
func advice(message, text string) string {
	has := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case has("nterminated string"):
		return "close the quote on the same line; `…` takes text over several lines"
	case has("nterminated template"):
		return "close the text with `"
	case has("nterminated regular expression"), has("Invalid regular expression"):
		return `close it with /; a backslash before / ( ) [ ] { } . * + ? takes the character as it is`
	case has("end of file"), has("end of input"):
		if open, at := unclosed(text); open != "" {
			return fmt.Sprintf("the %s of line %d is not closed", open, diag.PositionAt("", text, at).Line)
		}
		return "the text ends within a statement: is its end missing?"
	case has("has already been declared"):
		return "assign it without declaring it again, or take another name"
	case has("imported twice"), has("exported twice"):
		return "remove one, or rename it with as"
	case has("declared nowhere"):
		return "declare it in this file, or export it from another: export { name } from './other.js'"
	case has("imported and cannot be assigned"):
		return "copy it into a variable of your own, or let its module export a function that sets it"
	case has(`Unexpected "**"`):
		return "write -(x ** y) or (-x) ** y: a sign before a power needs parentheses"
	case has("without parentheses"):
		return "write (a ?? b) || c, or a ?? (b || c)"
	case has(`Syntax error "`):
		return "a name does not begin with a digit, nor does a number end with a letter; other texts are in quotes"
	case has(`Unexpected "“"`), has(`Unexpected "”"`), has(`Unexpected "‘"`), has(`Unexpected "’"`):
		return `write straight quotes: ' or "`
	case has("terminate multi-line comment"):
		return "close the comment with */"
	case has("return outside"):
		return "put the code into a function; process.exit() ends the script"
	case has(`"await" can only be used`):
		return "write async before the function, and await its calls"
	case has("Expected identifier but found"):
		return "a name is expected here; words of the language are none, nor does a name begin with a digit"
	case has("Expected"):
		return "look before this place: a bracket, comma or operator is missing there"
	}
	if hint := mistaken(message); hint != "" || !has("nexpected") {
		return hint
	}
	return "look before this place: a value, comma, quote or bracket is missing there, or there is one too many"
}

// unclosed returns the innermost unclosed bracket of a text and its offset, or "" if there is none.
func unclosed(text string) (open string, offset int) {
	s := &scanner{src: text}
	var starts []int
	for {
		t := s.next()
		if t.kind == lexEnd {
			break
		}
		for s.depth() > len(starts) {
			starts = append(starts, t.start)
		}
		starts = starts[:s.depth()]
	}
	if len(starts) == 0 {
		return "", 0
	}
	last := len(starts) - 1
	if open = string(s.nested[last].open); open == "$" {
		open = "${"
	}
	return open, starts[last]
}
