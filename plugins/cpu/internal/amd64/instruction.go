package amd64

// arg is a decoded operand.
type arg struct {
	kind kind
	reg  Reg
	imm  int64 // an immediate or a label
	mem  Mem
}

func (x *arg) isMem() bool { return x.kind&(kMem|kBroadcast|kIndexX|kIndexY|kIndexZ) != 0 }

// instruction is an operation with its operands and modifiers, and the properties derived from them that select a form.
type instruction struct {
	op       Op
	n        int
	args     [4]arg
	rounding Rounding
	lock     bool

	size    int   // log2 of the integer operand size in bytes, −1 if unknown
	length  int   // 0, 1, 2: the longest vector has 128, 256, 512 bits
	mask    uint8 // number of the write mask, 0 for none
	zeroing bool
	wide    bool   // needs EVEX
	memory  *arg   // the memory operand, if any
	value   *arg   // the immediate, if any
	plain   bool   // without mask, rounding and prefix
	problem string // the error of a single operand; empty if there is none

	// Set by match.
	form   *form
	index  int  // index in the form's patternKinds
	isEVEX bool // encoded by EVEX
}

// set decodes an operation and its operands. It returns the problem of the first wrong operand, or "".
func (in *instruction) set(op Op, operands []Operand) (problem string) {
	in.begin(op)
	for _, o := range operands {
		in.add(o)
	}
	return in.settle()
}

// begin starts another instruction.
func (in *instruction) begin(op Op) {
	in.op, in.n, in.rounding, in.lock = op, 0, 0, false
	in.size, in.length, in.mask, in.zeroing, in.wide = -1, 0, 0, false, false
	in.memory, in.value, in.form, in.problem = nil, nil, nil, ""
}

// add decodes an operand.
func (in *instruction) add(o Operand) {
	switch o := o.(type) {
	case Rounding:
		in.setRounding(o)
	case Prefix:
		in.setPrefix(o)
	case Reg:
		in.addReg(o)
	case Mem:
		in.addMem(&o)
	case Imm:
		in.addImm(o)
	case Label:
		in.addLabel(o)
	default:
		in.fail("nil operand")
	}
}

// fail records the first problem.
func (in *instruction) fail(problem string) {
	if in.problem == "" {
		in.problem = problem
	}
}

// next returns the slot of the next operand. A call of done then accepts the operand or records its problem.
func (in *instruction) next() *arg { return &in.args[min(in.n, len(in.args)-1)] }

func (in *instruction) done(problem string) {
	switch {
	case in.problem != "":
	case in.n == len(in.args):
		in.problem = "too many operands"
	case problem != "":
		in.problem = problem
	default:
		in.n++
	}
}

func (in *instruction) setRounding(r Rounding) {
	in.rounding, in.wide = r, true
	if r < RoundNearest || r > SAE {
		in.fail("unknown rounding")
	}
}

func (in *instruction) setPrefix(p Prefix) {
	in.lock = true
	if p != Lock {
		in.fail("unknown prefix")
	}
}

func (in *instruction) addReg(r Reg) {
	x := in.next()
	x.reg = r
	in.done(in.setReg(x))
}

func (in *instruction) addMem(m *Mem) {
	x := in.next()
	x.reg, x.mem = 0, *m
	in.done(in.setMem(x))
}

func (in *instruction) addImm(n Imm) {
	x := in.next()
	x.reg, x.imm, x.kind = 0, int64(n), kImm64
	problem := ""
	if in.value != nil {
		problem = "two immediates"
	}
	in.value = x
	in.done(problem)
}

func (in *instruction) addLabel(l Label) {
	x := in.next()
	x.reg, x.imm, x.kind = 0, int64(l), kLabel
	problem := ""
	if l <= 0 {
		problem = "no label"
	}
	in.done(problem)
}

// settle derives the properties that depend on all operands, unless an operand has a problem. It returns that problem, or "".
func (in *instruction) settle() (problem string) {
	if in.problem != "" {
		return in.problem
	}
	for i := in.n; i < len(in.args); i++ {
		in.args[i].kind = kAbsent
	}
	in.setSize()
	if in.value != nil {
		in.setImmediate()
	}
	in.plain = in.mask == 0 && in.rounding == 0 && !in.lock
	return ""
}

