package abi

// ColumnGangs is the number of gangs that share a transposed load from shared memory. The first of them loads rows of eight
// elements, transposes them in registers, and stores eight columns in the context. Each gang then loads its column. That takes a
// quarter of the time of gathers. Work-groups must be as wide as a gang, and a multiple of eight rows high.
const ColumnGangs = 8

// MaxGangItems is the maximum number of items of a gang. Only one-gang groups have such wide gangs.
const MaxGangItems = 256

// SubgroupSize is the number of items of a subgroup on this device. A gang of complete subgroups computes subgroup operations
// in its registers; other gangs store their operands in their frames.
const SubgroupSize = 32

// The bits of CtxTogether are the kinds of operations that code may compute for work-groups of the launch's size. The lanes of the
// gangs must be the items of the work-group in order, and all gangs must participate. Otherwise a group operation is a trap, and a
// transposed load a gather.
const (
	TogetherAll      = 1 << iota // reductions
	TogetherSegments             // operations on segments of 32 items: scans and subgroup operations
	TogetherColumns              // transposed loads
)
