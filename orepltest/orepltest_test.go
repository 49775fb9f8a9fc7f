package orepltest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/orepltest"
	"github.com/orepl/orepl/plugins/all"
)

// TestRun runs the tests of a script that imports a module of the program.
func TestRun(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	asked := 0
	album := orepl.Module{Name: "album", Help: "Photographs.", Functions: []orepl.Function{
		{Name: "photos", Help: "Lists photographs.", Func: func(name string) []string { asked++; return []string{name + ".png"} }},
	}}
	orepltest.Run(t, rt, "testdata/*.test.js", orepl.TestOptions{Engine: orepl.EngineOptions{Modules: []orepl.Module{album}}})
	if asked != 1 {
		t.Errorf("the module was called %d times", asked)
	}
}

// TestMessages checks that failed assertions show values as scripts write them.
func TestMessages(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	for _, c := range []struct{ body, want string }{
		{"equal([1, [2, 'a b']], 3)", `the value is [1, [2, "a b"]], expected 3`},
		{"equal({ b: 1, a: [true, null] }, 'x y')", `the value is { a: [true, null], b: 1 }, expected "x y"`},
		{"equal([], {})", "the value is [], expected {}"},
		{"equal(new Map([[1, 'a'], ['x', {}]]), 1)", `the value is Map { 1 => "a", "x" => {} }, expected 1`},
		{"near(new Float32Array([1, 2.5]), { data: [1], shape: [1] })", "the value is [1, 2.5], expected { data: [1], shape: [1] }"},
		{"equal({ a: [1n, undefined] }, { a: 2n ** 70n })", ".a is [1, undefined], expected 1180591620717411303424"},
		{"equal(new Uint8Array(1e6), 1)", "the value is [0, 0, 0"},
		{"await run(p, { x: [[1, 2], [3, 4]] })", "write the elements row by row, as { data: […], shape: [2, …] }"},
		{"await run(p, { x: ['a'] })", "element 0: expected"},
	} {
		path := filepath.Join(t.TempDir(), "a.test.js")
		text := `import { test, equal, near, run } from 'test'
import { pipeline, kernel, f32 } from 'offload'
const twice = kernel((g, x, y) => { y[g.y][g.x] = 2 * x[g.y][g.x] })
const p = pipeline({ inputs: { x: [f32, 2] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { twice.launch({ size: x.shape }, x, y) } })
test('a', async () => { ` + c.body + " })"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		results, err := rt.Test(t.Context(), path, orepl.TestOptions{})
		if err != nil || len(results) != 1 || results[0].Err == nil {
			t.Errorf("%s: %v, %v", c.body, results, err)
			continue
		}
		if text := results[0].Err.Error(); !strings.Contains(text, c.want) || len(text) > 1000 || strings.Contains(text, "row by row") != strings.Contains(c.want, "row by row") {
			t.Errorf("%s: %s, want %s", c.body, text, c.want)
		}
	}
}

// TestStopped ends the context in the first of two tests: the second one does not run, which is an error.
func TestStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.test.js")
	text := "import { test } from 'test'\ntest('a', () => stop())\ntest('b', () => {})"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	ctx, stop := context.WithCancel(t.Context())
	results, err := rt.Test(ctx, path, orepl.TestOptions{Engine: orepl.EngineOptions{Globals: map[string]any{"stop": stop}}})
	if len(results) != 1 || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `the run was stopped before the test "b"`) {
		t.Errorf("%v, %v", results, err)
	}
}
