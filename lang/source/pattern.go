package source

import (
	"fmt"
	"strings"
)

// maxPatternDepth is the maximum nesting of groups in a regular expression; the compilation time is quadratic in it.
const maxPatternDepth = 1000

const noPropertyEscapes = "regular expressions have no Unicode property escapes, such as \\p{L}; list the ranges, as in [a-zA-Z\u00C0-\u024F]"

// PatternProblem returns why a regular expression is rejected and the offset in its text, or "". With the flag u or v the
// interpreter reads \p{ and \P{ as the plain text p{, and the pattern would match other strings.
func PatternProblem(pattern, flags string) (offset int, message string) {
	properties := strings.ContainsAny(flags, "uv")
	depth, class := 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			if rest := pattern[i+1:]; properties && (strings.HasPrefix(rest, "p{") || strings.HasPrefix(rest, "P{")) {
				return i, noPropertyEscapes
			}
			i++ // the escaped character
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '(' && !class:
			if depth++; depth > maxPatternDepth {
				return i, fmt.Sprintf("groups of a regular expression are nested more than %d deep", maxPatternDepth)
			}
		case c == ')' && !class:
			depth--
		}
	}
	return 0, ""
}
