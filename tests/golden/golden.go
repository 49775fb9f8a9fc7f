// Package golden compares the output of tests with golden files.
//
// # Design
//
// Tests of results do not see a pass that no longer optimizes or a proof that is lost. Golden files hold numbers that a
// reader can judge, and a checksum of the rest.
package golden

import (
	"os"
	"strings"
	"testing"
)

// Compare fails the test at the first line in which got differs from a file. With update it writes the file first.
func Compare(t testing.TB, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		have, right := lineOf(g, i), lineOf(w, i)
		if have != right {
			t.Fatalf("line %d of %s differs (-update writes it anew)\n got %s\nwant %s", i+1, file, have, right)
		}
	}
}

func lineOf(lines []string, i int) string {
	if i >= len(lines) {
		return "the end"
	}
	return lines[i]
}