// setReg and setMem decode the operand x. They return the problem if it is wrong, or "".
func (in *instruction) setReg(x *arg) string {
	r := x.reg
	if !r.valid() {
		return "invalid register"
	}
	if r&regMask != 0 {
		if in.n != 0 {
			return "a write mask belongs on the destination"
		}
		in.mask, in.zeroing = uint8(r.writeMask()), r&regZeroing != 0
		in.wide = true
	}
	switch r & regClass {
	case classGPR:
		x.kind = kR8 << (r & regSize >> sizeShift)
		if r&31 == 0 {
			x.kind |= kAcc
		}
		if r == CL {
			x.kind |= kCL
		}
	case classVec:
		x.kind = kX << in.setVector(r)
	case classMask:
		x.kind = kK
	default:
		return "no register"
	}
	return ""
}

// setVector records a vector register and returns its length: 0, 1 or 2 for 128, 256 or 512 bits.
func (in *instruction) setVector(r Reg) (length int) {
	length = int(r&regSize>>sizeShift) - xmmLog
	in.length = max(in.length, length)
	if r&16 != 0 || length == 2 {
		in.wide = true
	}
	return length
}

func (in *instruction) setMem(x *arg) string {
	v := &x.mem
	if in.memory != nil {
		return "two memory operands"
	}
	in.memory = x
	if v.Label < 0 || v.Label != 0 && (v.Base != 0 || v.Index != 0) {
		return "a label address takes no base and no index"
	}
	if v.Base != 0 && (v.Base < RAX || v.Base > R15) {
		return "the base of an address must be a 64-bit register"
	}
	switch v.Scale {
	case 0, 1, 2, 4, 8:
	default:
		return "the scale of an address must be 1, 2, 4 or 8"
	}
	if v.Mask != 0 {
		if v.Mask <= K0 || v.Mask > K7 || in.n != 0 {
			return "a store's write mask must be k1 to k7"
		}
		in.mask = uint8(v.Mask & 7)
		in.wide = true
	}
	switch v.Size {
	case 0:
		x.kind = kMem
	case 1, 2, 4, 8, 16, 32, 64:
		x.kind = kM8
		for s := v.Size; s > 1; s >>= 1 {
			x.kind <<= 1
		}
	default:
		return "the size of a memory operand must be 1, 2, 4 … 64 bytes"
	}
	if v.Size > 16 {
		in.length = max(in.length, int(v.Size>>6)+1)
	}
	if v.Size == 64 {
		in.wide = true
	}
	switch v.Index & regClass {
	case 0:
	case classGPR:
		if v.Index < RAX || v.Index > R15 || v.Index == RSP {
			return "the index of an address must be a 64-bit register other than rsp"
		}
	case classVec:
		if !v.Index.valid() || v.Index&regMask != 0 {
			return "the index of an address is an invalid register"
		}
		x.kind = kIndexX << in.setVector(v.Index)
		if v.Broadcast {
			return "an address with a vector index cannot be broadcast"
		}
	default:
		return "the index of an address must be a 64-bit register or a vector"
	}
	if v.Broadcast {
		x.kind = kBroadcast
		in.wide = true
	}
	return ""
}

// setSize sets the integer operand size from the first of the first two operands that has one.
func (in *instruction) setSize() {
	for i := 0; i < min(in.n, 2) && in.size < 0; i++ {
		x := &in.args[i]
		switch {
		case x.reg&regClass == classGPR:
			in.size = int(x.reg & regSize >> sizeShift)
		case x.isMem() && x.mem.Size != 0 && x.mem.Size <= 8:
			in.size = [9]int{1: 0, 2: 1, 4: 2, 8: 3}[x.mem.Size]
		}
	}
}

// setImmediate sets the classes of the immediate for the operand size.
func (in *instruction) setImmediate() {
	x := in.value
	v := x.imm
	bits := uint(32)
	if in.size >= 0 && in.size < 2 {
		bits = 8 << in.size
	}
	if in.size >= 0 && in.size < 3 && v >= 0 && v < 1<<bits {
		v = v << (64 - bits) >> (64 - bits) // the immediate was written as unsigned
	}
	if v == v<<(64-bits)>>(64-bits) {
		x.kind |= kImmS
	}
	if v == int64(int8(v)) {
		x.kind |= kImm8s
	}
	if x.imm >= -128 && x.imm <= 255 {
		x.kind |= kImm8
	}
	if x.imm == 1 {
		x.kind |= kOne
	}
}

