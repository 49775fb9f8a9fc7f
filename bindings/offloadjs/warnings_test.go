package offloadjs_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
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

// warned runs a script and returns the IDs and excerpts of its warnings.
func warned(t *testing.T, text string) string {
	t.Helper()
	var got []string
	e := newEngineWith(t, lang.Options{OnWarning: func(d *diag.Diagnostic) { got = append(got, d.ID+" "+d.Message) }})
	_, err := e.Run(context.Background(), "t.js", "import { device, kernel, f32, f64, i32, u8, u16, u32, i64, u64 } from 'offload'; const d = device('cpu')\n"+text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return strings.Join(got, "; ")
}

// TestRacyLaunches checks that the first launch which is known to race warns, once per place, and by the launch's arguments.
//
// [25.4]
func TestRacyLaunches(t *testing.T) {
	const racy = "racy-access `o[0]` is read and stored by several work-items at once, such as [0, 0, 0] and [1, 0, 0]: changes get lost"
	for _, test := range []struct{ text, want string }{
		{"const k = kernel((g, o) => { o[0] += g.x + 1 }); await k.launch({ size: 1 }, o); await k.launch({ size: 9 }, o); await k.launch({ size: 10 }, o)", racy},
		{"const k = kernel((g, o) => { o[0] += g.x + 1 }, { warnings: false }); await k.launch({ size: 9 }, o); if (k.warnings[0].id !== 'racy-access') throw 1", ""},
		{"const k = kernel((g, o) => { o[0] += g.x + 1 }); if (k.warnings.length !== 0) throw 1; await k.bind({ size: 9 }, o).launch()", racy},
		{"const k = kernel({ o: [i32] }, (g, o) => { o[0] += g.x + 1 }); if (k.warnings[0].id !== 'racy-access') throw 1", ""},
		{"const k = kernel((g, o) => { o[0] += g.x + 1 }); await d.queue.launch(k, { size: [1, 3] }, o)", strings.Replace(racy, "[1, 0, 0]", "[0, 1, 0]", 1)},
		{"const k = kernel((g, o) => { Atomics.add(o, 0, g.x) }); await k.launch({ size: 9 }, o)", ""},
		{"const k = kernel((g, n, o) => { o[g.x % n] += 1 }); await k.launch({ size: 9 }, 9, o); await k.launch({ size: 9 }, 8, o)",
			"racy-access `o[g.x % n]` is read and stored by several work-items at once, such as [0, 0, 0] and [8, 0, 0]: changes get lost"},
		{"const k = kernel((g, a, b) => { b[g.x] = a[g.x] + 1 }); await k.launch({ size: 9 }, o, o); await k.launch({ size: 9 }, o.view(0, 9), o.view(1, 10))",
			"racy-access `a[g.x]` is read by work-item [1, 0, 0] while work-item [0, 0, 0] stores to the element: which value is read is not defined"},
		{"const c = d.buffer(u8, 4000), k = kernel((g, c, o) => { o[c[g.x]] += 1 }); await k.launch({ size: 4000 }, c, o)",
			"racy-access `o[c[g.x]]` is read and stored by 4000 work-items, and o has 16 elements: changes of items that share an element get lost"},
	} {
		if got := warned(t, "const o = d.buffer(i32, 16);"+test.text); got != test.want {
			t.Errorf("%s\nwarns %q\nwant  %q", test.text, got, test.want)
		}
	}
}

// TestInexactNumbers checks that numbers which an inferred type, an initialiser or a fill changes are reported once, at the first
// launch.
//
// [7.9]
func TestInexactNumbers(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"const k = kernel((g, o, n) => { o[g.x] = Math.sqrt(n) }); for (const n of [4, 99999043, 99999043]) await k.launch({ size: 1 }, o, n); if (k.warnings[0].id !== 'inexact-number') throw 1",
			"inexact-number argument n: 99999043 becomes 99999040, since n is f32, the kernel's real type, because of a call of Math.sqrt at t.js:2:0"},
		{"const k = kernel((g, o, n) => { o[g.x] = Math.sqrt(n) }, { warnings: false }); await k.launch({ size: 1 }, o, 99999043)", ""},
		{"const k = kernel((g, o, n) => { o[g.x] = Math.sqrt(n) }, { real: f64 }); await k.launch({ size: 1 }, o, 99999043)", ""},
		{"const k = kernel((g, o, n) => { const i = n + g.x; o[g.x] = Math.sqrt(i) }); await k.launch({ size: 1 }, o, 99999000)",
			"inexact-number argument n: 99999000 is beyond 2²⁴, where f32 does not have every integer, and n is f32, the kernel's real type, because of a call of Math.sqrt at t.js:2:0"},
		{"const big = 16777217, k = kernel((g, o) => { o[g.x] = big }); await k.launch({ size: 1 }, o); await k.launch({ size: 2 }, o)",
			"inexact-number `big`, 16777217, becomes 16777216 in f32"},
		{"d.buffer(f32, 2, i => 16777217)", "inexact-number 16777217 becomes 16777216 in f32"},
		{"d.buffer(i32, 2, i => 1.5)", "inexact-number 1.5 becomes 1 in i32"},
		{"const t = [0.5, 16777217]; d.buffer(f32, 2, i => t[i])", "inexact-number t[1], 16777217, becomes 16777216 in f32, the type of the table"},
		{"o.fill(16777217)", " fill: 16777217 becomes 16777216 in f32"},
		{"o.fill(0.1)", ""},
	} {
		got := warned(t, "const o = d.buffer(f32, 16);"+test.text)
		got = regexp.MustCompile(`t.js:2:\d+`).ReplaceAllString(got, "t.js:2:0")
		if got != test.want {
			t.Errorf("%s\nwarns %q\nwant  %q", test.text, got, test.want)
		}
	}
}
