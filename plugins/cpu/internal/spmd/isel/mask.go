package isel

import (
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// scatterRow makes a contiguous memory operand scattered, for lanes that must not access adjacent elements.
func (l *Lowerer) scatterRow(p *MemRef) {
	p.access, p.Scale = scattered, 1
	p.Offs = vcode.NewVecs(l.Func, l.GangRegs)
	for i := range p.Offs {
		p.Offs[i] = l.LaneOffsets(i, p.Size)
	}
}
