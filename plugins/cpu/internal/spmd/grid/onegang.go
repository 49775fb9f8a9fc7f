package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// overSingles emits the loop over one-gang groups.
func (l *Builder) overSingles(done amd64.Label) {
	group, end := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(group)
	l.clearShared()
	l.Item.X, l.Item.Local = l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, l.Item.X.G4(), vcode.CtxMem(abi.CtxGroup, 4).At())
	l.Mod(amd64.IMUL, l.Item.X.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
	l.Def(amd64.MOV, l.Item.Local.G4(), vcode.Imm(0))
	l.Body(nil, end)
	l.Bind(end)
	l.nextGroup(group, done)
	l.Mark(vcode.KindLoopEnd)
}

// reduceSingle emits the reduction of a one-gang group.
func (l *Builder) reduceSingle(in *ir.Instr) {
	t, r := in.Args[0].Type, in.Result()
	operands := l.firstOperand(in)
	regs := make([]vcode.Reg, l.GroupVectors(t))
	for i := range regs {
		regs[i] = vcode.Part(operands, i)
	}
	last := l.reduceVectors(scalar.CombinerOf(in), regs)
	if t.IsFloat() {
		l.Set(r, values.Value{Vec: []vcode.Reg{last}})
		return
	}
	d := l.NewGPR()
	l.Def(lanes.Sized(t.Size(), amd64.VMOVD, amd64.VMOVQ), d.G(t.Size()), last.X())
	l.Set(r, values.Value{G: d})
}

// scanSingle emits the scan of a one-gang group: of segments of 32 items, then of their totals, which are combined with the
// following segments.
func (l *Builder) scanSingle(in *ir.Instr) {
	c := scalar.CombinerOf(in)
	size := c.Type.Size()
	operands := l.firstOperand(in)
	regs := make([]vcode.Reg, l.GroupVectors(c.Type))
	for i := range regs {
		regs[i] = vcode.Part(operands, i)
	}
	n := min(l.SegmentVectors(size), len(regs))
	segments := make([][]vcode.Reg, len(regs)/n)
	totals := make([]vcode.Reg, len(segments)) // the last element of a segment in all lanes
	for i := range segments {
		segments[i] = l.scanVectors(c, regs[n*i:n*(i+1)])
		if len(segments) > 1 {
			last := segments[i][n-1]
			totals[i] = l.NewVec()
			l.Def(lanes.Sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), totals[i].Z(), l.Shifted(last, last, size).X())
		}
	}
	for s := 1; s < len(totals); s *= 2 {
		for i := len(totals) - 1; i >= s; i-- {
			d := l.NewVec()
			l.Binary(c.Op, c.Type, d, totals[i-s], totals[i])
			totals[i] = d
		}
	}
	out := segments[0]
	for i, segment := range segments[1:] {
		for _, v := range segment {
			d := l.NewVec()
			l.Binary(c.Op, c.Type, d, totals[i], v)
			out = append(out, d)
		}
	}
	if in.Exclusive {
		last := l.Constant(c.Identity(), size)
		for i, v := range out {
			out[i] = l.Shifted(last, v, size)
			last = v
		}
	}
	l.Set(in.Result(), values.Value{Vec: out})
}
