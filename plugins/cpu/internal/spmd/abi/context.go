package abi

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// Reserved registers.
const (
	Context = amd64.RBP // the address of the context
	Frame   = amd64.R15 // the address of the current gang's frame
)

// Offsets in the context.
const (
	CtxStatus     = 0   // u32: 0 if the code has finished, else 1 + the number of the trap
	CtxResume     = 8   // the address at which the code resumes after a trap
	CtxFrame      = 16  // the first frame of the current work-group
	CtxStop       = 24  // the address of the flag that cancels the launch
	CtxX          = 32  // i32: the position on x of the run's first gang in the current row; in column-major order, of the current gang
	CtxY          = 36  // i32: the row of the current gang, its first row if it is 2-D
	CtxZ          = 40  // i32: the plane of the current gang
	CtxLeft       = 48  // i64: remaining gangs or work-groups of the run
	CtxSize       = 56  // 3 × i32: the size of the launch
	CtxGroup      = 68  // 3 × i32: the position of the current work-group
	CtxGSize      = 80  // 3 × i32: the size of a work-group
	CtxGroups     = 92  // 3 × i32: the number of work-groups
	CtxEnd        = 104 // the end of the frames of the current work-group
	CtxAlive      = 112 // i64: unfinished gangs of the work-group
	CtxZero       = 120 // u64: always 0; the cancel flag of launches without one, and what unchecked loads out of bounds read
	CtxPending    = 128 // u32: the group operation for which the gangs wait, from 1; 0 for none
	CtxTogether   = 132 // u32: the kinds of group operations that code may compute for this launch; see TogetherAll
	CtxFrameSize  = 136 // i64: bytes of a frame
	CtxGangs      = 144 // i64: gangs of a work-group
	CtxShared     = 152 // the address of shared arrays
	CtxBand       = 160 // i32: the first row of the current band, in column-major order
	CtxTile       = 164 // i32: the offset of the gang's row in its transpose tile, or −1 outside of tiles
	CtxHalves     = 168 // i64: gangs of a work-group, rounded up to a power of two
	CtxFrames     = 176 // the first frame of the batch of work-groups
	CtxAssembled  = 184 // the end of the frames of the batch whose interleaved loop was begun, or 0
	CtxFramesEnd  = 192 // the end of the frames of the batch
	CtxGroupBytes = 200 // i64: bytes of the frames of a work-group

	CtxGPR     = 256               // the general purpose registers at a trap
	CtxMasks   = CtxGPR + 16*8     // the mask registers
	CtxVec     = CtxMasks + 8*8    // the vector registers
	CtxTotals  = CtxVec + 33*64    // the totals of the segments of a scan, after one vector of padding
	CtxSegment = CtxTotals + 32*8  // the values of a subgroup
	CtxArgs    = CtxSegment + 32*8 // scalar arguments, 8 bytes each
)

// Offsets in the description of a buffer. The descriptions follow the arguments in the context.
const (
	BufBase  = 0  // the address
	BufDims  = 8  // 3 × i64: the extents, outermost first
	BufTotal = 32 // i64: the number of elements
	BufSize  = 40 // bytes of a description
)

// Offsets in the head of a frame.
const (
	FrameResume = 0  // u32: the number of the barrier at which the gang waits, 0 before it starts, or a state below
	FrameLocal  = 8  // 3 × i32: the local position of lane 0
	FrameFirst  = 20 // i32: the global position of lane 0 on x
	FrameIndex  = 24 // u32: the number of the gang in its batch
	FrameGroup  = 28 // i32: in the first frame of a work-group in a batch, the position of the work-group on x
	FrameAlive  = 32 // i64: in that frame, the unfinished gangs of the work-group
	FrameHead   = 64 // bytes of the head
)

// States of a gang in FrameResume.
const (
	FrameKilled = 0xfffffffe // a trap has ended the gang
	FrameDone   = 0xffffffff // the gang has ended
)
