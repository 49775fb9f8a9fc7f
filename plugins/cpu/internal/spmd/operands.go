package spmd

// role is how an instruction accesses a register.
type role uint8

const (
	roleUse     role = iota // read
	roleDef                 // written entirely, and not read
	roleDefSome             // written in the lanes of a mask only; the instruction does not read the other lanes
	roleMod                 // read and written
	roleDeclare             // live from here on, with any value
)

// operands visits the registers of an instruction: a mask, the operands in order, and the registers of addresses. A visit
// may replace the register.
func (f *fn) operands(in *inst, visit func(r *vr, as role)) {
	switch in.kind {
	case kindDeclare:
		r := vr(in.x)
		visit(&r, roleDeclare)
		in.x = int32(r)
	case kindTrap:
		t := &f.traps[in.x]
		for i := range t.uses {
			visit(&t.uses[i], roleUse)
		}
		for i := range t.defs {
			visit(&t.defs[i], roleDef)
		}
	case kindOp:
		if in.mask != 0 {
			visit(&in.mask, roleUse)
		}
		for i := range in.a[:in.n] {
			switch a := &in.a[i]; {
			case a.kind == argMem:
				if in.mem.base != 0 {
					visit(&in.mem.base, roleUse)
				}
				if in.mem.index != 0 {
					visit(&in.mem.index, roleUse)
				}
			case a.kind != argReg:
			case i == 0:
				visit(&a.reg, in.result())
			default:
				visit(&a.reg, roleUse)
			}
		}
	}
}

// result returns the role of the first operand.
func (in *inst) result() role {
	switch {
	case in.mode == modeUse:
		return roleUse
	case in.mode == modeMod:
		return roleMod
	case in.mask != 0 && !in.zero:
		return roleDefSome
	}
	return roleDef
}

// mentions appends the registers of an instruction to a list.
func (f *fn) mentions(in *inst, list []vr) []vr {
	f.operands(in, func(r *vr, _ role) { list = append(list, *r) })
	return list
}

// setBy appends the registers that an instruction overwrites entirely.
func (f *fn) setBy(in *inst, list []vr) []vr {
	f.operands(in, func(r *vr, as role) {
		if as == roleDef || as == roleDeclare {
			list = append(list, *r)
		}
	})
	return list
}

// writtenBy appends the registers that an instruction changes.
func (f *fn) writtenBy(in *inst, list []vr) []vr {
	f.operands(in, func(r *vr, as role) {
		if as == roleDef || as == roleDefSome || as == roleMod {
			list = append(list, *r)
		}
	})
	return list
}

// readBy appends the registers of which an instruction reads or keeps lanes.
func (f *fn) readBy(in *inst, list []vr) []vr {
	f.operands(in, func(r *vr, as role) {
		if as == roleUse || as == roleDefSome || as == roleMod {
			list = append(list, *r)
		}
	})
	return list
}

// rename replaces the registers of an instruction, those of a trap wherever the trap names them.
func (f *fn) rename(in *inst, to func(*vr)) {
	f.operands(in, func(r *vr, _ role) { to(r) })
	if in.kind == kindTrap {
		f.traps[in.x].rename(to)
	}
}
