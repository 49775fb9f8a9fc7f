package spmd

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
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
	if got := chooseGang(m.Kernels[0], &avx512); got != 4 {
		t.Errorf("a chain in a loop gets %d registers a gang, want 4", got)
	}
	if got := chooseGang(saxpy(), &avx512); got != 1 {
		t.Errorf("saxpy gets %d registers a gang, want 1", got)
	}
}
