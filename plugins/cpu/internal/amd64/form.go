package amd64

// form is a row of the instruction tables: an instruction with its operands and its encoding. A row covers all operand
// lengths, and both the VEX and the EVEX encoding if they differ only in the prefix. The first matching row of an
// instruction is used.
type form struct {
	op   Op
	args args
	lay  layout
	enc  encoding
	opc  byte
	attr attribute
	need Features
}

// args are the operands of a form in Intel order, the destination first.
type args [4]pattern

// kind is a set of operand classes, one bit each. An operand has all classes that it can be encoded as; it matches a pattern
// if their sets intersect.
type kind uint32

const (
	kR8 kind = 1 << iota
	kR16
	kR32
	kR64
	kX
	kY
	kZ
	kK
	kM8
	kM16
	kM32
	kM64
	kM128
	kM256
	kM512
	kBroadcast
	kIndexX // memory with a vector index
	kIndexY
	kIndexZ
	kAcc // al, ax, eax, rax
	kCL
	kOne   // the immediate 1
	kImm8s // sign-extended to the operand size
	kImm8
	kImmS // of the operand size, but 32 bits sign-extended for 64
	kImm64
	kLabel
	kAbsent

	kMem = kM8 | kM16 | kM32 | kM64 | kM128 | kM256 | kM512
)

// pattern is an operand position of a form. "S" patterns depend on the integer operand size (8 to 64 bits); "L", "H", "Q" and
// "O" patterns depend on the vector length (128 to 512 bits).
type pattern uint8

const (
	none pattern = iota

	rS   // general purpose register of the operand size
	mS   // memory of the operand size
	rmS  // rS or mS
	accS // al, ax, eax or rax
	imS  // immediate of the operand size
	im8s // immediate of 8 bits, sign-extended
	im8
	im64
	one
	regCL
	r8
	r16
	r32
	r64
	rm8
	rm16
	rm32
	rm64
	mem // memory of any size: an address
	m8
	m16
	m32
	m64
	m128
	m256
	r32m8
	r32m16
	label

	kreg
	km8
	km16
	km32
	km64

	vL  // vector of the instruction's length
	mL  // memory of this length
	vLm // vL or mL
	vLb // vL or mL, or one element broadcast
	mLb // mL, or one element broadcast
	vH  // half the length, at least xmm
	vHm
	vHb
	vQ // a quarter
	vQm
	vO // an eighth
	vOm
	xmm
	xm8
	xm16
	xm32
	xm64
	xm128
	ymm
	ym256
	ixL // memory indexed by a vector of the instruction's length
	ixH // by one of half the length

	numPatterns
)

// patternKinds maps a pattern to the operand classes that it accepts, for each operand size or vector length.
var patternKinds = [numPatterns][4]kind{
	none:   fixed(kAbsent),
	rS:     {kR8, kR16, kR32, kR64},
	mS:     {kM8, kM16, kM32, kM64},
	rmS:    {kR8 | kM8, kR16 | kM16, kR32 | kM32, kR64 | kM64},
	accS:   fixed(kAcc),
	imS:    fixed(kImmS),
	im8s:   fixed(kImm8s),
	im8:    fixed(kImm8),
	im64:   fixed(kImm64),
	one:    fixed(kOne),
	regCL:  fixed(kCL),
	r8:     fixed(kR8),
	r16:    fixed(kR16),
	r32:    fixed(kR32),
	r64:    fixed(kR64),
	rm8:    fixed(kR8 | kM8),
	rm16:   fixed(kR16 | kM16),
	rm32:   fixed(kR32 | kM32),
	rm64:   fixed(kR64 | kM64),
	mem:    fixed(kMem),
	m8:     fixed(kM8),
	m16:    fixed(kM16),
	m32:    fixed(kM32),
	m64:    fixed(kM64),
	m128:   fixed(kM128),
	m256:   fixed(kM256),
	r32m8:  fixed(kR32 | kM8),
	r32m16: fixed(kR32 | kM16),
	label:  fixed(kLabel),
	kreg:   fixed(kK),
	km8:    fixed(kK | kM8),
	km16:   fixed(kK | kM16),
	km32:   fixed(kK | kM32),
	km64:   fixed(kK | kM64),
	vL:     {kX, kY, kZ},
	mL:     {kM128, kM256, kM512},
	vLm:    {kX | kM128, kY | kM256, kZ | kM512},
	vLb:    {kX | kM128 | kBroadcast, kY | kM256 | kBroadcast, kZ | kM512 | kBroadcast},
	mLb:    {kM128 | kBroadcast, kM256 | kBroadcast, kM512 | kBroadcast},
	vH:     {kX, kX, kY},
	vHm:    {kX | kM64, kX | kM128, kY | kM256},
	vHb:    {kX | kM64 | kBroadcast, kX | kM128 | kBroadcast, kY | kM256 | kBroadcast},
	vQ:     fixed(kX),
	vQm:    {kX | kM32, kX | kM64, kX | kM128},
	vO:     fixed(kX),
	vOm:    {kX | kM16, kX | kM32, kX | kM64},
	xmm:    fixed(kX),
	xm8:    fixed(kX | kM8),
	xm16:   fixed(kX | kM16),
	xm32:   fixed(kX | kM32),
	xm64:   fixed(kX | kM64),
	xm128:  fixed(kX | kM128),
	ymm:    fixed(kY),
	ym256:  fixed(kY | kM256),
	ixL:    {kIndexX, kIndexY, kIndexZ},
	ixH:    {kIndexX, kIndexX, kIndexY},
}

