package offloadjs_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestPages runs each code block of the pages on debugging and recipes, and compares its output with the page.
func TestPages(t *testing.T) {
	for page, count := range map[string]int{"kernel-debugging.md": 4, "recipes.md": 8} {
		t.Run(page, func(t *testing.T) { runPage(t, "../../docs/"+page, count) })
	}
}

func runPage(t *testing.T, path string, count int) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("```js\n((?:[^`]|`{1,2}[^`])*)```\n\n```text\n((?:[^`]|`{1,2}[^`])*)```").FindAllSubmatch(page, -1)
	if len(blocks) != count {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, b := range blocks {
		var out bytes.Buffer
		e, err := inside.Of(newRuntime(t)).NewEngine(lang.Options{Stdout: &out})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), "explain.js", string(b[1])); err != nil {
			t.Error(diag.Format(err, false))
		}
		if out.String() != string(b[2]) {
			t.Errorf("got\n%s\nwant\n%s", &out, b[2])
		}
		_ = e.Close()
	}
}
