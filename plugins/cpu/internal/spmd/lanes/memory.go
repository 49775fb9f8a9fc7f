package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Flat returns an address without an index, as gathers and scatters need it. If m has an index, Flat emits the sum of its parts.
func (g *Gang) Flat(m vcode.Mem) vcode.Mem {
	if m.Index == 0 {
		return m
	}
	d := g.NewGPR()
	g.Def(amd64.LEA, d.G8(), m.At())
	return vcode.Mem{Base: d}
}

// LoadRow emits a load to d of adjacent elements of type t, for the lanes of a mask (0: all). Narrow elements are extended or converted
// to 32 bits. Other lanes become 0.
func (g *Gang) LoadRow(t ir.Type, d vcode.Reg, m vcode.Mem, mask vcode.Reg) {
	op := amd64.VMOVUPS
	switch t {
	case ir.Bool, ir.U8:
		op, m.Size = amd64.VPMOVZXBD, 16
	case ir.I8:
		op, m.Size = amd64.VPMOVSXBD, 16
	case ir.U16, ir.BF16:
		op, m.Size = amd64.VPMOVZXWD, 32
	case ir.I16:
		op, m.Size = amd64.VPMOVSXWD, 32
	case ir.F16:
		op, m.Size = amd64.VCVTPH2PS, 32
	case ir.I64, ir.U64, ir.F64:
		op = amd64.VMOVUPD
	}
	g.Def(op, d.Z(), m.At()).Zeroed(mask)
	if t == ir.BF16 {
		g.Def(amd64.VPSLLD, d.Z(), d.Z(), vcode.Imm(16))
	}
}

// StoreRow emits a contiguous store of s as elements of type t, for the lanes of a mask (0: all).
func (g *Gang) StoreRow(t ir.Type, m vcode.Mem, s, mask vcode.Reg) {
	switch t {
	case ir.Bool, ir.U8, ir.I8:
		m.Size = 16
		g.Use(amd64.VPMOVDB, m.At(), s.Z()).Mask = mask
	case ir.U16, ir.I16, ir.BF16:
		m.Size = 32
		g.Use(amd64.VPMOVDW, m.At(), s.Z()).Mask = mask
	case ir.F16:
		m.Size = 32
		g.Use(amd64.VCVTPS2PH, m.At(), s.Z(), vcode.Imm(0)).Mask = mask
	case ir.I64, ir.U64, ir.F64:
		g.Use(amd64.VMOVUPD, m.At(), s.Z()).Mask = mask
	default:
		g.Use(amd64.VMOVUPS, m.At(), s.Z()).Mask = mask
	}
}

// GatherInto emits a gather of the lanes of a mask, which it clears. The other lanes of d keep their elements.
func (g *Gang) GatherInto(op amd64.Op, d vcode.Reg, m vcode.Mem, mask vcode.Reg) {
	in := g.Mod(op, d.Z(), m.At())
	in.Mask, in.Early = mask, true
}

// HalfOffsets returns the offsets of register i of 64-bit elements, in the lower half of a vector.
func (g *Gang) HalfOffsets(offs []vcode.Reg, i int) vcode.Reg {
	o := vcode.Part(offs, i/2)
	if i%2 == 0 {
		return o
	}
	d := g.NewVec()
	g.Def(amd64.VEXTRACTI64X4, d.Y(), o.Z(), vcode.Imm(1))
	return d
}

// LoadEach emits 8 separate loads to d of 32-bit elements, at the scaled offsets from the address uni. A vector must have 8 lanes.
func (g *Gang) LoadEach(uni vcode.Mem, offs vcode.Reg, scale uint8, d vcode.Reg) {
	var halves [2]vcode.Reg
	for h := range halves {
		from := offs
		if h == 1 {
			from = g.NewVec()
			g.Def(amd64.VEXTRACTI64X4, from.Y(), offs.Z(), vcode.Imm(1))
		}
		for pair := range int64(2) {
			both, first := g.NewGPR(), g.NewGPR()
			if pair == 0 {
				g.Def(amd64.VMOVQ, both.G8(), from.X())
			} else {
				g.Def(amd64.VPEXTRQ, both.G8(), from.X(), vcode.Imm(1))
			}
			g.Def(amd64.MOVSXD, first.G8(), both.G4())
			g.Mod(amd64.SAR, both.G8(), vcode.Imm(32))
			for n, index := range [2]vcode.Reg{first, both} {
				at, lane := uni, 2*pair+int64(n)
				at.Index, at.IndexSize, at.Scale, at.Size = index, 8, scale, 4
				next := g.NewVec()
				if lane == 0 {
					g.Def(amd64.VMOVSS, next.X(), at.At())
				} else {
					g.Def(amd64.VINSERTPS, next.X(), halves[h].X(), at.At(), vcode.Imm(lane<<4))
				}
				halves[h] = next
			}
		}
	}
	g.Def(amd64.VINSERTI64X4, d.Z(), halves[0].Z(), halves[1].Y(), vcode.Imm(1))
}

// Clear emits stores of the register zero to n bytes of memory from m on. n is a multiple of 8, and m has no index.
func (g *Gang) Clear(m vcode.Mem, n int, zero vcode.Reg) {
	whole := g.Target.Bytes()
	if n <= 16*whole {
		for n > 0 {
			switch {
			case n >= whole:
				g.Use(amd64.VMOVUPS, m.At(), zero.Z())
				m.Disp, n = m.Disp+int32(whole), n-whole
			case n >= whole/2:
				g.Use(amd64.VMOVUPS, m.At(), zero.Y())
				m.Disp, n = m.Disp+int32(whole/2), n-whole/2
			case n >= 16:
				g.Use(amd64.VMOVUPS, m.At(), zero.X())
				m.Disp, n = m.Disp+16, n-16
			default:
				g.Use(amd64.VMOVSD, m.At(), zero.X())
				m.Disp, n = m.Disp+8, n-8
			}
		}
		return
	}
	i := g.NewGPR()
	top := g.NewLabel()
	bulk := n / whole * whole
	g.Def(amd64.MOV, i.G4(), vcode.Imm(0))
	g.Mark(vcode.KindLoopBegin)
	g.Bind(top)
	a := m
	a.Index, a.IndexSize, a.Scale = i, 8, 1
	g.Use(amd64.VMOVUPS, a.At(), zero.Z())
	g.Mod(amd64.ADD, i.G8(), vcode.Imm(int64(whole)))
	g.Use(amd64.CMP, i.G8(), vcode.Imm(int64(bulk)))
	g.Jump(amd64.JB, top)
	g.Mark(vcode.KindLoopEnd)
	m.Disp += int32(bulk)
	if n > bulk {
		g.Clear(m, n-bulk, zero)
	}
}
