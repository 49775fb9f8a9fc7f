package interp_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/tests/allocs"
)

// parse returns the kernel of a module in text form. Values may be names without numbers.
func parse(t testing.TB, text string) *ir.Kernel {
	t.Helper()
	numbers := map[string]int{}
	text = regexp.MustCompile(`%[a-z]\w*`).ReplaceAllStringFunc(text, func(name string) string {
		if _, ok := numbers[name]; !ok {
			numbers[name] = 100 + len(numbers)
		}
		return fmt.Sprintf("%s.%d", name, numbers[name])
	})
	m, err := ir.ParseText("test.ir", "orepl-ir 1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0]
}

func compile(t testing.TB, text string, options interp.Options) *interp.Program {
	t.Helper()
	p, err := interp.Compile(parse(t, text), options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a launch with one worker.
func run(t testing.TB, p *interp.Program, l *interp.Launch) *interp.Fault {
	t.Helper()
	n, err := p.Prepare(l)
	if err != nil {
		t.Fatal(err)
	}
	return p.Run(p.NewWorker(), l, 0, n)
}

// buffer returns an argument for a slice; without extents it has one dimension.
func buffer[T any](s []T, dims ...int32) interp.Arg {
	if len(dims) == 0 {
		dims = []int32{int32(len(s))}
	}
	a := interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(s)), Bytes: len(s) * int(unsafe.Sizeof(*new(T)))}
	copy(a.Dims[:], dims)
	return a
}

func scalarArg(t ir.Type, x float64) interp.Arg {
	if t.IsFloat() {
		return interp.Arg{Bits: ir.FloatBits(t, x)}
	}
	return interp.Arg{Bits: ir.IntBits(t, int64(x))}
}

func size(n ...int) [3]int {
	s := [3]int{1, 1, 1}
	copy(s[:], n)
	return s
}

const saxpy = `
kernel saxpy(a %0: f32, x: f32[*], y: f32[*]) real f32 {
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %2: f32 = load x[%i]
  %3: f32 = load y[%i]
  %4: f32 = fma %0, %2, %3
  store y[%i], %4
  return
}`

func TestSaxpy(t *testing.T) {
	const n = 1000
	x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i)/8, float32(i)
		want[i] = 2*x[i] + y[i]
	}
	p := compile(t, saxpy, interp.Options{})
	l := interp.Launch{Size: size(n), Args: []interp.Arg{scalarArg(ir.F32, 2), buffer(x), buffer(y)}}
	if f := run(t, p, &l); f != nil {
		t.Fatal(f)
	}
	if !slices.Equal(y, want) {
		t.Error("wrong result")
	}
}

func TestOutOfBounds(t *testing.T) {
	x, y := make([]float32, 300), make([]float32, 1000)
	for i := range y {
		y[i] = 1
	}
	p := compile(t, saxpy, interp.Options{})
	l := interp.Launch{Size: size(1000), Args: []interp.Arg{scalarArg(ir.F32, 2), buffer(x), buffer(y)}}
	f := run(t, p, &l)
	if f == nil || f.Kind != interp.OutOfBounds || f.Index != 300 || f.Extent != 300 || f.Item != [3]int{300} || f.Array.Name != "x" {
		t.Fatalf("fault: %v", f)
	}
	l.Unchecked = true
	if f := run(t, p, &l); f != nil {
		t.Fatalf("fault with checks off: %v", f)
	}
}

// mandelbrot counts iterations in a loop that lanes leave at different times.
const mandelbrot = `
kernel mandelbrot(image: i32[*,*], limit %limit: i32) real f64 {
  site 0 = 0:0:0 ""
  %x: i32 = item.global.x
  %y: i32 = item.global.y
  %w: i32 = item.size.x
  %h: i32 = item.size.y
  %xf: f64 = convert %x
  %yf: f64 = convert %y
  %wf: f64 = convert %w
  %hf: f64 = convert %h
  %three: f64 = const 3
  %two: f64 = const 2
  %four: f64 = const 4
  %zero: f64 = const 0
  %none: i32 = const 0
  %one: i32 = const 1
  %sx: f64 = div %xf, %wf
  %sy: f64 = div %yf, %hf
  %mx: f64 = mul %sx, %three
  %my: f64 = mul %sy, %two
  %cx: f64 = sub %mx, %two
  %onef: f64 = const 1
  %cy: f64 = sub %my, %onef
  %n: i32 = loop @1 (%k: i32 = %none, %a: f64 = %zero, %b: f64 = %zero) {
    %more: bool = lt %k, %limit
    if %more {
      yield
    } else {
      break @1 %k
    }
    %aa: f64 = mul %a, %a
    %bb: f64 = mul %b, %b
    %r: f64 = add %aa, %bb
    %out: bool = lt %four, %r
    if %out {
      break @1 %k
    } else {
      yield
    }
    %d: f64 = sub %aa, %bb
    %a2: f64 = add %d, %cx
    %ab: f64 = mul %a, %b
    %ab2: f64 = mul %ab, %two
    %b2: f64 = add %ab2, %cy
    %k2: i32 = add %k, %one
    continue @1 %k2, %a2, %b2
  }
  store image[%y][%x], %n
  return
}`

