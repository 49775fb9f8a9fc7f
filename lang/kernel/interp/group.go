package interp

import (
	"math"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// Group operations are separate nodes, because all rows of the group must reach them first. The worker's scratch memory has an
// element per item of the group; absent items have the identity.

// barrier executes a Barrier. A node runs for all rows before the next one does, so all lanes have arrived.
type barrier struct{}

func (barrier) run(w *Worker, _ mask) {
	if w.races != nil {
		w.races.epoch++
	}
}

// groupNode is a node implemented by a function.
type groupNode func(w *Worker, m mask)

func (n groupNode) run(w *Worker, m mask) { n(w, m) }

// group compiles a group operation. The verifier has checked its types.
func (c *compiler) group(in *ir.Instr) node {
	d, x, t := c.reg(in.Result()), c.reg(in.Args[0]), in.Args[0].Type
	switch in.Op {
	case ir.Uniform:
		switch t {
		case ir.Bool:
			return uniform(d, x, in.Site, func(x uint8) uint8 { return x })
		case ir.F32:
			return uniform(d, x, in.Site, bits32)
		case ir.F64:
			return uniform(d, x, in.Site, bits64)
		}
		if t.Size() == 4 {
			return uniform(d, x, in.Site, func(x uint32) uint32 { return x })
		}
		return uniform(d, x, in.Site, func(x uint64) uint64 { return x })
	case ir.Reduce, ir.Scan:
		switch t {
		case ir.I32:
			return combine[int32](in, d, x)
		case ir.U32:
			return combine[uint32](in, d, x)
		case ir.I64:
			return combine[int64](in, d, x)
		case ir.U64:
			return combine[uint64](in, d, x)
		case ir.F32:
			return combine[float32](in, d, x)
		}
		return combine[float64](in, d, x)
	}
	return c.subgroup(in)
}

// uniform returns the node that executes a Uniform. It compares values by their keys. A lane whose value differs from that of the
// first active lane faults; with checks off it receives the value of the first one.
func uniform[T, K comparable](d, x, site int, key func(T) K) node {
	return groupNode(func(w *Worker, m mask) {
		var value T
		var want K
		first := true
		for r := range m {
			f := &w.frames[r]
			d, x := at[T](f, d), at[T](f, x)
			for _, i := range m[r].lanes {
				switch k := key(x[i]); {
				case first:
					value, want, first = x[i], k, false
				case k != want && !w.launch.Unchecked:
					f.leave(i)
					f.fault(i, DivergentUniform, site)
				}
				d[i] = value
			}
			if f.left {
				f.drop(&m[r])
			}
		}
	})
}

// monoid implements [scalar.Monoid].
type monoid[T any] struct {
	identity T
	op       func(x, y T) T
	zip      func(x, y []T)
}

func (o monoid[T]) Identity() T    { return o.identity }
func (o monoid[T]) Apply(x, y T) T { return o.op(x, y) }
func (o monoid[T]) Zip(x, y []T)   { o.zip(x, y) }

func monoidOf[T number](c ir.Combine) monoid[T] {
	var least, most T
	switch p := any(&least).(type) {
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	}
	switch p := any(&most).(type) {
	case *int32:
		*p = math.MaxInt32
	case *uint32:
		*p = math.MaxUint32
	case *int64:
		*p = math.MaxInt64
	case *uint64:
		*p = math.MaxUint64
	case *float32:
		*p = float32(math.Inf(1))
	case *float64:
		*p = math.Inf(1)
	}
	switch c {
	case ir.CombineMin:
		return monoid[T]{most, lesser[T], func(x, y []T) {
			for i := range y {
				x[i] = min(x[i], y[i])
			}
		}}
	case ir.CombineMax:
		return monoid[T]{least, greater[T], func(x, y []T) {
			for i := range y {
				x[i] = max(x[i], y[i])
			}
		}}
	}
	return monoid[T]{0, func(x, y T) T { return x + y }, func(x, y []T) {
		x = x[:len(y)]
		for i := range y {
			x[i] += y[i]
		}
	}}
}

// lesser and greater wrap Go's min and max, which have the kernel language's rules for NaN and −0.
func lesser[T number](x, y T) T  { return min(x, y) }
func greater[T number](x, y T) T { return max(x, y) }

// combine returns the node that executes a Reduce or a Scan.
func combine[T number](in *ir.Instr, d, x int) node {
	op := monoidOf[T](in.Combine)
	work := scalar.Reduce[T, monoid[T]]
	if in.Op == ir.Scan {
		work = scalar.Scan[T, monoid[T]]
		if in.Exclusive {
			work = scalar.ScanExclusive[T, monoid[T]]
		}
	}
	return groupNode(func(w *Worker, m mask) {
		t := gather(w, m, x, w.launch.items, op.identity)
		work(op, t)
		scatter(w, m, d, t)
	})
}

// gather returns register x of the group's n items, in the worker's scratch memory. The elements of inactive items have the value
// of the parameter absent.
func gather[T any](w *Worker, m mask, x, n int, absent T) []T {
	t := unsafe.Slice((*T)(unsafe.Pointer(&w.scratch[0])), n)
	for i := range t {
		t[i] = absent
	}
	for r := range m {
		x := at[T](&w.frames[r], x)
		for _, i := range m[r].lanes {
			t[r*width+int(i)] = x[i]
		}
	}
	return t
}

func scatter[T any](w *Worker, m mask, d int, t []T) {
	for r := range m {
		d := at[T](&w.frames[r], d)
		for _, i := range m[r].lanes {
			d[i] = t[r*width+int(i)]
		}
	}
}

// subgroup compiles a Subgroup operation. A subgroup is a run of [Launch.SubgroupSize] items of a group.
func (c *compiler) subgroup(in *ir.Instr) node {
	d, x, t := c.reg(in.Result()), c.reg(in.Args[0]), in.Args[0].Type
	switch in.Subgroup {
	case ir.SubgroupAny:
		return vote(d, x, 0, func(x, y uint8) uint8 { return x | y })
	case ir.SubgroupAll:
		return vote(d, x, 1, func(x, y uint8) uint8 { return x & y })
	case ir.SubgroupBallot:
		return ballot(d, x)
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax, ir.SubgroupScanAdd:
		switch t {
		case ir.I32:
			return combineSubgroup[int32](in, d, x)
		case ir.U32:
			return combineSubgroup[uint32](in, d, x)
		case ir.I64:
			return combineSubgroup[int64](in, d, x)
		case ir.U64:
			return combineSubgroup[uint64](in, d, x)
		case ir.F32:
			return combineSubgroup[float32](in, d, x)
		}
		return combineSubgroup[float64](in, d, x)
	}
	from := c.reg(in.Args[1])
	switch t.Size() {
	case 1:
		return shuffle[uint8](in.Subgroup, d, x, from)
	case 4:
		return shuffle[uint32](in.Subgroup, d, x, from)
	}
	return shuffle[uint64](in.Subgroup, d, x, from)
}

// eachSubgroup calls visit with the elements of each subgroup.
func eachSubgroup[T any](w *Worker, t []T, visit func(t []T)) {
	n := w.launch.SubgroupSize
	for from := 0; from < len(t); from += n {
		visit(t[from:min(from+n, len(t))])
	}
}

func vote(d, x int, identity uint8, op func(x, y uint8) uint8) node {
	return groupNode(func(w *Worker, m mask) {
		t := gather(w, m, x, w.launch.items, identity)
		eachSubgroup(w, t, func(t []uint8) {
			all := identity
			for _, x := range t {
				all = op(all, x)
			}
			for l := range t {
				t[l] = all
			}
		})
		scatter(w, m, d, t)
	})
}

func ballot(d, x int) node {
	return groupNode(func(w *Worker, m mask) {
		t := gather(w, m, x, w.launch.items, uint8(0))
		n := w.launch.SubgroupSize
		for r := range m {
			d := at[uint64](&w.frames[r], d)
			for _, i := range m[r].lanes {
				from := (r*width + int(i)) / n * n
				d[i] = 0
				for lane, yes := range t[from:min(from+n, len(t))] {
					d[i] |= uint64(yes) << lane
				}
			}
		}
	})
}

// combineSubgroup reduces like Reduce within the subgroup, and scans by the Hillis-Steele algorithm.
func combineSubgroup[T number](in *ir.Instr, d, x int) node {
	c := map[ir.SubgroupKind]ir.Combine{ir.SubgroupMin: ir.CombineMin, ir.SubgroupMax: ir.CombineMax}[in.Subgroup]
	op := monoidOf[T](c)
	work := scalar.Reduce[T, monoid[T]]
	if in.Subgroup == ir.SubgroupScanAdd {
		work = scalar.HillisSteele[T, monoid[T]]
	}
	return groupNode(func(w *Worker, m mask) {
		t := gather(w, m, x, w.launch.items, op.identity)
		eachSubgroup(w, t, func(t []T) { work(op, t) })
		scatter(w, m, d, t)
	})
}

// shuffle returns a subgroup shuffle; lanes that are absent or outside the subgroup read as 0.
func shuffle[T any](kind ir.SubgroupKind, d, x, from int) node {
	return groupNode(func(w *Worker, m mask) {
		var none T
		t := gather(w, m, x, w.launch.items, none)
		n := w.launch.SubgroupSize
		for r := range m {
			d, from := at[T](&w.frames[r], d), at[int32](&w.frames[r], from)
			for _, i := range m[r].lanes {
				at := r*width + int(i)
				lane, to := at%n, int(from[i])
				switch kind {
				case ir.SubgroupShuffleXor:
					to ^= lane
				case ir.SubgroupShuffleUp:
					to = lane - to
				case ir.SubgroupShuffleDown:
					to += lane
				}
				d[i] = none
				if to >= 0 && to < n && at-lane+to < len(t) {
					d[i] = t[at-lane+to]
				}
			}
		}
	})
}
