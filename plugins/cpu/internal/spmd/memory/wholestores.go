package memory

import (
	"math"
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// wholeRows emits half-line or non-temporal stores of contiguous vectors if they pay, and reports whether it did.
func (l *Memory) wholeRows(p *MemRef, src []vcode.Reg, n int) bool {
	if l.Spec.Stores == plan.PlainStores || p.fetched || p.array == nil || p.array.Space != ir.Global || p.Size < 4 {
		return false
	}
	past := l.Streamed(p.array)
	switch {
	case !past && (l.Target.Bytes() != plan.LineBytes || !l.Options.Model.HalfLines):
		return false
	case past && p.below != 0:
		return false // each row would have to be aligned
	case p.mask != nil && !l.Target.HasMasks:
		return false // testing for active lanes costs too much
	}
	plain, done := l.NewLabel(), l.NewLabel()
	asked := false
	for _, m := range p.mask {
		l.Use(amd64.KORTESTW, m.K(), m.K())
		l.Jump(amd64.JAE, plain) // the carry flag is set if all bits are
		asked = true
	}
	to := *p
	if past {
		first := l.NewGPR()
		l.Def(amd64.LEA, first.G8(), to.Uni.At())
		l.Use(amd64.TEST, first.G4(), vcode.Imm(plan.LineBytes/2-1))
		l.Jump(amd64.JNE, plain)
		to.Uni = vcode.Mem{Base: first}
		asked = true
	}
	for i, lo := range l.registersOf(&to, n) {
		s := vcode.Part(src, i)
		hi := lo
		hi.Disp += plan.LineBytes / 2
		switch {
		case past && l.Target.HasMasks:
			h := l.NewVec()
			l.Def(amd64.VEXTRACTI64X4, h.Y(), s.Z(), vcode.Imm(1))
			l.Use(amd64.VMOVNTPS, lo.At(), s.Y())
			l.Use(amd64.VMOVNTPS, hi.At(), h.Y())
		case past:
			l.Use(amd64.VMOVNTPS, lo.At(), s.Z())
		default:
			l.Use(amd64.VMOVUPS, lo.At(), s.Y())
			hi.Size = 32
			l.Use(amd64.VEXTRACTI64X4, hi.At(), s.Z(), vcode.Imm(1))
		}
	}
	l.Bind(done)
	if asked {
		l.Cold(func() {
			l.Bind(plain)
			l.storeRows(p, src, n)
			l.Jump(amd64.JMP, done)
		})
	}
	return true
}

// prefetchAhead is the distance in bytes at which launches with large outputs prefetch the lines of their loads. Hardware
// prefetchers stop at page boundaries.
const prefetchAhead = 2048

// groupRow is the minimum number of bytes per row for which a one-gang group prefetches the row of a later group.
// Reductions load vectors in tree order, which few hardware prefetchers detect.
const groupRow = 512

// groupAhead is the distance in bytes at which one-gang groups prefetch.
const groupAhead = 6 << 10

// prefetchRow prefetches the lines that later gangs load from a buffer; the current gang loads n bytes. It does so in launches with large
// outputs or in column-major order, and for long rows of one-gang groups on cores with many outstanding misses.
func (l *Memory) prefetchRow(p *MemRef, n int) {
	group := l.Spec.IsOneGang() && n >= groupRow && l.Options.Model.Misses >= ManyMisses
	if (l.Spec.Stores == plan.PlainStores || !l.Options.Model.FetchAhead) && l.Band == 0 && !group || p.array.Space != ir.Global || l.GangRegs < l.Spec.Gang {
		return
	}
	ahead := prefetchAhead
	switch {
	case l.Band > 0:
		ahead = n // the next column
	case group:
		ahead = groupAhead
	}
	for at0 := 0; at0 < n; at0 += plan.LineBytes {
		m := p.Uni
		m.Disp += int32(ahead + at0)
		m.Size = 1
		l.Use(amd64.PREFETCHT0, m.At())
	}
}

// Strided loads in loops are prefetched some iterations ahead if hardware prefetchers do not detect the stride.
const (
	strideFrom      = 256 // minimum stride in bytes per iteration
	iterationsAhead = 16
	rowsAhead       = 8  // for iterations that advance by rows, which usually have much arithmetic
	RoundsAhead     = 2  // rounds ahead in an interleaved loop
	ManyMisses      = 20 // outstanding misses of a core from which prefetching pays in long rounds
	opsPerLine      = 6  // with fewer instructions per load, out-of-order execution suffices
	opsOfLoop       = 6  // instructions of the loop control
)

// prefetchLoop prefetches the lines that a contiguous load of n bytes accesses in later iterations of its loop. A gang with
// many iterations per round already has as many loads in flight as a core supports.
func (l *Memory) prefetchLoop(in *ir.Instr, p *MemRef, n int) {
	loop := l.Uses[in.Result().ID].Loop
	if loop == nil || p.array.Space != ir.Global || l.GangRegs < l.Spec.Gang || l.Interleaved != nil && !l.FetchesRounds(l.Interleaved) {
		return
	}
	r := in.Resolve()
	step, ahead := int64(0), int64(iterationsAhead)
	if l.Interleaved != nil {
		ahead = RoundsAhead
	}
	times := int64(max(l.Unrolled[loop], 1))
	ahead = max(ahead/times, 1)
	var rows part64 // rows per iteration
	for i := range r.Strides {
		s, ok := l.Step(in.Args[i], loop, 0)
		if !ok || s != 0 && r.Inner[i] > 0 && (rows.stride != 0 || l.Interleaved != nil) {
			l.prefetchRound(in, p, n)
			return
		}
		if s *= int64(r.Strides[i]); s != 0 && r.Inner[i] > 0 {
			rows = part64{r: l.pitch(p.array, r.Inner[i]), stride: s}
		} else {
			step += s
		}
	}
	next := l.Interleaved == nil && max(step, -step) <= int64(n) // an iteration loads the memory after that of the one before
	if max(step, -step) > math.MaxInt32/2/iterationsAhead || rows.stride == 0 && (next || max(step, -step) < strideFrom) {
		return
	}
	if rows.stride != 0 {
		if (l.NumOperations(loop)+opsOfLoop)*plan.LineBytes >= opsPerLine*n*int(times) {
			l.prefetchRows(p, rows, step, max(rowsAhead/times, 1), n)
		}
		return
	}
	m := p.Uni
	m.Disp += int32(step * ahead)
	l.prefetchLines(m, n)
}

// FetchesRounds reports whether gangs prefetch the lines of later rounds. With one row in long rounds, the loads keep all
// line fill buffers of a core busy. With more rows, cores with many buffers have free ones. Sweeps with long rounds are left to
// hardware prefetchers.
func (l *Memory) FetchesRounds(r *values.Interleaved) bool {
	return r.Turns < plan.ManyTurns || !r.Sweeps && r.Rows > 1 && l.Options.Model.Misses >= ManyMisses
}

// prefetchRows prefetches the lines that a contiguous load of n bytes accesses in later iterations. Each iteration advances
// by whole rows, whose extent is known only at run time, and by a constant step.
func (l *Memory) prefetchRows(p *MemRef, rows part64, step, iterations int64, n int) {
	if far := rows.stride * iterations; int64(int32(far)) == far {
		first, ahead := l.NewGPR(), l.NewGPR()
		l.Def(amd64.LEA, first.G8(), p.Uni.At())
		l.Def(amd64.IMUL, ahead.G8(), rows.r.G8(), vcode.Imm(far))
		p.Uni = vcode.Mem{Base: first}
		l.prefetchLines(vcode.Mem{Base: first, Index: ahead, IndexSize: 8, Scale: 1, Disp: int32(step * iterations)}, n)
	}
}

// prefetchLines prefetches the lines of n bytes from the address m on.
func (l *Memory) prefetchLines(m vcode.Mem, n int) {
	m.Size = 1
	for end := m.Disp + int32(n); m.Disp < end; m.Disp += plan.LineBytes {
		l.Use(amd64.PREFETCHT0, m.At())
	}
}

// prefetchRound prefetches the lines that a contiguous load of n bytes accesses in later rounds. Its only index must be a parameter
// of the interleaved loop to which each iteration adds a uniform value. It emits nothing for other loads, and for elements of less
// than 4 bytes.
func (l *Memory) prefetchRound(in *ir.Instr, p *MemRef, n int) {
	if l.Interleaved == nil || in.NumIndices() != 1 || p.Size < 4 {
		return
	}
	i := slices.Index(l.Interleaved.Loop.Then.Params, in.Args[0])
	if i < 0 {
		return
	}
	next := l.Interleaved.Loop.Then.Terminator().Args[i].Def
	if next == nil || next.Op != ir.Add || next.Args[0] != in.Args[0] || !l.IsUniform(next.Args[1]) {
		return
	}
	first, step := l.NewGPR(), l.WideIndex(l.General(next.Args[1]), ir.I32)
	l.Def(amd64.LEA, first.G8(), p.Uni.At())
	// For elements of 4 bytes, a scale of 8 is two iterations ahead: two rounds of one iteration, or one of two. Longer rounds shift it.
	if shift := bits.Len(uint(l.Interleaved.Turns)) - 2; shift > 0 {
		far := l.NewGPR()
		l.Def(amd64.MOV, far.G8(), step.G8())
		l.Mod(amd64.SHL, far.G8(), vcode.Imm(int64(shift)))
		step = far
	}
	l.prefetchLines(vcode.Mem{Base: first, Index: step, IndexSize: 8, Scale: 8}, n)
}