func mandelbrotGo(x, y, w, h, limit int) int32 {
	cx, cy := float64(x)/float64(w)*3-2, float64(y)/float64(h)*2-1
	var a, b float64
	for k := range limit {
		aa, bb := float64(a*a), float64(b*b)
		if aa+bb > 4 {
			return int32(k)
		}
		a, b = float64(aa-bb)+cx, float64(float64(a*b)*2)+cy
	}
	return int32(limit)
}

func TestDivergentLoop(t *testing.T) {
	const w, h, limit = 67, 41, 100
	out := make([]int32, w*h)
	p := compile(t, mandelbrot, interp.Options{})
	l := interp.Launch{Size: size(w, h), Args: []interp.Arg{buffer(out, h, w), scalarArg(ir.I32, limit)}}
	if f := run(t, p, &l); f != nil {
		t.Fatal(f)
	}
	for i, got := range out {
		if want := mandelbrotGo(i%w, i/w, w, h, limit); got != want {
			t.Fatalf("pixel %d is %d, want %d", i, got, want)
		}
	}
}

// TestCarriedValuesChangePlaces rotates three values by a Continue, in items that leave at different times.
func TestCarriedValuesChangePlaces(t *testing.T) {
	p := compile(t, `
kernel rotate(out: i32[*]) real f32 {
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %r: i32, %q: i32 = loop @1 (%k: i32 = %zero, %a: i32 = %zero, %b: i32 = %one, %c: i32 = %two) {
    %more: bool = lt %k, %i
    if %more {
      yield
    } else {
      break @1 %a, %c
    }
    %n: i32 = add %k, %one
    continue @1 %n, %b, %c, %a
  }
  %ten: i32 = const 10
  %t: i32 = mul %r, %ten
  %s: i32 = add %t, %q
  store out[%i], %s
  return
}`, interp.Options{})
	out := make([]int32, 7)
	if f := run(t, p, &interp.Launch{Size: size(7), Args: []interp.Arg{buffer(out)}}); f != nil {
		t.Fatal(f)
	}
	if want := []int32{2, 10, 21, 2, 10, 21, 2}; !slices.Equal(out, want) {
		t.Errorf("%v, want %v", out, want)
	}
}

// TestPrivateArraysAreEachItemsOwn uses groups of two rows of lanes.
func TestPrivateArraysAreEachItemsOwn(t *testing.T) {
	p := compile(t, `
kernel own(out: i32[*]) real f32 {
  private a: i16[3]
  private b: f64[5]
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %l: i32 = item.local.x
  %one: i32 = const 1
  %two: i32 = const 2
  zero a
  store a[%one], %i
  %f: f64 = convert %l
  store b[%two], %f
  barrier
  %v: i32 = load a[%one]
  %w: f64 = load b[%two]
  %z: i32 = load a[%two]
  %n: i32 = sat %w
  %s: i32 = add %v, %n
  %r: i32 = add %s, %z
  store out[%i], %r
  return
}`, interp.Options{})
	out := make([]int32, 1200)
	w := p.NewWorker()
	l := interp.Launch{Size: size(1200), GroupSize: size(500), Args: []interp.Arg{buffer(out)}}
	n, err := p.Prepare(&l)
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Run(w, &l, 0, n); f != nil {
		t.Fatal(f)
	}
	for i, got := range out {
		if want := int32(i + i%500); got != want {
			t.Fatalf("item %d has %d, want %d", i, got, want)
		}
	}
}

// TestPrivateArraysStartAtZero writes to a private array and checks that the next group reads zeros.
func TestPrivateArraysStartAtZero(t *testing.T) {
	p := compile(t, `
kernel own(out: i32[*]) real f32 {
  private a: i32[1]
  private b: i32[1]
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %zero: i32 = const 0
  %one: i32 = const 1
  zero a
  %v: i32 = load b[%zero]
  store b[%zero], %one
  store a[%zero], %one
  store out[%i], %v
  return
}`, interp.Options{})
	out := make([]int32, 600)
	if f := run(t, p, &interp.Launch{Size: size(600), Args: []interp.Arg{buffer(out)}}); f != nil {
		t.Fatal(f)
	}
	if i := slices.Index(out, 1); i >= 0 {
		t.Errorf("item %d sees what another has left", i)
	}
}

