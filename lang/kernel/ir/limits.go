package ir

// Limits of a module. The limits are far above what a kernel needs; they bound the time and memory that a hostile
// module can take, and every part that recurses over nested blocks relies on MaxDepth.
const (
	MaxDepth        = 255       // nesting of block, if and loop
	MaxInstrs       = 1 << 18   // instructions of a module
	MaxOperands     = 1 << 12   // operands or results of an instruction, parameters of a block
	MaxParams       = 256       // parameters of a kernel
	MaxArrays       = 1 << 12   // arrays of a kernel
	MaxKernels      = 1 << 12   // kernels of a module
	MaxRecords      = 1 << 12   // records of a module
	MaxFields       = 1 << 12   // fields of a record
	MaxRank         = 3         // dimensions of an array or a field
	MaxDim          = 1<<31 - 1 // extent of one dimension
	MaxPath         = 31        // steps of a path; also the bits of Instr.Proved that stand for indices
	MaxRecordBytes  = 1 << 20   // size of a record
	MaxSharedBytes  = 16 << 20  // shared arrays of a kernel together; devices offer less
	MaxPrivateBytes = 1 << 20   // private arrays of a kernel together, for each work-item
	MaxTableBytes   = 64 << 20  // tables of a module together
	MaxText         = 1 << 20   // bytes of one string
	MaxTexts        = 64 << 20  // bytes of all strings of a module together
	MaxParts        = 1 << 22   // operands, results, steps of paths, sites, fields and extents of a module together
	MaxModuleBytes  = 256 << 20 // a binary form; the limits on parts keep a module well below
)
