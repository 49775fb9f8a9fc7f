package spmd

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// maxWhole is the number of instructions of one register up to which the block of an If is emitted twice.
const maxWhole = 96

// wholeIf emits the block of an If without masks, for gangs of which all lanes take it, and reports whether it did: the
// condition must be of numbers that grow from lane to lane, so that the first and the last lane tell it of all. After the
// block comes a jump to done; other gangs go on behind that. What has become known since the call is not known there.
//
// So the interior of a grid runs without masks, and its edges with them. Where masks are registers they cost less than a
// second copy of the block.
func (l *lowerer) wholeIf(in *ir.Instr, same, varying []*ir.Value, done amd64.Label) bool {
	if l.Target.HasMasks || l.options.stacked || l.w*size(in.Then) > maxWhole || len(varying) == 0 || !accessesMemory(in.Then) {
		return false
	}
	for _, v := range varying {
		if !l.tellsAll(l.vals[v.ID].test) {
			return false
		}
	}
	for _, v := range same {
		l.branch(v, done, false)
	}
	others := l.NewLabel()
	for _, v := range varying {
		l.branchUnlessAll(l.vals[v.ID].test, others)
	}
	l.cur, l.dead = nil, done
	l.block(in.Then)
	l.Jump(amd64.JMP, done)
	l.Bind(others)
	return true
}

// size returns the number of instructions of a block and of those in it.
func size(b *ir.Block) int {
	n := 0
	b.Walk(func(*ir.Instr) { n++ })
	return n
}

// accessesMemory reports whether a block loads or stores, and does nothing that is of the whole group or leaves the block.
func accessesMemory(b *ir.Block) bool {
	found, ok := false, b.Terminator().Op == ir.Yield
	b.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Load, ir.Store:
			found = true
		case ir.Break, ir.Continue, ir.Return, ir.Unreachable, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Print, ir.Call, ir.Assert:
			ok = false
		}
	})
	return found && ok
}

// tellsAll reports whether a comparison is of an integer that grows from lane to lane, and one that all lanes share.
func (l *lowerer) tellsAll(test *ir.Instr) bool {
	if test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return false
	}
	growing := 0
	for _, v := range test.Args {
		if l.uniform(v) {
			continue
		}
		s, affine := l.affine.Strides(v)
		if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || !l.hasShadow(v, 0) {
			return false
		}
		growing++
	}
	return growing == 1
}

// branchUnlessAll goes to a label unless a comparison for which tellsAll is true holds in all lanes. Where the number wraps
// between the first lane and the last it goes there, too.
func (l *lowerer) branchUnlessAll(test *ir.Instr, to amd64.Label) {
	a, b := test.Args[0], test.Args[1]
	compare := func(r vcode.Reg, bound *ir.Value) {
		if c, ok := smallConst(bound); ok {
			l.Use(amd64.CMP, r.G8(), vcode.Imm(c))
		} else {
			l.Use(amd64.CMP, r.G8(), l.wideIndex(l.general(bound), ir.I32).G8())
		}
	}
	pick := func(lt, le amd64.Op) amd64.Op {
		if test.Op == ir.Lt {
			return lt
		}
		return le
	}
	if l.uniform(b) {
		last := l.lastLane(a)
		compare(last, b)
		l.Jump(pick(amd64.JGE, amd64.JG), to)
		return
	}
	if in := b.Def; in == nil || in.Op != ir.Item || in.Item != ir.GlobalID { // that of an item of the launch does not wrap
		l.Use(amd64.CMP, l.lastLane(b).G8(), vcode.Imm(math.MaxInt32))
		l.Jump(amd64.JG, to)
	}
	compare(l.wideIndex(l.shadow(b), ir.I32), a)
	l.Jump(pick(amd64.JLE, amd64.JL), to)
}

// lastLane returns what grows from lane to lane in the last one, in 64 bits.
func (l *lowerer) lastLane(v *ir.Value) vcode.Reg {
	s, _ := l.affine.Strides(v)
	last := l.NewGPR()
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: l.wideIndex(l.shadow(v), ir.I32), Disp: s[0] * int32(l.gang()-1)}.At())
	return last
}
