package memory

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// span returns the difference n between the last and the first lane of a gang, for a value with strides s. The result grows reports
// whether the strides are small, and lane 0 has the least value and the last lane the greatest. For a gang of one row, the stride must
// be positive.
func (l *Addresses) span(s analysis.Strides) (n int32, grows bool) {
	if s[0] < 0 || s[0] > vcode.MaxPeel || l.Spec.Is2D() && (s[1] < 0 || s[1] > vcode.MaxPeel) {
		return 0, false
	}
	if !l.Spec.Is2D() {
		return s[0] * int32(l.Lanes()-1), s[0] > 0
	}
	return s[0]*int32(l.Width()-1) + s[1]*int32(l.Height()-1), true
}

// rowsApart reports whether accesses by the rows of a 2-D gang can use addresses with a constant distance. The terms must be
// affine, and elements of less than four bytes need mask registers. Strides must be so small that no index wraps between lanes
// of which one is in bounds; see vcode.MaxPeel.
func (l *Addresses) rowsApart(terms []term, size int) bool {
	if size < 4 && !l.Target.HasMasks {
		return false // each lane would need an offset; see scatterRow
	}
	for _, t := range terms {
		s, _ := l.Affine.Strides(t.v)
		for _, n := range s[:2] {
			if most := int32(vcode.MaxPeel / l.Target.Lanes / 2); n > most || n < -most {
				return false
			}
		}
		if n := int64(s[1]) * t.stride; int64(int32(n)) != n {
			return false
		}
	}
	return true
}

// rowDistance returns a register with the distance in bytes between adjacent rows of a gang.
func (l *Addresses) rowDistance(a *ir.Array, terms []term) vcode.Reg {
	sum, bytes := l.NewGPR(), int64(0)
	var pitched []vcode.Reg
	for _, t := range terms {
		s, _ := l.Affine.Strides(t.v)
		switch n := int64(s[1]) * t.stride; {
		case n == 0:
		case t.inner == 0:
			bytes += n
		default:
			d := l.NewGPR()
			l.Def(amd64.IMUL, d.G8(), l.pitch(a, t.inner).G8(), vcode.Imm(n))
			pitched = append(pitched, d)
		}
	}
	l.MoveImm(sum, bytes, ir.I64)
	for _, d := range pitched {
		l.Mod(amd64.ADD, sum.G8(), d.G8())
	}
	return sum
}

// registersOf returns the memory operands of the n registers of a contiguous access. If p.below is set, rows 1 to 3 of each group of
// four have an index register.
func (l *Addresses) registersOf(p *MemRef, n int) []vcode.Mem {
	out := make([]vcode.Mem, n)
	row, perRow := p.Uni, n
	var indices [4]vcode.Mem // the offsets of the addresses of four rows
	if p.below != 0 {
		perRow = n / l.GangRegs
		row = l.Flat(row)
		indices[1] = vcode.Mem{Index: p.below, IndexSize: 8, Scale: 1}
		indices[2] = vcode.Mem{Index: p.below, IndexSize: 8, Scale: 2}
		if l.GangRegs > 3 {
			three := l.NewGPR()
			l.Def(amd64.LEA, three.G8(), vcode.Mem{Base: p.below, Index: p.below, IndexSize: 8, Scale: 2}.At())
			indices[3] = vcode.Mem{Index: three, IndexSize: 8, Scale: 1}
		}
	}
	for i := range out {
		if i > 0 && i%(4*perRow) == 0 {
			next, above := l.NewGPR(), row
			above.Index, above.IndexSize, above.Scale = p.below, 8, 4
			l.Def(amd64.LEA, next.G8(), above.At())
			row = vcode.Mem{Base: next}
		}
		out[i] = row
		if p.below != 0 {
			x := &indices[i/perRow%4]
			out[i].Index, out[i].IndexSize, out[i].Scale = x.Index, x.IndexSize, x.Scale
		}
		if !p.perRow {
			out[i].Disp += int32(i % perRow * l.BytesOfVector(p.Size))
		}
	}
	return out
}
