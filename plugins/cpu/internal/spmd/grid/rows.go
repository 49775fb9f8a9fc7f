package grid

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// overRows emits the loops over the rows of a launch and over the gangs of each row. With a band, it emits one loop over gangs, column
// by column.
func (l *Builder) overRows(done amd64.Label) {
	width := l.Width()
	shift := int64(bits.TrailingZeros(uint(width)))
	row := l.NewLabel()
	size := l.NewSharedGPR()
	l.Def(amd64.MOV, size.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(row)
	if len(l.Tiles) > 0 {
		x := l.NewGPR()
		l.Def(amd64.MOV, x.G4(), vcode.CtxMem(abi.CtxX, 4).At())
		l.beginTile(x)
	}
	if l.Spec.Is2D() {
		l.Item.Y = l.NewGPR()
		l.Def(amd64.MOV, l.Item.Y.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	}
	l.hoist(func(in *ir.Instr) bool { return in.Op == ir.Item && in.Item == ir.GlobalID && in.Axis > 0 })
	pos, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, pos.G4(), vcode.CtxMem(abi.CtxX, 4).At())
	if l.Band > 0 {
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: pos, Disp: int32(width)}.At())
	} else {
		l.Def(amd64.MOV, last.G8(), vcode.CtxMem(abi.CtxLeft, 8).At())
		l.Mod(amd64.SHL, last.G8(), vcode.Imm(shift))
		l.Mod(amd64.ADD, last.G8(), pos.G8())
	}
	l.Use(amd64.CMP, last.G8(), size.G8())
	l.Mod(amd64.CMOVG, last.G8(), size.G8())
	l.Item.X = pos
	end := l.trim(pos, last)

	count, brief := 0, true
	l.Kernel.Body.Walk(func(in *ir.Instr) {
		count++
		brief = brief && in.Op != ir.Loop && in.Op != ir.Call
	})
	if brief {
		l.Wide[pos] = pos // a position is zero-extended, and less than 2³¹
	}
	next := l.NewLabel()
	both := count*l.GangRegs <= plan.MaxBoth
	if both {
		l.unmaskedGangs(pos, end, brief)
	}
	if both && l.Narrows() {
		w := l.GangRegs
		l.SetRegisters(1)
		l.unmaskedGangs(pos, end, brief)
		l.lastGang(pos, end, next, false)
		l.SetRegisters(w)
	} else {
		l.lastGang(pos, end, next, !both || l.Spec.Is2D()) // every 2-D gang may be at the bottom
	}
	l.Bind(next)
	if l.Band > 0 {
		if len(l.Tiles) > 0 {
			l.nextInTile()
		}
		l.nextInColumn(row, done)
	} else {
		l.nextRow(row, done, last, shift)
	}
	l.Mark(vcode.KindLoopEnd)
}

// trim emits the move of pos, where the gangs of a row start, to the first item within the bounds of l.Trim. It returns the end
// of the items within them, at most last.
func (l *Builder) trim(pos, last vcode.Reg) (end vcode.Reg) {
	if len(l.Trim.Lower)+len(l.Trim.Upper) == 0 {
		return last
	}
	bound := func(b plan.Bound, beyond bool) vcode.Reg {
		r := l.NewGPR()
		l.Def(amd64.MOVSXD, r.G8(), l.General(b.Value).G4())
		if beyond {
			l.Mod(amd64.ADD, r.G8(), vcode.Imm(1))
		}
		return r
	}
	for _, b := range l.Trim.Lower {
		first := bound(b, !b.Equal)
		l.Use(amd64.CMP, pos.G8(), first.G8())
		l.Mod(amd64.CMOVL, pos.G8(), first.G8())
	}
	end = l.NewGPR()
	l.Def(amd64.MOV, end.G8(), last.G8())
	for _, b := range l.Trim.Upper {
		n := bound(b, b.Equal)
		l.Use(amd64.CMP, end.G8(), n.G8())
		l.Mod(amd64.CMOVG, end.G8(), n.G8())
	}
	return end
}

// gangsPerPoll is the number of gangs of brief code after which the stop flag is read.
const gangsPerPoll = 16

// unmaskedGangs emits the loop over the complete gangs of a row, without masks. Brief code has neither loops nor calls. For such code,
// every instruction of the loop around it matters.
func (l *Builder) unmaskedGangs(pos, last vcode.Reg, brief bool) {
	width := int64(l.Width())
	top, end, tail := l.NewLabel(), l.NewLabel(), l.NewLabel()
	if l.Spec.Is2D() {
		l.jumpAtBottom(tail)
	}
	var limit vcode.Reg // the last position of a complete gang
	if brief {
		limit = l.NewGPR()
		l.Def(amd64.LEA, limit.G8(), vcode.Mem{Base: last, Disp: int32(-width)}.At())
	}
	fits := func(jump amd64.Op, to amd64.Label) {
		if brief {
			l.Use(amd64.CMP, pos.G8(), limit.G8())
		} else { // other code needs the register
			t := l.NewGPR()
			l.Def(amd64.LEA, t.G8(), vcode.Mem{Base: pos, Disp: int32(width)}.At())
			l.Use(amd64.CMP, t.G8(), last.G8())
		}
		l.Jump(jump, to)
	}
	fits(amd64.JG, tail)
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Body(nil, end)
	l.Bind(end)
	if brief {
		pollSeldom(l, pos)
	}
	l.Mod(amd64.ADD, pos.G8(), vcode.Imm(width))
	if !brief {
		l.Poll()
	}
	fits(amd64.JLE, top)
	l.Mark(vcode.KindLoopEnd)
	l.Bind(tail)
}

