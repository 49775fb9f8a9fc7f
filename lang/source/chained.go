package source

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
)

// harmless matches an argument whose evaluation is unlikely to run other code. It is a function, or has only names, members, numbers,
// texts, objects, arrays and spreads. Getters and iterators are not recognized.
var harmless = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[\p{L}\w$.,:{}\[\]\s'"-]*|(?:\([\p{L}\w$,\s]*\)|[\p{L}\w$]+)\s*=>[\s\S]*)$`)
}}

// runs matches the words of expressions that run code.
var runs = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\w$])(?:new|await|yield|delete)[^\w$]`) }}

// member matches the call of a method on the value before it.
var member = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*\.\s*([\p{L}_$][\p{L}\w$]*)\s*\(`) }}

// Chained returns the name of the method that is called on the value of a call, as in x.map(f).sum(). It returns "" if there is
// none, or if other code might see the value, because the arguments of the method might call a function. It also returns "" if the end
// of the arguments is not found. The line and the column are those of [Assigned].
func Chained(text string, line, column int) string {
	at := offsetOf(text, line, column)
	if at < 0 || at >= len(text) || text[at] != '(' {
		return ""
	}
	_, end := arguments(text, at)
	if end < 0 {
		return ""
	}
	m := member.Get().FindStringSubmatchIndex(text[end:])
	if m == nil {
		return ""
	}
	args, after := arguments(text, end+m[1]-1)
	if after < 0 {
		return ""
	}
	for _, arg := range args {
		if !harmless.Get().MatchString(arg) || !strings.Contains(arg, "=>") && runs.Get().MatchString(arg) {
			return ""
		}
	}
	return text[end+m[2] : end+m[3]]
}

// offsetOf returns the offset in bytes of a position, or −1 if the text has fewer lines.
func offsetOf(text string, line, column int) int {
	start := 0
	for range line - 1 {
		_, next := diag.LineEnd(text[start:])
		if next == 0 {
			return -1
		}
		start += next
	}
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	return start
}

// closing maps the brackets to those that close them.
var closing = later.Value[map[byte]byte]{Make: func() map[byte]byte {
	return map[byte]byte{'(': ')', '[': ']', '{': '}'}
}}

// arguments returns the texts of a call's arguments. open is the offset of the opening parenthesis, and end the one after the closing
// parenthesis. end is −1 if the call has no end, or if only a parser can find it, as behind regular expressions.
func arguments(text string, open int) (list []string, end int) {
	var stack []byte
	start := open + 1
	for i := open; i < len(text); {
		switch c := text[i]; c {
		case '(', '[', '{':
			stack = append(stack, closing.Get()[c])
		case ')', ']', '}':
			if len(stack) == 0 || stack[len(stack)-1] != c {
				return nil, -1
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return append(list, text[start:i]), i + 1
			}
		case ',':
			if len(stack) == 1 {
				list, start = append(list, text[start:i]), i+1
			}
		case '\'', '"':
			n := quoted(text[i:], c)
			if n < 0 {
				return nil, -1
			}
			i += n
			continue
		case '/':
			n := comment(text[i:])
			if n < 0 || n == 0 && !divides(text[:i]) {
				return nil, -1
			}
			i += max(n, 1)
			continue
		case '`':
			return nil, -1
		}
		i++
	}
	return nil, -1
}

// quoted returns the length in bytes of the string literal at the start of a text. It returns −1 if the literal does not
// end in its line.
func quoted(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		case '\n':
			return -1
		}
	}
	return -1
}

// comment returns the length of a comment at the beginning of a text, 0 if there is none, or −1 if it has no end.
func comment(text string) int {
	switch {
	case strings.HasPrefix(text, "//"):
		if at, next := diag.LineEnd(text); next > 0 {
			return at
		}
		return -1
	case strings.HasPrefix(text, "/*"):
		if n := strings.Index(text, "*/"); n >= 2 {
			return n + 2
		}
		return -1
	}
	return 0
}

// divides reports whether a slash after a text seems to divide, rather than to begin a regular expression.
func divides(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	if before == "" {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return r == ')' || r == ']' || r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' && !strings.HasSuffix(before, "return") ||
		r >= 'A' && r <= 'Z'
}
