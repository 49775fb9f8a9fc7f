package abi

// Where the lanes of a gang load a column of a shared array, and the gangs of the rows below it in the group the columns
// beside that one, the first of eight such gangs loads rows of eight elements, turns them round in registers, and leaves
// eight columns in the context, from which each gang takes its own: that takes a quarter of what gathers take. It is for
// groups that are as wide as a gang and a multiple of eight rows high, and for kernels whose gangs surely come so far.

// ColumnGangs is how many gangs load columns together.
const ColumnGangs = 8

// A group that is one gang need not wait for itself: barriers are nothing, reductions are made in its registers, and it
// needs no state. Gangs are as wide as the group for that, wider than elsewhere, where the kernel has so few values that
// they mostly fit the registers.

// MaxGangItems is how many items such a gang has at most.
const MaxGangItems = 256

// Group operations are computed by the code itself where all gangs take part and their lanes are the items of the group
// one after the other (see [Worker.together]). Elsewhere Go does it.

// The bits of ctxTogether: what the code may compute for groups of this size.
const (
	TogetherAll      = 1 << iota // reductions
	TogetherSegments             // what is done in segments of 32 items
	TogetherColumns              // what gangs load in columns
)
