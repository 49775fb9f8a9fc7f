package isel

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// inOrder returns the instructions of a block in the order of emission. In a loop body, the next value of a parameter is computed
// after the last use of the current one if possible. One register then holds both values.
func (l *Lowerer) inOrder(b *ir.Block) []*ir.Instr {
	last := b.Terminator()
	if last.Op != ir.Continue || last.Target.Then != b {
		return b.Instrs
	}
	list := append([]*ir.Instr(nil), b.Instrs...)
	for i, v := range last.Args {
		p := b.Params[i]
		if d := v.Def; d != nil && len(d.Results) == 1 && d.Op.IsArith() && d.Op != ir.Const && d.IsPure() {
			moveDown(list, d, p)
		}
	}
	return list
}

// moveDown moves d, which computes the next value of parameter p, after the last use of p in list. It moves nothing if the next value
// is used before that.
func moveDown(list []*ir.Instr, d *ir.Instr, p *ir.Value) {
	from := slices.Index(list, d)
	to := from
	for i := len(list) - 2; i > from && from >= 0; i-- {
		if uses(list[i], p) {
			to = i
			break
		}
	}
	for i := from + 1; i <= to; i++ {
		if uses(list[i], d.Results[0]) {
			return
		}
	}
	if to > from {
		copy(list[from:to], list[from+1:to+1])
		list[to] = d
	}
}

// uses reports whether a value is an operand of an instruction or of one nested in it.
func uses(in *ir.Instr, v *ir.Value) bool {
	found := false
	(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(j *ir.Instr) {
		for _, a := range j.Args {
			found = found || a == v
		}
	})
	return found
}
