package spmd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// listing returns the general variant's code of a kernel.
func listing(t *testing.T, k *ir.Kernel, target *vcode.Target, gang int) string {
	t.Helper()
	c, err := generate(k, plan.Options{Features: target.Features, Target: target}, Spec{Gang: gang}, func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return c.Listing
}

// TestConstantsOfIndices checks that constants move from indices into displacements only if their sum is below vcode.MaxPeel.
// With a larger constant the address could wrap where the index does not.
func TestConstantsOfIndices(t *testing.T) {
	displaced := regexp.MustCompile(`\[[^\]]*([+-]) (\d+)\]`)
	for _, c := range []struct {
		index string
		want  int // number of elements in the displacement of the load
	}{
		{"  %9: i32 = const 65535\n", 65535},
		{"  %9: i32 = const 65536\n", 0},
		{"  %9: i32 = const -65535\n", -65535},
		{"  %9: i32 = const -65536\n", 0},
		{"  %5: i32 = const 65535\n  %9: i32 = add %0, %5\n", 65535},
		{"  %5: i32 = const 65536\n  %9: i32 = add %0, %5\n", 0},
		{"  %5: i32 = const -65535\n  %9: i32 = add %0, %5\n", -65535},
		{"  %5: i32 = const -65536\n  %9: i32 = add %0, %5\n", 0},
		{"  %5: i32 = const 65535\n  %9: i32 = sub %0, %5\n", -65535},
		{"  %5: i32 = const 65536\n  %9: i32 = sub %0, %5\n", 0},
		{"  %5: i32 = const -65535\n  %9: i32 = sub %0, %5\n", 65535},
		{"  %5: i32 = const 40000\n  %6: i32 = add %0, %5\n  %9: i32 = add %6, %5\n", 40000},
		{"  %5: i32 = const 40000\n  %6: i32 = sub %0, %5\n  %9: i32 = sub %6, %5\n", -40000},
		{"  %5: i32 = const 40000\n  %6: i32 = sub %0, %5\n  %9: i32 = add %6, %5\n", 0},
		{"  %5: i32 = const 30000\n  %6: i32 = add %0, %5\n  %9: i32 = add %6, %5\n", 60000},
		{"  %9: i32 = add %0, %1\n", 0},
	} {
		k := parse(t, "orepl-ir 1\nkernel k(x: f32[*], y: f32[*]) real f32 {\n  %0: i32 = item.global.x\n  %1: i32 = item.global.y\n"+c.index+
			"  %10: f32 = load x[%9]\n  store y[%0], %10\n  return\n}\n")
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			var found []int
			for _, m := range displaced.FindAllStringSubmatch(listing(t, k, target, 1), -1) {
				n, err := strconv.Atoi(m[1] + m[2])
				if err != nil {
					t.Fatal(err)
				}
				if n%4 == 0 && (n > 1<<15 || n < -1<<15) && !slices.Contains(found, n/4) {
					found = append(found, n/4)
				}
			}
			if want := []int{c.want}; c.want == 0 && found != nil || c.want != 0 && !slices.Equal(found, want) {
				t.Errorf("%s, index\n%s: constants %v, want %d", target.Name, c.index, found, c.want)
			}
		}
	}
}

// TestWhichBuffersAreSmall checks which code requires buffers below 2 GiB: code that computes lane addresses in 32
// bits, and accesses whose index may reach 2^31.
func TestWhichBuffersAreSmall(t *testing.T) {
	for _, c := range []struct {
		params, body string
		unchecked    bool
		want         bool
	}{
		{params: "x: f32[*]", body: "  %9: f32 = load x[%0]\n", want: false},
		{params: "x: f32[*]", body: "  %9: f32 = load x[%0]\n", unchecked: true, want: false},
		{params: "x: f32[*]", body: "  %3: i32 = mul %0, %0\n  %9: f32 = load x[%3]\n", want: true},
		{params: "x: f32[*]", body: "  %3: i32 = mul %1, %1\n  %9: f32 = load x[%3]\n", want: false},
		{params: "x: f32[*]", body: "  %3: u32 = bitcast %1\n  %9: f32 = load x[%3]\n", want: true},
		{params: "x: f32[*]", body: "  %3: i64 = convert %1\n  %9: f32 = load x[%3]\n", want: false},
		{params: "x: f32[*,*]", body: "  %9: f32 = load x[%1][%0]\n", want: false},
		{params: "x: f32[*,*]", body: "  %9: f32 = load x[%0][%1]\n", want: true},
		{params: "x: f32[*,*]", body: "  %9: f32 = load x[flat %0]\n", want: true}, // the number of elements as a varying value
		{params: "x: f32[*,*]", body: "  %9: f32 = load x[flat %1]\n", want: false},
		{params: "x: f32[*]", body: "  %9: f32 = load x[flat %0]\n", want: false},
	} {
		k := parse(t, fmt.Sprintf("orepl-ir 1\nkernel k(%s, y: f32[*]) real f32 {\n  %%0: i32 = item.global.x\n  %%1: i32 = item.global.y\n%s  store y[%%0], %%9\n  return\n}\n", c.params, c.body))
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			got, err := generate(k, plan.Options{Features: target.Features, Target: target, Unchecked: c.unchecked}, Spec{Gang: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Small != c.want {
				t.Errorf("%s, %s, unchecked %v:\n%sneeds small buffers: %v", target.Name, c.params, c.unchecked, c.body, got.Small)
			}
		}
	}
}

// TestHowDeepIndicesAreFollowed checks that index arithmetic is analyzed up to maxShadow steps. Accesses with longer
// chains become gathers, because their stride per iteration is unknown.
func TestHowDeepIndicesAreFollowed(t *testing.T) {
	for _, n := range []int{1, plan.MaxDepth, plan.MaxDepth + 1, plan.MaxDepth + 2, 3 * plan.MaxDepth} {
		chain, last := "", 30
		for i := range n {
			chain += fmt.Sprintf("    %%%d: i32 = add %%%d, %%1\n", last+i+1, last+i)
		}
		last += n
		row := parse(t, fmt.Sprintf(`orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %%30: i32 = item.global.x
  %%1: i32 = item.global.y
%s  %%9: f32 = load x[%%%d]
  store y[%%30], %%9
  return
}
`, chain, last))
		loop := parse(t, fmt.Sprintf(`orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %%0: i32 = item.global.x
  %%1: i32 = item.global.y
  %%2: i32 = const 100
  %%3: i32 = const 256
  %%4: f32 = const 0
  %%5: f32 = loop @1 (%%30: i32 = %%0, %%6: f32 = %%4) {
    %%7: bool = lt %%30, %%2
    if %%7 {
      yield
    } else {
      break @1 %%6
    }
%s    %%8: f32 = load x[%%%d]
    %%9: f32 = add %%6, %%8
    %%10: i32 = add %%30, %%3
    continue @1 %%10, %%9
  }
  store y[%%0], %%5
  return
}
`, chain, last))
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			if got := !strings.Contains(listing(t, row, target, 1), "gather"); got != (n <= plan.MaxDepth) {
				t.Errorf("%s, %d steps: in a row %v", target.Name, n, got)
			}
			if got := strings.Contains(listing(t, loop, target, 1), "prefetch"); got != (n <= plan.MaxDepth+1) { // the initial value of the loop's counter is known
				t.Errorf("%s, %d steps: prefetched %v", target.Name, n, got)
			}
		}
	}
}
