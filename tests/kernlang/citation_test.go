package kernlang

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	sentence = regexp.MustCompile(`(?m)^\*\*(\d+\.\d+)\*\* `)
	citation = regexp.MustCompile(`(?m)^\s*(?://|#).*`)
	cited    = regexp.MustCompile(`\[(\d+\.\d+)\]`)
)

// TestEverySentenceIsCited checks that tests cite each numbered sentence of the definition in a comment.
func TestEverySentenceIsCited(t *testing.T) {
	const root = "../.."
	doc, err := os.ReadFile(root + "/docs/kernel-language.md")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for _, m := range sentence.FindAllStringSubmatch(string(doc), -1) {
		if _, twice := numbers[m[1]]; twice {
			t.Errorf("the definition has two sentences %s", m[1])
		}
		numbers[m[1]] = 0
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") && !strings.Contains(path, "testdata") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Base(path) == "citation_test.go" || len(text) > 1<<20 {
			return nil
		}
		for _, comment := range citation.FindAllString(string(text), -1) {
			for _, m := range cited.FindAllStringSubmatch(comment, -1) {
				if _, ok := numbers[m[1]]; !ok {
					t.Errorf("%s cites [%s], and there is no such sentence", path, m[1])
					continue
				}
				numbers[m[1]]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for n, count := range numbers {
		if count == 0 {
			missing = append(missing, n)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no test cites %s", strings.Join(missing, ", "))
	}
	t.Logf("%d sentences, all cited", len(numbers)-len(missing))
}
