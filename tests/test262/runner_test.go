package test262

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRunner runs a small suite whose results are known.
func TestRunner(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"harness/assert.js":          "function assert(x) { if (x !== true) throw new Test262Error('assert') }",
		"harness/sta.js":             "function Test262Error(m) { this.message = m } \n function $DONOTEVALUATE() { throw 'evaluated' }",
		"harness/doneprintHandle.js": "function $DONE(e) { print(e ? 'Test262:AsyncTestFailure:' + e.message : 'Test262:AsyncTestComplete') }",
		"harness/extra.js":           "var extra = 1; async function* g() { yield* [1] }",

		"test/language/a/passes.js":      "/*---\nincludes: [extra.js]\n---*/\nassert(extra === 1)",
		"test/language/a/throws.js":      "/*---\n---*/\nassert(false)",
		"test/language/a/early.js":       "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\n$DONOTEVALUATE(); let x, x",
		"test/language/a/accepted.js":    "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\nlet x",
		"test/language/a/evaluated.js":   "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\nnull.x",
		"test/language/a/late.js":        "/*---\nnegative:\n  phase: runtime\n  type: Test262Error\n---*/\nassert(false)",
		"test/language/a/class.js":       "/*---\nnegative:\n  phase: runtime\n  type: RangeError\n---*/\nnull.x",
		"test/language/a/link.js":        "/*---\nflags: [module]\nnegative:\n  phase: resolution\n  type: SyntaxError\n---*/\nimport { y } from './m_FIXTURE.js'",
		"test/language/a/import.js":      "/*---\nflags: [module]\n---*/\nimport { x } from './m_FIXTURE.js'; assert(x === 1)",
		"test/language/a/m_FIXTURE.js":   "export const x = 1",
		"test/language/a/done.js":        "/*---\nflags: [async]\n---*/\nsetTimeout($DONE)",
		"test/language/a/failed.js":      "/*---\nflags: [async]\n---*/\n$DONE(Error('no'))",
		"test/language/a/never.js":       "/*---\nflags: [async]\n---*/\n0",
		"test/language/a/rejected.js":    "/*---\n---*/\nPromise.reject(1)",
		"test/language/a/sloppy.js":      "/*---\nflags: [noStrict]\n---*/\nassert(false)",
		"test/built-ins/B/later.js":      "/*---\nfeatures:\n  - set-methods\n---*/\nassert(new Set([1]).union(new Set([2])).size === 2)",
		"test/built-ins/B/proposal.js":   "/*---\nfeatures: [\n  Temporal\n]\n---*/\nassert(false)",
		"test/built-ins/B/deep/endse.js": "/*---\n---*/\nthrow new Test262Error('x')",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	failed := runAll(t, root, tests)
	want := map[string]string{
		"test/language/a/throws.js":      "assert",
		"test/language/a/accepted.js":    "no error, but SyntaxError expected (parse)",
		"test/language/a/evaluated.js":   "evaluated, but SyntaxError expected (parse)",
		"test/language/a/class.js":       "TypeError instead of RangeError (runtime)",
		"test/language/a/failed.js":      "Test262:AsyncTestFailure:no",
		"test/language/a/never.js":       "never says that it is done",
		"test/built-ins/B/deep/endse.js": "x",
	}
	if got, want := slices.Sorted(maps.Keys(failed)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		t.Errorf("failed: %v\nwant %v\n%v", got, want, failed)
	}
	for path, text := range want {
		if !strings.Contains(failed[path], text) {
			t.Errorf("%s: %q does not contain %q", path, failed[path], text)
		}
	}
	const rows = `| built-ins/B | 1 | 0 | 1 | 1 | 1 |
| language/a | 13 | 7 | 6 | | |
| **all** | 14 | 7 | 7 | 1 | 1 |
`
	if got := table(tests, failed); !strings.HasSuffix(got, "|\n"+rows) {
		t.Errorf("table:\n%s\nwant at its end:\n%s", got, rows)
	}
}

// TestKnown reads the list that it wrote.
func TestKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known.txt")
	known := map[string]string{"test/a/b.js": "why", "test/a/gone.js": "why"}
	failed := map[string]string{"test/a/b.js": "x", "test/a/c.js": "y"}
	if err := writeKnown(file, failed, known, []string{"why"}); err != nil {
		t.Fatal(err)
	}
	got, reasons, err := readKnown(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"test/a/b.js": "why", "test/a/c.js": unexplained}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := []string{"why", unexplained}; !slices.Equal(reasons, want) {
		t.Errorf("%q, want %q", reasons, want)
	}
}
