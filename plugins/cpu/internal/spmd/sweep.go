package spmd

// sweep removes instructions whose results are not used (dead code elimination).
func (f *fn) sweep() {
	uses := f.room.ints.make(len(f.regs))
	count := func(in *inst, by int32) {
		f.operands(in, func(r *vr, as role) {
			if as == roleUse {
				uses[*r] += by
			}
		})
	}
	for i := range f.insts {
		count(&f.insts[i], 1)
	}
	dead := false
	for i := len(f.insts) - 1; i >= 0; i-- {
		in := &f.insts[i]
		if in.kind == kindOp && in.mode != modeUse && in.a[0].kind == argReg && uses[in.a[0].reg] == 0 && !in.lock {
			count(in, -1)
			in.kind, in.n, dead = kindNone, 0, true
		}
	}
	if !dead {
		return
	}
	kept := f.insts[:0]
	for i := range f.insts {
		if f.insts[i].kind != kindNone {
			kept = append(kept, f.insts[i])
		}
	}
	f.insts = kept
}
