package session

import (
	"fmt"
	"strings"
)

// listHint returns a hint that lists the names, the one nearest to name first.
func listHint(name string, names []string, what string) string {
	hint := "there are no " + what
	if len(names) > 0 {
		hint = what + ": " + strings.Join(names, ", ")
	}
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}

// nearest returns the name most similar to name, or "" if none is similar.
func nearest(name string, names []string) string {
	best, bestDistance := "", len(name)/2+1
	for _, n := range names {
		if d := distance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// distance returns the edit distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
