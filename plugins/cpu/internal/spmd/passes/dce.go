package passes

import "github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"

// DCE is dead code elimination: it removes instructions whose result is a virtual register that no instruction reads, except to update
// it. It keeps locked instructions, traps, and instructions with another destination or none.
func DCE(f *vcode.Func) {
	uses := f.Scratch.Ints.Make(len(f.Regs))
	count := func(in *vcode.Inst, by int32) {
		f.Operands(in, func(r *vcode.Reg, as vcode.Role) {
			if as == vcode.RoleUse {
				uses[*r] += by
			}
		})
	}
	for i := range f.Insts {
		count(&f.Insts[i], 1)
	}
	dead := false
	for i := len(f.Insts) - 1; i >= 0; i-- {
		in := &f.Insts[i]
		if in.Kind == vcode.KindOp && in.Mode != vcode.ModeUse && in.Args[0].Kind == vcode.ArgReg && uses[in.Args[0].Reg] == 0 && !in.Lock {
			count(in, -1)
			in.Kind, in.N, dead = vcode.KindNone, 0, true
		}
	}
	if dead {
		f.RemoveDropped()
	}
}
