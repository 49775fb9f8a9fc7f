package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// Reg is a virtual register; 0 is none.
type Reg int32

// Class is a register class.
type Class uint8

// Register classes.
const (
	ClassVec Class = iota
	ClassMask
	ClassGPR
	NumClasses
)

// RegInfo describes a virtual register.
type RegInfo struct {
	Class  Class
	Spill  bool // always in a spill slot
	Shared bool // equal in all gangs of a group, so its spill slot is in the context instead of frames

	// Elem is the size of an element of a vector constant, 0 for other registers. It is 64 if the elements differ or the
	// pool has the whole vector.
	Elem  uint8
	Label amd64.Label // label of a constant in the pool
}

// NewReg returns a new register of a class.
func (f *Func) NewReg(c Class) Reg {
	f.Regs = append(f.Regs, RegInfo{Class: c, Shared: f.shared})
	return Reg(len(f.Regs) - 1)
}

// NewVec returns a new vector register.
func (f *Func) NewVec() Reg { return f.NewReg(ClassVec) }

// NewMask returns a new mask register.
func (f *Func) NewMask() Reg { return f.NewReg(ClassMask) }

// NewGPR returns a new general purpose register.
func (f *Func) NewGPR() Reg { return f.NewReg(ClassGPR) }

// WithShared calls emit, whose new registers are shared: they have equal values in all gangs of a work-group.
func (f *Func) WithShared(emit func()) {
	before := f.shared
	f.shared = true
	emit()
	f.shared = before
}

// NewSharedGPR returns a new shared general purpose register.
func (f *Func) NewSharedGPR() Reg {
	r := f.NewGPR()
	f.Regs[r].Shared = true
	return r
}

// NewMasks returns n new mask registers.
func (f *Func) NewMasks(n int) []Reg { return f.newRegs(ClassMask, n) }

// NewVecs returns n new vector registers.
func NewVecs(f *Func, n int) []Reg { return f.newRegs(ClassVec, n) }

func (f *Func) newRegs(c Class, n int) []Reg {
	out := make([]Reg, n)
	for i := range out {
		out[i] = f.NewReg(c)
	}
	return out
}

// CopyReg emits a copy of a register to one of the same class.
func (f *Func) CopyReg(to, from Reg) {
	switch {
	case f.Regs[from].Class == ClassGPR:
		f.Def(amd64.MOV, to.G8(), from.G8())
	case f.Regs[from].Class == ClassMask:
		f.Def(amd64.KMOVW, to.K(), from.K())
	case f.Target.HasMasks:
		f.Def(amd64.VMOVDQA64, to.Z(), from.Z()).Folds(1, 0)
	default:
		f.Def(amd64.VMOVDQA, to.Y(), from.Y()).Folds(1, 0)
	}
}
