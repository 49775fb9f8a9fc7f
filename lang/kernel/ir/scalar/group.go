package scalar

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Monoid is a combining operation on values of Go type T. [Reduce], [Scan] and [HillisSteele] define the language's order of
// combination. The interpreter and the traps of vector code call them, and emitted code uses the same order.
type Monoid[T any] interface {
	// Identity returns the value that pads a reduction.
	Identity() T
	// Apply combines two values.
	Apply(x, y T) T
	// Zip sets x[i] to the combination of x[i] and y[i], for the elements of y.
	Zip(x, y []T)
}

// Reduce sets each element of t to the reduction of t. It halves s from half of the least power of two that is at least len(t), down to
// 1. In each step it sets t[l] to t[l] op t[l+s] for each l < s, with the identity for elements that t does not have.
func Reduce[T any, M Monoid[T]](m M, t []T) {
	identity := m.Identity()
	for s := 1 << bits.Len(uint(len(t)-1)) / 2; s > 0; s /= 2 {
		have := min(len(t), 2*s)
		m.Zip(t, t[min(s, have):have])
		for l := max(have-s, 0); l < min(s, have); l++ {
			t[l] = m.Apply(t[l], identity)
		}
	}
	for l := range t {
		t[l] = t[0]
	}
}

// scanBlock is the number of items per block of a scan.
const scanBlock = 32

// Scan computes an inclusive scan. It scans blocks of 32 by the Hillis-Steele algorithm, then the block totals, which it
// combines with the elements of later blocks.
func Scan[T any, M Monoid[T]](m M, t []T) {
	var room [32]T
	totals := room[:0]
	for from := 0; from < len(t); from += scanBlock {
		b := t[from:min(from+scanBlock, len(t))]
		HillisSteele(m, b)
		totals = append(totals, b[len(b)-1])
	}
	HillisSteele(m, totals)
	for l := scanBlock; l < len(t); l++ {
		t[l] = m.Apply(totals[l/scanBlock-1], t[l])
	}
}

// ScanExclusive computes an exclusive scan: the inclusive one, shifted by one item, with the identity first. t must not be empty.
func ScanExclusive[T any, M Monoid[T]](m M, t []T) {
	Scan(m, t)
	copy(t[1:], t)
	t[0] = m.Identity()
}

// HillisSteele computes an inclusive scan. For s = 1, 2, 4 and so on below len(t), it sets t[l] to t[l-s] op t[l], if l >= s. The
// operands are those before the step.
func HillisSteele[T any, M Monoid[T]](m M, t []T) {
	for s := 1; s < len(t); s *= 2 {
		for l := len(t) - 1; l >= s; l-- {
			t[l] = m.Apply(t[l-s], t[l])
		}
	}
}

// Combiner is the combining operation of a group or subgroup operation on bits of values. It implements [Monoid].
type Combiner struct {
	Type ir.Type
	Op   ir.Op
}

// Identity returns the value that pads a reduction: +0 for sums, otherwise the identity of the operation.
func (c Combiner) Identity() uint64 {
	if c.Op == ir.Add {
		return 0
	}
	most := c.Op == ir.Min
	switch c.Type {
	case ir.F32, ir.F64:
		if most {
			return ir.FloatBits(c.Type, math.Inf(1))
		}
		return ir.FloatBits(c.Type, math.Inf(-1))
	case ir.I32, ir.I64:
		width := 8*c.Type.Size() - 1
		if most {
			return 1<<width - 1
		}
		return ir.IntBits(c.Type, -1<<width)
	}
	if most {
		return ir.IntBits(c.Type, -1)
	}
	return 0
}

// Neutral returns the exact identity of the operation, which is −0 for float sums.
func (c Combiner) Neutral() uint64 {
	if c.Op == ir.Add && c.Type.IsFloat() {
		return 1 << (8*c.Type.Size() - 1)
	}
	return c.Identity()
}

// Apply combines two values.
func (c Combiner) Apply(x, y uint64) uint64 {
	if c.Type == ir.F32 && c.Op == ir.Add {
		return uint64(math.Float32bits(math.Float32frombits(uint32(x)) + math.Float32frombits(uint32(y))))
	}
	r := ir.Value{Type: c.Type}
	a := ir.Value{Type: c.Type}
	in := ir.Instr{Op: c.Op, Args: []*ir.Value{&a, &a}, Results: []*ir.Value{&r}}
	bits, _ := Eval(&in, x, y)
	return bits
}

// Zip sets x[i] to the combination of x[i] and y[i], for the elements of y.
func (c Combiner) Zip(x, y []uint64) {
	for i := range y {
		x[i] = c.Apply(x[i], y[i])
	}
}

// Vote computes the subgroup operations any, all and ballot. v has 0 or 1 for each lane, and receives the result in each lane.
func Vote(kind ir.SubgroupKind, v []uint64) {
	some, all, ballot := uint64(0), uint64(1), uint64(0)
	for lane, yes := range v {
		some |= yes
		all &= yes
		ballot |= yes << lane
	}
	result := map[ir.SubgroupKind]uint64{ir.SubgroupAny: some, ir.SubgroupAll: all, ir.SubgroupBallot: ballot}[kind]
	for i := range v {
		v[i] = result
	}
}

// Shuffle sets each lane of v to the value of its source lane, or 0 if that lane is absent. from has the second operand of each
// lane: a lane, a mask or a distance.
func Shuffle(kind ir.SubgroupKind, v, from []uint64) {
	var room [64]uint64
	old := append(room[:0], v...)
	for lane := range v {
		to := int(int32(from[lane]))
		switch kind {
		case ir.SubgroupShuffleXor:
			to ^= lane
		case ir.SubgroupShuffleUp:
			to = lane - to
		case ir.SubgroupShuffleDown:
			to += lane
		}
		v[lane] = 0
		if to >= 0 && to < len(v) {
			v[lane] = old[to]
		}
	}
}

// CombinerOf returns the combining operation of a reduction, scan or subgroup operation.
func CombinerOf(in *ir.Instr) Combiner {
	c := Combiner{Type: in.Args[0].Type, Op: ir.Add}
	switch {
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMin, in.Op != ir.Subgroup && in.Combine == ir.CombineMin:
		c.Op = ir.Min
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMax, in.Op != ir.Subgroup && in.Combine == ir.CombineMax:
		c.Op = ir.Max
	}
	return c
}

// Absent returns the operand used for absent lanes of a group operation.
func Absent(in *ir.Instr) uint64 {
	if in.Op == ir.Subgroup {
		switch in.Subgroup {
		case ir.SubgroupAll:
			return 1
		case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax, ir.SubgroupScanAdd:
		default:
			return 0
		}
	}
	return CombinerOf(in).Identity()
}
