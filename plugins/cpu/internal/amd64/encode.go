package amd64

import "encoding/binary"

// numbers are the register numbers in the fields of the encoding. If rm is a register, index holds bit 4 of its number as
// bit 3 of an index: EVEX encodes both in the same bit.
type numbers struct{ reg, rm, index, vvvv uint8 }

// encode appends the encoding of the instruction by its matched form.
func (a *Assembler) encode(in *instruction) {
	f := in.form
	if f.lay == rel {
		a.branch(f.opc, Label(in.args[0].imm))
		return
	}
	lay := &layouts[f.lay]
	n := numbers{reg: uint8(f.enc >> digitShift & 7)}
	if lay.reg >= 0 {
		n.reg = uint8(in.args[lay.reg].reg & 31)
	}
	if lay.vvvv >= 0 {
		n.vvvv = uint8(in.args[lay.vvvv].reg & 31)
	}
	var address *Mem
	if lay.rm >= 0 {
		if x := &in.args[lay.rm]; x.isMem() {
			address = &x.mem
			n.rm, n.index = uint8(address.Base&31), uint8(address.Index&31)
		} else {
			n.rm = uint8(x.reg & 31)
			n.index = n.rm >> 1 & 8
		}
	}

	b := a.code
	opc := f.opc
	unit := int32(1) // scale of disp8
	switch {
	case in.isEVEX:
		b = in.appendEVEX(b, n, address)
		if address != nil {
			unit = in.dispUnit()
		}
	case f.enc&vex != 0:
		b = in.appendVEX(b, n)
	default:
		b = in.appendLegacy(b, n)
		if f.attr&b8 != 0 && in.size == 0 {
			opc--
		}
	}

	imm, immBytes := in.immediate()
	if lay.is4 >= 0 {
		imm, immBytes = int64(in.args[lay.is4].reg&31)<<4, 1
	}
	switch {
	case f.lay == opReg:
		b = append(b, opc|n.rm&7)
	case f.lay == digitOnly:
		b = append(b, opc, 0xC0|n.reg<<3)
	case lay.rm < 0:
		b = append(b, opc)
	case address != nil:
		b = a.appendAddress(append(b, opc), n.reg&7<<3, address, unit, immBytes)
	default:
		b = append(b, opc, 0xC0|n.reg&7<<3|n.rm&7)
	}
	for range immBytes {
		b = append(b, byte(imm))
		imm >>= 8
	}
	a.code = b
}

// immediate returns the immediate operand and its encoded size in bytes, which may be 0.
func (in *instruction) immediate() (value int64, size int) {
	if in.value == nil {
		return 0, 0
	}
	switch in.form.args[in.n-1] { // the immediate is the last operand in all forms
	case im8, im8s:
		return in.value.imm, 1
	case imS:
		return in.value.imm, min(1<<in.size, 4)
	case im64:
		return in.value.imm, 8
	}
	return 0, 0 // the implicit 1 of a shift
}

func (in *instruction) appendLegacy(b []byte, n numbers) []byte {
	f := in.form
	integer := f.attr&bAll != 0
	if integer && in.size == 1 {
		b = append(b, 0x66)
	}
	if in.lock {
		b = append(b, byte(Lock))
	}
	switch f.enc & ppMask {
	case p66:
		b = append(b, 0x66)
	case pF3:
		b = append(b, 0xF3)
	case pF2:
		b = append(b, 0xF2)
	}
	rex := n.reg>>3&1<<2 | n.index>>3&1<<1 | n.rm>>3&1
	if f.enc&vw1 != 0 || integer && in.size == 3 {
		rex |= 8
	}
	if rex == 0 && in.lowByte() {
		rex = 0x40
	}
	if rex != 0 {
		b = append(b, 0x40|rex)
	}
	switch f.enc & mapMask {
	case o0F:
		b = append(b, 0x0F)
	case o0F38:
		b = append(b, 0x0F, 0x38)
	case o0F3A:
		b = append(b, 0x0F, 0x3A)
	}
	return b
}

// lowByte reports whether an operand is spl, bpl, sil or dil. Without a REX prefix, their numbers encode ah, ch, dh and bh.
func (in *instruction) lowByte() bool {
	for j := range in.args[:in.n] {
		if r := in.args[j].reg; r&^3 == gpr8|4 {
			return true
		}
	}
	return false
}

