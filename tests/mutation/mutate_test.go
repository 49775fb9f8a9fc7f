package mutation

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// TestFind finds every kind of fault in a small file, and checks that each result parses.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	const text = `package p

func f(a, b int) bool {
	if a < b && !g() {
		a++
		h(a)
	}
	a = 3
	return true
}
`
	if err := os.MkdirAll(filepath.Join(dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "p.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Find(dir, "p")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p/p.go f: a++ → nothing", "p/p.go f: h(a) → nothing", "p/p.go f: a = 3 → nothing",
		"p/p.go f: a < b && !g() → !(a < b && !g())", "p/p.go f: a < b && !g() → a < b || !g()", "p/p.go f: a < b → a <= b",
		"p/p.go f: !g() → g()", "p/p.go f: 3 → 4", "p/p.go f: true → false",
	}
	got := map[string]bool{}
	for i := range list {
		got[list[i].Key()] = true
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", list[i].Apply([]byte(text)), 0); err != nil {
			t.Errorf("%v: %v", &list[i], err)
		}
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("not found: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %d faults, expected %d: %v", len(got), len(want), got)
	}
}
