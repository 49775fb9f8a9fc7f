package irgen

import (
	"math/rand/v2"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// draws makes random choices that depend on no other part of a kernel.
type draws struct {
	*rand.Rand
	records int // number of records so far
}

// chance reports whether a choice with a probability in percent is taken.
func (d *draws) chance(percent int) bool { return d.IntN(100) < percent }

// one returns a random element of a list, which must not be empty.
func one[T any](r interface{ IntN(n int) int }, list []T) T { return list[r.IntN(len(list))] }

// bits returns random bits of a value of the type.
func (d *draws) bits(t ir.Type) uint64 {
	switch {
	case d.chance(50):
		return one(d, Special(t))
	case t == ir.Bool:
		return d.Uint64() & 1
	case t.IsFloat():
		return ir.FloatBits(t, (d.Float64()-0.5)*float64(int(1)<<d.IntN(12)))
	case d.chance(60):
		return ir.IntBits(t, d.Int64N(41)-20)
	}
	return ir.IntBits(t, int64(d.Uint64()))
}

// elem returns an element type: a type in memory or, less often, a record.
func (d *draws) elem() ir.Elem {
	if d.chance(80) {
		return ir.Elem{Scalar: one(d, Storage)}
	}
	return ir.Elem{Record: d.record(2)}
}

// record returns a record type whose fields nest up to a depth.
func (d *draws) record(depth int) *ir.Record {
	var fields []ir.Field
	for i := range 1 + d.IntN(4) {
		f := ir.Field{Name: string(rune('a' + i)), Elem: ir.Elem{Scalar: one(d, Storage)}}
		if depth > 1 && d.chance(20) {
			f.Elem = ir.Elem{Record: d.record(depth - 1)}
		}
		for range d.IntN(3) / 2 * (1 + d.IntN(2)) {
			f.Dims = append(f.Dims, 1+d.IntN(4))
		}
		fields = append(fields, f)
	}
	d.records++
	return ir.NewRecord("record"+strconv.Itoa(d.records), fields)
}

// fill returns random bytes for n elements.
func (d *draws) fill(elem ir.Elem, n int) []byte {
	data := make([]byte, n*elem.Size())
	if elem.Record != nil || d.chance(30) {
		for i := range data {
			data[i] = byte(d.Uint32())
		}
		return data
	}
	data = data[:0]
	for range n {
		data = AppendElem(data, elem.Scalar, scalar.Store(elem.Scalar, d.bits(elem.Scalar.Value())))
	}
	return data
}

// commutative returns an element type, and an atomic operation on it that leaves the same memory in any order of items.
func (d *draws) commutative() (ir.Type, ir.AtomicKind) {
	t := one(d, Ints)
	kind := one(d, []ir.AtomicKind{ir.AtomicAdd, ir.AtomicSub, ir.AtomicMin, ir.AtomicMax, ir.AtomicAnd, ir.AtomicOr, ir.AtomicXor})
	if (kind == ir.AtomicMin || kind == ir.AtomicMax) && d.chance(50) {
		t = one(d, Floats)
	}
	return t, kind
}