func TestEndlessKernelStops(t *testing.T) {
	p := compile(t, `
kernel forever() real f32 {
  site 0 = 0:0:0 ""
  loop @1 () {
    loop @2 () {
      continue @2
    }
    continue @1
  }
  return
}`, interp.Options{})
	var stop atomic.Bool
	l := interp.Launch{Size: size(1 << 20), Stop: &stop}
	time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
	done := make(chan bool)
	go func() { run(t, p, &l); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the kernel runs on")
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	x, y := make([]float32, 3000), make([]float32, 3000)
	for name, text := range map[string]string{"saxpy": saxpy, "groups": reduceKernel("f32", "reduce.add %v")} {
		p := compile(t, text, interp.Options{})
		w := p.NewWorker()
		l := interp.Launch{Size: size(3000), GroupSize: size(512)}
		l.Args = []interp.Arg{scalarArg(ir.F32, 0), buffer(x), buffer(y)}
		if name == "groups" {
			l.Args = l.Args[1:]
		}
		n, err := p.Prepare(&l)
		if err != nil {
			t.Fatal(err)
		}
		if allocs := allocs.PerRun(20, func() {
			if _, err := p.Prepare(&l); err != nil {
				t.Fatal(err)
			}
			if f := p.Run(w, &l, 0, n); f != nil {
				t.Fatal(f)
			}
		}); allocs != 0 {
			t.Errorf("%s: %v allocations in a run", name, allocs)
		}
	}
}

func reduceKernel(typ, op string) string {
	return fmt.Sprintf(`
kernel group(x: %[1]s[*], y: %[1]s[*]) real f32 {
  site 0 = 0:0:0 ""
  %%i: i32 = item.global.x
  %%v: %[1]s = load x[%%i]
  %%r: %[1]s = %[2]s
  store y[%%i], %%r
  return
}`, typ, op)
}

func TestGroupOperations(t *testing.T) {
	const n = 700 // not a multiple: the last group has 188 of 512 items, in two rows of lanes
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = math.Sqrt(float64(i*7919%1000)) - 10
	}
	for _, c := range []struct {
		op   string
		want func(group []float64, l int) float64
	}{
		{"reduce.add", func(g []float64, l int) float64 { return tree(g, 512) }},
		{"reduce.min", func(g []float64, l int) float64 { return slices.Min(g) }},
		{"reduce.max", func(g []float64, l int) float64 { return slices.Max(g) }},
		{"scan.add", func(g []float64, l int) float64 { return hillisSteele(g)[l] }},
		{"scan.add.exclusive", func(g []float64, l int) float64 {
			if l == 0 {
				return 0
			}
			return hillisSteele(g)[l-1]
		}},
		{"scan.max", func(g []float64, l int) float64 { return slices.Max(g[:l+1]) }},
		{"scan.min.exclusive", func(g []float64, l int) float64 {
			if l == 0 {
				return math.Inf(1)
			}
			return slices.Min(g[:l])
		}},
	} {
		p := compile(t, reduceKernel("f64", c.op+" %v"), interp.Options{})
		l := interp.Launch{Size: size(n), GroupSize: size(512), Args: []interp.Arg{buffer(x), buffer(y)}}
		if f := run(t, p, &l); f != nil {
			t.Fatal(f)
		}
		for i, got := range y {
			from := i / 512 * 512
			if want := c.want(x[from:min(from+512, n)], i-from); got != want {
				t.Fatalf("%s: item %d has %v, want %v", c.op, i, got, want)
			}
		}
	}
}

// tree returns the sum in the order of rule 23, as stated there.
func tree(group []float64, p int) float64 {
	t := make([]float64, p)
	copy(t, group)
	for s := p / 2; s >= 1; s /= 2 {
		for l := range s {
			t[l] += t[l+s]
		}
	}
	return t[0]
}

// hillisSteele returns the inclusive scan of [23.2], as stated there.
func hillisSteele(group []float64) []float64 {
	step := func(t []float64) []float64 {
		for s := 1; s <= 16; s *= 2 {
			next := slices.Clone(t)
			for l := s; l < len(t); l++ {
				next[l] = t[l-s] + t[l]
			}
			t = next
		}
		return t
	}
	var out, totals []float64
	for b := range slices.Chunk(group, 32) {
		s := step(b)
		out = append(out, s...)
		totals = append(totals, s[len(s)-1])
	}
	totals = step(totals)
	for l := 32; l < len(out); l++ {
		out[l] += totals[l/32-1]
	}
	return out
}

func TestAtomicsAcrossWorkers(t *testing.T) {
	const n = 1 << 16
	count, sum := make([]int32, 16), make([]uint64, 1)
	p := compile(t, `
kernel count(bins: i32[*], sum: u64[*]) real f32 {
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %m: i32 = const 15
  %b: i32 = and %i, %m
  %one: i32 = const 1
  %old: i32 = atomic.add bins[%b], %one
  %zero: i32 = const 0
  %u: u64 = convert %i
  %old2: u64 = atomic.add sum[%zero], %u
  return
}`, interp.Options{})
	l := interp.Launch{Size: size(n), Args: []interp.Arg{buffer(count), buffer(sum)}}
	groups, err := p.Prepare(&l)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const workers = 4
	for k := range workers {
		wg.Go(func() {
			w := p.NewWorker()
			for g := k; g < groups; g += workers {
				if f := p.Run(w, &l, g, g+1); f != nil {
					t.Error(f)
				}
			}
		})
	}
	wg.Wait()
	for b, c := range count {
		if c != n/16 {
			t.Errorf("bin %d has %d, want %d", b, c, n/16)
		}
	}
	if want := uint64(n) * (n - 1) / 2; sum[0] != want {
		t.Errorf("the sum is %d, want %d", sum[0], want)
	}
}
