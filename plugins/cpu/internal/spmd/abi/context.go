package abi

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// The context is what the code and Go share while the code runs: rbp points to it. Offsets in bytes.
const (
	CtxStatus     = 0   // u32: 0 when done, 1 + the number of the trap else
	CtxResume     = 8   // where to go on after a trap
	CtxFrame      = 16  // the frame of the first gang
	CtxStop       = 24  // address of the flag that stops the launch
	CtxX          = 32  // i32: the first item of the present gang; the row's when a run begins
	CtxY          = 36  // i32
	CtxZ          = 40  // i32
	CtxLeft       = 48  // i64: gangs or work-groups still to run
	CtxSize       = 56  // 3 × i32: the launch's size
	CtxGroup      = 68  // 3 × i32: position of the present work-group
	CtxGSize      = 80  // 3 × i32: its size
	CtxGroups     = 92  // 3 × i32: number of work-groups
	CtxEnd        = 104 // the end of the frames in use
	CtxAlive      = 112 // i64: gangs of the group that have not ended
	CtxZero       = 120 // u64, always 0: the stop flag of launches without one
	CtxPending    = 128 // u32: the group operation that gangs wait for, from 1; 0 for none
	CtxTogether   = 132 // u32: what code may compute for whole groups, see computeGroups
	CtxFrameSize  = 136 // i64: bytes of a frame
	CtxGangs      = 144 // i64: gangs of a group
	CtxShared     = 152 // address of shared memory
	CtxBand       = 160 // i32: the first row of the present band, where gangs go down columns
	CtxTile       = 164 // i32: the offset of the gang's row in its tile; -1 if there is no tile
	CtxHalves     = 168 // i64: gangs of a group, rounded up to a power of two
	CtxFrames     = 176 // all frames, of the groups of a batch; their end is in ctxFramesEnd
	CtxGathered   = 184 // the end of the frames of the batch that does or has done its rounds; 0 if none has
	CtxFramesEnd  = 192
	CtxGroupBytes = 200 // i64: bytes of the frames of a group
	CtxGPR        = 256 // the registers at a trap
	CtxMasks      = CtxGPR + 16*8
	CtxVec        = CtxMasks + 8*8
	CtxTotals     = CtxVec + 33*64    // those of the segments of a scan, with a vector before them
	CtxSegment    = CtxTotals + 32*8  // the values of a subgroup
	CtxArgs       = CtxSegment + 32*8 // scalars, 8 bytes each, by parameter
)

// Registers that are reserved.
const (
	Context = amd64.RBP // the address of the context
	Frame   = amd64.R15 // the address of the gang's frame
)

// A buffer in the context, after the scalars.
const (
	BufBase  = 0  // address
	BufDims  = 8  // 3 × i64: extents, outermost first
	BufTotal = 32 // i64: number of elements
	BufSize  = 40
)

// The head of a gang's frame. Registers in memory follow.
const (
	FrameResume = 0  // u32: the barrier at which the gang waits, 0 before it starts; frameDone when it has ended
	FrameLocal  = 8  // 3 × i32: local position of lane 0
	FrameFirst  = 20 // i32: global position of lane 0
	FrameIndex  = 24 // u32: the gang's number in the batch
	FrameGroup  = 28 // i32: in the first frame of a group of a batch, its position on x
	FrameAlive  = 32 // i64: and how many gangs it has that have not ended
	FrameHead   = 64
	FrameDone   = 0xffffffff
)

// What a gang gives to a group operation and takes from it lies in its frame after the scratch vectors: two operands of
// 64-bit elements, and the masks.

func GroupBytes(lanes int) int { return 2*8*lanes + 64 }

func GroupValue(y *Layout, n int) int { return y.Group + 8*y.Lanes*n }

func GroupMasks(y *Layout) int { return GroupValue(y, 2) }

// FrameKilled is the state of a gang that Go ends.
const FrameKilled = 0xfffffffe
