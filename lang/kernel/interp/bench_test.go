package interp_test

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// The benchmarks count scalar operations: an instruction other than a constant or a jump, run for one item. "go test
// -bench . -run XXX" prints ns/op of a launch and ns/scalar of one such operation.

const (
	benchSide  = 256
	benchLimit = 200
	mandelOps  = 11 // in each iteration
)

func mandelbrotIterations() (n int) {
	for i := range benchSide * benchSide {
		n += int(mandelbrotGo(i%benchSide, i/benchSide, benchSide, benchSide, benchLimit))
	}
	return n
}

func reportScalar(b *testing.B, perLaunch int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(perLaunch), "ns/scalar")
}

func benchLaunch(b *testing.B, text string, l *interp.Launch, perLaunch int) {
	p := compile(b, text, interp.Options{})
	n, err := p.Prepare(l)
	if err != nil {
		b.Fatal(err)
	}
	w := p.NewWorker()
	b.ReportAllocs()
	for b.Loop() {
		if f := p.Run(w, l, 0, n); f != nil {
			b.Fatal(f)
		}
	}
	reportScalar(b, perLaunch)
}

func BenchmarkMandelbrot(b *testing.B) {
	out := make([]int32, benchSide*benchSide)
	l := interp.Launch{Size: size(benchSide, benchSide), Args: []interp.Arg{buffer(out, benchSide, benchSide), scalarArg(ir.I32, benchLimit)}}
	benchLaunch(b, mandelbrot, &l, mandelOps*mandelbrotIterations())
}

func BenchmarkSaxpy(b *testing.B) {
	const n = 1 << 16
	x, y := make([]float32, n), make([]float32, n)
	l := interp.Launch{Size: size(n), Args: []interp.Arg{scalarArg(ir.F32, 2), buffer(x), buffer(y)}}
	benchLaunch(b, saxpy, &l, 4*n)
}

func BenchmarkReduce(b *testing.B) {
	const n = 1 << 16
	x, y := make([]float32, n), make([]float32, n)
	l := interp.Launch{Size: size(n), GroupSize: size(256), Args: []interp.Arg{buffer(x), buffer(y)}}
	benchLaunch(b, reduceKernel("f32", "reduce.add %v"), &l, 3*n)
}

func BenchmarkEmptyLaunch(b *testing.B) {
	l := interp.Launch{Size: size(1)}
	benchLaunch(b, "kernel empty() real f32 {\n return\n}", &l, 1)
}

// baseline for comparison: a hand-written interpreter with a closure per expression node, run item by item

type env struct {
	f [8]float64
	i [4]int
}

type (
	floatExpr func(*env) float64
	boolExpr  func(*env) bool
	action    func(*env)
)

func local(k int) floatExpr       { return func(e *env) float64 { return e.f[k] } }
func literal(x float64) floatExpr { return func(*env) float64 { return x } }
func plus(x, y floatExpr) floatExpr {
	return func(e *env) float64 { return x(e) + y(e) }
}
func minus(x, y floatExpr) floatExpr {
	return func(e *env) float64 { return x(e) - y(e) }
}
func times(x, y floatExpr) floatExpr {
	return func(e *env) float64 { return float64(x(e) * y(e)) }
}
func below(x, y floatExpr) boolExpr { return func(e *env) bool { return x(e) < y(e) } }
func set(k int, x floatExpr) action { return func(e *env) { e.f[k] = x(e) } }

func closureMandelbrot() func(e *env) {
	const a, b, cx, cy, aa, bb, d = 0, 1, 2, 3, 4, 5, 6
	more := func(e *env) bool { return e.i[0] < e.i[1] }
	body := []action{set(aa, times(local(a), local(a))), set(bb, times(local(b), local(b)))}
	escaped := below(literal(4), plus(local(aa), local(bb)))
	rest := []action{
		set(d, minus(local(aa), local(bb))),
		set(b, plus(times(times(local(a), local(b)), literal(2)), local(cy))),
		set(a, plus(local(d), local(cx))),
		func(e *env) { e.i[0]++ },
	}
	return func(e *env) {
		for more(e) {
			for _, s := range body {
				s(e)
			}
			if escaped(e) {
				return
			}
			for _, s := range rest {
				s(e)
			}
		}
	}
}

func BenchmarkMandelbrotByClosures(b *testing.B) {
	run := closureMandelbrot()
	out := make([]int32, benchSide*benchSide)
	for b.Loop() {
		for i := range out {
			e := env{}
			e.f[2], e.f[3] = float64(i%benchSide)/benchSide*3-2, float64(i/benchSide)/benchSide*2-1
			e.i[1] = benchLimit
			run(&e)
			out[i] = int32(e.i[0])
		}
	}
	reportScalar(b, mandelOps*mandelbrotIterations())
}
