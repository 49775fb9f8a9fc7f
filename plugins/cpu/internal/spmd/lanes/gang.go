package lanes

import (
	"encoding/binary"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Splat emits a broadcast of a general purpose register to a new vector with elements of type t.
func (g *Gang) Splat(r vcode.Reg, t ir.Type) vcode.Reg {
	d := g.NewVec()
	if t.Size() == 8 {
		g.Def(amd64.VPBROADCASTQ, d.Z(), r.G8())
	} else {
		g.Def(amd64.VPBROADCASTD, d.Z(), r.G4())
	}
	return d
}

// MoveImm emits a move of the constant n of type t to a general purpose register.
func (g *Gang) MoveImm(r vcode.Reg, n int64, t ir.Type) {
	if n >= 0 && n < 1<<32 || t.Size() < 8 {
		g.Def(amd64.MOV, r.G4(), vcode.Imm(int64(uint32(n))))
	} else {
		g.Def(amd64.MOV, r.G8(), vcode.Imm(n))
	}
}

// LaneOffsets returns the vector constant whose elements are the numbers of the lanes of register i, each multiplied by size.
func (g *Gang) LaneOffsets(i, size int) vcode.Reg {
	data := make([]byte, 0, 64)
	for j := range g.Target.Lanes {
		data = binary.LittleEndian.AppendUint32(data, uint32((g.Target.Lanes*i+j)*size))
	}
	return g.Pattern(data)
}

// Shuffle returns a new register with those elements of a and b that the instruction op selects. how are its further operands.
func (g *Gang) Shuffle(op amd64.Op, a, b vcode.Reg, how ...vcode.Arg) vcode.Reg {
	d := g.NewVec()
	g.Def(op, append([]vcode.Arg{d.Z(), a.Z(), b.Z()}, how...)...)
	return d
}

// TurnQuads transposes 4 × 4 elements in each 128-bit part: part b of result j has element j of part b of each row.
func (g *Gang) TurnQuads(rows [4]vcode.Reg) [4]vcode.Reg {
	low, high := g.Shuffle(amd64.VUNPCKLPS, rows[0], rows[1]), g.Shuffle(amd64.VUNPCKHPS, rows[0], rows[1])
	low2, high2 := g.Shuffle(amd64.VUNPCKLPS, rows[2], rows[3]), g.Shuffle(amd64.VUNPCKHPS, rows[2], rows[3])
	return [4]vcode.Reg{g.Shuffle(amd64.VUNPCKLPD, low, low2), g.Shuffle(amd64.VUNPCKHPD, low, low2),
		g.Shuffle(amd64.VUNPCKLPD, high, high2), g.Shuffle(amd64.VUNPCKHPD, high, high2)}
}

// Shifted returns v shifted up by a number of bytes; the end of before fills the gap. The number is a multiple of 4, on AVX2 at most 16.
func (g *Gang) Shifted(before, v vcode.Reg, bytes int) vcode.Reg {
	d := g.NewVec()
	if g.Target.HasMasks {
		g.Def(amd64.VALIGND, d.Z(), v.Z(), before.Z(), vcode.Imm(int64(g.Target.Lanes-bytes/4))).Folds(2, 4)
		return d
	}
	m := g.NewVec()
	g.Def(amd64.VPERM2I128, m.Z(), before.Z(), v.Z(), vcode.Imm(0x21))
	if bytes == 16 {
		return m
	}
	g.Def(amd64.VPALIGNR, d.Z(), v.Z(), m.Z(), vcode.Imm(int64(16-bytes)))
	return d
}

// Swapped returns v with adjacent blocks of a number of bytes exchanged.
func (g *Gang) Swapped(v vcode.Reg, bytes int) vcode.Reg {
	d := g.NewVec()
	switch {
	case bytes == 4:
		g.Def(amd64.VPSHUFD, d.Z(), v.Z(), vcode.Imm(0xb1))
	case bytes == 8:
		g.Def(amd64.VPSHUFD, d.Z(), v.Z(), vcode.Imm(0x4e))
	case !g.Target.HasMasks:
		g.Def(amd64.VPERM2I128, d.Z(), v.Z(), v.Z(), vcode.Imm(1))
	case bytes == 16:
		g.Def(amd64.VSHUFI64X2, d.Z(), v.Z(), v.Z(), vcode.Imm(0xb1))
	default:
		g.Def(amd64.VSHUFI64X2, d.Z(), v.Z(), v.Z(), vcode.Imm(0x4e))
	}
	return d
}
