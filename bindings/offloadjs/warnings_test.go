package offloadjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestWarnings checks kernel.warnings: warnings of the compiler and of the optimized kernel, with their positions in
// the script.
func TestWarnings(t *testing.T) {
	got, err := script(t, `import { kernel, f32, i32, u32 } from 'offload'
const k = kernel({ x: [f32], m: [f32, 2], k: [i32], u: [u32] }, (g, x, m, k, u) => {
  const i = g.x
  if (i >= x.length) return
  x[i] = m[i][0]
  x[i] += x[k[0]] + k[0] * 0.5
  u[0] = u[1] >> 3
  for (let r = 0; r < k[0]; r++) m[r][i] = x[k[i]]
  return
  x[0] = 1
})
for (const w of k.warnings) console.log(w.file, w.line + ':' + w.column, w.id)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := `debug.js 5:10 strided-access
debug.js 6:21 inexact-conversion
debug.js 7:10 signed-shift-of-u32
debug.js 8:34 unproved-check
debug.js 8:44 gathered-access
debug.js 10:3 unreachable-code
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestPropertyOrder checks that script objects have their properties in the same order in every run.
func TestPropertyOrder(t *testing.T) {
	const text = `import { device, kernel, f32 } from 'offload'
const k = kernel({ x: [f32] }, (g, x) => { x[g.x * 2] = 1; return; x[0] = 2 })
console.log(...k.warnings.map(w => Object.keys(w).join()))
const trace = await k.debug({ size: 4, item: 3 }, device('cpu').buffer(f32, 4))
console.log(Object.keys(trace.fault).join(), ...trace.steps.map(s => Object.keys(s).join()))`
	first, err := script(t, text)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if !strings.Contains(first, "id,message,hint,file,line,column") || !strings.Contains(first, "file,line,column,text,code,message") {
		t.Errorf("got %s", first)
	}
	for range 5 {
		if again, err := script(t, text); err != nil || again != first {
			t.Errorf("%v\n%s\nthen\n%s", err, first, again)
		}
	}
}
