package bench_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// planted runs 20 comparisons of a function with an equal one and with one that is 5 % slower, on a clock of the test. work is
// the script's function that takes a time. It returns how often the equal one was called different and the slower one slower.
func planted(t *testing.T, clock func() float64, work func(ms float64)) (same, found int) {
	t.Helper()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := bench.SetClock(e, clock); err != nil {
		t.Fatal(err)
	}
	if err := e.VM().Set("work", e.Func("work", func(call goja.FunctionCall) (goja.Value, error) {
		work(call.Argument(0).ToFloat())
		return goja.Undefined(), nil
	})); err != nil {
		t.Fatal(err)
	}
	_, err = e.Run(t.Context(), "planted.js", `
import { compare } from 'bench'
let same = 0, found = 0
for (let i = 0; i < 20; i++) {
  const r = await compare('c' + i, { plain: () => work(2), equal: () => work(2), slow: () => work(2.1) })
  if (r.equal.against.different) same++
  if (r.slow.against.verdict === 'slower') found++
}
console.log(same, found)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if _, err := fmt.Sscan(out.String(), &same, &found); err != nil {
		t.Fatal(err)
	}
	return same, found
}

// TestPlantedDelay checks the promise of docs/benchmarks.md on simulated clocks: each kind of noise changes how long work takes.
// The verdict does not depend on the machine.
func TestPlantedDelay(t *testing.T) {
	kinds := map[string]func(r *rand.Rand) func() float64{ // functions that return how many times as long the next call takes
		"quiet": func(r *rand.Rand) func() float64 { return func() float64 { return math.Exp(0.01 * r.NormFloat64()) } },
		"spikes": func(r *rand.Rand) func() float64 {
			return func() float64 {
				if r.Float64() < 0.1 {
					return 1 + 4*r.Float64()
				}
				return math.Exp(0.02 * r.NormFloat64())
			}
		},
		"drift": func(r *rand.Rand) func() float64 {
			level := 0.0
			return func() float64 {
				level = 0.99*level + 0.01*r.NormFloat64()
				return math.Exp(level + 0.01*r.NormFloat64())
			}
		},
		"shared": func(r *rand.Rand) func() float64 { // other programs take the processor for a while
			left := 0
			return func() float64 {
				if left--; left < 0 && r.Float64() < 0.01 {
					left = 40
				}
				if left > 0 {
					return 1.4 + 0.6*r.Float64()
				}
				return math.Exp(0.015 * r.NormFloat64())
			}
		},
		"crowded": func(r *rand.Rand) func() float64 { // most calls wait for other programs, and all share the caches with them
			return func() float64 {
				if r.Float64() < 0.65 {
					return 1.3 + 4*r.Float64()
				}
				return math.Exp(0.05 * r.NormFloat64())
			}
		},
	}
	for name, kind := range kinds {
		factor, now := kind(rand.New(rand.NewPCG(34, 1))), 0.0
		same, found := planted(t, func() float64 { return now }, func(ms float64) { now += ms * factor() })
		t.Logf("%s: %d of 20 equal functions are called different, %d of 20 slower ones are found", name, same, found)
		if same > 1 || found < 18 {
			t.Errorf("%s: %d of 20 equal functions are called different, and %d of 20 slower ones are found", name, same, found)
		}
	}
}

// TestPlantedDelayOfMachine checks the same on this machine in processor time, which other programs change little.
func TestPlantedDelayOfMachine(t *testing.T) {
	if os.Getenv("OREPL_TEST_LONG") != "1" {
		t.Skip("set OREPL_TEST_LONG=1")
	}
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
	}
	sink := 1.0
	same, found := planted(t, used, func(ms float64) {
		for range int(ms * 1e5) {
			sink = sink*1.0000001 + 1e-9
		}
	})
	t.Logf("%d of 20 equal functions are called different, %d of 20 slower ones are found, %g", same, found, sink)
	if same > 1 || found < 18 {
		t.Errorf("%d of 20 equal functions are called different, and %d of 20 slower ones are found", same, found)
	}
}