// pollSeldom emits a poll that runs once in gangsPerPoll gangs, for any position of the first gang. At position 0 it follows
// the first gang, so that a launch that was stopped before it began ends there.
func pollSeldom(l *Builder, pos vcode.Reg) {
	poll, polled := l.NewLabel(), l.NewLabel()
	l.Use(amd64.TEST, pos.G4(), vcode.Imm((gangsPerPoll-1)*int64(l.Width())))
	l.Jump(amd64.JE, poll)
	l.Bind(polled)
	l.Cold(func() {
		l.Bind(poll)
		l.Poll()
		l.Jump(amd64.JMP, polled)
	})
}

// lastGang emits the incomplete gang at the end of a row, or, with several, a loop over all remaining gangs. If none is left, the code
// jumps to next.
func (l *Builder) lastGang(pos, last vcode.Reg, next amd64.Label, several bool) {
	again, end := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(again)
	l.Use(amd64.CMP, pos.G8(), last.G8())
	l.Jump(amd64.JGE, next)
	l.Body(l.inLaunch(pos, last), end)
	l.Bind(end)
	l.Mod(amd64.ADD, pos.G8(), vcode.Imm(int64(l.Width())))
	if several {
		l.Poll()
		l.Jump(amd64.JMP, again)
	}
	l.Mark(vcode.KindLoopEnd)
}

// nextRow emits the step to the next row of gangs, a jump to row, or to done after the last gang of the run. last is the end of the
// run's items in the current row, and 1<<shift the width of a gang.
func (l *Builder) nextRow(row, done amd64.Label, last vcode.Reg, shift int64) {
	n := l.NewGPR()
	l.Def(amd64.MOV, n.G4(), vcode.CtxMem(abi.CtxX, 4).At())
	l.Mod(amd64.SUB, last.G8(), n.G8())
	l.Mod(amd64.ADD, last.G8(), vcode.Imm(int64(l.Width()-1)))
	l.Mod(amd64.SHR, last.G8(), vcode.Imm(shift))
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), last.G8())
	l.Jump(amd64.JLE, done)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxX, 4).At(), vcode.Imm(0))
	y := l.NewGPR()
	l.Def(amd64.MOV, y.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	l.Mod(amd64.ADD, y.G4(), vcode.Imm(int64(l.Height())))
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), y.G4())
	l.Use(amd64.CMP, y.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Jump(amd64.JB, row) // unsigned, since y may be 2^31 or more
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), vcode.Imm(0))
	l.Use(amd64.ADD, vcode.CtxMem(abi.CtxZ, 4).At(), vcode.Imm(1))
	l.Jump(amd64.JMP, row)
}

// inLaunch returns the masks of the lanes whose positions, starting at pos, are below a limit, and whose rows are in the
// launch.
func (l *Builder) inLaunch(pos, limit vcode.Reg) []vcode.Reg {
	left := l.NewGPR()
	l.Def(amd64.MOV, left.G8(), limit.G8())
	l.Mod(amd64.SUB, left.G8(), pos.G8())
	if l.Spec.Is2D() {
		return l.inStack(left)
	}
	return l.FirstLanes(left)
}

// jumpAtBottom emits a jump to tail for gangs with rows below the launch's last row.
func (l *Builder) jumpAtBottom(tail amd64.Label) {
	bottom := l.NewGPR()
	l.Def(amd64.LEA, bottom.G8(), vcode.Mem{Base: l.Item.Y, Disp: int32(l.Height())}.At())
	l.Use(amd64.CMP, bottom.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Jump(amd64.JA, tail) // unsigned, since bottom may be 2^31 or more
}

// inStack returns the masks of the first n lanes of each row that is in the launch.
func (l *Builder) inStack(n vcode.Reg) []vcode.Reg {
	rows := l.NewGPR()
	l.Def(amd64.MOV, rows.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Mod(amd64.SUB, rows.G4(), l.Item.Y.G4())
	across, down := l.Splat(n, ir.I32), l.Splat(rows, ir.I32)
	out := l.NewMasks(l.GangRegs)
	l.Def(amd64.VPCMPD, out[0].K(), across.Z(), l.ItemOffsets(0, analysis.Strides{1}).Z(), vcode.Cmp(amd64.CmpGT)).Folds(2, 0)
	for i := 1; i < l.GangRegs; i++ {
		l.Def(amd64.VPCMPD, out[i].K(), down.Z(), l.ItemOffsets(i, analysis.Strides{0, 1}).Z(), vcode.Cmp(amd64.CmpGT)).Folds(2, 0).Mask = out[0]
	}
	return out
}