// match selects the form of the instruction, and reports whether there is one.
func (in *instruction) match(features Features) bool {
	forms := in.op.forms()
	for i := range forms {
		if f := &forms[i]; in.fits(f) && in.allowed(f) && in.choose(f, features) && !in.swapped(f) {
			in.form = f
			return true
		}
	}
	return false
}

// fits sets in.index for a form, and reports whether the form accepts the operands.
func (in *instruction) fits(f *form) bool {
	switch {
	case f.attr&bAll != 0:
		if in.size < 0 || f.attr>>intShift>>in.size&1 == 0 {
			return false
		}
		in.index = in.size
	case f.attr&xyz != 0:
		if f.attr>>vecShift>>in.length&1 == 0 {
			return false
		}
		in.index = in.length
	default:
		in.index = 0
	}
	for j := range f.args {
		if patternKinds[f.args[j]][in.index]&in.args[j].kind == 0 {
			return false
		}
	}
	return true
}

// allowed reports whether the form accepts the modifiers, an unsized memory operand, and the registers of a gather.
func (in *instruction) allowed(f *form) bool {
	if in.plain && f.attr&(sized|kneeds|distinct) == 0 {
		return true
	}
	if in.memory != nil && f.attr&sized != 0 && in.memory.mem.Size == 0 {
		return false
	}
	if in.mask != 0 && f.attr&k1 == 0 || in.zeroing && f.attr&kzero == 0 || in.mask == 0 && f.attr&kneeds != 0 {
		return false
	}
	if in.lock && (f.attr&locks == 0 || !in.args[0].isMem()) {
		return false
	}
	if f.attr&distinct != 0 && !in.areDistinct() {
		return false
	}
	if in.rounding != 0 {
		if in.memory != nil || f.attr&xyz != 0 && in.length != 2 {
			return false
		}
		if in.rounding == SAE {
			return f.attr&sae != 0
		}
		return f.attr&er != 0
	}
	return true
}

// areDistinct reports whether the destination, the index and the mask of a gather are different registers.
func (in *instruction) areDistinct() bool {
	d, index := in.args[0].reg&31, in.args[1].mem.Index&31
	if in.n < 3 {
		return d != index
	}
	mask := in.args[2].reg & 31
	return d != index && d != mask && mask != index
}

// choose selects VEX, EVEX or neither by the form and the operands. It reports whether the encoding is available.
func (in *instruction) choose(f *form, features Features) bool {
	in.isEVEX = false
	switch {
	case f.enc&vex != 0 && !in.wide:
		return f.need&^features == 0
	case f.enc&evex != 0:
		in.isEVEX = true
		return (f.need&evexFeatures|AVX512)&^features == 0
	case f.enc&vex == 0 && !in.wide:
		return f.need&^features == 0
	}
	return false
}

// swapped reports whether the next form, which swaps reg and rm, is shorter.
func (in *instruction) swapped(f *form) bool {
	if f.attr&swap == 0 || in.isEVEX || in.memory != nil {
		return false
	}
	lay := &layouts[f.lay]
	return in.args[lay.rm].reg&8 != 0 && in.args[lay.reg].reg&8 == 0
}

// memBytes returns the bytes of the memory operand by the form, after broadcasting; 0 if the form sets no size.
func (in *instruction) memBytes() int {
	k := kMem
	for j := range in.form.args[:in.n] {
		if in.args[j].isMem() {
			k &= patternKinds[in.form.args[j]][in.index]
		}
	}
	if k == 0 || k == kMem {
		return 0
	}
	n := 1
	for ; k > kM8; k >>= 1 {
		n <<= 1
	}
	return n
}

// elementBytes returns the size of a broadcast element in bytes.
func (in *instruction) elementBytes() int {
	if in.form.enc&ew1 != 0 {
		return 8
	}
	return 4
}
