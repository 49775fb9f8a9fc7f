package kernellang

import (
	"os"
	"regexp"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
)

// namesIn returns the quoted names in the part of a source file of the kernel compiler that matches a pattern.
func namesIn(t *testing.T, file, pattern string) []string {
	t.Helper()
	data, err := os.ReadFile("../../lang/kernel/" + file)
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(pattern).FindStringSubmatch(string(data))
	if part == nil {
		t.Fatalf("%s has no %s", file, pattern)
	}
	var names []string
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(part[1], -1) {
		names = append(names, m[1])
	}
	if len(names) < 3 {
		t.Fatalf("%s: only %v", file, names)
	}
	return names
}

// TestCompilerAndEntriesAgree compares the names that the compiler accepts with the entries.
func TestCompilerAndEntriesAgree(t *testing.T) {
	m := Module()
	find := func(path ...string) *bindings.Entry {
		e, ok := m.Entry(path[0])
		for _, name := range path[1:] {
			if ok {
				e, ok = e.Member(name)
			}
		}
		if !ok {
			t.Fatalf("no entry %v", path)
		}
		return e
	}
	vm := goja.New()
	javascript := vm.Get("Math").ToObject(vm)
	for _, c := range []struct {
		file, pattern string
		entry         *bindings.Entry
		has           func(name string) bool // without an entry
	}{
		{"mathfn.go", `(?s)func mathFuncOf(.*?)\n}\n`, find("Math"), func(name string) bool { return javascript.Get(name) != nil }},
		{"builtin.go", `(?s)atomicKinds = (.*?)\n}}`, find("Atomics"), nil},
		{"builtin.go", `(?s)subgroupKinds = (.*?)\n}}`, find("g", "subgroup"), nil},
		{"builtin.go", `(?s)combines = (.*?)\n}}`, find("g", "reduce"), nil},
		{"builtin.go", `(?s)combines = (.*?)\n}}`, find("g", "scan"), nil},
		{"builtinid.go", `(?s)itemNumbers = (.*?itemMembers = .*?)\n}}`, find("g"), nil},
	} {
		known := map[string]bool{}
		for _, name := range namesIn(t, c.file, c.pattern) {
			known[name] = true
			if _, ok := c.entry.Member(name); !ok && (c.has == nil || !c.has(name)) {
				t.Errorf("%s.%s has no entry", c.entry.Name, name)
			}
		}
		for _, e := range c.entry.Members {
			if !known[e.Name] && e.Name != "fast" && len(e.Name) > 1 {
				t.Errorf("%s.%s has an entry, but the compiler does not know it", c.entry.Name, e.Name)
			}
		}
	}
}
