package offloadjs_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// script runs a script and returns its output.
func script(t *testing.T, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	e, err := inside.Of(newRuntime(t)).NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(context.Background(), "debug.js", text)
	return out.String(), err
}

const debugged = `import { device, kernel, f32, u8, struct } from 'offload'
const d = device('cpu')
`

// TestDebugPrints checks that a trace has a line for each statement: its position, text, and the values that it set,
// loaded, stored and printed.
func TestDebugPrints(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"the sign of zeros", `
const k = kernel((g, x) => {
  const z = x[0] * 1
  x[1] = f64(z)
  x[2] = 1 / z
}, { contract: false })
console.log(k.debug({ item: 0, size: 1 }, d.buffer(new Float32Array([-0, 1, 2]))))`, `item [0, 0, 0] of k
  4:9  z = x[0] * 1   x[0] → -0  z = -0
  5:3  x[1] = f64(z)  x[1] ← -0
  6:3  x[2] = 1 / z   x[2] ← -Infinity
`},
		{"loop, helper and branch", `
const square = v => v * v
const k = kernel((g, n, x) => {
  let sum = 0
  for (let j = 0; j < n; j++) {
    if (x[j] > 1) break
    sum += square(x[j])
  }
  x[g.x] = sum
})
const x = d.buffer(new Float32Array([0.1, 1, 2, 3]))
console.log(k.debug({ item: 3, size: 4 }, 4, x), x)`, `item [3, 0, 0] of k
   5:7  sum = 0              sum = 0
  6:12  j = 0                j = 0
  6:19  j < n                true
   7:9  x[j] > 1             x[0] → 0.1  false
  3:21    v * v              return = 0.010000001
   8:5  sum += square(x[j])  x[0] → 0.1  v = 0.1  sum = 0.010000001
  6:26  j++                  j = 1
  6:19  j < n                true
   7:9  x[j] > 1             x[1] → 1  false
  3:21    v * v              return = 1
   8:5  sum += square(x[j])  x[1] → 1  v = 1  sum = 1.01
  6:26  j++                  j = 2
  6:19  j < n                true
   7:9  x[j] > 1             x[2] → 2  true
  7:19  break
  10:3  x[g.x] = sum         x[3] ← 1.01 Buffer f32[4] on cpu { 0.1, 1, 2, 3 }
`},
		{"early return of a helper, switch, print", `
const sign = v => { if (v < 0) return -1; return 1 }
const k = kernel((g, x) => {
  switch (sign(x[g.x])) {
    case -1: g.print('minus', g.x); break
    default: x[g.x] = 0
  }
})
k.debug({ item: [1], size: [2], print: true }, d.buffer(new Float32Array([1, -1])))`, `item [1, 0, 0] of k
  3:25    v < 0                true
  3:32    return -1            return = -1
  5:11  sign(x[g.x])           x[1] → -1  v = -1  -1
  6:14  g.print('minus', g.x)  prints "minus 1"
  6:37  break
`},
		{"the whole group runs, whose size is the language's", `
const k = kernel((g, y) => {
  const t = g.shared(f32, 256)
  t[g.local.x] = g.x
  g.barrier()
  y[g.x] = t[255 - g.local.x]
  Atomics.add(y, 0, g.reduce.add(1))
})
console.log(k.debug({ item: 1, size: 300 }, d.buffer(f32, 300)))`, `item [1, 0, 0] of k
  4:9  t = g.shared(f32, 256)
  5:3  t[g.local.x] = g.x                  t[1] ← 1
  6:3  g.barrier()
  7:3  y[g.x] = t[255 - g.local.x]         t[254] → 254  y[1] ← 254
  8:3  Atomics.add(y, 0, g.reduce.add(1))  y[0] → 511
`},
		{"records, rows and buffers that overlap", `
const P = struct({ x: f32, v: [f32, 2] }, 'P')
const k = kernel((g, ps, m, part, bytes) => {
  const p = ps[g.y]
  p.v[1] = m[g.y][g.x]
  m[0][1] = 7
  ps[0] = { ...p, x: part[0] }
  m.flat[3] = bytes[7]
})
const m = d.buffer(f32, [2, 2], (i, j) => i * 2 + j)
console.log(k.debug({ item: [1, 1], size: [2, 2] }, d.buffer(P, 2), m, m.view(1, 2), m.view(0, 16, u8)))`, `item [1, 1, 0] of k
  5:9  p = ps[g.y]
  6:3  p.v[1] = m[g.y][g.x]          m[1][1] → 3  ps[1].v[1] ← 3
  7:3  m[0][1] = 7                   m[0][1] ← 7
  8:3  ps[0] = { ...p, x: part[0] }  ps[1].x → 0  ps[1].v[0] → 0  ps[1].v[1] → 3  copy[0].x ← 0  copy[0].v[0] ← 0  copy[0].v[1] ← 3  part[0] → 7  copy[0].x ← 7  copy[0].x → 7  copy[0].v[0] → 0  copy[0].v[1] → 3  ps[0].x ← 7  ps[0].v[0] ← 0  ps[0].v[1] ← 3
  9:3  m.flat[3] = bytes[7]          bytes[7] → 64  m.flat[3] ← 64
`},
		{"a fault ends the trace", `
const k = kernel((g, y) => { const i = g.x * 2; y[i] = 1; y[0] = 2 })
console.log(k.debug({ item: 2, size: 4 }, d.buffer(f32, 4)))`, `item [2, 0, 0] of k
  3:36  i = g.x * 2  i = 4
  3:49  y[i] = 1
  fault at 3:49: out-of-bounds: index 4 of y is not in 0 to 3 (item 2, 0, 0)
`},
		{"the limit cuts a trace", `
const k = kernel((g, y) => { while (true) y[g.x] += 1 })
console.log(k.debug({ item: 0, size: 1, limit: 4 }, d.buffer(f32, 4)))`, `item [0, 0, 0] of k
  3:37  true         true
  3:43  y[g.x] += 1  y[0] → 0
  … the trace ends here: raise limit to see more
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := script(t, debugged+strings.TrimPrefix(c.script, "\n"))
			if err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestDebugSteps checks that the steps of a trace are script objects.
func TestDebugSteps(t *testing.T) {
	got, err := script(t, debugged+`
const k = kernel((g, n, x) => { const half = x[g.x] / n; if (half > 1n) x[half] = n })
const t = k.debug({ item: 1, size: 2 }, 2n, d.buffer(new BigInt64Array([6n, 8n])))
const [first, test, store] = t.steps
console.log(t.item, t.steps.length, t.ended, t.fault.code, t.fault.line, t.fault.column)
console.log(first.line, first.column, first.text, first.values.half, first.accesses[0].index, first.accesses[0].value, first.accesses[0].kind)
console.log(test.value, store.accesses.length, String(t) === t.toString())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := "[ 1, 0, 0 ] 3 false out-of-bounds 4 73\n4 39 half = x[g.x] / n 4n [ 1 ] 8n load\ntrue 0 true\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestDebugRaces checks that a trace reports races like a launch.
func TestDebugRaces(t *testing.T) {
	got, err := script(t, debugged+`
const k = kernel((g, y) => { const t = g.shared(f32, 8); t[0] = g.x; y[g.x] = t[0] })
console.log(k.debug({ item: 3, size: 8, groupSize: 8, checks: 'races' }, d.buffer(f32, 8)).fault.code)`)
	if err != nil || got != "race\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDebugErrors(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{"k.debug()", "the options are missing"},
		{"k.debug(x)", "the options are missing"},
		{"k.debug({ size: 4 }, x)", "item is missing"},
		{"k.debug({ item: 4, size: 4 }, x)", "item [4 0 0] is outside of the size [4 1 1]"},
		{"k.debug({ item: [0, 1], size: 4 }, x)", "outside of the size"},
		{"k.debug({ item: -1, size: 4 }, x)", "item: expected an integer from 0 on"},
		{"k.debug({ item: 0, size: 0 }, x)", "outside of the size"},
		{"k.debug({ item: 0 }, x)", "size is missing"},
		{"k.launch({}, x)", "hint: write { size: n }, the number of work-items"},
		{"k.debug({ item: 0, size: 4, limit: 0 }, x)", "limit must be a positive integer"},
		{"k.debug({ item: 0, size: 4, nonsense: 1 }, x)", "there is no option \"nonsense\""},
		{"k.debug({ item: 0, size: 4 })", "the kernel takes 1 argument (x)"},
		{"k.debug({ item: 0, size: 4 }, 'text')", "must be a buffer, a number"},
		{"k.debug({ item: 0, size: 4, groupSize: 5000 }, x)", "group size"},
		{"kernel((g, x) => { for (;;) ; }).debug({ item: 0, size: 4, timeout: 20 }, x)", "did not end within 20ms"},
	} {
		_, err := script(t, debugged+"const x = d.buffer(f32, 4), k = kernel((g, x) => { x[g.x] = 1 })\n"+c.call)
		if err == nil || !strings.Contains(diag.Format(err, false), c.want) {
			t.Errorf("%s: %v", c.call, err)
		}
	}
}
