package ir

import "strings"

// Subscript returns the source text of index i of an access, whose own source text is text. It returns "" if text does not show
// the index: in row[j], where row is a name for m[i], only the last index is visible.
func (in *Instr) Subscript(i int, text string) string {
	list := subscripts(text)
	if in.Op == Atomic { // Atomics.add(m[a], b, value): the index is an argument
		list = nil
		if args := arguments(text); len(args) > 1 {
			list = append(subscripts(args[0]), args[1])
		}
	}
	k := len(list) - in.NumIndices() + i
	if k < 0 || k >= len(list) || strings.HasSuffix(list[k], "…") {
		return ""
	}
	return list[k]
}

// subscripts returns the contents of the outermost brackets in a text, from the left. It returns none if there are parentheses
// outside of brackets, such as those of a call, or if brackets do not match.
func subscripts(text string) (list []string) {
	depth, start := 0, 0
	for at, c := range text {
		switch c {
		case '[', '(':
			if depth++; depth == 1 && c == '(' {
				return nil
			} else if depth == 1 {
				start = at + 1
			}
		case ']', ')':
			if depth--; depth == 0 {
				list = append(list, text[start:at])
			}
		}
	}
	if depth != 0 {
		return nil
	}
	return list
}

// arguments returns the arguments of the call that a text begins with, without spaces around them. If the text ends within the call, the
// last argument is left out.
func arguments(text string) (list []string) {
	depth, start := 0, 0
	for at, c := range text {
		switch c {
		case '[', '(':
			if depth++; depth == 1 {
				start = at + 1
			}
		case ']', ')':
			if depth--; depth == 0 {
				return append(list, strings.TrimSpace(text[start:at]))
			}
		case ',':
			if depth == 1 {
				list = append(list, strings.TrimSpace(text[start:at]))
				start = at + 1
			}
		}
	}
	return list // without the last argument if the text is shortened
}

// Operand returns a source expression as an operand of a comparison, parenthesized if necessary.
func Operand(text string) string {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case '?', '&', '|', '^', '=', '<', '>', ',':
			if depth == 0 {
				return "(" + text + ")"
			}
		}
	}
	return text
}
