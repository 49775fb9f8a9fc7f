package spmd

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

const roots = `orepl-ir 1
kernel roots(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: f32 = sqrt %1
  store y[%0], %2
  return
}
`

func parse(t *testing.T, text string) *ir.Kernel {
	t.Helper()
	m, err := ir.ParseText("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0]
}

// runBuffers runs a kernel on one-dimensional buffers, over all elements of the first.
func runBuffers(t *testing.T, p *Program, buffers ...[]uint32) {
	t.Helper()
	g := interp.Launch{Size: [3]int{len(buffers[0]), 1, 1}, GroupSize: [3]int{64, 1, 1}, SubgroupSize: 32}
	for _, b := range buffers {
		arg := interp.Arg{Base: unsafe.Pointer(&b[0]), Bytes: 4 * len(b)}
		arg.Dims[0] = int32(len(b))
		g.Args = append(g.Args, arg)
	}
	v, units, err := p.Prepare(&g)
	if err != nil {
		t.Fatal(err)
	}
	w := v.Acquire(&g)
	defer v.Release(w)
	if f, err := w.Run(0, units, false); f != nil || err != nil {
		t.Fatal(f, err)
	}
}

// TestSqrtBySteps compares square roots with Go's: all significands with both parities of the exponent, operands at the
// ends of the range, and random ones.
func TestSqrtBySteps(t *testing.T) {
	needMachine(t)
	if vcode.AVX512.Features&^runnable() != 0 {
		t.Skip("this machine has no AVX-512")
	}
	p, err := Compile(parse(t, roots), plan.Options{Features: vcode.AVX512.Features, Gang: 2})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := p.List(p.Listed(), func(int) string { return "" }); !strings.Contains(text, "vrsqrt14ps") {
		t.Fatal("square roots are not made by steps")
	}
	const n = 1 << 16
	x, y := make([]uint32, n), make([]uint32, n)
	check := func() {
		t.Helper()
		runBuffers(t, p, x, y)
		for i, bits := range x {
			a := math.Float32frombits(bits)
			want := float32(math.Sqrt(float64(a)))
			if got := math.Float32frombits(y[i]); math.Float32bits(want) != y[i] && !(want != want && got != got) {
				t.Fatalf("√%v (%#x) is %v, want %v", a, bits, got, want)
			}
		}
	}
	step := uint32(1)
	if testing.Short() {
		step = 31
	}
	for at := uint32(0); at < 1<<24; {
		for i := range x {
			x[i] = 0x3f800000 + at&(1<<24-1)
			at += step
		}
		check()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, from := range []uint32{0, 1 << 23, lanes.LeastStepped - n/2, lanes.Infinity32 - n/2, 0x80000000, 0xff800000 - n/2} {
		for i := range x {
			x[i] = from + uint32(i)
		}
		check()
	}
	for range 16 {
		for i := range x {
			x[i] = lanes.LeastStepped + r.Uint32N(lanes.Infinity32-lanes.LeastStepped)
		}
		check()
	}
}
