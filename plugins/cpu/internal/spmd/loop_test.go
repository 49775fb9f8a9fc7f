package spmd

import (
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// countedLoops are divergent loops that output the number of iterations of each lane. overrun: the body may run once
// more after the last lane has left. counted: a masked addition counts.
var countedLoops = []struct {
	name, text       string
	counted, overrun bool
}{
	{"a count of steps", `
  %3: i32 = const 200
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
    %12: f32 = fma %32, %1, %32
    %14: i32 = add %33, %4
    continue @1 %12, %14
  }`, true, true},
	{"a count by threes from a number that is not known, down", `
  %40: i32 = item.size.x
  %3: i32 = const -300
  %4: i32 = const -3
  %5: f32 = const 4
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %40) {
    %6: bool = lt %3, %33
    %7: bool = lt %32, %5
    %8: bool = and %6, %7
    if %8 {
      yield
    } else {
      break @1 %33, %32
    }
    %12: f32 = fma %32, %1, %32
    %14: i32 = add %4, %33
    continue @1 %12, %14
  }`, true, true},
	{"a count that wraps", `
  %3: i32 = const 2147483640
  %4: i32 = const 1
  %5: f32 = const 4
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %3) {
    %7: bool = lt %32, %5
    if %7 {
      yield
    } else {
      break @1 %33, %32
    }
    %15: f32 = const 0.25
    %12: f32 = add %32, %15
    %14: i32 = add %33, %4
    continue @1 %12, %14
  }`, true, true},
	{"two ways out and two counts", `
  %3: i32 = const 60
  %4: i32 = const 2
  %5: f32 = const 4
  %9: f32 = const 0.5
  %40: f32 = const 1.5
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2, %34: f32 = %40) {
    %7: bool = lt %32, %5
    if %7 {
      yield
    } else {
      break @1 %33, %34
    }
    %12: f32 = fma %32, %1, %9
    %8: bool = lt %12, %9
    if %8 {
      break @1 %33, %34
    } else {
      yield
    }
    %6: bool = lt %33, %3
    if %6 {
      yield
    } else {
      break @1 %33, %34
    }
    %14: i32 = add %33, %4
    %15: f32 = add %34, %9
    continue @1 %12, %14, %15
  }`, true, true},
	{"ways out that give different numbers", `
  %3: i32 = const 60
  %4: i32 = const 2
  %5: f32 = const 4
  %9: f32 = const 0.5
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2) {
    %7: bool = lt %32, %5
    if %7 {
      yield
    } else {
      break @1 %33, %32
    }
    %12: f32 = fma %32, %1, %9
    %6: bool = lt %33, %3
    if %6 {
      yield
    } else {
      break @1 %4, %32
    }
    %14: i32 = add %33, %4
    continue @1 %12, %14
  }`, false, true},
	{"a load in the loop", `
  %3: i32 = const 20
  %4: i32 = const 1
  %30: i32, %31: f32 = loop @1 (%32: f32 = %1, %33: i32 = %2) {
    %6: bool = lt %33, %0
    if %6 {
      yield
    } else {
      break @1 %33, %32
    }
    %11: f32 = load x[%33]
    %12: f32 = fma %32, %11, %11
    %14: i32 = add %33, %4
    continue @1 %12, %14
  }`, true, false},
}

func TestCountedLoops(t *testing.T) {
	needMachine(t)
	narrowed, asked := regexp.MustCompile(`v(cmpps|pcmpd) k[1-7]\{k`), regexp.MustCompile(`kortestw`)
	count := regexp.MustCompile(`v(paddd|addps) (zmm\d+)\{k[1-7]\}, (zmm\d+)`)
	for _, s := range countedLoops {
		t.Run(s.name, func(t *testing.T) {
			k := parse(t, `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
`+s.text+`
  %20: f32 = convert %30
  %21: f32 = add %20, %31
  store y[%0], %21
  return
}
`)
			if vcode.AVX512.Features&^vcode.Least != 0 {
				p, err := Compile(k, plan.Options{Features: vcode.AVX512.Features, Gang: 1})
				if err != nil {
					t.Fatal(err)
				}
				text, err := p.List(p.Listed(), func(int) string { return "" })
				if err != nil {
					t.Fatal(err)
				}
				if found := count.MatchString(text); found != s.counted {
					t.Errorf("lanes count by themselves: %v, want %v:\n%s", found, s.counted, text)
				}
				if n, m := len(narrowed.FindAllString(text, -1)), len(asked.FindAllString(text, -1)); (n > m) != s.overrun {
					t.Errorf("lanes are taken away at %d places, and it is asked at %d whether any is left:\n%s", n, m, text)
				}
			}
			for _, n := range []int{1, 17, 100, 480} {
				for _, gang := range []int{1, 2, 4} {
					c := &oracle.Case{Kernel: k, Size: [3]int{n, 1, 1}, GroupSize: [3]int{1, 1, 1}}
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

// TestCountsOnAVX2 checks that a counter of iterations takes one subtraction of the mask.
func TestCountsOnAVX2(t *testing.T) {
	k := parse(t, strings.ReplaceAll(`orepl-ir 1
kernel k(x: f32[*], y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: i32 = const 0
BODY
  store y[%0], %30
  return
}
`, "BODY", countedLoops[0].text))
	p, err := Compile(k, plan.Options{Features: vcode.Least, Gang: 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.List(p.Listed(), func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "vpsubd ymm") || strings.Contains(text, "vblendvps") {
		t.Errorf("a count is not one subtraction:\n%s", text)
	}
}
