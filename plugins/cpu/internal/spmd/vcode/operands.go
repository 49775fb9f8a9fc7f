package vcode

// Role is the access of an instruction to a register.
type Role uint8

// Roles of registers.
const (
	RoleUse     Role = iota // read
	RoleDef                 // written entirely, and not read
	RoleDefSome             // written only in the lanes of a mask, without reading the others
	RoleMod                 // read and written
	RoleDeclare             // live from here on, with an undefined value
)

// Operands visits the registers of an instruction: the mask, then the operands in order, including registers of addresses. For
// a trap they are its Uses, then its Defs. A visit may replace the register.
func (f *Func) Operands(in *Inst, visit func(r *Reg, as Role)) {
	switch in.Kind {
	case KindDeclare:
		r := in.Declared()
		visit(&r, RoleDeclare)
		in.payload = int32(r)
	case KindTrap:
		t := &f.Traps[in.Trap()]
		for i := range t.Uses {
			visit(&t.Uses[i], RoleUse)
		}
		for i := range t.Defs {
			visit(&t.Defs[i], RoleDef)
		}
	case KindOp:
		if in.Mask != 0 {
			visit(&in.Mask, RoleUse)
		}
		for i := range in.Args[:in.N] {
			switch a := &in.Args[i]; {
			case a.Kind == ArgMem:
				if in.Mem.Base != 0 {
					visit(&in.Mem.Base, RoleUse)
				}
				if in.Mem.Index != 0 {
					visit(&in.Mem.Index, RoleUse)
				}
			case a.Kind != ArgReg:
			case i == 0:
				visit(&a.Reg, in.result())
			default:
				visit(&a.Reg, RoleUse)
			}
		}
	}
}

// result returns the role of the first operand.
func (in *Inst) result() Role {
	switch {
	case in.Mode == ModeUse:
		return RoleUse
	case in.Mode == ModeMod:
		return RoleMod
	case in.Mask != 0 && !in.Zero:
		return RoleDefSome
	}
	return RoleDef
}

// Mentions appends the registers of an instruction to a list, one entry for each mention, and returns the list.
func (f *Func) Mentions(in *Inst, list []Reg) []Reg {
	f.Operands(in, func(r *Reg, _ Role) { list = append(list, *r) })
	return list
}

// SetBy appends to a list the registers that an instruction overwrites completely or declares.
func (f *Func) SetBy(in *Inst, list []Reg) []Reg {
	f.Operands(in, func(r *Reg, as Role) {
		if as == RoleDef || as == RoleDeclare {
			list = append(list, *r)
		}
	})
	return list
}

// WrittenBy appends to a list the registers that an instruction writes, in all lanes or some. Declarations write nothing.
func (f *Func) WrittenBy(in *Inst, list []Reg) []Reg {
	switch {
	case in.Kind == KindTrap:
		return append(list, f.Traps[in.Trap()].Defs...)
	case in.Kind == KindOp && in.N > 0 && in.Args[0].Kind == ArgReg && in.result() != RoleUse:
		return append(list, in.Args[0].Reg)
	}
	return list
}

// ReadBy appends to a list the registers whose old value an instruction reads, or preserves in some lanes.
func (f *Func) ReadBy(in *Inst, list []Reg) []Reg {
	f.Operands(in, func(r *Reg, as Role) {
		if as == RoleUse || as == RoleDefSome || as == RoleMod {
			list = append(list, *r)
		}
	})
	return list
}

// Rename replaces the registers of an instruction; for a trap, it also replaces the operands of the trap service.
func (f *Func) Rename(in *Inst, to func(*Reg)) {
	f.Operands(in, func(r *Reg, _ Role) { to(r) })
	if in.Kind == KindTrap {
		f.Traps[in.Trap()].rename(to)
	}
}

// AllMentions returns, for each register, the sorted positions of the instructions that mention it.
func (f *Func) AllMentions() [][]int32 {
	mentions := f.Scratch.Regs.Make(3 * len(f.Insts))[:0] // of all instructions, one after the other
	ends := f.Scratch.Ints.Make(len(f.Insts))
	counts := f.Scratch.Ints.Make(len(f.Regs))
	for i := range f.Insts {
		begin := len(mentions)
		mentions = f.Mentions(&f.Insts[i], mentions)
		for _, r := range mentions[begin:] {
			counts[r]++
		}
		ends[i] = int32(len(mentions))
	}
	at, all := f.Scratch.Lists.Make(len(f.Regs)), f.Scratch.Ints.Make(len(mentions))
	for r, n := range counts {
		at[r], all = all[:0:n], all[n:]
	}
	begin := int32(0)
	for i, end := range ends {
		for _, r := range mentions[begin:end] {
			if n := len(at[r]); n == 0 || at[r][n-1] != int32(i) {
				at[r] = append(at[r], int32(i))
			}
		}
		begin = end
	}
	return at
}
