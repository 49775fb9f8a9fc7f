// Command worst searches for arguments with the maximum error of the device library's functions of two arguments. It keeps
// the worst arguments found, and changes them by random numbers of ulps. Run it by `go run ./kernels/internal/worst -fn pow
// -type f64 -for 5m`; results belong in kernels/worst_test.go.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"
	"unsafe"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/kernels/internal/ddmath"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/libm"
)

type candidate struct{ x, y, err float64 }

// target is a function whose errors are searched.
type target struct {
	draw   func(rng *rand.Rand) (x, y float64) // returns random arguments
	errors func(list []candidate) error        // sets the errors of candidates; leaves 0 where it cannot compute them
	narrow bool                                // the type is f32
}

func main() {
	fn := flag.String("fn", "pow", "function: pow, atan2 or hypot")
	typ := flag.String("type", "f64", "type: f32 or f64")
	length := flag.Duration("for", time.Minute, "time to search for")
	seed := flag.Uint64("seed", 1, "start of the random numbers")
	flag.Parse()
	if err := search(*fn, *typ, *length, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "worst:", err)
		os.Exit(1)
	}
}

func search(fn, typ string, length time.Duration, seed uint64) error {
	t, err := newTarget(fn, typ)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	const population, elite = 4096, 96
	var best []candidate
	tried := 0
	for end := time.Now().Add(length); time.Now().Before(end); {
		list := make([]candidate, population)
		for i := range list {
			if len(best) == 0 || i%3 == 0 {
				list[i].x, list[i].y = t.draw(rng)
				continue
			}
			from := best[rng.IntN(len(best))]
			list[i].x, list[i].y = t.move(rng, from.x), t.move(rng, from.y)
		}
		if err := t.errors(list); err != nil {
			return err
		}
		tried += len(list)
		top := 0.0
		if len(best) > 0 {
			top = best[0].err
		}
		best = append(best, list...)
		slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.err, a.err) })
		best = slices.Compact(best)
		best = best[:min(len(best), elite)]
		if best[0].err > top {
			fmt.Printf("%s.%s(%x, %x): %.4f ulp, after %d\n", fn, typ, best[0].x, best[0].y, best[0].err, tried)
		}
	}
	return nil
}

// move returns x changed by a random number of ulps or, in a third of the calls, x itself.
func (t *target) move(rng *rand.Rand, x float64) float64 {
	if rng.IntN(3) == 0 {
		return x
	}
	if t.narrow {
		return float64(math.Float32frombits(math.Float32bits(float32(x)) + uint32(rng.Int64N(1<<rng.IntN(21)+1)-rng.Int64N(1<<rng.IntN(21)+1))))
	}
	return math.Float64frombits(math.Float64bits(x) + uint64(rng.Int64N(1<<rng.IntN(50)+1)-rng.Int64N(1<<rng.IntN(50)+1)))
}

