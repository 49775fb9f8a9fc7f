package passes

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// CSE eliminates common subexpressions of vectors in a basic block. They occur in 2-D gangs: values that depend only on x are
// equal in all rows.
func CSE(f *vcode.Func) {
	m := mover{f: f}
	m.findWriters()
	at := f.AllMentions()
	rename, made := renaming(f.Scratch.Regs.Make(len(f.Regs))), map[computation]vcode.Reg{}
	times := f.Scratch.Ints.Make(len(f.Regs)) // by register: the number of writes so far
	for i := range f.Insts {
		in := &f.Insts[i]
		f.Rename(in, func(r *vcode.Reg) { *r = rename.resolve(*r) })
		switch in.Kind {
		case vcode.KindComment, vcode.KindDeclare, vcode.KindNone:
			continue
		case vcode.KindOp:
			if in.Op.IsJump() {
				clear(made)
				continue
			}
		default:
			clear(made)
			continue
		}
		if in.Mode == vcode.ModeUse || in.Args[0].Kind != vcode.ArgReg {
			continue
		}
		d := in.Args[0].Reg
		c, ok := computationOf(in, times)
		if ok = ok && f.Regs[d].Class == vcode.ClassVec && len(m.writers[d]) == 1 && at[d][0] == int32(i); ok {
			if r := made[c]; r != 0 && f.Regs[r].Shared == f.Regs[d].Shared {
				rename[d] = r
				in.Kind, in.N = vcode.KindNone, 0
				continue
			}
			made[c] = d
		}
		times[d]++
	}
}

// computation is the value that an instruction computes: its operation and operands.
type computation struct {
	op    amd64.Op
	size  uint8 // size of the result
	args  [3]vcode.Arg
	times [3]int32 // by operand: the number of writes to its register before
}

// computationOf returns the computation of an instruction that has no mask, only writes its first operand, and reads registers
// and immediates. It returns false for other instructions. times has the number of writes to each register before it.
func computationOf(in *vcode.Inst, times []int32) (c computation, ok bool) {
	if in.Mode != vcode.ModeDef || in.Mask != 0 || in.N < 2 {
		return c, false
	}
	c.op, c.size = in.Op, in.Args[0].Size
	for i, a := range in.Args[1:in.N] {
		switch a.Kind {
		case vcode.ArgReg:
			c.times[i] = times[a.Reg]
		case vcode.ArgImm:
		default:
			return c, false
		}
		c.args[i] = in.Arg(1 + i)
	}
	return c, true
}
