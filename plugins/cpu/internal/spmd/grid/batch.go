package grid

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// The rounds of one small work-group load few lines of each page at a time, too few for hardware prefetchers. So several
// adjacent groups, a batch, run an interleaved loop together. When all gangs of a group have reached the loop, the next
// group starts, with separate frames. When all groups have reached it, they run their rounds. Then they continue one after
// the other.
//
// The context describes the current group: its frames are those from CtxFrame to CtxEnd. The state of a waiting group is in
// its first frame.

const (
	// RowBytes is the maximum number of bytes of each row that a batch loads in a round, for elements of 4 bytes.
	RowBytes = 8 << 10

	// RoundBytes is the maximum number of bytes of all rows that a batch loads in a short round, for elements of 4 bytes. The L1
	// cache must also hold the next round's bytes and the frames. Rows a power of two apart share cache sets.
	RoundBytes = 16 << 10
)

// BatchBytes returns the maximum number of bytes of each row that a batch loads in a round, for elements of 4 bytes. It returns 0 if
// the kernel has no batches. Cores with many outstanding misses read a single row faster in short pieces. The next round's lines, and
// what gangs carry, then stay in the L1 cache.
func (l *Builder) BatchBytes() int {
	r := l.Batch
	switch {
	case r == nil:
		return 0
	case sweepsOneRow(l, r):
		return RoundBytes / (2 * plan.SomeTurns)
	case (r.Sweeps && r.Rows > 1 || l.Options.Model.Misses < memory.ManyMisses) && (r.Rows < 2 || !l.FetchesRounds(r)):
		return RowBytes
	}
	return min(RowBytes, RoundBytes/(max(r.Turns, memory.RoundsAhead)*max(r.Rows, 1)))
}

// sweepsOneRow reports whether r is a short sweep that loads one row per iteration, on a core with many outstanding misses. The gangs
// then have short rounds, and prefetch the next round.
func sweepsOneRow(l *Builder, r *values.Interleaved) bool {
	return r.Sweeps && r.Rows == 1 && plan.ItersPerRound(r.Loop, 1) == plan.MostTurns && l.Options.Model.Misses >= memory.ManyMisses
}

// assembles reports whether the interleaved loop at the current position can run for all groups of a batch. It must be at the top
// level of the body, with no barrier before it, and the kernel must have no shared arrays.
func (l *Builder) assembles() bool {
	return len(l.Resumes) == 0 && len(l.Scopes) == 0 && l.Layout.Shared == 0
}

// assembleGroups emits code for a group of a batch whose gangs have reached an interleaved loop. The code starts the next group, or,
// after the last one, falls through to the rounds of all groups. If a gang of the group has ended, the batch ends without rounds:
// the code jumps to alone from the first group, and to r.Leave from others.
func (l *Builder) assembleGroups(r *values.Interleaved, alone amd64.Label) {
	frame, whole, all := vcode.Phys(abi.Frame), l.NewLabel(), l.NewLabel()
	alive, group, end := l.NewSharedGPR(), l.NewSharedGPR(), l.NewSharedGPR()
	l.Def(amd64.MOV, alive.G8(), vcode.CtxMem(abi.CtxAlive, 8).At())
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameAlive, 8).At(), alive.G8())
	l.Def(amd64.MOV, group.G4(), vcode.CtxMem(abi.CtxGroup, 4).At())
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameGroup, 4).At(), group.G4())
	l.Def(amd64.MOV, end.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Use(amd64.CMP, alive.G8(), vcode.CtxMem(abi.CtxGangs, 8).At())
	l.Jump(amd64.JE, whole)
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxFrames, 8).At())
	l.Jump(amd64.JE, alone) // no other group is waiting
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAssembled, 8).At(), end.G8())
	l.Jump(amd64.JMP, r.Leave)

	l.Bind(whole)
	l.Use(amd64.CMP, end.G8(), vcode.CtxMem(abi.CtxFramesEnd, 8).At())
	l.Jump(amd64.JAE, all)
	l.Use(amd64.CMP, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JE, all)
	l.Mod(amd64.ADD, group.G4(), vcode.Imm(1))
	l.Use(amd64.CMP, group.G4(), vcode.CtxMem(abi.CtxGroups, 4).At())
	l.Jump(amd64.JGE, all) // the groups of a batch are in one row
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(1))
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxGroup, 4).At(), group.G4())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxFrame, 8).At(), end.G8())
	l.Mod(amd64.ADD, end.G8(), vcode.CtxMem(abi.CtxGroupBytes, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxEnd, 8).At(), end.G8())
	l.Jump(amd64.JMP, l.Begin)

	l.Bind(all)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAssembled, 8).At(), end.G8())
	l.firstOfBatch()
}

// firstOfBatch emits the switch to the first group of the batch and its first gang.
func (l *Builder) firstOfBatch() {
	frame, end, group := vcode.Phys(abi.Frame), l.NewSharedGPR(), l.NewSharedGPR()
	l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrames, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxFrame, 8).At(), frame)
	l.Def(amd64.MOV, end.G8(), vcode.CtxMem(abi.CtxGroupBytes, 8).At())
	l.Mod(amd64.ADD, end.G8(), frame)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxEnd, 8).At(), end.G8())
	l.Def(amd64.MOV, group.G4(), vcode.FrameMem(abi.FrameGroup, 4).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxGroup, 4).At(), group.G4())
}

