package offload_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// Every block of the page on debugging prints what the page says.
func TestDebuggingPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/kernel-debugging.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```js\n(.*?)```\n\n```text\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, b := range blocks {
		var out bytes.Buffer
		e, err := newRuntime(t).NewEngine(lang.Options{Stdout: &out})
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
