package wording

import (
	"regexp"
	"strings"
)

// LeadingWord returns the prefix of s that consists of runes which [IsWordRune] accepts. It is "" if there is none.
func LeadingWord(s string) string {
	for i, r := range s {
		if !IsWordRune(r) {
			return s[:i]
		}
	}
	return s
}

// LeadingExpression returns the prefix of s that consists of names and dots. It is "" if there is none.
func LeadingExpression(s string) string {
	for i, r := range s {
		if !IsWordRune(r) && r != '.' {
			return s[:i]
		}
	}
	return s
}

// TrailingExpression returns the suffix of s that consists of names, members, indices and calls. It is "" if there is none.
func TrailingExpression(s string) string {
	runes := []rune(s)
	i := len(runes)
	depth := 0
	for i > 0 {
		r := runes[i-1]
		switch {
		case r == ')' || r == ']':
			depth++
		case (r == '(' || r == '[') && depth > 0:
			depth--
		case depth > 0:
		case !IsWordRune(r) && r != '.' && r != '?' && r != '!' && r != '#':
			return strings.TrimLeft(string(runes[i:]), ".?!")
		}
		i--
	}
	if depth > 0 {
		return ""
	}
	return strings.TrimLeft(string(runes[i:]), ".?!")
}

// DeclaredBy returns the initializer of a variable if text declares it, or "" if not.
func DeclaredBy(text, name string) string {
	if name == "" {
		return ""
	}
	declared, err := regexp.Compile(`(?:\b(?:const|let|var)\s+|\b(?:const|let|var)\s[^\n;]*,\s*)` + regexp.QuoteMeta(name) + `\s*=\s*([^\n;=>][^\n;]*)`)
	if err != nil {
		return ""
	}
	m := declared.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	depth := 0
	for i, r := range m[1] { // stops at the declaration's next variable
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			return strings.TrimSpace(m[1][:i])
		}
	}
	return strings.TrimSpace(m[1])
}

// IsWordRune reports whether words of code may contain r: ASCII letters and digits, _ and $, and all other characters from 0x80 on.
func IsWordRune(r rune) bool {
	return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// WithArticle returns a class's name after its indefinite article. It is "a" for names that begin with U, such as Uint8Array and URL.
func WithArticle(class string) string {
	if class != "" && strings.ContainsAny(class[:1], "AEIO") {
		return "an " + class
	}
	return "a " + class
}
