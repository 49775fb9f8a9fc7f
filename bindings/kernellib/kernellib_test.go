package kernellib_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestFunctions runs the example that compares each function with JavaScript: compiled, and in the interpreter, which reports races
// and reads of elements that were never written.
func TestFunctions(t *testing.T) {
	const folder = "../../examples/kernels"
	data, err := os.ReadFile(filepath.Join(folder, "library.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "n = 20000", "n = 4000")
	printed := map[string]string{}
	for name, text := range map[string]string{
		"compiled":    text,
		"interpreted": strings.NewReplacer("launch({ size", "launch({ checks: 'races', size", "launch({ groups", "launch({ checks: 'races', groups", "= { size: ", "= { checks: 'races', size: ", "{ size, ", "{ checks: 'races', size, ").Replace(text),
	} {
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
		var out strings.Builder
		e, err := rt.NewEngine(lang.Options{Stdout: &out, Dir: folder, OnWarning: func(d *diag.Diagnostic) { t.Error(name, d) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), filepath.Join(folder, "library.js"), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(out.String(), "as expected"); n < 45 {
			t.Errorf("%s: %d comparisons", name, n)
		}
		printed[name] = out.String()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if printed["compiled"] != printed["interpreted"] {
		t.Errorf("compiled:\n%s\ninterpreted:\n%s", printed["compiled"], printed["interpreted"])
	}
}

// TestSubgroups combines values over subgroups of whatever size the device has, the last one ragged.
func TestSubgroups(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer func() {
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var out strings.Builder
	e, err := rt.NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "subgroups.js", `
import { device, kernel, i32 } from 'offload'
import { subgroupReduce, subgroupScan } from 'kernels'
const join = (a, b) => i32(a / 1000) * 1000 + b % 1000 // the first of a and the last of b: it does not commute
const k = kernel((g, x, total, wrong) => {
  const sum = subgroupReduce(g, x[g.x], (a, b) => (a + b) | 0), scan = subgroupScan(g, x[g.x], (a, b) => (a + b) | 0)
  const ends = subgroupReduce(g, g.x * 1000 + g.x, join), lanes = g.subgroup.add(1)
  if (g.lane === 0) Atomics.add(total, 0, sum)
  if (g.lane === lanes - 1 && scan !== sum) Atomics.add(wrong, 0, 1)
  if (ends !== (g.x - g.lane) * 1000 + g.x - g.lane + lanes - 1) Atomics.add(wrong, 1, 1)
})
const dev = device('cpu'), total = dev.buffer(i32, 1), wrong = dev.buffer(i32, 2)
k.launch({ size: 997, groupSize: 96 }, dev.buffer(i32, 997, i => i), total, wrong)
console.log((await total.read())[0], (await wrong.read()).join())
`)
	if err != nil || out.String() != "496506 0,0\n" {
		t.Errorf("%v, printed %q", err, out.String())
	}
}
