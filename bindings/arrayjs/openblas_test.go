package arrayjs_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/array/openblas"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// installed skips a test where OpenBLAS is not installed.
func installed(t *testing.T) {
	t.Helper()
	if _, err := openblas.Find(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("OpenBLAS is not installed: ./tests/run installs it")
	}
}

// TestOpenBLAS compares products by OpenBLAS with our own, and checks their order among other commands.
func TestOpenBLAS(t *testing.T) {
	installed(t)
	got := run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, `
import { device, f32, f64, i32 } from 'offload'
import { explain } from 'array'
const d = device('cpu'), using = 'openblas'
for (const [t, error] of [[f32, 1e-5], [f64, 1e-14]]) {
  for (const [a, b] of [[[1, 1], [1, 1]], [[7, 5], [5, 3]], [[300, 257], [257, 129]], [[257], [257, 9]], [[9, 257], [257]], [[3, 20, 30], [30, 5]], [[3, 20, 30], [3, 30, 5]], [[1, 20, 30], [4, 30, 5]], [[2, 0], [0, 3]], [[0, 2], [2, 3]]]) {
    const x = d.random(t, a, { seed: 1, from: -1 }), y = d.random(t, b, { seed: 2, from: -1 })
    const p = x.matmul(y, { using }), q = x.matmul(y)
    if (p.type !== q.type || p.shape.join() !== q.shape.join()) console.log(a, b, p, q)
    if (p.length > 0 && !(await p.zip(q, (p, q) => Math.abs(p - q)).max() < error * 257)) console.log(a, b, 'differ')
  }
}
console.log(await d.arange(f64, 4).matmul(d.arange(f64, 4), { using }))
const a = d.eye(f32, 500), b = d.random(f32, [500, 500], { seed: 3 }), copy = b.clone(), other = d.queue ? d.createQueue() : null
const c = a.matmul(b, { using })
b.fill(0)                                       // after the product
a.fill(0, { queue: other })                     // on another queue
console.log(await c.zip(copy, (p, q) => p === q).all(), await b.sum())
const big = d.zeros(f32, [5000, 5000])
console.log(explain(() => big.matmul(big, { using })).split('\n').length > 4)
for (const f of [() => d.ones(i32, [2, 2]).matmul(d.ones(i32, [2, 2]), { using }), () => a.matmul(b, { using: 'mkl' }), () => a.matmul(d.ones(f64, [500, 2]), { using }), () => a.matmul(d.ones(f32, [5, 2]), { using })]) {
  try { f(); console.log('no error') } catch (e) { console.log(e.message) }
}
`)
	want := `14
true 0
true
matmul on cpu: OpenBLAS multiplies matrices of f32 and f64, not of i32
matmul on cpu: using must be 'openblas', not the string "mkl"
matmul on cpu: the matrices have elements of f32 and of f64
matmul on cpu: the shapes [500, 500] and [5, 2] do not match: the last axis of the left one has the extent 500, axis 0 of the right one 5
`
	if got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// TestOpenBLASLimit ends products by a limit of time, after which others have the right elements.
func TestOpenBLASLimit(t *testing.T) {
	installed(t)
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	script := func(ctx context.Context, text string) (string, error) {
		var out bytes.Buffer
		e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		_, err = e.Run(ctx, "t.js", "import { device, f32 } from 'offload'\nconst d = device('cpu'), using = 'openblas'\n"+text)
		return out.String(), err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	endless := "const a = d.ones(f32, [4000, 4000])\nfor (;;) { a.matmul(a, { using }).free(); await d.queue.sync() }"
	if _, err := script(ctx, endless); err == nil {
		t.Fatal("products without end returned")
	}
	got, err := script(t.Context(), "const a = d.ones(f32, [600, 600])\nconsole.log(await a.matmul(a, { using }).zip(600, (p, q) => p === q).all())")
	if err != nil || got != "true\n" {
		t.Errorf("a product after that: %v, %s", err, got)
	}
}

// TestNoOpenBLAS checks the errors where OpenBLAS is missing, is no library, or may not be loaded, and on other devices.
func TestNoOpenBLAS(t *testing.T) {
	const product = "try { d.eye(f32, 2).matmul(d.eye(f32, 2), { using: 'openblas' }); console.log('no error') } catch (e) { console.log(e.code, e.message, e.hint) }"
	head := "import { device, f32 } from 'offload'\nconst d = device('DEVICE')\n"
	t.Setenv(openblas.Variable, "/nowhere/libopenblas.so.0")
	for _, p := range places(t) {
		got := run(t, p, strings.Replace(head, "DEVICE", p.device, 1)+product)
		want := "not-found matmul: OpenBLAS cannot be read"
		if p.device != "cpu" {
			want = "unsupported matmul on " + p.device + ": OpenBLAS computes on the CPU of this process"
		}
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "using") && !strings.Contains(got, openblas.Variable) {
			t.Errorf("%s: %s, want %s", p.name, got, want)
		}
	}
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer func() { _ = rt.Close() }()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Policy: lang.Policy{Read: func(string) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if _, err := e.Run(t.Context(), "t.js", strings.Replace(head, "DEVICE", "cpu", 1)+product); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if !strings.HasPrefix(out.String(), "permission-denied") {
		t.Errorf("a script that may not load native code: %s", &out)
	}
}