// nextOfBatch emits the switch to the next group of the batch and its first gang.
func (l *Builder) nextOfBatch() {
	frame, end := vcode.Phys(abi.Frame), l.NewSharedGPR()
	l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxFrame, 8).At(), frame)
	l.Def(amd64.MOV, end.G8(), vcode.CtxMem(abi.CtxGroupBytes, 8).At())
	l.Mod(amd64.ADD, end.G8(), frame)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxEnd, 8).At(), end.G8())
	l.Use(amd64.ADD, vcode.CtxMem(abi.CtxGroup, 4).At(), vcode.Imm(1))
}

// roundOfBatch emits the end of a round of a group in a batch. The code switches to the next group and jumps to top. After the last
// group it switches to the first one and falls through.
func (l *Builder) roundOfBatch(top amd64.Label) {
	last := l.NewLabel()
	l.Use(amd64.CMP, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxAssembled, 8).At())
	l.Jump(amd64.JAE, last)
	l.nextOfBatch()
	l.Jump(amd64.JMP, top)
	l.Bind(last)
	l.firstOfBatch()
}

// dissolve emits the code at r.Leave and r.Ended, by which a batch ends before a gang leaves the loop. The groups continue one after
// the other: gangs that wait at the barrier with number waiting resume at the label alone.
func (l *Builder) dissolve(r *values.Interleaved, waiting int, alone amd64.Label) {
	l.Cold(func() {
		l.Bind(r.Ended) // the gang has ended during its iterations
		first := l.NewSharedGPR()
		l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(abi.FrameDone))
		l.Def(amd64.MOV, first.G8(), vcode.CtxMem(abi.CtxFrame, 8).At())
		l.Use(amd64.SUB, vcode.Mem{Base: first, Disp: abi.FrameAlive, Size: 8}.At(), vcode.Imm(1))
		l.Jump(amd64.JMP, r.Leave)
	})
	l.Bind(r.Leave)
	frame, top, other := vcode.Phys(abi.Frame), l.NewLabel(), l.NewLabel()
	l.Resumes = append(l.Resumes, alone)
	l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrames, 8).At())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Use(amd64.CMP, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(int64(waiting)))
	l.Jump(amd64.JNE, other)
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(int64(len(l.Resumes))))
	l.Bind(other)
	l.Mod(amd64.ADD, frame, vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxAssembled, 8).At())
	l.Jump(amd64.JB, top)
	l.Mark(vcode.KindLoopEnd)
	l.firstOfBatch()
	l.resumeGroup()
}

// resumeGroup emits the continuation of the current group of a batch after the rounds, or its end if all its gangs have ended.
func (l *Builder) resumeGroup() {
	alive := l.NewSharedGPR()
	l.Def(amd64.MOV, alive.G8(), vcode.FrameMem(abi.FrameAlive, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAlive, 8).At(), alive.G8())
	l.Use(amd64.TEST, alive.G8(), alive.G8())
	l.Jump(amd64.JE, l.ended)
	l.Jump(amd64.JMP, l.dispatch)
}

// endOfGroup emits the end of a group of a kernel with batches. The code switches to another group of the batch, or falls through if
// all its groups have ended.
func (l *Builder) endOfGroup() {
	frame, assembled, next, last := l.NewSharedGPR(), l.NewSharedGPR(), l.NewLabel(), l.NewLabel()
	l.Def(amd64.MOV, assembled.G8(), vcode.CtxMem(abi.CtxAssembled, 8).At())
	l.Use(amd64.TEST, assembled.G8(), assembled.G8())
	l.Jump(amd64.JNE, next)
	l.Def(amd64.MOV, frame.G8(), vcode.CtxMem(abi.CtxFrame, 8).At())
	l.Use(amd64.CMP, frame.G8(), vcode.CtxMem(abi.CtxFrames, 8).At())
	l.Jump(amd64.JE, last)
	// The group has ended before it reached the loop at which other groups wait.
	l.Use(amd64.MOV, vcode.Mem{Base: frame, Disp: abi.FrameAlive, Size: 8}.At(), vcode.Imm(0))
	l.Def(amd64.MOV, assembled.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAssembled, 8).At(), assembled.G8())
	l.Jump(amd64.JMP, l.Batch.Leave)

	l.Bind(next)
	done := l.NewLabel()
	l.Use(amd64.CMP, assembled.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JBE, done)
	l.nextOfBatch()
	l.resumeGroup()

	l.Bind(done)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAssembled, 8).At(), vcode.Imm(0))
	l.Def(amd64.MOV, frame.G8(), vcode.CtxMem(abi.CtxFrames, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxFrame, 8).At(), frame.G8())
	l.Mod(amd64.ADD, frame.G8(), vcode.CtxMem(abi.CtxGroupBytes, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxEnd, 8).At(), frame.G8())
	l.Bind(last)
}
