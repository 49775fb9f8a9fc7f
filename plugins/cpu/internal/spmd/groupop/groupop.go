package groupop

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// Combiner is a combining operation on values of a type.
type Combiner struct {
	Type ir.Type
	Op   ir.Op
}

// Identity returns the value with which the language pads a reduction: 0 for sums, else the identity of the operation.
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

// Neutral returns the value that combines with any other value to that value, also −0 in sums.
func (c Combiner) Neutral() uint64 {
	if c.Op == ir.Add && c.Type.IsFloat() {
		return 1 << (8*c.Type.Size() - 1)
	}
	return c.Identity()
}

// apply combines two values.
func (c Combiner) apply(x, y uint64) uint64 {
	if c.Type == ir.F32 && c.Op == ir.Add {
		return uint64(math.Float32bits(math.Float32frombits(uint32(x)) + math.Float32frombits(uint32(y))))
	}
	r := ir.Value{Type: c.Type}
	a := ir.Value{Type: c.Type}
	in := ir.Instr{Op: c.Op, Args: []*ir.Value{&a, &a}, Results: []*ir.Value{&r}}
	bits, _ := scalar.Eval(&in, x, y)
	return bits
}

// Reduce sets each element of t to the reduction of t: t[l] op t[l+s], for s from half of the next power of two down
// to 1.
func (c Combiner) Reduce(t []uint64) {
	identity := c.Identity()
	for s := 1 << bits.Len(uint(len(t)-1)) / 2; s > 0; s /= 2 {
		for l := range min(s, len(t)) {
			y := identity
			if l+s < len(t) {
				y = t[l+s]
			}
			t[l] = c.apply(t[l], y)
		}
	}
	for l := range t {
		t[l] = t[0]
	}
}

const scanBlock = 32

// Scan computes an inclusive scan: of blocks of 32 by Hillis and Steele, then of the totals of blocks, which are
// combined with the elements of later blocks.
func (c Combiner) Scan(t []uint64) {
	var totals [interp.MaxGroupItems / scanBlock]uint64
	n := 0
	for from := 0; from < len(t); from += scanBlock {
		b := t[from:min(from+scanBlock, len(t))]
		c.HillisSteele(b, scanBlock)
		totals[n] = b[len(b)-1]
		n++
	}
	c.HillisSteele(totals[:n], scanBlock)
	for l := scanBlock; l < len(t); l++ {
		t[l] = c.apply(totals[l/scanBlock-1], t[l])
	}
}

// HillisSteele computes an inclusive scan with distances below a limit.
func (c Combiner) HillisSteele(t []uint64, limit int) {
	for s := 1; s < limit; s *= 2 {
		for l := len(t) - 1; l >= s; l-- {
			t[l] = c.apply(t[l-s], t[l])
		}
	}
}

// Vote computes any, all or ballot of a subgroup.
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

// Shuffle sets each lane to the value of another lane, or 0 if that lane is absent.
func Shuffle(kind ir.SubgroupKind, v, from []uint64) {
	var old [SubgroupSize]uint64
	copy(old[:], v)
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

// A gang of complete subgroups computes subgroup operations by itself. Else they are computed between gangs, with what
// those have left in their frames. Conditions are 1 or 0 in elements of 32 bits there.

// SubgroupSize is the width of subgroups on this device.
const SubgroupSize = 32

// Of returns the combining operation of a reduction, scan or subgroup operation.
func Of(in *ir.Instr) Combiner {
	c := Combiner{Type: in.Args[0].Type, Op: ir.Add}
	switch {
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMin, in.Op != ir.Subgroup && in.Combine == ir.CombineMin:
		c.Op = ir.Min
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMax, in.Op != ir.Subgroup && in.Combine == ir.CombineMax:
		c.Op = ir.Max
	}
	return c
}

// Absent returns the operand of lanes that are absent from a group operation.
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
	return Of(in).Identity()
}
