package irpage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// collective returns a rule for a group operation on the elements, %a, of a buffer.
func collective(title, elem, operation, in, want string) rule {
	return elementwise(title, elem, elem, operation, in, want)
}

func TestGroupOperations(t *testing.T) {
	t.Parallel()
	// Each item keeps the result of its own step, so only the order that the page defines yields these sums.
	big := func(i int) float64 { return []float64{1 << 24, 1, 1, 1, 1}[i%5] }
	ragged := collective("an absent item in a minimum", "f32", "reduce.min %a", "-0 -0 -0", "-0 -0 -0")
	ragged.group = [3]int{4, 1, 1}
	raggedSum := collective("an absent item in a sum", "f32", "reduce.add %a", "-0 -0 -0", "0 0 0")
	raggedSum.group = [3]int{4, 1, 1}
	checkAll(t, []rule{
		// [I9.1] reduce: t[0]+t[4] first, then the halves
		collective("the order of a sum", "f32", "reduce.add %a", series(5, big), "16777218 16777218 16777218 16777218 16777218"),
		collective("padding is combined", "f32", "reduce.add %a", "-0 -0 -0", "0 0 0"),
		collective("a power of two keeps −0", "f32", "reduce.add %a", "-0 -0", "-0 -0"),
		collective("one item keeps −0", "f64", "reduce.add %a", "-0", "-0"),
		collective("min", "f32", "reduce.min %a", "3 -0 0", "-0 -0 -0"),
		collective("max of NaN", "f64", "reduce.max %a", "3 nan 0", "nan nan nan"),
		collective("max of integers", "i64", "reduce.max %a", "-3 -9 -5", "-3 -3 -3"),
		collective("min of unsigned", "u32", "reduce.min %a", "0xffffffff 7 9", "7 7 7"),
		ragged, raggedSum,
		// [I9.2] scan
		collective("scan", "i32", "scan.add %a", "1 2 3 4 5", "1 3 6 10 15"),
		collective("scan of 70", "i64", "scan.add %a", series(70, func(i int) float64 { return float64(i) }), series(70, func(i int) float64 { return float64(i * (i + 1) / 2) })),
		collective("the order of a scan", "f32", "scan.add %a", "16777216 1 1 1", "16777216 16777216 16777218 16777218"),
		collective("scan.max", "f32", "scan.max %a", "-1 -0 0 -3", "-1 -0 0 0"),
		// [I9.3] exclusive scans
		collective("exclusive", "i32", "scan.add.exclusive %a", "1 2 3", "0 1 3"),
		collective("exclusive minimum", "f32", "scan.min.exclusive %a", "1 2 3", "inf 1 1"),
		collective("exclusive maximum", "i32", "scan.max.exclusive %a", "1 2 3", "-2147483648 1 2"),
		// [I9.4] uniform
		collective("all NaNs are one value", "f64", "uniform %a", "0xfff8000000000001 nan", "0xfff8000000000001 0xfff8000000000001"),
		{title: "−0 and +0 differ", params: "x: f32[*], out: f32[*]", args: []string{"0 -0 0", "1 1 1"}, want: []string{"0 1 0"}, fault: "divergent-uniform at 1 by [1 0 0]",
			body: "%1: i32 = item.global.x\n%2: f32 = load x[%1]\n%3: f32 = uniform %2 !1\nstore out[%1], %3"},
	})
}

func TestSubgroups(t *testing.T) {
	t.Parallel()
	rules := []rule{
		// [I10.1] reductions and scans of a subgroup, the last of which has two items here
		collective("add", "i32", "subgroup.add %a", "1 2 3 4 5 6", "10 10 10 10 11 11"),
		collective("min", "f32", "subgroup.min %a", "1 2 3 4 5 6", "1 1 1 1 5 5"),
		collective("max", "u32", "subgroup.max %a", "1 2 3 4 5 6", "4 4 4 4 6 6"),
		collective("scan_add", "i32", "subgroup.scan_add %a", "1 2 3 4 5 6", "1 3 6 10 5 11"),
		// [I10.2] votes
		collective("any", "bool", "subgroup.any %a", "0 1 0 0 0 0", "1 1 1 1 0 0"),
		collective("all", "bool", "subgroup.all %a", "1 1 1 1 1 0", "1 1 1 1 0 0"),
		elementwise("ballot", "bool", "u64", "subgroup.ballot %a", "1 0 1 0 0 1", "5 5 5 5 2 2"),
		// [I10.3] shuffles
		elementwise("broadcast", "i32 i32", "i32", "subgroup.broadcast %a, %b", "1 2 3 4 5 6", "1 1 1 1 1 1", "2 2 2 2 6 6"),
		elementwise("shuffle", "i32 i32", "i32", "subgroup.shuffle %a, %b", "1 2 3 4 5 6", "3 4 -1 0 1 2", "4 0 0 1 6 0"),
		elementwise("shuffle_xor", "i32 i32", "i32", "subgroup.shuffle_xor %a, %b", "1 2 3 4 5 6", "1 1 5 -1 1 2", "2 1 0 0 6 0"),
		elementwise("shuffle_up", "i32 i32", "i32", "subgroup.shuffle_up %a, %b", "1 2 3 4 5 6", "1 1 -1 2147483647 0 1", "0 1 4 0 5 5"),
		elementwise("shuffle_down", "f32 i32", "f32", "subgroup.shuffle_down %a, %b", "1 2 3 4 5 6", "1 -1 1 2147483647 1 1", "2 1 4 0 6 0"),
	}
	for i := range rules {
		rules[i].width = 4
	}
	checkAll(t, rules)
}

// TestOperations compares every operation on all combinations of special values with the interpreter.
func TestOperations(t *testing.T) {
	t.Parallel()
	for i, o := range irgen.Operations() {
		if testing.Short() && i%3 != 0 {
			continue
		}
		c := irgen.OperationCase(o)
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		want.Fault, got.Fault = nil, nil
		if d := c.Diff(want, got); d != "" {
			t.Errorf("%v: %s", &o, d)
		}
	}
}

// TestGroupSizes compares reductions and scans of all types in groups of many sizes, with absent items.
func TestGroupSizes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 31, 32, 33, 64, 65, 100, 256, 300, 1024} {
		for _, elem := range []string{"i32", "u32", "i64", "u64", "f32", "f64"} {
			for _, operation := range []string{"reduce.add", "reduce.min", "reduce.max", "scan.add", "scan.min", "scan.max", "scan.add.exclusive", "scan.min.exclusive"} {
				if testing.Short() && n > 65 && rng.IntN(4) > 0 {
					continue
				}
				items := n + rng.IntN(n) // items of two groups
				values := series(items, func(int) float64 { return math.Trunc(rng.Float64() * 100) })
				if elem[0] == 'f' {
					values = series(items, func(int) float64 { return (rng.Float64() - 0.5) * math.Ldexp(1, rng.IntN(40)) })
				}
				r := collective(operation, elem, operation+" %a", values, values)
				r.size, r.group = [3]int{items, 1, 1}, [3]int{n, 1, 1}
				c := r.launch(t)
				want, err := c.Interp(interp.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := Run(c)
				if err != nil {
					t.Fatal(err)
				}
				if d := c.Diff(want, got); d != "" {
					t.Errorf("%s of %d × %s in groups of %d: %s", operation, items, elem, n, d)
				}
			}
		}
	}
}
