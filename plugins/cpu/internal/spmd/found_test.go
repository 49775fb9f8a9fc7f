package spmd

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
)

// found are reduced kernels that were once miscompiled. All take an integer and write an array.
var found = []struct {
	name, text string
	a          uint64
	unchecked  bool
}{
	{"lanes leave two loops with the mask of the inner one", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 1
  %3: i32 = const 3
  %4: i32 = and %0, %3
  %10: i32 = loop @1 (%11: i32 = %1) {
    %12: bool = lt %11, %a.20
    if %12 {
      yield
    } else {
      break @1 %a.20
    }
    loop @2 (%13: i32 = %1) {
      %14: bool = lt %13, %4
      if %14 {
        yield
      } else {
        break @2
      }
      if %12 {
        break @1 %0
      } else {
        yield
      }
      %15: i32 = add %13, %2
      continue @2 %15
    }
    %16: i32 = add %11, %2
    continue @1 %16
  }
  store y[%0], %10
  return
}
`, 1, false},
	{"lanes return from a block with the mask of the loop around it", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 1
  %3: i32 = const 3
  %4: i32 = and %0, %3
  %5: bool = lt %a.20, %3
  %6: i32 = const 2
  loop @1 (%7: i32 = %1) {
    %8: bool = lt %7, %4
    if %8 {
      yield
    } else {
      break @1
    }
    block @2 {
      if %5 {
        return
      } else {
        yield
      }
      %9: bool = lt %4, %6
      if %9 {
        break @2
      } else {
        yield
      }
      store y[%0], %4
      yield
    }
    store y[%0], %6
    %10: i32 = add %7, %2
    continue @1 %10
  }
  return
}
`, 1, false},
	{"lanes of later registers alone divide by zero", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 59
  %2: bool = lt %1, %0
  if %2 {
    %3: i32 = div %0, %a.20
    store y[%0], %3
    yield
  } else {
    yield
  }
  return
}
`, 0, false},
	{"a uniform that is none gives the first item's value to all", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = uniform %0
  store y[%0], %1
  return
}
`, 0, true},
	{"what bounds an item's value bounds no uniform of it", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 127
  %2: i32 = sub %a.20, %0
  %3: i32 = and %2, %1
  %4: i32 = uniform %3
  %5: i32 = extent.0 y
  %6: bool = lt %3, %5
  if %6 {
    store y[%4], %4
    yield
  } else {
    yield
  }
  return
}
`, 70, true},
	{"a break behind a continue reads what lanes carried into the iteration", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 1
  %10: i32 = loop @1 (%11: i32 = %1, %12: i32 = %a.20) {
    %13: bool = lt %11, %2
    if %13 {
      yield
    } else {
      break @1 %12
    }
    %14: bool = lt %11, %0
    if %14 {
      yield
    } else {
      continue @1 %2, %0
    }
    break @1 %12
  }
  store y[%0], %10
  return
}
`, 7, false},
	{"the yield of a block behind a continue reads what lanes carried into the iteration", `orepl-ir 1
kernel k(a %a.20: i32, y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = const 0
  %2: i32 = const 1
  %10: i32 = loop @1 (%11: i32 = %1, %12: i32 = %a.20) {
    %13: bool = lt %11, %2
    if %13 {
      yield
    } else {
      break @1 %12
    }
    %14: bool = lt %11, %0
    %15: i32 = block @2 {
      if %14 {
        yield
      } else {
        continue @1 %2, %0
      }
      yield %12
    }
    break @1 %15
  }
  store y[%0], %10
  return
}
`, 7, false},
}

// TestFoundKernels runs reduced and random kernels that once failed.
func TestFoundKernels(t *testing.T) {
	needMachine(t)
	for _, f := range found {
		t.Run(f.name, func(t *testing.T) {
			const n = 61
			c := &oracle.Case{Kernel: parse(t, f.text), Size: [3]int{n, 1, 1}, GroupSize: [3]int{16, 1, 1}, Unchecked: f.unchecked}
			c.Args = []oracle.Arg{{Bits: f.a}, {Data: make([]byte, 4*n), Dims: []int32{n}}}
			for _, gang := range []int{1, 2, 4} {
				for level := range 2 {
					compare(t, c, gang, level)
				}
			}
		})
	}
	for _, seed := range []uint64{
		27,    // private arrays read before they are written
		113,   // masks of the upper half of 64-bit values
		130,   // an if that all lanes in its branches leave
		132,   // gathers of small elements with a scale
		951,   // results of a loop live around it before they are set
		5304,  // two continues of a divergent loop
		6896,  // lanes that leave two loops, with the inner one's mask as theirs
		10328, // a uniform zero divisor whose only active lanes are in a later register

		12065, 13633, 13768, // uniform values assigned in divergent control flow
		15202,   // a large private array cleared for some lanes
		4003676, // code after a block that every item leaves
	} {
		checkSeed(t, seed)
	}
	for _, seed := range []uint64{
		105040840, // with checks off, a value wrongly treated as uniform
		106020043, // with few registers, selecting the next waiting gang overwrote a live value of another
	} {
		o := options(seed)
		o.Places = true
		checkRandom(t, seed, o, int(seed%8))
	}
	o := options(930001419) // a load moved past a jump whose target stores to the same address
	o.Tiles = true
	checkRandom(t, 930001419, o, 5)
	o = options(91683) // a coalesced register lost its definition, and a masked write in a loop came first
	o.Strides, o.Groups = true, true
	checkRandom(t, 91683, o, 3)
}
