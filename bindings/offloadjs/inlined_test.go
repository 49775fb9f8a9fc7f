package offloadjs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestFaultsInHelpers checks that a fault has notes with the calls that led to its line, in the script and in the module
// 'kernels'.
func TestFaultsInHelpers(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"library": {`
kernel((g, x) => {
  const s = g.shared(f32, 4)
  x[g.x] = groupReduce(g, s, 3, Math.max)
}).launch({ size: 64, groupSize: 64 }, x)`, "in the call of groupReduce 6, launched here 7"},
		"nested": {`
const inner = (x, i) => x[i * 3]
const outer = (x, i) => inner(x, i + 1)
kernel((g, x) => { x[g.x] = 1 + outer(x, g.x) }).launch({ size: 64 }, x)`, "in the call of inner 5, in the call of outer 6, launched here 6"},
		"several": {`
const pick = (x, i) => x[i * 3]
kernel((g, x) => { x[g.x] = pick(x, 1) }, { name: 'another' }).launch({ size: 64 }, x)
kernel((g, x) => {
  x[g.x] = pick(x, 1)
    + pick(x, g.x)
}, { name: 'faulty' }).launch({ size: 64 }, x)`, "in a call of pick, this one or another 7, in a call of pick, this one or another 8, launched here 9"},
		"none": {`
kernel((g, x) => { x[g.x * 9] = 1 }).launch({ size: 64 }, x)`, "launched here 4"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := inside.Of(newRuntime(t)).NewEngine(lang.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.Run(context.Background(), "helpers.js", "import { device, kernel, f32 } from 'offload'\nimport { groupReduce } from 'kernels'\nconst x = device('cpu').buffer(f32, 64)"+c.script+"\nawait x.read()")
			var d *diag.Diagnostic
			if !errors.As(err, &d) {
				t.Fatal(err)
			}
			var notes []string
			for _, n := range d.Notes {
				notes = append(notes, fmt.Sprintf("%s %d", n.Message, n.Line))
			}
			if got := strings.Join(notes, ", "); got != c.want {
				t.Errorf("the notes are %s, want %s", got, c.want)
			}
		})
	}
}

// TestLanguageObjects checks that kernels do not define Atomics, by a script that takes a millisecond, before the program uses it.
func TestLanguageObjects(t *testing.T) {
	const begin = "import { device, kernel, f32, i32 } from 'offload'\nconst d = device('cpu')\nconst defined = () => !('get' in Object.getOwnPropertyDescriptor(globalThis, 'Ato' + 'mics'))\n"
	for _, c := range []struct{ text, want string }{
		{`
const x = d.buffer(f32, 4, i => i - 1), { PI } = Math
await kernel((g, x) => { x[g.x] = Math.abs(x[g.x]) + PI }).launch({ size: 4 }, x)
console.log((await x.read())[0] > 4, defined())`, "true false\n"},
		{`
const n = d.zeros(i32, 1), add = (n, by) => { Atomics.add(n, 0, by) }
await kernel((g, n) => { add(n, 2) }).launch({ size: 5 }, n)
console.log((await n.read())[0], defined())`, "10 true\n"},
	} {
		if out, err := script(t, begin+c.text); err != nil || out != c.want {
			t.Errorf("%q, %v", out, err)
		}
	}
}
