package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// shapes are kernels whose code has a shape of its own, with what their listing shows if it has it, if anything does.
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
	{"numbers of all lanes that some take on to the next iteration", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 3
  %3: i32 = const 1
  %4: i32 = and %0, %2
  %5: f32 = const 10
  %6: f64 = const 0.1
  %7: f32 = const 4
  %20: f32, %21: f64 = loop @1 (%22: i32 = %1, %23: i32 = %1, %24: f32 = %5, %25: f64 = %6, %26: f32 = %5, %27: f64 = %6) {
    %8: bool = lt %22, %2
    if %8 {
      yield
    } else {
      break @1 %26, %27
    }
    %9: i32 = add %22, %3
    %10: bool = lt %22, %4
    %11: i32 = item.size.x
    %12: i32 = sub %11, %3
    if %10 {
      continue @1 %9, %12, %7, %25, %26, %27
    } else {
      yield
    }
    %13: f32 = load x[%23]
    %14: f32 = add %26, %24
    %15: f32 = add %14, %13
    %16: f64 = add %27, %25
    continue @1 %9, %12, %7, %25, %15, %16
  }
  %30: f32 = convert %21
  %31: f32 = add %20, %30
  store y[%0], %31
  return
}
`, "", 0},
	{"the count of a loop that lanes leave together with what is around it", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 3
  %3: i32 = const 1
  %4: i32 = and %0, %2
  %5: i32 = block @1 {
    loop @2 (%6: i32 = %1) {
      %7: bool = lt %6, %4
      if %7 {
        yield
      } else {
        break @1 %6
      }
      %8: i32 = add %6, %3
      continue @2 %8
    }
    unreachable
  }
  %9: f32 = convert %5
  store y[%0], %9
  return
}
`, "", 0},
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
