package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// The rounds of one small work-group would fetch a little of each page at a time, which is too little for the processor
// to see where memory is read. So several neighbouring groups, a batch, do the rounds of a loop together: as soon as all
// gangs of one have come to the loop, the next group begins, in frames of its own. When the last one is there, too, all
// do their rounds; then the groups go on one after the other.
//
// The present group is always the one that the context names, with its frames from ctxFrame to ctxEnd. What a group waits
// with is in its first frame.

const (
	// rowBytes bounds the bytes of each row that a batch loads, for elements of 4 bytes.
	rowBytes = 8 << 10

	// fetchedBytes bounds the bytes of all rows that a batch fetches ahead, for elements of 4 bytes: the first cache keeps
	// them until the next round, beside the rows of the present one and the frames. Rows a power of two apart share sets.
	fetchedBytes = 16 << 10
)

// maxBatch bounds the groups of a batch.
const maxBatch = 16

// batch is how many groups do rounds together, in a launch with groups of a size whose gangs have frames of so many bytes.
// All frames of a batch are to stay in the nearest caches.
func (c *code) batch(size [3]int) int {
	if c.batchRow == 0 || size[1] > 1 || size[2] > 1 {
		return 1
	}
	gangs := (size[0]-1)/c.lanes + 1
	return max(1, min(c.batchRow/4/size[0], maxBatch, maxSpare/(gangs*c.frame)))
}

// batchBytes returns how many bytes of each row a batch may load in a round; 0 if groups do no rounds together.
func (l *lowerer) batchBytes() int {
	r := l.batch
	switch {
	case r == nil:
		return 0
	case r.rows > 1 && l.fetchesRounds(r):
		return min(rowBytes, fetchedBytes/(max(r.turns, roundsAhead)*r.rows))
	}
	return rowBytes
}

// gathers reports whether the groups of a batch meet before the loop in rounds that is emitted next. It is the first place
// where gangs wait, on every way that they can take to it, and groups have nothing in memory of the batch but frames.
func (l *lowerer) gathers() bool {
	return len(l.resumes) == 0 && len(l.scopes) == 0 && l.layout.shared == 0
}

// gatherGroups emits what a group does whose first gang goes on at a loop in rounds: it lets the next group of the batch begin
// or, as the last, goes on with the rounds of all. A group that has lost gangs does not take part, and ends the batch.
func (l *lowerer) gatherGroups(r *rounds, alone amd64.Label) {
	frame, whole, all := physical(regFrame), l.label(), l.label()
	alive, group, end := l.between(), l.between(), l.between()
	l.def(amd64.MOV, g8(alive), at(ctxMem(ctxAlive, 8)))
	l.use(amd64.MOV, at(frameMem(frameAlive, 8)), g8(alive))
	l.def(amd64.MOV, g4(group), at(ctxMem(ctxGroup, 4)))
	l.use(amd64.MOV, at(frameMem(frameGroup, 4)), g4(group))
	l.def(amd64.MOV, g8(end), at(ctxMem(ctxEnd, 8)))
	l.use(amd64.CMP, g8(alive), at(ctxMem(ctxGangs, 8)))
	l.jump(amd64.JE, whole)
	l.use(amd64.CMP, frame, at(ctxMem(ctxFrames, 8)))
	l.jump(amd64.JE, alone) // no other group waits
	l.use(amd64.MOV, at(ctxMem(ctxGathered, 8)), g8(end))
	l.jump(amd64.JMP, r.leave)

	l.bind(whole)
	l.use(amd64.CMP, g8(end), at(ctxMem(ctxFramesEnd, 8)))
	l.jump(amd64.JAE, all)
	l.use(amd64.CMP, at(ctxMem(ctxLeft, 8)), imm(1))
	l.jump(amd64.JE, all)
	l.mod(amd64.ADD, g4(group), imm(1))
	l.use(amd64.CMP, g4(group), at(ctxMem(ctxGroups, 4)))
	l.jump(amd64.JGE, all) // a batch is of one row
	l.use(amd64.SUB, at(ctxMem(ctxLeft, 8)), imm(1))
	l.use(amd64.MOV, at(ctxMem(ctxGroup, 4)), g4(group))
	l.use(amd64.MOV, at(ctxMem(ctxFrame, 8)), g8(end))
	l.mod(amd64.ADD, g8(end), at(ctxMem(ctxGroupBytes, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxEnd, 8)), g8(end))
	l.jump(amd64.JMP, l.begin)

	l.bind(all)
	l.use(amd64.MOV, at(ctxMem(ctxGathered, 8)), g8(end))
	l.firstOfBatch()
}

// firstOfBatch makes the first group of the batch the present one, and its first gang.
func (l *lowerer) firstOfBatch() {
	frame, end, group := physical(regFrame), l.between(), l.between()
	l.def(amd64.MOV, frame, at(ctxMem(ctxFrames, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxFrame, 8)), frame)
	l.def(amd64.MOV, g8(end), at(ctxMem(ctxGroupBytes, 8)))
	l.mod(amd64.ADD, g8(end), frame)
	l.use(amd64.MOV, at(ctxMem(ctxEnd, 8)), g8(end))
	l.def(amd64.MOV, g4(group), at(frameMem(frameGroup, 4)))
	l.use(amd64.MOV, at(ctxMem(ctxGroup, 4)), g4(group))
}

