package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPaths checks that Go files named in the documentation exist. A page may omit leading folders of a path.
func TestPaths(t *testing.T) {
	var paths []string
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") {
			paths = append(paths, "/"+filepath.ToSlash(path))
		}
		return err
	}))
	pages, err := filepath.Glob("../docs/*.md")
	must(err)
	named := regexp.MustCompile("`([\\w./-]+/[\\w-]+\\.go)`")
	found := 0
	for _, page := range append(pages, "../ARCHITECTURE.md", "../README.md") {
		text, err := os.ReadFile(page)
		must(err)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			exists := false
			for _, path := range paths {
				exists = exists || strings.HasSuffix(path, "/"+m[1])
			}
			if !exists {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("%d paths found", found)
	}
}
