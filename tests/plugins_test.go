package tests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlugins checks that each plugin is in plugins/all, in the table of rooms, and in the conformance suite.
func TestPlugins(t *testing.T) {
	rooms := readText(t, "../ARCHITECTURE.md")
	list := readText(t, "../plugins/all/all.go")
	dirs, err := os.ReadDir("../plugins")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range dirs {
		if slices.Contains([]string{"all", "internal", "portable"}, d.Name()) || !d.IsDir() {
			continue
		}
		found++
		path := "plugins/" + d.Name()
		if !strings.Contains(rooms, "\n| `"+path+"` |") {
			t.Errorf("%s: the table of rooms in ARCHITECTURE.md has no line for it", path)
		}
		if !strings.Contains(list, path+`"`) || !strings.Contains(list, d.Name()+".New(") {
			t.Errorf("%s: plugins/all/all.go does not list it", path)
		}
		if !testsImport(t, "../"+path, `/runtime/conform"`) {
			t.Errorf("%s: no test of it runs the suite of runtime/conform", path)
		}
	}
	if found < 5 {
		t.Errorf("%d plugins found, want at least 5", found)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// testsImport reports whether a test file in a directory imports a path with this ending.
func testsImport(t *testing.T, dir, end string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool { return strings.Contains(readText(t, file), end) })
}
