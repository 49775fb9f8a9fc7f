package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// shapes are kernels with special code. shows is a text of their listing, if any.
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
	{"rotations, and what only looks like them", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = bitcast %1
  %3: u32 = bitcast %1
  %4: u32 = bitcast %0
  %5: i32 = const 9
  %6: i32 = const 23
  %10: u32 = shl %3, %5
  %11: u32 = shr %3, %6
  %12: i32 = shl %2, %5
  %13: i32 = shr %2, %6
  %14: u32 = shl %3, %6
  %15: u32 = shr %3, %5
  %16: u32 = shr %4, %6
  %20: u32 = or %10, %11
  %21: i32 = or %13, %12
  %22: u32 = or %10, %14
  %23: u32 = or %11, %15
  %24: u32 = or %10, %16
  %25: u32 = or %10, %15
  %26: i32 = bitcast %20
  %30: u32 = const 31
  %31: u32 = bitcast %21
  %32: u32 = mul %20, %30
  %33: u32 = add %32, %31
  %34: u32 = mul %33, %30
  %35: u32 = add %34, %22
  %36: u32 = mul %35, %30
  %37: u32 = add %36, %23
  %38: u32 = mul %37, %30
  %39: u32 = add %38, %24
  %40: u32 = mul %39, %30
  %41: u32 = add %40, %25
  %42: i32 = const 10
  %43: u32 = shr %41, %42
  %44: f32 = convert %43
  store y[%0], %44
  return
}
`, "vprold", 0},
	{"conditions of all lanes that agree", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 4
  %3: i32 = const 1
  %4: i32 = const 2
  %5: f32 = const 0
  %6: f32 = const 2
  %7: i32 = extent.0 y
  %9: f32 = loop @1 (%10: i32 = %1, %11: f32 = %5) {
    %12: bool = lt %10, %2
    if %12 {
      yield
    } else {
      break @1 %11
    }
    %13: i32 = and %10, %3
    %14: i32 = add %10, %7
    %15: i32 = and %14, %4
    %16: bool = eq %13, %1
    %17: bool = eq %15, %1
    %18: bool = eq %16, %17
    %19: f32 = if %18 {
      %20: f32 = fma %11, %6, %6
      yield %20
    } else {
      %21: f32 = add %11, %6
      yield %21
    }
    %22: i32 = add %10, %3
    continue @1 %22, %19
  }
  %30: f32 = load x[%0]
  %31: f32 = add %30, %9
  store y[%0], %31
  return
}
`, "", 0},
	{"lanes that leave where two conditions hold", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 5
  %4: i32 = const 1
  %5: f32 = const 3
  %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2) {
    %6: bool = lt %3, %33
    %7: bool = le %5, %32
    %8: bool = and %6, %7
    if %8 {
      break @1 %32
    } else {
      yield
    }
    %12: f32 = const 0.5
    %13: f32 = add %32, %12
    %14: i32 = add %33, %4
    continue @1 %13, %14
  }
  store y[%0], %31
  return
}
`, "", 0},
	{"arrays cleared for some lanes", `orepl-ir 1