func (in *instruction) appendVEX(b []byte, n numbers) []byte {
	f := in.form
	last := byte(f.enc&ppMask) | ^n.vvvv&15<<3
	if f.enc&l1 != 0 || f.attr&xyz != 0 && in.length == 1 {
		last |= 4
	}
	w := f.enc&vw1 != 0 || f.attr&bAll != 0 && in.size == 3
	if f.enc&mapMask == o0F && !w && (n.rm|n.index)&8 == 0 {
		return append(b, 0xC5, ^n.reg>>3&1<<7|last)
	}
	if w {
		last |= 0x80
	}
	return append(b, 0xC4, ^n.reg>>3&1<<7|^n.index>>3&1<<6|^n.rm>>3&1<<5|byte(f.enc&mapMask>>mapShift), last)
}

func (in *instruction) appendEVEX(b []byte, n numbers, address *Mem) []byte {
	f := in.form
	p0 := ^n.reg>>3&1<<7 | ^n.index>>3&1<<6 | ^n.rm>>3&1<<5 | ^n.reg>>4&1<<4 | byte(f.enc&mapMask>>mapShift)
	p1 := ^n.vvvv&15<<3 | 4 | byte(f.enc&ppMask)
	if f.enc&ew1 != 0 {
		p1 |= 0x80
	}
	high := n.vvvv >> 4
	if address != nil && address.Index.IsVec() {
		high = n.index >> 4 // EVEX encodes bit 4 of a vector index in the bit of vvvv's
	}
	p2 := in.mask | ^high&1<<3
	switch {
	case in.rounding == SAE:
		p2 |= 0x10
	case in.rounding != 0:
		p2 |= 0x10 | byte(in.rounding-RoundNearest)<<5
	case f.attr&xyz != 0:
		p2 |= byte(in.length) << 5
	}
	if address != nil && address.Broadcast {
		p2 |= 0x10
	}
	if in.zeroing {
		p2 |= 0x80
	}
	return append(b, 0x62, p0, p1, p2)
}

// dispUnit returns the scale of an EVEX instruction's 8-bit displacement.
func (in *instruction) dispUnit() int32 {
	if n := in.form.attr & nMask; n != 0 {
		return int32(n)
	}
	if in.memory.mem.Broadcast {
		return int32(in.elementBytes())
	}
	return int32(max(in.memBytes(), 1))
}

// unknown is the placeholder of a displacement that Finish patches.
const unknown = "\x00\x00\x00\x00"

// appendAddress appends ModRM, SIB and displacement. reg is the shifted reg field, unit the scale of an 8-bit displacement, and
// trailing the number of bytes that follow in the instruction.
func (a *Assembler) appendAddress(b []byte, reg uint8, v *Mem, unit int32, trailing int) []byte {
	const sib, none = 4, 5 // values of rm and base; index 4 also means none
	if v.Label != 0 {
		b = append(b, reg|5)
		a.code = b
		a.refer(v.Label, v.Disp, trailing)
		return append(b, unknown...)
	}
	scale := [9]uint8{2: 1 << 6, 4: 2 << 6, 8: 3 << 6}[v.Scale]
	index := uint8(4) << 3
	if v.Index != 0 {
		index = uint8(v.Index&7) << 3
	}
	if v.Base == 0 {
		b = append(b, reg|sib, scale|index|none)
		return binary.LittleEndian.AppendUint32(b, uint32(v.Disp))
	}
	base := uint8(v.Base & 7)
	mod := uint8(2) << 6
	switch {
	case v.Disp == 0 && base != 5: // rbp and r13 as base need a displacement
		mod = 0
	case v.Disp%unit == 0 && v.Disp/unit == int32(int8(v.Disp/unit)):
		mod = 1 << 6
	}
	if v.Index != 0 || base == sib {
		b = append(b, mod|reg|sib, scale|index|base)
	} else {
		b = append(b, mod|reg|base)
	}
	switch mod {
	case 1 << 6:
		b = append(b, byte(v.Disp/unit))
	case 2 << 6:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Disp))
	}
	return b
}
