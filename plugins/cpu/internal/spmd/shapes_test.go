package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// shapes are kernels whose code has a shape of its own, with what their listing shows if it has it.
var shapes = []struct {
	name, text, shows string
	group             int
}{
	{"a loop left by lanes", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 40
  %4: i32 = const 1
  %5: f32 = const 4
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2) {
    %6: bool = lt %33, %3
    %7: bool = lt %32, %5
    %8: bool = and %6, %7
    if %8 {
      yield
    } else {
      break @1 %33, %32
    }
    %9: f32 = mul %32, %32
    %10: f32 = neg %9
    %11: f32 = fma %32, %32, %10
    %12: f32 = fma %32, %1, %32
    %13: f32 = add %12, %11
    %14: i32 = add %33, %4
    continue @1 %13, %14
  }
  %20: f32 = convert %30
  %21: f32 = add %20, %31
  store y[%0], %21
  return
}
`, "{k1}, zmm", 0},
	{"lanes that leave where the condition holds", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 30
  %4: i32 = const 1
  %5: f32 = const 9
  %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2) {
    %6: bool = lt %3, %33
    %7: bool = le %5, %32
    %8: bool = or %6, %7
    if %8 {
      break @1 %32
    } else {
      yield
    }
    %12: f32 = fma %32, %1, %32
    %14: i32 = add %33, %4
    continue @1 %12, %14
  }
  store y[%0], %31
  return
}
`, "vcmpps k1{k1}", 0},
	{"shared counters", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  shared local: i32[8]
  %0: i32 = item.global.x
  %34: i32 = item.local.x
  %1: f32 = load x[%0]
  %2: i32 = sat %1
  %3: i32 = const 7
  %4: i32 = and %2, %3
  %5: i32 = const 1
  %6: i32 = atomic.add local[%4], %5
  %7: i32 = atomic.sub local[%3], %4
  barrier
  %9: i32 = and %34, %3
  %10: i32 = load local[%9]
  %11: f32 = convert %10
  store y[%0], %11
  return
}
`, "sub dword", 48},
}

func TestShapes(t *testing.T) {
	needMachine(t)
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			k := parse(t, s.text)
			p, err := Compile(k, Options{Features: amd64.Host(), Gang: 1})
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.Listing(func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			if avx512.features&^amd64.Host() == 0 && !strings.Contains(text, s.shows) {
				t.Errorf("there is no %q in\n%s", s.shows, text)
			}
			for _, n := range []int{1, 17, 48, 100, 480} {
				for _, gang := range []int{1, 2, 4} {
					c := &oracle.Case{Kernel: k, Size: [3]int{n, 1, 1}, GroupSize: [3]int{max(s.group, 1), 1, 1}}
					values := func(scale float32) oracle.Arg {
						return oracle.Arg{Data: floats(n, func(i int) float32 { return scale * float32(i*37%101) / 40 }), Dims: []int32{int32(n)}}
					}
					c.Args = []oracle.Arg{values(1), values(0)}
					compare(t, c, gang, 1)
				}
			}
		})
	}
}
