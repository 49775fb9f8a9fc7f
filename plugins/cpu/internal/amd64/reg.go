package amd64

import "strconv"

// Reg is a general purpose, vector or mask register. The zero Reg is none. A destination may carry a write mask, see
// [Reg.Merge] and [Reg.Zero].
type Reg uint16

// The bits of a Reg: number 0–4, class 5–6, log2 of the size in bytes 7–9, write mask 10–12, zeroing 13, invalid 14.
const (
	regClass   Reg = 3 << 5
	classGPR   Reg = 1 << 5
	classVec   Reg = 2 << 5
	classMask  Reg = 3 << 5
	regSize    Reg = 7 << 7
	sizeShift      = 7
	maskShift      = 10
	regMask    Reg = 7 << maskShift
	regZeroing Reg = 1 << 13
	regInvalid Reg = 1 << 14
)

const xmmLog = 4 // log2 of the bytes of an xmm register

const (
	gpr8  = classGPR | 0<<sizeShift
	gpr16 = classGPR | 1<<sizeShift
	gpr32 = classGPR | 2<<sizeShift
	gpr64 = classGPR | 3<<sizeShift
)

// The 64-bit general purpose registers. [Reg.As] returns their narrower forms.
const (
	RAX Reg = gpr64 + iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// The 32-bit general purpose registers. Writing one clears the upper half of its 64-bit register.
const (
	EAX Reg = gpr32 + iota
	ECX
	EDX
	EBX
	ESP
	EBP
	ESI
	EDI
	R8D
	R9D
	R10D
	R11D
	R12D
	R13D
	R14D
	R15D
)

// The 8-bit registers that instructions use implicitly.
const (
	AL = gpr8 + iota
	CL
)

// The mask registers.
const (
	K0 Reg = classMask + iota
	K1
	K2
	K3
	K4
	K5
	K6
	K7
)

// GPR returns general purpose register n of 1, 2, 4 or 8 bytes. The numbers 0–15 are in encoding order: rax, rcx, rdx, rbx, rsp,
// rbp, rsi, rdi, r8 … Size 1 is the low byte; ah, bh, ch and dh are not supported. Other numbers and sizes yield an invalid register.
func GPR(n, size int) Reg {
	if n < 0 || n > 15 {
		return regInvalid
	}
	return (RAX + Reg(n)).As(size)
}

// X returns xmm register n (0–31; 16 and above need AVX-512), or an invalid register for another n.
func X(n int) Reg { return vec(n, xmmLog) }

// Y returns ymm register n (0–31; 16 and above need AVX-512), or an invalid register for another n.
func Y(n int) Reg { return vec(n, xmmLog+1) }

// Z returns zmm register n (0–31), or an invalid register for another n.
func Z(n int) Reg { return vec(n, xmmLog+2) }

func vec(n int, log Reg) Reg {
	if n < 0 || n > 31 {
		return regInvalid
	}
	return classVec | log<<sizeShift | Reg(n)
}

// K returns mask register n (0–7), or an invalid register for another n.
func K(n int) Reg {
	if n < 0 || n > 7 {
		return regInvalid
	}
	return K0 + Reg(n)
}

// As returns the same register in another size in bytes. A general purpose register has 1, 2, 4 or 8 bytes, a vector register 16,
// 32 or 64. For other sizes it returns an invalid register, which [Assembler.Emit] rejects.
func (r Reg) As(size int) Reg {
	var log Reg
	switch size {
	case 1, 2, 4, 8:
		if r&regClass != classGPR {
			return regInvalid
		}
		log = [9]Reg{1: 0, 2: 1, 4: 2, 8: 3}[size]
	case 16, 32, 64:
		if r&regClass != classVec {
			return regInvalid
		}
		log = [65]Reg{16: 4, 32: 5, 64: 6}[size]
	default:
		return regInvalid
	}
	return r&^regSize | log<<sizeShift
}

// Merge returns the destination r with the write mask k (k1–k7): lanes whose mask bit is clear keep their old value. A zero k
// removes the mask, and any other k makes the result invalid.
func (r Reg) Merge(k Reg) Reg {
	switch {
	case k == 0:
		return r &^ (regMask | regZeroing)
	case k <= K0 || k > K7:
		return r | regInvalid
	}
	return r&^(regMask|regZeroing) | (k&7)<<maskShift
}

// Zero returns the destination r with the write mask k (k1–k7): lanes whose mask bit is clear become zero. A zero k removes the
// mask, and any other k makes the result invalid.
func (r Reg) Zero(k Reg) Reg {
	if k == 0 {
		return r.Merge(k)
	}
	return r.Merge(k) | regZeroing
}

// Num returns the register's number in its class.
func (r Reg) Num() int { return int(r & 31) }

// Bytes returns the register's size in bytes; 0 for a mask register and for no register.
func (r Reg) Bytes() int {
	switch r & regClass {
	case classGPR, classVec:
		return 1 << (r & regSize >> sizeShift)
	}
	return 0
}

// IsGPR reports whether r is a general purpose register.
func (r Reg) IsGPR() bool { return r&regClass == classGPR }

// IsVec reports whether r is a vector register.
func (r Reg) IsVec() bool { return r&regClass == classVec }

// valid reports whether r is zero or a register that exists.
func (r Reg) valid() bool {
	if r&regZeroing != 0 && r&regMask == 0 || r >= regInvalid {
		return false
	}
	log, n := r&regSize>>sizeShift, r&31
	switch r & regClass {
	case classGPR:
		return log <= 3 && n < 16
	case classVec:
		return log >= xmmLog && log <= xmmLog+2
	case classMask:
		return log == 0 && n < 8
	}
	return r == 0
}

// writeMask returns the number of r's write mask, 0 for none.
func (r Reg) writeMask() int { return int(r & regMask >> maskShift) }

func (Reg) operand() {}

var legacyNames = [8]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}

// String returns the register's name in Intel syntax, with its write mask.
func (r Reg) String() string { return string(r.append(nil)) }

func (r Reg) append(b []byte) []byte {
	if !r.valid() {
		return append(b, "(invalid register)"...)
	}
	n := r.Num()
	switch r & regClass {
	case classGPR:
		b = appendGPR(b, n, r.Bytes())
	case classVec:
		b = append(b, "xyz"[r&regSize>>sizeShift-xmmLog], 'm', 'm')
		b = strconv.AppendInt(b, int64(n), 10)
	case classMask:
		b = append(b, 'k', '0'+byte(n))
	default:
		return append(b, "(no register)"...)
	}
	if k := r.writeMask(); k != 0 {
		b = append(b, '{', 'k', '0'+byte(k), '}')
	}
	if r&regZeroing != 0 {
		b = append(b, "{z}"...)
	}
	return b
}

func appendGPR(b []byte, n, size int) []byte {
	if n >= 8 {
		b = append(b, 'r')
		b = strconv.AppendInt(b, int64(n), 10)
		switch size {
		case 1:
			b = append(b, 'b')
		case 2:
			b = append(b, 'w')
		case 4:
			b = append(b, 'd')
		}
		return b
	}
	name := legacyNames[n]
	switch size {
	case 1:
		if n < 4 {
			return append(b, name[0], 'l')
		}
		return append(append(b, name...), 'l')
	case 4:
		b = append(b, 'e')
	case 8:
		b = append(b, 'r')
	}
	return append(b, name...)
}
