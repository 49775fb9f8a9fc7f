package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// choices is a kernel with float selections that compile to minimum, maximum and similar instructions. Its inputs are
// pairs of zeros, NaNs and other values.
const choices = `orepl-ir 1
kernel k(x: T[*], y: T[*], lesser: T[*], greater: T[*], equal: T[*], odd: T[*], both: T[*]) real T {
  %0: i32 = item.global.x
  %1: T = load x[%0]
  %2: T = load y[%0]
  %3: T = const 0
  %4: bool = lt %1, %2
  %5: T = select %4, %1, %2
  store lesser[%0], %5
  %6: T = select %4, %2, %1
  store greater[%0], %6
  %7: bool = le %1, %2
  %8: T = select %7, %1, %2
  store equal[%0], %8
  %9: bool = lt %1, %3
  %10: T = neg %2
  %11: T = select %9, %10, %2
  store odd[%0], %11
  %12: T = neg %1
  %13: T = select %4, %12, %1
  %14: T = add %13, %12
  store both[%0], %14
  return
}
`

func TestChoices(t *testing.T) {
	for typ, shows := range map[ir.Type]string{
		ir.F32: "vminps vmaxps vpxord",
		ir.F64: "vminpd vmaxpd vpxorq",
	} {
		k := parse(t, strings.ReplaceAll(choices, "T", typ.String()))
		text := listed(t, k, plan.Options{Features: vcode.AVX512.Features, Gang: 1})
		for _, op := range strings.Fields(shows) {
			if !strings.Contains(text, op) {
				t.Errorf("there is no %s in\n%s", op, text)
			}
		}
		tuples := irgen.Tuples([]ir.Type{typ, typ})
		c := &oracle.Case{Kernel: k, Size: [3]int{len(tuples), 1, 1}, GroupSize: [3]int{1, 1, 1}}
		for a := range k.Params {
			data := make([]byte, 0, len(tuples)*typ.Size())
			for _, tuple := range tuples {
				data = irgen.AppendElem(data, typ, tuple[min(a, 1)])
			}
			c.Args = append(c.Args, oracle.Arg{Data: data, Dims: []int32{int32(len(tuples))}})
		}
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets() {
			for _, gang := range []int{1, 2, 4} {
				compareOn(t, c, want, target, gang, 0)
			}
		}
	}
}
