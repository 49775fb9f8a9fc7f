package spmd

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// vr is a virtual register; 0 is none.
type vr int32

type class uint8

const (
	classVec class = iota
	classMask
	classGPR
	numClasses
)

// vreg is what is known of a virtual register.
type vreg struct {
	class  class
	shared bool // is set before gangs begin: its place in memory is not in a gang's frame

	// A constant is a vector from the pool, which can be fetched again wherever it is needed.
	elem  uint8 // bytes of an element; 64 if all of it is in the pool, as where elements differ; 0 if it is no constant
	label amd64.Label
}

type argKind uint8

const (
	argNone argKind = iota
	argReg
	argPhys
	argMem
	argImm
	argLabel
)

// arg is an operand of an instruction on virtual registers, as instructions are made of them.
type arg struct {
	kind argKind
	size uint8 // bytes of a register
	phys amd64.Reg
	reg  vr
	imm  int64 // or a label
	mem  mem
}

// ref is an operand in an instruction, which has the number or the address of the operand that has one.
type ref struct {
	kind argKind
	size uint8 // bytes of a register
	phys amd64.Reg
	reg  vr
}

// mem is an address in terms of virtual registers.
type mem struct {
	base, index vr
	fixed       amd64.Reg // base, if it is a machine register
	indexSize   uint8     // bytes of the index register
	scale       uint8
	size        uint8
	broadcast   bool
	disp        int32
	label       amd64.Label
}

type instKind uint8

const (
	kindOp instKind = iota
	kindLabel
	kindLoopBegin
	kindLoopEnd
	kindColdBegin // what follows up to kindColdEnd stands after all other code
	kindColdEnd
	kindTrap
	kindBarrier // every register is lost
	kindComment
	kindDeclare // register x is in use from here on
	kindNone
)

// mode says what becomes of the first operand.
type mode uint8

const (
	modeUse mode = iota // read only
	modeDef             // written
	modeMod             // read and written
)

// inst is an instruction on virtual registers.
type inst struct {
	op     amd64.Op
	kind   instKind
	mode   mode
	n      uint8
	zero   bool // the write mask zeroes
	early  bool // the destination must differ from the sources
	lock   bool
	frames bool  // of the begin of a loop: it goes from frame to frame
	steady bool  // extends an index that is in bounds whenever this is run
	fold   int8  // the operand that may stand in memory instead, −1 for none
	elem   uint8 // bytes of the elements of that operand if it may be broadcast
	mask   vr    // write mask
	x      int32 // label, number of a trap, site of a comment
	a      [4]ref
	imm    int64 // of the operand that is a number or a label
	mem    mem   // of the operand that is an address; zero if none is
}

func (f *fn) newReg(c class) vr {
	f.regs = append(f.regs, vreg{class: c, shared: f.shared})
	return vr(len(f.regs) - 1)
}

func (f *fn) vec() vr  { return f.newReg(classVec) }
func (f *fn) mask() vr { return f.newReg(classMask) }
func (f *fn) gpr() vr  { return f.newReg(classGPR) }

func (f *fn) masks(n int) []vr {
	out := make([]vr, n)
	for i := range out {
		out[i] = f.mask()
	}
	return out
}

// fn is a function that is being made.
type fn struct {
	t      *target
	asm    *amd64.Assembler
	room   *scratch
	regs   []vreg // regs[0] is none
	insts  []inst
	spare  []inst // room for the next version of them, see rewrite
	consts map[constKey]vr
	order  []vr // constants in the order of their making
	shared bool // registers made now are shared
	few    bool // few machine registers are given out
	traps  []trap
}

// newFunc returns a function without instructions, for a target and an assembler.
func newFunc(t *target, asm *amd64.Assembler) *fn {
	return &fn{t: t, asm: asm, room: new(scratch), regs: []vreg{{}}, consts: map[constKey]vr{}}
}

type constKey struct {
	bits uint64
	elem uint8
	data string // elem 64: all of it
}

// pattern is a vector of different elements.
func (f *fn) pattern(data []byte) vr {
	key := constKey{elem: 64, data: string(data)}
	if r, ok := f.consts[key]; ok {
		return r
	}
	r := f.vec()
	v := &f.regs[r]
	v.elem, v.shared, v.label = 64, true, f.asm.Const(data, len(data))
	f.consts[key] = r
	f.order = append(f.order, r)
	return r
}

// constant is a vector of equal elements of 4 or 8 bytes.
func (f *fn) constant(bits uint64, elem int) vr {
	key := constKey{bits: bits, elem: uint8(elem)}
	if elem == 4 {
		key.bits &= 0xffffffff
	}
	if r, ok := f.consts[key]; ok {
		return r
	}
	r := f.vec()
	v := &f.regs[r]
	v.elem, v.shared = key.elem, true
	switch {
	case f.t.wholeConstants:
		v.elem, v.label = 64, f.asm.Const(repeat(bits, elem, f.t.bytes()), f.t.bytes())
	case elem == 4:
		v.label = f.asm.Const32(uint32(bits)).Label
	default:
		v.label = f.asm.Const64(bits).Label
	}
	f.consts[key] = r
	f.order = append(f.order, r)
	return r
}