func fixed(k kind) [4]kind { return [4]kind{k, k, k, k} }

// layout maps the operands of a form to the fields of the encoding.
type layout uint8

const (
	noOperands layout = iota
	rel               // a label
	opReg             // register in the opcode
	m                 // rm, digit in reg
	rm                // reg, rm
	mr                // rm, reg
	rvm               // reg, vvvv, rm
	rmv               // reg, rm, vvvv
	vm                // vvvv, rm, digit in reg
	rvmr              // reg, vvvv, rm, upper half of the immediate byte
	mvr               // rm, vvvv, reg
	digitOnly         // ModRM of the digit and register 0
	numLayouts
)

// layouts has the operand index of each field, -1 for none.
var layouts = [numLayouts]struct{ reg, rm, vvvv, is4 int8 }{
	noOperands: {-1, -1, -1, -1},
	rel:        {-1, -1, -1, -1},
	opReg:      {-1, 0, -1, -1},
	m:          {-1, 0, -1, -1},
	rm:         {0, 1, -1, -1},
	mr:         {1, 0, -1, -1},
	rvm:        {0, 2, 1, -1},
	rmv:        {0, 1, 2, -1},
	vm:         {-1, 1, 0, -1},
	rvmr:       {0, 2, 1, 3},
	mvr:        {2, 0, 1, -1},
	digitOnly:  {-1, -1, -1, -1},
}

// encoding has the fixed fields of an instruction's prefixes and ModRM byte.
type encoding uint16

const (
	p66 encoding = 1 + iota // mandatory prefix
	pF3
	pF2
	ppMask encoding = 3
)

const (
	o0F      encoding = (1 + iota) << 2 // opcode map
	o0F38                               // 0F 38
	o0F3A                               // 0F 3A
	mapShift          = 2
	mapMask  encoding = 3 << mapShift
)

const (
	d0 encoding = iota << 4 // digit in ModRM.reg
	d1
	d2
	d3
	d4
	d5
	d6
	d7
	digitShift          = 4
	vex        encoding = 1 << 7  // has a VEX encoding
	evex       encoding = 1 << 8  // has an EVEX encoding
	vw1        encoding = 1 << 9  // VEX.W or REX.W
	ew1        encoding = 1 << 10 // EVEX.W
	l1         encoding = 1 << 11 // VEX.L of an instruction without vectors
	w1                  = vw1 | ew1
	both                = vex | evex
)

// attribute is a set of properties of a form: allowed prefixes, operand sizes, and the scale of disp8.
type attribute uint32

const (
	// n1 … n8 are the scale of disp8 in bytes if it is not the size of the memory operand.
	n1 attribute = 1 << iota
	n2
	n4
	n8
	b8 // operand sizes of integer forms; the opcode of the 8-bit form is one less
	b16
	b32
	b64
	lx // vector lengths
	ly
	lz
	k1       // accepts a merging write mask
	kzero    // accepts a zeroing write mask if the destination is a register
	kneeds   // requires a write mask
	er       // accepts static rounding
	sae      // accepts the suppression of exceptions
	sized    // a memory operand must have its size set
	locks    // accepts the lock prefix
	swap     // the next form is shorter for a high register in rm and a low one in reg
	distinct // destination, index and mask of a gather must differ

	nMask   = n1 | n2 | n4 | n8
	kz      = k1 | kzero
	xyz     = lx | ly | lz
	xy      = lx | ly
	yz      = ly | lz
	b163264 = b16 | b32 | b64
	bAll    = b8 | b163264
	b3264   = b32 | b64
)

const (
	intShift = 4 // bit number of b8
	vecShift = 8 // bit number of lx
)

// index maps an operation to its rows.
var index = makeIndex()

type span struct{ family, first, count uint16 }

var families = [...][]form{
	integerForms, bitForms, maskForms, moveForms, gatherForms, floatForms, fmaForms, convertForms, vectorIntegerForms,
	shuffleForms,
}

func makeIndex() (index [numOps]span) {
	for i, forms := range families {
		for j := 0; j < len(forms); {
			k := j + 1
			for k < len(forms) && forms[k].op == forms[j].op {
				k++
			}
			index[forms[j].op] = span{uint16(i), uint16(j), uint16(k - j)}
			j = k
		}
	}
	return index
}

func (op Op) forms() []form {
	if op >= numOps {
		return nil
	}
	s := index[op]
	return families[s.family][s.first : s.first+s.count]
}