record cell { a: f32 @0, b: i8[5] @4, c: f64[200] @16 } size 1616 align 8
kernel k(x: f32[*], y: f32[*]) real f32 {
  private small: i8[3]
  private flags: bool[1]
  private cells: cell[2]
  private many: f32[2000]
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 1
  %4: f32 = const 1
  %5: f64 = const 8
  %6: bool = const true
  %7: i32 = const 2
  %8: i32 = const 1999
  %9: i32 = const 199
  %10: i32 = const 4
  store small[%7], %3
  store flags[%2], %6
  store cells[%3].a, %4
  store cells[%2].b[%10], %7
  store cells[%3].c[%9], %5
  store cells[%2].c[%2], %5
  store many[%2], %4
  store many[%8], %4
  %11: bool = lt %1, %4
  if %11 {
    zero small
    zero flags
    zero cells
    zero many
    yield
  } else {
    yield
  }
  %20: i32 = load small[%7]
  %21: bool = load flags[%2]
  %22: f32 = load cells[%3].a
  %23: i32 = load cells[%2].b[%10]
  %24: f64 = load cells[%3].c[%9]
  %25: f64 = load cells[%2].c[%2]
  %26: f32 = load many[%2]
  %27: f32 = load many[%8]
  %30: i32 = convert %21
  %31: i32 = mul %20, %10
  %32: i32 = add %31, %30
  %33: i32 = mul %32, %10
  %34: i32 = add %33, %23
  %35: f64 = mul %24, %5
  %36: f64 = add %35, %25
  %37: f32 = convert %36
  %38: f32 = convert %34
  %39: f32 = add %37, %38
  %40: f32 = add %26, %27
  %41: f32 = const 1000
  %42: f32 = fma %40, %41, %39
  %43: f32 = add %42, %22
  store y[%0], %43
  return
}
`, "", 0},
	{"indices that go on from where the items are", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = item.size.x
  %2: i32 = const 5
  %3: i32 = add %1, %2
  %4: i32 = sub %3, %1
  %5: f32 = const 0
  %6: i32 = extent.0 x
  %9: f32 = loop @1 (%10: i32 = %0, %11: i32 = %1, %12: f32 = %5) {
    %13: bool = lt %10, %6
    if %13 {
      yield
    } else {
      break @1 %12
    }
    %14: f32 = load x[%10]
    %15: f32 = fma %14, %14, %12
    %16: i32 = add %10, %4
    continue @1 %16, %10, %15
  }
  store y[%0], %9
  return
}
`, "{z}, zmmword ptr", 0},
	{"loops whose only continue is in an arm at their end", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
  %3: i32 = const 9
  %4: i32 = const 1
  %5: f32 = const 2
  %30: f32 = loop @1 (%31: f32 = %1, %32: i32 = %2) {
    %6: bool = lt %32, %3
    %7: bool = lt %31, %5
    %8: bool = and %6, %7
    if %8 {
      yield
    } else {
      break @1 %31
    }
    %9: f32 = fma %31, %1, %5
    %10: bool = lt %9, %1
    if %10 {
      break @1 %9
    } else {
      %11: i32 = add %32, %4
      continue @1 %9, %11
    }
    unreachable
  }
  %40: f32 = loop @2 (%41: f32 = %1, %42: i32 = %2) {
    block @3 {
      %12: bool = lt %42, %3
      %13: bool = lt %41, %5
      %14: bool = and %12, %13
      if %14 {
        %15: f32 = fma %41, %1, %5
        %16: i32 = add %42, %4
        continue @2 %15, %16
      } else {
        yield
      }
      break @3
    }
    break @2 %41
  }
  %20: f32 = add %30, %40
  store y[%0], %20
  return
}
`, "", 0},
	{"reductions of each type", `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = sat %1
  %3: u32 = bitcast %2
  %4: i64 = convert %2
  %5: u64 = wrap %4
  %6: f64 = convert %1
  %7: f32 = reduce.add %1
  %8: f32 = reduce.min %1
  %9: i32 = reduce.max %2
  %10: u32 = reduce.min %3
  %11: i64 = reduce.add %4
  %12: u64 = reduce.max %5
  %13: f64 = reduce.add %6
  %14: f64 = reduce.max %6
  %20: f32 = convert %9
  %21: f32 = convert %10
  %22: f32 = convert %11
  %23: f32 = convert %12
  %24: f32 = convert %13
  %25: f32 = convert %14
  %30: f32 = add %7, %8
  %31: f32 = add %30, %20
  %32: f32 = add %31, %21
  %33: f32 = add %32, %22
  %34: f32 = add %33, %23
  %35: f32 = add %34, %24
  %36: f32 = add %35, %25
  store y[%0], %36
  return
}
`, "shr", 64},
}

func TestShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			k := parse(t, s.text)
			if text := listed(t, k, plan.Options{Features: vcode.AVX512.Features, Gang: 1}); !strings.Contains(text, s.shows) {
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
