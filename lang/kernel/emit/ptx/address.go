package ptx

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// maxDisplacement is the exclusive upper bound of constants in addresses, in bytes.
const maxDisplacement = 1 << 20

// place returns the address operand of an access. Before that it prints additions of the offset's terms to the array's address.
// Widening products come last, because the assembler fuses such a product with the addition.
func (e *emitter) place(in *ir.Instr) string {
	at := fmt.Sprintf("%%a%d", in.Array.ID)
	if in.Args[0].Type.Size() == 4 {
		if n, ok := constant(in.Args[0]); ok && n >= 0 && n < maxDisplacement {
			return fmt.Sprintf("[%s+%d]", at, n)
		}
		r := e.fresh("b64")
		e.line("cvt.s64.%s %s, %s", typed.Get()[in.Args[0].Type], r, register(in.Args[0]))
		return fmt.Sprintf("[%s]", e.sum(at, r))
	}
	terms, displacement := terms(in.Args[0])
	for _, last := range []bool{false, true} {
		for _, v := range terms {
			if fused := v.Def != nil && v.Def.Op == ir.Mul && isWidening(v.Def); fused == last {
				at = e.sum(at, register(v))
			}
		}
	}
	if displacement > 0 {
		return fmt.Sprintf("[%s+%d]", at, displacement)
	}
	return fmt.Sprintf("[%s]", at)
}

// sum prints the sum of two addresses and returns its register.
func (e *emitter) sum(x, y string) string {
	r := e.fresh("b64")
	e.line("add.s64 %s, %s, %s", r, x, y)
	return r
}

func isWidening(in *ir.Instr) bool { from, _ := widening(in); return from != nil }

// terms returns the terms of a 64-bit sum. displacement is the sum of the constant ones, as far as it stays in [0, maxDisplacement);
// the list has the others.
func terms(v *ir.Value) (list []*ir.Value, displacement int64) {
	var walk func(v *ir.Value)
	walk = func(v *ir.Value) {
		if d := v.Def; d != nil && d.Op == ir.Add {
			walk(d.Args[0])
			walk(d.Args[1])
			return
		}
		if n, ok := constant(v); ok && n >= 0 && n < maxDisplacement && displacement+n < maxDisplacement {
			displacement += n
			return
		}
		list = append(list, v)
	}
	walk(v)
	return list, displacement
}
