package kernels_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// runner runs a function of the library over arrays in the interpreter, with the call expanded in a kernel. It thus tests
// the embedded IR.
type runner struct {
	t       testing.TB
	fn      string
	typ     ir.Type
	arity   int
	program *interp.Program
	worker  *interp.Worker
}

// callModule returns a kernel that calls the function on each item.
func callModule(t testing.TB, fn string, typ ir.Type, arity int) *ir.Module {
	t.Helper()
	second, load, args := "", "", "%1"
	if arity == 2 {
		second, load, args = fmt.Sprintf("y: %s[*], ", typ), fmt.Sprintf("  %%2: %s = load y[%%0]\n", typ), "%1, %2"
	}
	text := fmt.Sprintf("orepl-ir 1\nfile 0 \"\"\nkernel call(x: %s[*], %sout: %s[*]) real %s {\n  site 0 = 0:0:0 \"\"\n  %%0: i32 = item.global.x\n  %%1: %s = load x[%%0]\n%s  %%3: %s = math.\"%s\" %s\n  store out[%%0], %%3\n  return\n}\n",
		typ, second, typ, typ, typ, load, typ, fn, args)
	m, err := ir.ParseText("call", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

func newRunner(t testing.TB, lib *kernels.Library, fn string, typ ir.Type) *runner {
	t.Helper()
	k, err := lib.Math(fn, typ)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, fn: fn, typ: typ, arity: len(k.Params) - 1}
	m := callModule(t, fn, typ, r.arity)
	if err := lib.Expand(m); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatalf("expanded: %v", err)
	}
	if r.program, err = interp.Compile(m.Kernels[0], interp.Options{}); err != nil {
		t.Fatal(err)
	}
	r.worker = r.program.NewWorker()
	return r
}

// run32 returns the results for f32 arguments, one list per parameter.
func (r *runner) run32(args ...[]float32) []float32 {
	return runOn(r, args)
}

// run64 returns the results for f64 arguments, one list per parameter.
func (r *runner) run64(args ...[]float64) []float64 {
	return runOn(r, args)
}

func runOn[T float32 | float64](r *runner, args [][]T) []T {
	r.t.Helper()
	n := len(args[0])
	out := make([]T, n)
	l := &interp.Launch{Size: [3]int{n, 1, 1}, GroupSize: [3]int{256, 1, 1}}
	for _, a := range append(args[:len(args):len(args)], out) {
		l.Args = append(l.Args, interp.Arg{Base: unsafe.Pointer(&a[0]), Bytes: n * int(unsafe.Sizeof(a[0])), Dims: [3]int32{int32(n)}})
	}
	groups, err := r.program.Prepare(l)
	if err != nil {
		r.t.Fatal(err)
	}
	if fault := r.program.Run(r.worker, l, 0, groups); fault != nil {
		r.t.Fatalf("%s.%s: fault %+v", r.fn, r.typ, fault)
	}
	return out
}

// ulps returns the error of got in units in the last place of the exact result, want + rest. precision and least are the
// type's. Overflow counts as the next power of two.
func ulps(got, want, rest float64, precision, least, most int) float64 {
	if got == want && rest == 0 || got != got && want != want {
		return 0
	}
	if got != got || want != want {
		return math.Inf(1)
	}
	if math.IsInf(want, 0) {
		return math.Inf(1)
	}
	if math.IsInf(got, 0) {
		half := math.Ldexp(math.Copysign(0.5, got), most) // half of the power, which f64 can represent
		return math.Abs((half-want/2)-rest/2) * 2 / math.Ldexp(1, most-precision)
	}
	_, e := math.Frexp(want)
	return math.Abs((got-want)-rest) / math.Ldexp(1, max(e-precision, least))
}

func ulps32(got float32, want float64) float64 {
	if math.Abs(want) >= math.MaxFloat32*(1+1.0/(1<<25)) && math.IsInf(float64(got), 0) && math.Signbit(want) == math.Signbit(float64(got)) {
		return 0
	}
	return ulps(float64(got), want, 0, 24, -149, 128)
}