// nextOfBatch makes the group behind the present one that, with its first gang.
func (l *lowerer) nextOfBatch() {
	frame, end := physical(regFrame), l.between()
	l.def(amd64.MOV, frame, at(ctxMem(ctxEnd, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxFrame, 8)), frame)
	l.def(amd64.MOV, g8(end), at(ctxMem(ctxGroupBytes, 8)))
	l.mod(amd64.ADD, g8(end), frame)
	l.use(amd64.MOV, at(ctxMem(ctxEnd, 8)), g8(end))
	l.use(amd64.ADD, at(ctxMem(ctxGroup, 4)), imm(1))
}

// roundOfBatch emits what comes after the last gang of a group in a round of a batch: the next group, or the next round
// from top on.
func (l *lowerer) roundOfBatch(top amd64.Label) {
	last := l.label()
	l.use(amd64.CMP, physical(regFrame), at(ctxMem(ctxGathered, 8)))
	l.jump(amd64.JAE, last)
	l.nextOfBatch()
	l.jump(amd64.JMP, top)
	l.bind(last)
	l.firstOfBatch()
}

// dissolve emits what the gangs of a batch do when one of them is to leave the loop: they go on at alone, group after group.
// r.leave is where that begins.
func (l *lowerer) dissolve(r *rounds, waiting int, alone amd64.Label) {
	l.cold(func() {
		l.bind(r.ended) // the gang that had its turn is no more
		first := l.between()
		l.use(amd64.MOV, at(frameMem(frameResume, 4)), imm(frameDone))
		l.def(amd64.MOV, g8(first), at(ctxMem(ctxFrame, 8)))
		l.use(amd64.SUB, at(mem{base: first, disp: frameAlive, size: 8}), imm(1))
		l.jump(amd64.JMP, r.leave)
	})
	l.bind(r.leave)
	frame, top, other := physical(regFrame), l.label(), l.label()
	l.resumes = append(l.resumes, alone)
	l.def(amd64.MOV, frame, at(ctxMem(ctxFrames, 8)))
	l.mark(kindLoopBegin)
	l.bind(top)
	l.use(amd64.CMP, at(frameMem(frameResume, 4)), imm(int64(waiting)))
	l.jump(amd64.JNE, other)
	l.use(amd64.MOV, at(frameMem(frameResume, 4)), imm(int64(len(l.resumes))))
	l.bind(other)
	l.mod(amd64.ADD, frame, at(ctxMem(ctxFrameSize, 8)))
	l.use(amd64.CMP, frame, at(ctxMem(ctxGathered, 8)))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	l.firstOfBatch()
	l.resumeGroup()
}

// resumeGroup emits how the present group of a batch goes on after the rounds.
func (l *lowerer) resumeGroup() {
	alive := l.between()
	l.def(amd64.MOV, g8(alive), at(frameMem(frameAlive, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxAlive, 8)), g8(alive))
	l.use(amd64.TEST, g8(alive), g8(alive))
	l.jump(amd64.JE, l.ended)
	l.jump(amd64.JMP, l.dispatch)
}

// endOfGroup emits what comes after the end of a group whose kernel has batches: another group of the batch, or what
// follows.
func (l *lowerer) endOfGroup() {
	frame, gathered, next, last := l.between(), l.between(), l.label(), l.label()
	l.def(amd64.MOV, g8(gathered), at(ctxMem(ctxGathered, 8)))
	l.use(amd64.TEST, g8(gathered), g8(gathered))
	l.jump(amd64.JNE, next)
	l.def(amd64.MOV, g8(frame), at(ctxMem(ctxFrame, 8)))
	l.use(amd64.CMP, g8(frame), at(ctxMem(ctxFrames, 8)))
	l.jump(amd64.JE, last)
	// It has never come to the loop before which others wait.
	l.use(amd64.MOV, at(mem{base: frame, disp: frameAlive, size: 8}), imm(0))
	l.def(amd64.MOV, g8(gathered), at(ctxMem(ctxEnd, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxGathered, 8)), g8(gathered))
	l.jump(amd64.JMP, l.batch.leave)

	l.bind(next)
	done := l.label()
	l.use(amd64.CMP, g8(gathered), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JBE, done)
	l.nextOfBatch()
	l.resumeGroup()

	l.bind(done)
	l.use(amd64.MOV, at(ctxMem(ctxGathered, 8)), imm(0))
	l.def(amd64.MOV, g8(frame), at(ctxMem(ctxFrames, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxFrame, 8)), g8(frame))
	l.mod(amd64.ADD, g8(frame), at(ctxMem(ctxGroupBytes, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxEnd, 8)), g8(frame))
	l.bind(last)
}
