package main

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// interpretedLoop is a loop per item of a launch, which runs in three forms: in the kernel language's interpreter, as an
// equivalent tree of closures, and as a script.
type interpretedLoop struct {
	name     string
	elements string  // statements of kernel and script for item i, ending with out[i] = …
	real     ir.Type // real type of the kernel
	items    int
	closures func() func(out []int32)
	// operations returns the number of operators that all items execute for these results: arithmetic, shifts, comparisons
	// and counter steps. It does not count "| 0".
	operations func(out []int32) int
	scripted   bool // a script has the same results, which f32 prevents
}

const (
	mandelbrotItems = 32 * 288
	mandelbrotLimit = 200
	mixRounds       = 64
)

const mandelbrotBody = `
  const cx = -2 + 3 * (i & 31) / 32, cy = -1.5 + 3 * (i >>> 5) / 288
  let x = 0, y = 0, n = 0
  while (n < 200 && x * x + y * y < 4) { const t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++ }
  out[i] = n`

func mandelbrotOperations(out []int32) (n int) {
	for _, k := range out {
		n += 13*int(k) + 8
	}
	return n
}

var interpretedLoops = []interpretedLoop{
	{"mandelbrot f32", mandelbrotBody, ir.F32, mandelbrotItems, mandelbrotByClosures[float32], mandelbrotOperations, false},
	{"mandelbrot f64", mandelbrotBody, ir.F64, mandelbrotItems, mandelbrotByClosures[float64], mandelbrotOperations, true},
	{"mix i32", `
  let a = i, b = i ^ 0x1e3779b9, c = (i + 77) | 0, d = (i * 3) | 0
  for (let r = 0; r < 64; r++) {
    a = (a + b) | 0; d = d ^ a; d = (d << 16) | (d >>> 16)
    c = (c + d) | 0; b = b ^ c; b = (b << 12) | (b >>> 20)
    a = (a + b) | 0; d = d ^ a; d = (d << 8) | (d >>> 24)
    c = (c + d) | 0; b = b ^ c; b = (b << 7) | (b >>> 25)
  }
  out[i] = a ^ b ^ c ^ d`, ir.F32, 1 << 13, mixByClosures, func(out []int32) int { return len(out) * (22*mixRounds + 6) }, true},
}

// interpreter compares the kernel language's interpreter, on unoptimized IR and one core, with closures and with goja.
func interpreter(r *report) error {
	for i := range interpretedLoops {
		if err := interpretedLoops[i].compare(r); err != nil {
			return fmt.Errorf("%s: %w", interpretedLoops[i].name, err)
		}
	}
	return nil
}

func (l *interpretedLoop) compare(r *report) error {
	ours := make([]int32, l.items)
	run, err := l.interpreted(ours)
	if err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	operations := float64(l.operations(ours))
	cost := func(run func() error) func() (float64, error) {
		return func() (float64, error) {
			start := processorTime()
			err := run()
			return (processorTime() - start) * 1e9 / operations, err
		}
	}

	closed := make([]int32, l.items)
	tree := l.closures()
	byClosures := func() error { tree(closed); return nil }
	tree(closed)
	if !slices.Equal(ours, closed) {
		return fmt.Errorf("closures give other results")
	}
	if _, err := r.pair(l.name+" / closures", "ns", 31, cost(run), cost(byClosures)); err != nil {
		return err
	}

	if !l.scripted {
		return nil
	}
	script, scripted, err := l.script()
	if err != nil {
		return err
	}
	if err := script(); err != nil {
		return err
	}
	if !slices.Equal(ours, scripted) {
		return fmt.Errorf("the script gives other results")
	}
	_, err = r.pair(l.name+" / goja", "ns", 9, cost(run), cost(script))
	return err
}

// interpreted returns a function that runs the kernel in one worker and stores the results in out. Products and sums are
// rounded separately, as in closures and scripts.
func (l *interpretedLoop) interpreted(out []int32) (func() error, error) {
	f, err := kernel.Parse(&kernel.Source{Text: "(g, out) => {\n  const i = g.x" + l.elements + "\n}"})
	if err != nil {
		return nil, err
	}
	args := []kernel.Arg{{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}}
	c, err := f.Compile(args, kernel.Options{Name: "k", Real: l.real, NoContract: true})
	if err != nil {
		return nil, err
	}
	p, err := interp.Compile(c.Module.Kernels[0], interp.Options{})
	if err != nil {
		return nil, err
	}
	launch := &interp.Launch{Size: [3]int{l.items, 1, 1}, Args: []interp.Arg{{
		Base: unsafe.Pointer(unsafe.SliceData(out)), Bytes: 4 * len(out), Dims: [3]int32{int32(len(out))}}}}
	groups, err := p.Prepare(launch)
	if err != nil {
		return nil, err
	}
	worker := p.NewWorker()
	return func() error {
		if fault := p.Run(worker, launch, 0, groups); fault != nil {
			return fault
		}
		return nil
	}, nil
}

// script returns a function that runs the loop as a script, and the slice that receives the results.
func (l *interpretedLoop) script() (run func() error, out []int32, err error) {
	vm := goja.New()
	out = make([]int32, l.items)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), 4*len(out))
	if err := vm.Set("buffer", vm.NewArrayBuffer(bytes)); err != nil {
		return nil, nil, err
	}
	loop, err := vm.RunString("(function () {\n  const out = new Int32Array(buffer)\n  for (let i = 0; i < out.length; i++) {" + l.elements + "\n  }\n})")
	if err != nil {
		return nil, nil, err
	}
	call, _ := goja.AssertFunction(loop)
	return func() error { _, err := call(goja.Undefined()); return err }, out, nil
}

