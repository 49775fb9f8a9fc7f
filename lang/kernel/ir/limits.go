package ir

// Limits of a module. They are far above the needs of kernels, and bound the time and memory that a hostile module can cause.
// Recursion over nested blocks relies on MaxDepth.
const (
	MaxDepth        = 255       // nesting of block, if and loop
	MaxInstrs       = 1 << 18   // instructions per module
	MaxOperands     = 1 << 12   // operands or results per instruction, parameters per block
	MaxParams       = 256       // parameters per kernel
	MaxArrays       = 1 << 12   // arrays per kernel
	MaxKernels      = 1 << 12   // kernels per module
	MaxRecords      = 1 << 12   // records per module
	MaxFields       = 1 << 12   // fields per record
	MaxRank         = 3         // dimensions of an array or a field
	MaxDim          = 1<<31 - 1 // extent of one dimension
	MaxPath         = 31        // steps of a path; also the number of index bits in Instr.Proved
	MaxRecordBytes  = 1 << 20   // bytes per record
	MaxSharedBytes  = 16 << 20  // bytes of a kernel's shared arrays; devices offer less
	MaxPrivateBytes = 1 << 20   // bytes of a kernel's private arrays per work-item
	MaxTableBytes   = 64 << 20  // bytes of a module's tables
	MaxText         = 1 << 20   // bytes per string
	MaxTexts        = 64 << 20  // bytes of a module's strings
	MaxParts        = 1 << 22   // operands, results, path steps, sites, fields and extents per module
	MaxModuleBytes  = 256 << 20 // bytes of a binary form; the other limits keep modules well below
)
