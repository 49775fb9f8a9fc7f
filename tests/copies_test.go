package tests

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copiedLines is the number of equal lines in a row that count as a copy.
const copiedLines = 8

// copies returns the places at which two plugins have equal lines in a row. texts are by path; the plugin is the first folder.
// Blank lines, lone brackets and imports do not count.
func copies(texts map[string]string) (list []string) {
	type place struct {
		plugin, file string
		line         int
	}
	seen := map[string]place{}
	paths := make([]string, 0, len(texts))
	for path := range texts {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		plugin, _, _ := strings.Cut(path, "/")
		var lines []string
		var numbers []int
		for i, line := range strings.Split(texts[path], "\n") {
			if line = strings.TrimSpace(line); len(line) > 2 && !strings.HasPrefix(line, `"`) && !strings.HasPrefix(line, "import ") {
				lines, numbers = append(lines, line), append(numbers, i+1)
			}
		}
		for i := 0; i+copiedLines <= len(lines); i++ {
			key := strings.Join(lines[i:i+copiedLines], "\n")
			if other, ok := seen[key]; ok && other.plugin != plugin {
				list = append(list, fmt.Sprintf("%s:%d repeats %d lines of %s:%d", path, numbers[i], copiedLines, other.file, other.line))
				i += copiedLines - 1
			} else if !ok {
				seen[key] = place{plugin, path, numbers[i]}
			}
		}
	}
	return list
}

// TestCopies checks that no two plugins have equal code, which belongs to plugins/internal or plugins/portable.
func TestCopies(t *testing.T) {
	texts := map[string]string{}
	err := filepath.WalkDir("../plugins", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			texts[strings.TrimPrefix(filepath.ToSlash(path), "../plugins/")] = readText(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range copies(texts) {
		t.Errorf("%s: move them to plugins/internal", complaint)
	}
}

func TestCopiesComplain(t *testing.T) {
	var text strings.Builder
	for i := range copiedLines {
		fmt.Fprintf(&text, "\tline %d\n\n", i)
	}
	texts := map[string]string{"a/x.go": "package a\n" + text.String(), "a/y.go": text.String(), "b/z.go": "package b\nimport \"c\"\n" + text.String()}
	if got := copies(texts); len(got) != 1 || !strings.HasPrefix(got[0], "b/z.go:3 repeats") {
		t.Errorf("%q", got)
	}
	texts["b/z.go"] = strings.Replace(texts["b/z.go"], "line 3", "another line", 1)
	if got := copies(texts); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
