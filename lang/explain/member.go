package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/wording"
)

// explainRead explains the read of a member of undefined or null. The interpreter reports null as undefined, too.
func (x *Explainer) explainRead(d *diag.Diagnostic, before, after string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(d.Message, readOf), "' of ")
	before, after = x.joined(d, before, after)
	object := readObject(before, after, name, strings.HasSuffix(d.Message, " of undefined or null"))
	if object == "" || object == "null" || object == "undefined" {
		if object != "" {
			d.Message = fmt.Sprintf("%s%s' of %s", readOf, name, object)
		}
		d.Hint = wording.Advice(d, before, after)
		return
	}
	d.Message = fmt.Sprintf("%s%s': %s is undefined or null", readOf, name, object)
	if d.Hint = x.absent(d, object); d.Hint == "" {
		d.Hint = fmt.Sprintf("write %s?. if it may be missing", object)
	}
}

// readOf is the prefix of the interpreter's message for the read of a member of undefined.
const readOf = "Cannot read property '"

// joined returns the text on both sides of a position, with chains of several lines on one.
func (x *Explainer) joined(d *diag.Diagnostic, before, after string) (string, string) {
	text, _ := x.known.SourceText(d.File)
	first := max(d.Line-mostJoined, 1)
	lines := diag.Lines(text, first, d.Line+mostJoined)
	at := d.Line - first
	if at < 0 || at >= len(lines) {
		return before, after
	}
	join := func(text string) string { return chained.Get().ReplaceAllString(text, "$1") }
	above := strings.Join(lines[:at], "\n") + "\n" + before
	below := after + "\n" + strings.Join(lines[at+1:], "\n")
	joined := join(above)
	return joined[strings.LastIndexByte(joined, '\n')+1:], strings.SplitN(join(below), "\n", 2)[0]
}

// mostJoined is the maximum number of lines on either side of a position that are read for a chain.
const mostJoined = 20

// chained matches the space at which a chain goes on in a new line.
var chained = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\s*\n\s*(\??\.)`) }}

// readObject returns the object of a read of the member name. The reported position is that of the member, or for called and changed
// members that of the object's last part: its name, bracket or parenthesis.
func readObject(before, after, name string, called bool) string {
	own := strings.TrimRight(wording.TrailingExpression(strings.TrimRight(before, ".?[")), "!")
	if !called && strings.HasPrefix(after, "[") && !slices.Contains([]string{"[" + name + "]", "['" + name + "']", `["` + name + `"]`}, leadingPart(after)) {
		part := leadingPart(after)
		called = strings.HasPrefix(strings.TrimLeft(after[len(part):], "!"), "[") // a[0][i]()
	}
	if !called && wording.LeadingWord(after) != name && wording.LeadingWord(after) != "" {
		called = true // a.b[0](), a.b.c++
	}
	if !called {
		return own
	}
	depth := 0
	for i, r := range after {
		switch {
		case depth <= 0 && i > 0 && isMember(after[i:], name):
			return strings.TrimRight(wording.TrailingExpression(before+after[:i]), "!")
		case depth <= 0 && r == ';':
			return own
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		}
	}
	return own
}

// isMember reports whether text begins with a member of a name, or with an index, which may have any value.
func isMember(text, name string) bool {
	rest, dot := strings.CutPrefix(strings.TrimPrefix(text, "?"), ".")
	return strings.HasPrefix(rest, "[") || dot && wording.LeadingWord(strings.TrimPrefix(rest, "#")) == strings.TrimPrefix(name, "#")
}

// leadingPart returns the bracket at the beginning of text with what it encloses, or all of text if the bracket is not closed.
func leadingPart(text string) string {
	depth := 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return text
}

// absent returns a hint for an expression that is undefined: it lacks an await, or is no member of its object's class. It
// returns "" if neither is known.
func (x *Explainer) absent(d *diag.Diagnostic, expression string) string {
	dot := strings.LastIndexByte(expression, '.')
	if dot < 0 || wording.LeadingWord(expression[dot+1:]) != expression[dot+1:] {
		return x.Await(d, expression)
	}
	object, member := strings.TrimSuffix(expression[:dot], "?"), expression[dot+1:]
	class := x.missing.class
	if class == "" || x.missing.member != member {
		class = x.classOf(d, object)
	}
	switch members := x.classMembers(class); {
	case class == "Promise":
		if hint := x.Await(d, expression); hint != "" {
			return hint
		}
		return fmt.Sprintf("%s is a promise: write (await %[1]s).%s", object, member)
	case slices.Contains(members, member): // it has no value here
		return ""
	case len(members) > 0:
		return x.hintForMember(class, object, member)
	}
	if o, ok := x.property(x.vm.GlobalObject(), object).(*goja.Object); ok && o.ExportType() != typeProxy {
		if near := spelling.Nearest(member, o.GetOwnPropertyNames()); near != "" && near != member {
			return fmt.Sprintf("did you mean %s.%s?", object, near)
		}
	}
	if hint := x.nameHint(member); hint != "" && x.has(object) {
		return hint
	}
	return x.Await(d, expression)
}
