package test262

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Known failures are a file of groups: a line "# reason", then the paths of tests without "test/" and ".js".

// unexplained is the reason of failures without a known one.
const unexplained = "unknown"

// readKnown returns the reason of each known failure by the test's path, and the reasons in their order.
func readKnown(file string) (known map[string]string, reasons []string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	known = map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case line[0] == '#':
			reasons = append(reasons, strings.TrimSpace(line[1:]))
		case len(reasons) == 0:
			return nil, nil, fmt.Errorf("%s: %s has no reason above it", file, line)
		default:
			known["test/"+line+".js"] = reasons[len(reasons)-1]
		}
	}
	return known, reasons, nil
}

// writeKnown writes the failures in groups by reason, in the order of the reasons. Failures without a known reason form the group
// unexplained, which is last if reasons does not contain it.
func writeKnown(file string, failed, known map[string]string, reasons []string) error {
	groups := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(failed)) {
		r, ok := known[p]
		if !ok {
			r = unexplained
		}
		groups[r] = append(groups[r], strings.TrimSuffix(strings.TrimPrefix(p, "test/"), ".js"))
	}
	if !slices.Contains(reasons, unexplained) {
		reasons = append(reasons, unexplained)
	}
	var b strings.Builder
	for _, r := range reasons {
		if len(groups[r]) > 0 {
			fmt.Fprintf(&b, "# %s\n%s\n\n", r, strings.Join(groups[r], "\n"))
		}
	}
	return os.WriteFile(file, []byte(strings.TrimSpace(b.String())+"\n"), 0o644)
}

// table returns the results by directory as a table in Markdown.
func table(tests []*test, failed map[string]string) string {
	type row struct{ run, passed [newer + 1]int }
	rows := map[string]*row{}
	total := &row{}
	for _, t := range tests {
		part := strings.Split(t.path, "/")
		dir := strings.Join(part[1:3], "/")
		if rows[dir] == nil {
			rows[dir] = &row{}
		}
		for _, r := range []*row{rows[dir], total} {
			r.run[t.set()]++
			if _, bad := failed[t.path]; !bad {
				r.passed[t.set()]++
			}
		}
	}
	var b strings.Builder
	b.WriteString("| directory | tests | passed | failed | of later editions | passed |\n|---|---:|---:|---:|---:|---:|\n")
	line := func(name string, r *row) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | ", name, r.run[es2024], r.passed[es2024], r.run[es2024]-r.passed[es2024])
		if r.run[newer] > 0 {
			fmt.Fprintf(&b, "%d | %d |\n", r.run[newer], r.passed[newer])
		} else {
			b.WriteString("| |\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		line(name, rows[name])
	}
	line("**all**", total)
	return b.String()
}
