package vcode

import (
	"bytes"
	"encoding/binary"
)

// ConstKey identifies a constant: by its element, or by all its bytes.
type ConstKey struct {
	Bits uint64 // the element; 0 if Elem is 64
	Elem uint8  // its size in bytes; 64 if data has all bytes
	data string // all bytes, if Elem is 64
}

// Constant returns the register of a vector constant with equal elements of 4 or 8 bytes.
func (f *Func) Constant(bits uint64, elem int) Reg {
	key := ConstKey{Bits: bits, Elem: uint8(elem)}
	if elem == 4 {
		key.Bits &= 0xffffffff
	}
	if r, ok := f.Consts[key]; ok {
		return r
	}
	r := f.newConst(key)
	v := &f.Regs[r]
	v.Elem = key.Elem
	switch {
	case f.Target.wholeConstants:
		v.Elem, v.Label = 64, f.Asm.Const(repeat(bits, elem, f.Target.Bytes()), f.Target.Bytes())
	case elem == 4:
		v.Label = f.Asm.Const32(uint32(bits)).Label
	default:
		v.Label = f.Asm.Const64(bits).Label
	}
	return r
}

// Pattern returns the register of a vector constant whose bytes are data.
func (f *Func) Pattern(data []byte) Reg {
	key := ConstKey{Elem: 64, data: string(data)}
	if r, ok := f.Consts[key]; ok {
		return r
	}
	r := f.newConst(key)
	f.Regs[r].Elem, f.Regs[r].Label = 64, f.Asm.Const(data, len(data))
	return r
}

func (f *Func) newConst(key ConstKey) Reg {
	r := f.NewVec()
	f.Regs[r].Shared = true
	f.Consts[key] = r
	f.ConstOrder = append(f.ConstOrder, r)
	return r
}

// repeat returns n bytes of equal elements, each of elem bytes.
func repeat(bits uint64, elem, n int) []byte {
	var one [8]byte
	binary.LittleEndian.PutUint64(one[:], bits)
	return bytes.Repeat(one[:elem], n/elem)
}
