package regalloc

import "github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"

// splitWebs moves intermediate values of spilled vectors to registers of their own. An intermediate value lives from one definition of
// the vector to the next in the same basic block. The variable of a loop then stays in its spill slot, and is loaded and stored once in
// a block. splitWebs reports whether it moved a value.
func (a *state) splitWebs() bool {
	spilled := false
	for _, r := range a.order {
		spilled = spilled || a.spilled(r, vcode.ClassVec)
	}
	if !spilled {
		return false
	}
	type place struct {
		block int
		at    int32
	}
	last := map[vcode.Reg]place{} // the last definition, if the block has one
	var webs []web
	block := 0
	for i := range a.Insts {
		in := &a.Insts[i]
		if in.Kind != vcode.KindOp {
			if in.Kind != vcode.KindNone && in.Kind != vcode.KindComment {
				block++
			}
			continue
		}
		if in.Mode == vcode.ModeDef && (in.Mask == 0 || in.Zero) && in.N > 0 && in.Args[0].Kind == vcode.ArgReg {
			if r := in.Args[0].Reg; a.spilled(r, vcode.ClassVec) && a.Regs[r].Elem == 0 && !a.Regs[r].Spill && !a.Regs[r].Shared {
				if d, ok := last[r]; ok && d.block == block {
					webs = append(webs, web{r, d.at, int32(i)})
				}
				last[r] = place{block, int32(i)}
			}
		}
		if in.Op.IsJump() {
			block++
		}
	}
	for _, w := range webs {
		w.rename(a.Func)
	}
	return len(webs) > 0
}

// web is the part of a register's life from one definition to the next.
type web struct {
	reg      vcode.Reg
	from, to int32 // the instructions with the definitions
}

// rename replaces the register by a new one in this part.
func (w web) rename(f *vcode.Func) {
	fresh := f.NewVec()
	for i := w.from; i <= w.to; i++ {
		f.Operands(&f.Insts[i], func(r *vcode.Reg, as vcode.Role) {
			switch {
			case *r != w.reg, i == w.from && as != vcode.RoleDef, i == w.to && as == vcode.RoleDef:
			default:
				*r = fresh
			}
		})
	}
}
