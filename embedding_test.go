package orepl_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEmbeddingGuide checks that a compiled and tested file contains each piece of code in docs/embedding.md.
func TestEmbeddingGuide(t *testing.T) {
	lines := func(text string) string {
		var list []string
		for line := range strings.Lines(text) {
			list = append(list, strings.TrimSpace(line))
		}
		return strings.Join(list, "\n")
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var tested string
	for _, path := range []string{"example_test.go", "watch_files_test.go", "examples/embed-pipeline/main.go", "testdata/scale.js", "testdata/louder.js"} {
		tested += lines(read(path))
	}
	blocks := regexp.MustCompile("(?s)```(?:go|js)\n(.*?)```").FindAllStringSubmatch(read("docs/embedding.md"), -1)
	if len(blocks) < 9 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(tested, strings.TrimSpace(lines(b[1]))) {
			t.Errorf("not in any test:\n%s", b[1])
		}
	}
}