func newTarget(fn, typ string) (*target, error) {
	draws := map[string]func(rng *rand.Rand, range2 float64) (x, y float64){
		"pow": func(rng *rand.Rand, most float64) (x, y float64) {
			switch rng.IntN(3) {
			case 0:
				x = math.Ldexp(1+rng.Float64(), rng.IntN(int(2*most))-int(most)) // any size
			case 1:
				x = 1 + rng.NormFloat64()*math.Ldexp(1, -rng.IntN(20)) // near 1
			case 2:
				x = math.Ldexp(math.Sqrt2*(1+rng.NormFloat64()*0.01), rng.IntN(5)-2) // close to the bound of the reduction
			}
			x = math.Abs(x)
			return x, (rng.Float64()*2 - 1) * most / math.Log2(x)
		},
		"atan2": func(rng *rand.Rand, _ float64) (y, x float64) {
			y, x = rng.NormFloat64(), rng.NormFloat64()
			if rng.IntN(2) == 0 { // close to the bounds of the reduction
				y = x * []float64{2.414213562373095, 0.41421356237309503, 1, 0.2}[rng.IntN(4)] * (1 + rng.NormFloat64()*0.01)
			}
			return y, x
		},
		"hypot": func(rng *rand.Rand, _ float64) (x, y float64) {
			x = 1 + rng.Float64()
			return x, x * math.Ldexp(rng.Float64(), -rng.IntN(20))
		},
	}
	draw := draws[fn]
	if draw == nil || typ != "f32" && typ != "f64" {
		return nil, fmt.Errorf("there is no function %s of %s to search", fn, typ)
	}
	if typ == "f64" {
		return &target{
			draw:   func(rng *rand.Rand) (x, y float64) { return draw(rng, 1070) },
			errors: func(list []candidate) error { wideErrors(fn, list); return nil },
		}, nil
	}
	k, err := kernels.New().Math(fn, ir.F32)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("orepl-ir 1\nkernel call(x: f32[*], y: f32[*], out: f32[*]) real f32 {\n site 0 = 0:0:0 \"\"\n %%0: i32 = item.global.x\n %%1: f32 = load x[%%0]\n %%2: f32 = load y[%%0]\n %%3: f32 = math.%s %%1, %%2\n store out[%%0], %%3\n return\n}\n", k.Name[:len(k.Name)-len(".f32")])
	m, err := ir.ParseText("call", text)
	if err != nil {
		return nil, err
	}
	if err := kernels.New().Expand(m); err != nil {
		return nil, err
	}
	program, err := interp.Compile(m.Kernels[0], interp.Options{})
	if err != nil {
		return nil, err
	}
	worker := program.NewWorker()
	return &target{
		narrow: true,
		draw: func(rng *rand.Rand) (x, y float64) {
			x, y = draw(rng, 145)
			return float64(float32(x)), float64(float32(y))
		},
		errors: func(list []candidate) error { return narrowErrors(fn, list, program, worker) },
	}, nil
}

// wideErrors computes the errors of f64 results.
func wideErrors(fn string, list []candidate) {
	for i := range list {
		c := &list[i]
		var v ddmath.Value
		var got float64
		n := 0
		switch fn {
		case "pow":
			if !(c.x > 0) || math.IsInf(c.x, 0) || !(math.Abs(c.y*math.Log2(c.x)) < 1073) {
				continue
			}
			got = libm.Pow(c.x, c.y)
			v, n = ddmath.Pow(c.x, c.y)
		case "atan2":
			if !inRange(c.x) || !inRange(c.y) {
				continue
			}
			got, v = libm.Atan2(c.x, c.y), ddmath.Atan2(c.x, c.y)
		case "hypot":
			if !inRange(c.x) || !inRange(c.y) {
				continue
			}
			got, v = libm.Hypot(c.x, c.y), ddmath.Hypot(c.x, c.y)
		}
		if !math.IsInf(got, 0) {
			c.err = ddmath.Error(got, v, n)
		}
	}
}

// inRange reports whether products of the argument neither overflow nor lose bits.
func inRange(x float64) bool { return math.Abs(x) > 1e-90 && math.Abs(x) < 1e90 }

// narrowErrors computes the errors of f32 results against f64, whose error is below 1e-8 ulp of f32.
func narrowErrors(fn string, list []candidate, program *interp.Program, worker *interp.Worker) error {
	n := len(list)
	xs, ys, out := make([]float32, n), make([]float32, n), make([]float32, n)
	for i, c := range list {
		xs[i], ys[i] = float32(c.x), float32(c.y)
	}
	l := &interp.Launch{Size: [3]int{n, 1, 1}, GroupSize: [3]int{256, 1, 1}}
	for _, a := range [][]float32{xs, ys, out} {
		l.Args = append(l.Args, interp.Arg{Base: unsafe.Pointer(&a[0]), Bytes: 4 * n, Dims: [3]int32{int32(n)}})
	}
	groups, err := program.Prepare(l)
	if err != nil {
		return err
	}
	if fault := program.Run(worker, l, 0, groups); fault != nil {
		return fmt.Errorf("%s: fault %+v", fn, fault)
	}
	exact := map[string]func(x, y float64) float64{"pow": libm.Pow, "atan2": libm.Atan2, "hypot": libm.Hypot}[fn]
	for i := range list {
		c := &list[i]
		want := exact(c.x, c.y)
		got := float64(out[i])
		if want != want || got != got || math.IsInf(got, 0) || want == 0 || math.Abs(want) >= math.MaxFloat32 || fn == "pow" && !(c.x > 0) {
			continue
		}
		_, e := math.Frexp(want)
		c.err = math.Abs(got-want) / math.Ldexp(1, max(e-24, -149))
	}
	return nil
}
