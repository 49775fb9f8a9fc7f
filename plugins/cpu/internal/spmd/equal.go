package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// shareEqual lets vectors that straight code computes twice share a register: in a stacked gang what depends on x alone is
// the same in each row.
func (f *fn) shareEqual() {
	m := mover{f: f}
	m.findWriters()
	at := f.allMentions()
	rename, made := renaming(f.room.regs.make(len(f.regs))), map[computation]vr{}
	times := f.room.ints.make(len(f.regs)) // how often each register has been written
	for i := range f.insts {
		in := &f.insts[i]
		f.rename(in, func(r *vr) { *r = rename.resolve(*r) })
		switch in.kind {
		case kindComment, kindDeclare, kindNone:
			continue
		case kindOp:
			if in.op >= amd64.JO && in.op <= amd64.JG || in.op == amd64.JMP {
				clear(made)
				continue
			}
		default:
			clear(made)
			continue
		}
		if in.mode == modeUse || in.a[0].kind != argReg {
			continue
		}
		d := in.a[0].reg
		c, ok := computationOf(in, times)
		if ok = ok && f.regs[d].class == classVec && len(m.writers[d]) == 1 && at[d][0] == int32(i); ok {
			if r := made[c]; r != 0 && f.regs[r].shared == f.regs[d].shared {
				rename[d] = r
				in.kind, in.n = kindNone, 0
				continue
			}
			made[c] = d
		}
		times[d]++
	}
}

// computation is what an instruction computes of registers and constants.
type computation struct {
	op    amd64.Op
	size  uint8 // of the result
	args  [3]arg
	times [3]int32 // how often the registers had been written before
}

func computationOf(in *inst, times []int32) (c computation, ok bool) {
	if in.mode != modeDef || in.mask != 0 || in.n < 2 {
		return c, false
	}
	c.op, c.size = in.op, in.a[0].size
	for i, a := range in.a[1:in.n] {
		switch a.kind {
		case argReg:
			c.times[i] = times[a.reg]
		case argImm:
		default:
			return c, false
		}
		c.args[i] = in.arg(1 + i)
	}
	return c, true
}
