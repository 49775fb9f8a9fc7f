package source

import (
	"regexp"

	"github.com/orepl/orepl/lang/later"
)

// assignedReach is the maximum number of bytes before a call's opening parenthesis that Assigned reads.
const assignedReach = 400

// assignment matches the text before the parenthesis of a call whose value is assigned to a variable or a property.
var assignment = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	const name = `[\p{L}_$][\p{L}\w$]*`
	const callee = `(?:await\s+)?(?:[\p{L}\w$]+(?:\([^()]*\)|\[[^\[\]]*\])*\s*\??\.\s*)*[\p{L}\w$]+\s*$`
	return regexp.MustCompile(`(?:(?:^|[^\p{L}\w$])(` + name + `)(?:\s*:[^=;(){}]*)?\s*=\s*|[{,]\s*(` + name + `)\s*:\s*)` + callee)
}}

// Assigned returns the name of the variable or property that is assigned an expression that begins with a call, and "" if there
// is none. It reads only the text before the call's opening parenthesis. line and column are the position of the parenthesis, in
// characters from 1.
func Assigned(text string, line, column int) string {
	end := offsetOf(text, line, column)
	if end < 0 {
		return ""
	}
	m := assignment.Get().FindStringSubmatch(text[max(0, end-assignedReach):end])
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}
