package arrayjs_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

// TestPage runs the idioms of the page on arrays in NumPy and here, and its example.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/arrays.md")
	if err != nil {
		t.Fatal(err)
	}
	here := place{"cpu", "cpu", cpu.New(cpu.Options{})}
	block := regexp.MustCompile("```js\n([^`]*)```\n\n```text\n([^`]*)```").FindSubmatch(page)
	if got := run(t, here, string(block[1])); got != string(block[2]) {
		t.Errorf("the example prints\n%s\nnot\n%s", got, block[2])
	}
	_, table, _ := strings.Cut(string(page), "| NumPy | orepl |")
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\| `(.*?)` \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 80 {
		t.Fatalf("%d idioms", len(rows))
	}
	inputs := "const x = A('f32', [5, 7]), v = A('f32', [9], 1), w = A('f32', [9], 4), k = A('u8', [9], 2)\n"
	js, py := []string{inputs}, []string{"x, v, w, k = A('f32', [5, 7]), A('f32', [9], 1), A('f32', [9], 4), A('u8', [9], 2)"}
	for _, r := range rows {
		py = append(py, fmt.Sprintf("emit(lambda: %s)", r[1]))
		js = append(js, fmt.Sprintf("await emit(async () => %s)", r[2]))
	}
	want := numpy(t, py)
	got := strings.Split(strings.TrimSuffix(run(t, here, fmt.Sprintf(prelude, "cpu")+strings.Join(js, "\n")), "\n"), "\n")
	if len(got) != len(rows) || len(want) != len(rows) {
		t.Fatalf("%d and %d results of %d idioms", len(got), len(want), len(rows))
	}
	for i, r := range rows {
		if err := agrees(got[i], want[i], 1e-5); err != nil || strings.HasPrefix(got[i], "error") {
			t.Errorf("%s: %v\n got %s\nwant %s", r[2], err, got[i], want[i])
		}
	}
}