// repeat fills n bytes with an element.
func repeat(bits uint64, elem, n int) []byte {
	var one [8]byte
	binary.LittleEndian.PutUint64(one[:], bits)
	return bytes.Repeat(one[:elem], n/elem)
}

// Operands: a whole vector, half of one, its first elements up to 128 bits, and so on. A whole vector has 512 bits where
// instructions are made; targets with shorter ones turn that into theirs.

func z(r vr) arg               { return arg{kind: argReg, reg: r, size: 64} }
func y(r vr) arg               { return arg{kind: argReg, reg: r, size: 32} }
func x(r vr) arg               { return arg{kind: argReg, reg: r, size: 16} }
func k(r vr) arg               { return arg{kind: argReg, reg: r} }
func g4(r vr) arg              { return arg{kind: argReg, reg: r, size: 4} }
func g8(r vr) arg              { return arg{kind: argReg, reg: r, size: 8} }
func g(r vr, size int) arg     { return arg{kind: argReg, reg: r, size: uint8(size)} }
func imm(n int64) arg          { return arg{kind: argImm, imm: n} }
func at(m mem) arg             { return arg{kind: argMem, mem: m} }
func to(l amd64.Label) arg     { return arg{kind: argLabel, imm: int64(l)} }
func physical(r amd64.Reg) arg { return arg{kind: argPhys, phys: r} }

func (f *fn) add(in inst) *inst {
	f.insts = append(f.insts, in)
	return &f.insts[len(f.insts)-1]
}

// rewrite gives the instructions, to add those that take their places. They stay valid until the next time.
func (f *fn) rewrite() []inst {
	old := f.insts
	f.insts, f.spare = slices.Grow(f.spare[:0], len(old)+len(old)/4), old
	return old
}

// insert puts what is emitted before the instruction at a position. What [fn.rewrite] gave is no longer valid then.
func (f *fn) insert(at int, emit func()) {
	n := len(f.insts)
	emit()
	f.spare = append(f.spare[:0], f.insts[n:]...)
	copy(f.insts[at+len(f.spare):], f.insts[at:n])
	copy(f.insts[at:], f.spare)
}

func (f *fn) emit(m mode, op amd64.Op, args []arg) *inst {
	in := f.add(inst{op: op, mode: m, n: uint8(len(args)), fold: -1})
	for i := range args {
		a := &args[i]
		in.a[i] = ref{kind: a.kind, size: a.size, phys: a.phys, reg: a.reg}
		switch a.kind {
		case argImm, argLabel:
			in.imm = a.imm
		case argMem:
			in.mem = a.mem
		}
	}
	return in
}

// arg gives an operand of the instruction.
func (in *inst) arg(i int) arg {
	a := arg{kind: in.a[i].kind, size: in.a[i].size, phys: in.a[i].phys, reg: in.a[i].reg}
	switch a.kind {
	case argImm, argLabel:
		a.imm = in.imm
	case argMem:
		a.mem = in.mem
	}
	return a
}

// def emits an instruction that writes its first operand, mod one that also reads it, use one that only reads.
func (f *fn) def(op amd64.Op, args ...arg) *inst { return f.emit(modeDef, op, args) }
func (f *fn) mod(op amd64.Op, args ...arg) *inst { return f.emit(modeMod, op, args) }
func (f *fn) use(op amd64.Op, args ...arg) *inst { return f.emit(modeUse, op, args) }

// under puts the instruction under a write mask that keeps the other lanes; it then reads its destination.
func (in *inst) under(m vr) *inst {
	if m != 0 {
		in.mask = m
		if in.mode == modeDef && in.a[0].kind == argReg && in.a[0].size != 0 {
			in.mode = modeMod
		}
	}
	return in
}

// zeroed puts the instruction under a write mask that makes the other lanes zero.
func (in *inst) zeroed(m vr) *inst {
	if m != 0 {
		in.mask, in.zero = m, true
	}
	return in
}

// folds lets the operand stand in memory, also one element of so many bytes broadcast if elem is not 0.
func (in *inst) folds(operand, elem int) *inst {
	in.fold, in.elem = int8(operand), uint8(elem)
	return in
}

func (f *fn) label() amd64.Label { return f.asm.NewLabel() }

func (f *fn) bind(l amd64.Label) { f.add(inst{kind: kindLabel, x: int32(l), fold: -1}) }

func (f *fn) jump(op amd64.Op, l amd64.Label) { f.use(op, to(l)) }

func (f *fn) mark(kind instKind) { f.add(inst{kind: kind, fold: -1}) }

// cold emits code that is rarely run.
func (f *fn) cold(body func()) {
	f.mark(kindColdBegin)
	body()
	f.mark(kindColdEnd)
}
