package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

func TestChooseGang(t *testing.T) {
	mix := `orepl-ir 1
kernel mix(x: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 64
  %4: i32 = const 1
  %9: i32 = loop @1 (%5: i32 = %2, %6: i32 = %1) {
    %7: bool = lt %5, %3
    if %7 {
      yield
    } else {
      break @1 %6
    }
    %8: i32 = mul %6, %6
    %10: i32 = add %5, %4
    continue @1 %10, %8
  }
  store x[%0], %9
  return
}
`
	m, err := ir.ParseText("mix", mix)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.ChooseGang(m.Kernels[0], &vcode.AVX512, false); got != 4 {
		t.Errorf("a chain in a loop gets %d registers a gang, want 4", got)
	}
	if got := plan.ChooseGang(m.Kernels[0], &vcode.AVX2, false); got != 4 {
		t.Errorf("a chain in a loop gets %d registers a gang on AVX2, want 4", got)
	}
	for _, target := range allTargets {
		if got := plan.ChooseGang(saxpy(), target, false); got != 4 {
			t.Errorf("saxpy gets %d registers a gang on %s, want 4", got, target.Name)
		}
		if got := plan.ChooseGang(rank1(t, "(g, x) => { x[g.x] = 1.5 }", ir.F32), target, false); got != 4 {
			t.Errorf("fill gets %d registers a gang on %s, want 4", got, target.Name)
		}
	}
}

// TestChooseGangOfMany checks the gang's width by the number of live values, in a loop and without one.
func TestChooseGangOfMany(t *testing.T) {
	for _, c := range []struct {
		live         int
		loop         bool
		avx512, avx2 int
	}{
		{4, true, 4, 4}, {5, true, 4, 4}, {6, true, 4, 2}, {8, true, 4, 2}, {9, true, 2, 2}, {10, true, 2, 2}, {11, true, 2, 1},
		{16, true, 2, 1}, {17, true, 1, 1},
		{8, false, 4, 4}, {10, false, 4, 4}, {11, false, 4, 2}, {12, false, 4, 2}, {13, false, 2, 2}, {20, false, 2, 2}, {21, false, 2, 1}, {24, false, 2, 1}, {25, false, 1, 1},
	} {
		var b strings.Builder
		b.WriteString("orepl-ir 1\nkernel k(x: f32[*], y: f32[*]) real f32 {\n  %0: i32 = item.global.x\n  %1: i32 = const 0\n  %2: i32 = const 1\n  %3: i32 = const 9\n")
		v := func(i int) string { return fmt.Sprintf("%%%d", 10+i) }
		loads := c.live - 1 // each is live until the sums, together with one of them
		for i := range loads {
			fmt.Fprintf(&b, "  %s: f32 = load x[%%0]\n", v(i))
		}
		at := 10 + loads
		last := v(0)
		sums := func(n int) {
			for i := range n {
				fmt.Fprintf(&b, "  %%%d: f32 = add %s, %s\n", at, last, v(i%loads))
				last = fmt.Sprintf("%%%d", at)
				at++
			}
		}
		if c.loop {
			fmt.Fprintf(&b, "  %%5: f32 = loop @1 (%%6: f32 = %s, %%7: i32 = %%1) {\n    %%8: bool = lt %%7, %%3\n    if %%8 {\n      yield\n    } else {\n      break @1 %%6\n    }\n", v(0))
			last = "%6"
			sums(loads)
			fmt.Fprintf(&b, "    %%9: i32 = add %%7, %%2\n    continue @1 %s, %%9\n  }\n  store y[%%0], %%5\n", last)
		} else {
			sums(2 * plan.MuchArithmetic)
			fmt.Fprintf(&b, "  store y[%%0], %s\n", last)
		}
		b.WriteString("  return\n}\n")
		k := parse(t, b.String())
		if got := plan.ChooseGang(k, &vcode.AVX512, false); got != c.avx512 {
			t.Errorf("%d values, in a loop %v: %d registers a gang, want %d", c.live, c.loop, got, c.avx512)
		}
		if got := plan.ChooseGang(k, &vcode.AVX2, false); got != c.avx2 {
			t.Errorf("%d values, in a loop %v: %d registers a gang on AVX2, want %d", c.live, c.loop, got, c.avx2)
		}
	}
}

// TestChooseGangWithoutLoops checks that memory-bound kernels have wide gangs.
func TestChooseGangWithoutLoops(t *testing.T) {
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, `(g, x, y) => {
  const i = g.x, j = g.y
  if (i > 0 && j > 0 && i < 1023 && j < 1023)
    y[j][i] = 0.2 * (x[j][i] + x[j][i - 1] + x[j][i + 1] + x[j - 1][i] + x[j + 1][i])
}`, ir.F32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	if got := plan.ChooseGang(m.Kernels[0], &vcode.AVX512, false); got != 4 {
		t.Errorf("a stencil gets %d registers a gang, want 4", got)
	}
	if got := plan.ChooseGang(m.Kernels[0], &vcode.AVX2, false); got != 4 {
		t.Errorf("a stencil gets %d registers a gang on AVX2, want 4", got)
	}
	for _, c := range []struct {
		text string
		want int
	}{
		{"(g, at, x, y) => { y[g.x] = x[at[g.x] & 4095] }", 4},
		{"(g, at, x, y) => { y[g.x] = x[at[g.x]] + x[g.x * g.x] }", 4},
		{"(g, at, x, y) => { y[g.x] = x[at[g.x] + 2 * g.x] }", 4},
		{"(g, at, x, y) => { y[at[g.x]] = x[g.x] }", 1}, // stores elsewhere
		{"(g, at, x, y) => { y[g.x] = x[3 * g.x] }", 1}, // loads all lines of a range
	} {
		k := rank1(t, c.text, ir.I32, ir.F32, ir.F32)
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			if got := plan.ChooseGang(k, target, false); got != c.want {
				t.Errorf("%s: %d registers a gang on %s, want %d", c.text, got, target.Name, c.want)
			}
		}
	}
}

// TestChooseGangOfSums checks the gangs of products with a column of sums per item. With few registers they are wide if two registers
// a sum do not fit, and always 1-D.
func TestChooseGangOfSums(t *testing.T) {
	for _, c := range []struct{ sums, avx512, avx2 int }{{5, 4, 2}, {6, 4, 2}, {8, 2, 4}, {9, 2, 4}, {12, 2, 1}} {
		k := anyRank(t, fmt.Sprintf(`(g, a, b, c) => {
  const sum = g.private(f32, %d)
  for (let k = 0; k < 1024; k++)
    for (let i = 0; i < %[1]d; i++) sum[i] += a[%[1]d * g.y + i][k] * b[k][g.x]
  for (let i = 0; i < %[1]d; i++) c[%[1]d * g.y + i][g.x] = sum[i]
}`, c.sums))
		for target, want := range map[*vcode.Target]int{&vcode.AVX512: c.avx512, &vcode.AVX2: c.avx2} {
			got := plan.ChooseGang(k, target, false)
			if got != want {
				t.Errorf("%d sums, %s: gangs of %d registers, want %d", c.sums, target.Name, got, want)
			}
			if rows := plan.ChooseRows(k, &vcode.AVX2, 4); rows > 0 && c.sums >= 6 {
				t.Errorf("%d sums: %d rows, want none", c.sums, rows)
			}
		}
	}
}
