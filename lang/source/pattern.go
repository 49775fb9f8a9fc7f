package source

import (
	"fmt"
	"strings"
)

// maxPatternDepth bounds groups in one another in a regular expression: the time to compile them grows with the square.
const maxPatternDepth = 1000

const noPropertyEscapes = "regular expressions have no Unicode property escapes, such as \\p{L}; list the ranges, as in [a-zA-Z\u00C0-\u024F]"

// PatternProblem returns why a regular expression is refused, and the offset in its text; "" if it is not. The interpreter
// reads \p{ and \P{ with the flag u or v as the plain text p{, so that the pattern would match something else.
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