// The yardstick is a hand-written interpreter: a closure per node of the program, over an environment of registers, run item
// by item.

type env[F float32 | float64] struct {
	f [8]F
	i [8]int32
}

type (
	floats[F float32 | float64]   func(*env[F]) F
	integers[F float32 | float64] func(*env[F]) int32
	truths[F float32 | float64]   func(*env[F]) bool
	actions[F float32 | float64]  func(*env[F])
)

func floatLocal[F float32 | float64](k int) floats[F]   { return func(e *env[F]) F { return e.f[k] } }
func floatConst[F float32 | float64](x F) floats[F]     { return func(*env[F]) F { return x } }
func intLocal[F float32 | float64](k int) integers[F]   { return func(e *env[F]) int32 { return e.i[k] } }
func intConst[F float32 | float64](x int32) integers[F] { return func(*env[F]) int32 { return x } }
func plus[F float32 | float64](x, y floats[F]) floats[F] {
	return func(e *env[F]) F { return x(e) + y(e) }
}
func minus[F float32 | float64](x, y floats[F]) floats[F] {
	return func(e *env[F]) F { return x(e) - y(e) }
}
func times[F float32 | float64](x, y floats[F]) floats[F] {
	return func(e *env[F]) F { return F(x(e) * y(e)) }
}
func over[F float32 | float64](x, y floats[F]) floats[F] {
	return func(e *env[F]) F { return x(e) / y(e) }
}
func toFloat[F float32 | float64](x integers[F]) floats[F] {
	return func(e *env[F]) F { return F(x(e)) }
}

func below[F float32 | float64](x, y floats[F]) truths[F] {
	return func(e *env[F]) bool { return x(e) < y(e) }
}

func less[F float32 | float64](x, y integers[F]) truths[F] {
	return func(e *env[F]) bool { return x(e) < y(e) }
}

func both[F float32 | float64](x, y truths[F]) truths[F] {
	return func(e *env[F]) bool { return x(e) && y(e) }
}

func setFloat[F float32 | float64](k int, x floats[F]) actions[F] {
	return func(e *env[F]) { e.f[k] = x(e) }
}

func setInt[F float32 | float64](k int, x integers[F]) actions[F] {
	return func(e *env[F]) { e.i[k] = x(e) }
}

func while[F float32 | float64](cond truths[F], body ...actions[F]) actions[F] {
	return func(e *env[F]) {
		for cond(e) {
			for _, s := range body {
				s(e)
			}
		}
	}
}

// forEach returns a function that runs a program for each item. Integer register 0 has the item's number, register 1 its
// result.
func forEach[F float32 | float64](program ...actions[F]) func(out []int32) {
	return func(out []int32) {
		for i := range out {
			e := env[F]{}
			e.i[0] = int32(i)
			for _, s := range program {
				s(&e)
			}
			out[i] = e.i[1]
		}
	}
}

func mandelbrotByClosures[F float32 | float64]() func(out []int32) {
	const item, n = 0, 1
	const x, y, cx, cy, t = 0, 1, 2, 3, 4
	local, number := floatLocal[F], floatConst[F]
	column := func(e *env[F]) int32 { return e.i[item] & 31 }
	line := func(e *env[F]) int32 { return int32(uint32(e.i[item]) >> 5) }
	square := func(k int) floats[F] { return times(local(k), local(k)) }
	return forEach(
		setFloat(cx, plus(number(-2), over(times(number(3), toFloat(column)), number(32)))),
		setFloat(cy, plus(number(-1.5), over(times(number(3), toFloat(line)), number(288)))),
		while(both(less(intLocal[F](n), intConst[F](mandelbrotLimit)), below(plus(square(x), square(y)), number(4))),
			setFloat(t, plus(minus(square(x), square(y)), local(cx))),
			setFloat(y, plus(times(times(number(2), local(x)), local(y)), local(cy))),
			setFloat(x, local(t)),
			func(e *env[F]) { e.i[n]++ },
		),
	)
}

func mixByClosures() func(out []int32) {
	type integer = integers[float32]
	const item, result, a, b, c, d, r = 0, 1, 2, 3, 4, 5, 6
	local, number := intLocal[float32], intConst[float32]
	add := func(x, y integer) integer { return func(e *env[float32]) int32 { return x(e) + y(e) } }
	mul := func(x, y integer) integer { return func(e *env[float32]) int32 { return x(e) * y(e) } }
	xor := func(x, y integer) integer { return func(e *env[float32]) int32 { return x(e) ^ y(e) } }
	or := func(x, y integer) integer { return func(e *env[float32]) int32 { return x(e) | y(e) } }
	left := func(x, y integer) integer { return func(e *env[float32]) int32 { return x(e) << (y(e) & 31) } }
	right := func(x, y integer) integer {
		return func(e *env[float32]) int32 { return int32(uint32(x(e)) >> (y(e) & 31)) }
	}
	set := setInt[float32]
	var body []actions[float32]
	quarter := func(p, q, s int, turn int32) { // p += q; s = rotate(s ^ p)
		body = append(body, set(p, add(local(p), local(q))), set(s, xor(local(s), local(p))),
			set(s, or(left(local(s), number(turn)), right(local(s), number(32-turn)))))
	}
	quarter(a, b, d, 16)
	quarter(c, d, b, 12)
	quarter(a, b, d, 8)
	quarter(c, d, b, 7)
	body = append(body, func(e *env[float32]) { e.i[r]++ })
	return forEach(
		set(a, local(item)), set(b, xor(local(item), number(0x1e3779b9))), set(c, add(local(item), number(77))), set(d, mul(local(item), number(3))),
		while(less(local(r), number(mixRounds)), body...),
		set(result, xor(xor(xor(local(a), local(b)), local(c)), local(d))),
	)
}
