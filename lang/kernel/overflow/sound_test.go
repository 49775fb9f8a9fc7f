package overflow_test

import (
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/lang/kernel/overflow"
)

// TestWrapsIsSound asserts in random kernels that operations which the range analysis reports as not wrapping do not wrap.
func TestWrapsIsSound(t *testing.T) {
	asserted := 0
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, NoFaults: seed%3 != 0, Size: 20 + rng.IntN(160)})
		before := c.Kernel.String()
		set, _ := opt.Wraps(c.Kernel, nil)
		asserted += overflow.AssertRest(c.Kernel, set)
		if err := irgen.Module(c.Kernel).Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fault != nil && r.Fault.Kind == interp.Overflow.String() {
			t.Errorf("seed %d: %v\n%s", seed, r.Fault, before)
		}
	}
	if asserted < 1000 {
		t.Errorf("only %d assertions", asserted)
	}
}

// sums are loops with sums whose length depends on data; y is i32, n is a number from 3 to 40.
var sums = []string{
	"let s = 0; for (let i = 0; i < n; i++) s += i; k[0] = s",
	"let s = 5; for (let i = n; i > 0; i -= 2) s -= i; k[0] = s",
	"let s = 0, r = 0; for (let i = 0; i < n; i++) { r = k[i % 3] > 0 ? r + 1 : 0; s = Math.max(s, r) } k[0] = s * 3",
	"let s = 0; for (let i = 0; i < 100; i++) { for (let j = i; j < 100; j++) s += j; s -= 7 } k[0] = s + 1",
	"let s = 0; for (let i = 0; i < 1000; i++) { let j = 0; while (j < i) { j += 3; s++ } } k[0] = s * 2",
	"let s = 0, i = 0; while (true) { if (i >= 500) break; i++; if (i % 7 === 0) continue; s += i * 3 } k[0] = s",
	"let s = 0; for (let i = 0; i < 46340; i += 7) s += i; k[0] = s",
	"let s = 0; for (let i = 0; i < 60000; i++) s += 60000; k[0] = s",
	"let s = 2147480000; for (let i = 0; i < 4000; i++) s++; k[0] = s",
	"let s = -2147480000; for (let i = 0; i < 4000; i++) s -= i & 1; k[0] = s",
	"let a = 0, b = 1; for (let i = 0; i < 60; i++) { const t = a + b; a = b; b = t } k[0] = a",
	"let s = 0; for (let i = 0; i < n; i++) { if (k[0] > 3) s = i; else s += 2 } k[0] = s + s",
	"let i = 0, s = 0; do { s += i; i += 1 + (s & 1) } while (i < 200); k[0] = s",
	"let s = u[0] & 7; for (let i = 0; i < 40; i++) s = s + s; u[0] = s",
	"let s = u[1] & 3; for (let i = 0; i < 4; i++) s -= 1; u[0] = s",
	"for (let i = 2147483640; i > 0; i++) { if (k[2] === i) break } k[0] = 1",
	"let s = 0; for (let i = 0; i < n; i++) { let t = s; for (let j = 0; j < n; j++) t += j; s = t - s } k[0] = s",
}

// TestRoundedComparisonsAreSound checks that a comparison of integers rounded to f32 bounds them only up to the rounding.
func TestRoundedComparisonsAreSound(t *testing.T) {
	for _, n := range []uint64{1000000031, 1000000032, 1000000033, 1<<32 - 1000000031} {
		c := compile(t, "(g, k, u, n) => { const i = n | 0; if (f32(i) <= 1000000000 && f32(i) >= -1000000000) k[0] = (i + 1147483647) / 2 + (-1147483648 + i) / 2 }")
		set, _ := opt.Wraps(c.Kernel, nil)
		overflow.AssertRest(c.Kernel, set)
		data := make([]byte, 160)
		r, err := (&oracle.Case{Kernel: c.Kernel, Size: [3]int{1, 1, 1}, GroupSize: [3]int{1, 1, 1},
			Args: []oracle.Arg{{Data: data, Dims: []int32{40}}, {Data: data, Dims: []int32{40}}, {Bits: n}}}).Interp(interp.Options{})
		if err != nil || r.Fault != nil {
			t.Errorf("%d: %v, %v", int32(n), err, r.Fault)
		}
	}
}

// TestSumsAreSound checks the analysis of sums in loops in the same way.
func TestSumsAreSound(t *testing.T) {
	for _, text := range sums {
		for _, n := range []uint64{0, 1, 39} {
			c := compile(t, "(g, k, u, n) => {"+text+"}")
			set, ok := opt.Wraps(c.Kernel, nil)
			if !ok {
				t.Errorf("%s: too big", text)
			}
			overflow.AssertRest(c.Kernel, set)
			data := make([]byte, 160)
			data[0], data[9] = 4, 1
			r, err := (&oracle.Case{Kernel: c.Kernel, Size: [3]int{1, 1, 1}, GroupSize: [3]int{1, 1, 1},
				Args: []oracle.Arg{{Data: data, Dims: []int32{40}}, {Data: data, Dims: []int32{40}}, {Bits: n}}}).Interp(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Fault != nil {
				t.Errorf("%s with %d: %v", text, n, r.Fault)
			}
		}
	}
}
