package isel

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// indexFromMemory returns a function that emits the index of a lane of register i, or nil. It applies to histograms, where
// the index is some bits of an element that is loaded just before. Each lane then loads its element itself, which is faster
// than extracting it from a vector. The mask of bits bounds the index even if memory has changed.
//
// The element size must be a scale factor of addresses, which is returned as scale.
func (l *Lowerer) indexFromMemory(in *ir.Instr, i int, scale uint8) func(lane int) vcode.Reg {
	v := in.Args[0].Def
	if l.Cur != nil || l.Options.Unchecked || l.Spec.Is2D() || in.NumIndices() != 1 || in.Proved&1 == 0 || v == nil || v.Op != ir.And {
		return nil
	}
	if in.Resolve().Strides[0] != int(scale) {
		return nil // addresses need scaled offsets
	}
	bits, ok := plan.SmallConst(v.Args[1])
	load := v.Args[0].Def
	if !ok || bits < 0 || load == nil || load.Op != ir.Load || load.Array.Space != ir.Global || !l.justBefore(load, in) {
		return nil
	}
	if r := load.Resolve(); r.Scalar != ir.I32 && r.Scalar != ir.U32 || analysis.Stride(l.Affine, load, 0) != 4 {
		return nil
	}
	p := l.memRefOf(load)
	if p.access != contiguous || p.mask != nil {
		return nil
	}
	row := l.registersOf(&p, l.GangRegs)[i]
	return func(lane int) vcode.Reg {
		m, d := row, l.NewGPR()
		m.Disp += int32(4 * lane)
		switch bits {
		case 0xff:
			m.Size = 1
			l.Def(amd64.MOVZX, d.G4(), m.At())
		case 0xffff:
			m.Size = 2
			l.Def(amd64.MOVZX, d.G4(), m.At())
		default:
			m.Size = 4
			l.Def(amd64.MOV, d.G4(), m.At())
			l.Mod(amd64.AND, d.G4(), vcode.Imm(bits))
		}
		return d
	}
}

// justBefore reports whether a load precedes an instruction in the current block, with no stores, barriers or calls between
// them.
func (l *Lowerer) justBefore(load, in *ir.Instr) bool {
	found := false
	for _, x := range l.inBlock.Instrs {
		switch {
		case x == load:
			found = true
		case x == in:
			return found
		case x.Op != ir.Load && !x.IsPure():
			found = false
		}
	}
	return false
}
