package source

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
)

// advise sets the hint of a syntax error: for a line in the form of another language, or if it has none.
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

// advice returns a hint for a message of either parser.
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
	case has("return outside"):
		return "put the code into a function; process.exit() ends the script"
	case has(`"await" can only be used`):
		return "write async before the function, and await its calls"
	case has("Expected identifier but found"):
		return "a name is expected here; words of the language are none, nor does a name begin with a digit"
	case has("Expected"):
		return "look before this place: a bracket, comma or operator is missing there"
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
