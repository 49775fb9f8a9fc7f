package source

import "strings"

// NoPropertyEscapes is the message for a pattern that the interpreter would take for another one.
const NoPropertyEscapes = "regular expressions have no Unicode property escapes, such as \\p{L}; list the ranges, as in [a-zA-Z\u00C0-\u024F]"

// PropertyEscape returns the offset of the first \p{ or \P{ in a pattern with the flag u or v; -1 if there is none. The
// interpreter reads it as the plain text p{, so that the pattern would match something else.
func PropertyEscape(pattern, flags string) int {
	if !strings.ContainsAny(flags, "uv") {
		return -1
	}
	for i := 0; i+2 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if (pattern[i+1] == 'p' || pattern[i+1] == 'P') && pattern[i+2] == '{' {
			return i
		}
		i++ // the escaped character
	}
	return -1
}
