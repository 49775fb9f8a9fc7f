// Package spelling suggests corrections of misspelled names, and writes counts with nouns.
package spelling

import (
	"fmt"
	"strconv"
	"strings"
)

// Nearest returns the first of the candidates with the fewest edits, or "" if none is close relative to the name's length. For a
// one-letter name it considers only the same letter in either case, because all other letters are equally close.
func Nearest(name string, candidates []string) string {
	best, bestAt := "", 1+max(1, len(name)/3)
	for _, c := range candidates {
		if len(name) == 1 {
			if strings.EqualFold(name, c) {
				return c
			}
			continue
		}
		if d := edits(name, c, bestAt); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// OneEdit returns the first candidate that is one edit from the name, or "".
func OneEdit(name string, candidates []string) string {
	for _, c := range candidates {
		if edits(name, c, 2) == 1 {
			return c
		}
	}
	return ""
}

// Or returns alternatives as text: "a", "a or b", "a, b or c".
func Or(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// List returns a hint that lists names, and first suggests the one nearest to name, if there is one. what names them in the
// plural.
func List(name string, names []string, what string) string {
	hint := "there are no " + what
	if len(names) > 0 {
		hint = what + ": " + strings.Join(names, ", ")
	}
	if near := Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}

// edits returns the number of insertions, deletions, replacements and swaps of adjacent bytes from a to b. If there are at
// least limit, the result may be limit.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}

// Count returns a number and a noun, which is in the plural unless the number is 1: "1 entry", "2 entries", "3 axes".
func Count[T int | int64](n T, noun string) string {
	stem, ies := strings.CutSuffix(noun, "y")
	axis, es := strings.CutSuffix(noun, "is")
	switch {
	case n == 1:
	case ies:
		noun = stem + "ies"
	case es:
		noun = axis + "es"
	default:
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}
