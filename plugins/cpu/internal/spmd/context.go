package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// The context is what the code and Go share while the code runs: rbp points to it. Offsets in bytes.
const (
	ctxStatus     = 0   // u32: 0 when done, 1 + the number of the trap else
	ctxResume     = 8   // where to go on after a trap
	ctxFrame      = 16  // the frame of the first gang
	ctxStop       = 24  // address of the flag that stops the launch
	ctxX          = 32  // i32: the first item of the present gang; the row's when a run begins
	ctxY          = 36  // i32
	ctxZ          = 40  // i32
	ctxLeft       = 48  // i64: gangs or work-groups still to run
	ctxSize       = 56  // 3 × i32: the launch's size
	ctxGroup      = 68  // 3 × i32: position of the present work-group
	ctxGSize      = 80  // 3 × i32: its size
	ctxGroups     = 92  // 3 × i32: number of work-groups
	ctxEnd        = 104 // the end of the frames in use
	ctxAlive      = 112 // i64: gangs of the group that have not ended
	ctxZero       = 120 // u64, always 0: the stop flag of launches without one
	ctxPending    = 128 // u32: the group operation that gangs wait for, from 1; 0 for none
	ctxTogether   = 132 // u32: what code may compute for whole groups, see computeGroups
	ctxFrameSize  = 136 // i64: bytes of a frame
	ctxGangs      = 144 // i64: gangs of a group
	ctxShared     = 152 // address of shared memory
	ctxBand       = 160 // i32: the first row of the present band, where gangs go down columns
	ctxTile       = 164 // i32: the offset of the gang's row in its tile; -1 if there is no tile
	ctxHalves     = 168 // i64: gangs of a group, rounded up to a power of two
	ctxFrames     = 176 // all frames, of the groups of a batch; their end is in ctxFramesEnd
	ctxGathered   = 184 // the end of the frames of the batch that does or has done its rounds; 0 if none has
	ctxFramesEnd  = 192
	ctxGroupBytes = 200 // i64: bytes of the frames of a group
	ctxGPR        = 256 // the registers at a trap
	ctxMasks      = ctxGPR + 16*8
	ctxVec        = ctxMasks + 8*8
	ctxTotals     = ctxVec + 33*64    // those of the segments of a scan, with a vector before them
	ctxSegment    = ctxTotals + 32*8  // the values of a subgroup
	ctxArgs       = ctxSegment + 32*8 // scalars, 8 bytes each, by parameter
)

// Registers that are reserved.
const (
	regContext = amd64.RBP // the address of the context
	regFrame   = amd64.R15 // the address of the gang's frame
)

// A buffer in the context, after the scalars.
const (
	bufBase  = 0  // address
	bufDims  = 8  // 3 × i64: extents, outermost first
	bufTotal = 32 // i64: number of elements
	bufSize  = 40
)

// The head of a gang's frame. Registers in memory follow.
const (
	frameResume = 0  // u32: the barrier at which the gang waits, 0 before it starts; frameDone when it has ended
	frameLocal  = 8  // 3 × i32: local position of lane 0
	frameFirst  = 20 // i32: global position of lane 0
	frameIndex  = 24 // u32: the gang's number in the batch
	frameGroup  = 28 // i32: in the first frame of a group of a batch, its position on x
	frameAlive  = 32 // i64: and how many gangs it has that have not ended
	frameHead   = 64
	frameDone   = 0xffffffff
)

func ctxMem(off, size int) mem { return mem{fixed: regContext, disp: int32(off), size: uint8(size)} }

func frameMem(off, size int) mem { return mem{fixed: regFrame, disp: int32(off), size: uint8(size)} }

// emitTrap emits the code that trap instructions call, with the number of the trap in eax, and the code by which Go
// lets the program go on. It gives the label of the latter.
func emitTrap(a *amd64.Assembler, t *target, trap amd64.Label) (resume amd64.Label) {
	a.Bind(trap)
	c := func(off int) amd64.Mem { return amd64.Mem{Base: regContext, Disp: int32(off)} }
	saved := []amd64.Reg{amd64.RCX, amd64.RDX, amd64.RBX, amd64.RSI, amd64.RDI, amd64.R8, amd64.R9, amd64.R10, amd64.R11,
		amd64.R12, amd64.R13, amd64.R14, amd64.R15}
	a.Emit(amd64.INC, amd64.EAX)
	status := c(ctxStatus)
	a.Emit(amd64.MOV, status, amd64.EAX)
	a.Emit(amd64.POP, amd64.RAX)
	a.Emit(amd64.MOV, c(ctxResume), amd64.RAX)
	for _, r := range saved {
		a.Emit(amd64.MOV, c(ctxGPR+8*r.Num()), r)
	}
	for i := 1; i < 8 && t.masks; i++ {
		a.Emit(amd64.KMOVW, c(ctxMasks+8*i), amd64.K(i))
	}
	for i := range t.vectors + scratchVectorRegs {
		a.Emit(amd64.VMOVUPS, c(ctxVec+64*i), amd64.X(i).As(t.bytes()))
	}
	a.Emit(amd64.VZEROUPPER)
	a.Emit(amd64.RET)

	resume = a.NewLabel()
	a.Align(16)
	a.Bind(resume)
	a.Emit(amd64.MOV, regContext, amd64.RDI)
	for i := range t.vectors + scratchVectorRegs {
		a.Emit(amd64.VMOVUPS, amd64.X(i).As(t.bytes()), c(ctxVec+64*i))
	}
	for i := 1; i < 8 && t.masks; i++ {
		a.Emit(amd64.KMOVW, amd64.K(i), c(ctxMasks+8*i))
	}
	for _, r := range saved {
		a.Emit(amd64.MOV, r, c(ctxGPR+8*r.Num()))
	}
	target := c(ctxResume)
	target.Size = 8
	a.Emit(amd64.JMP, target)
	return resume
}
