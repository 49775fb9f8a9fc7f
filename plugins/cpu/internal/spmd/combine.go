package spmd

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// groupOp computes a group operation: every gang that waits for it has left its values in its frame.
func (w *Worker) groupOp(in *ir.Instr) {
	size := w.g.GroupSize
	items := size[0] * size[1] * size[2]
	t, r := in.Args[0].Type, in.Type()
	values := w.room(0, items)
	others := w.room(1, items)
	op, none := combinerOf(in), absent(in)
	for i := range values {
		values[i] = none
	}
	w.eachLane(func(f frame, lane, place int) {
		values[place] = w.given(f, 0, t, lane)
		if len(in.Args) > 1 {
			others[place] = w.given(f, 1, ir.I32, lane)
		}
	})
	switch in.Op {
	case ir.Reduce:
		op.reduce(values)
	case ir.Scan:
		op.scan(values)
		if in.Exclusive {
			copy(values[1:], values)
			values[0] = op.identity()
		}
	case ir.Subgroup:
		w.subgroup(in, op, values, others)
	case ir.Uniform:
		w.uniform(in, values)
		return
	}
	whole := in.Op == ir.Reduce
	w.eachGang(func(f frame) {
		if whole { // also in lanes that are not there
			w.fill(f, r, values[0])
		}
	})
	if !whole {
		w.eachLane(func(f frame, lane, place int) { w.take(f, r, lane, values[place]) })
	}
}

func (w *Worker) room(n, items int) []uint64 {
	if need := 2 * items; len(w.scratch) < need {
		w.scratch = make([]uint64, need)
	}
	return w.scratch[n*items : (n+1)*items]
}

// eachGang visits the gangs that wait.
func (w *Worker) eachGang(visit func(f frame)) {
	size := w.v.code.frame
	first := int(w.get64(abi.CtxFrame)-w.get64(abi.CtxFrames)) / size
	for i := range w.gangs {
		if f := w.frame(first + i); uint32(f.get32(abi.FrameResume)) < abi.FrameKilled {
			visit(f)
		}
	}
}

// eachLane visits their active lanes.
func (w *Worker) eachLane(visit func(f frame, lane, place int)) {
	y := &w.v.code.layout
	perReg := w.v.code.target.Lanes
	w.eachGang(func(f frame) {
		for lane := range w.v.code.lanes {
			if f.get16(abi.GroupMasks(y)+2*(lane/perReg))>>(lane%perReg)&1 != 0 {
				visit(f, lane, w.place(f, lane))
			}
		}
	})
}

// given is what a lane has given as operand n.
func (w *Worker) given(f frame, n int, t ir.Type, lane int) uint64 {
	at := abi.GroupValue(&w.v.code.layout, n)
	if t.Size() == 8 {
		return *f.at(at + 8*lane)
	}
	return uint64(*f.at4(at + 4*lane))
}

// take sets the result of a lane.
func (w *Worker) take(f frame, t ir.Type, lane int, bits uint64) {
	at := abi.GroupValue(&w.v.code.layout, 0)
	if t.Size() == 8 {
		*f.at(at + 8*lane) = bits
	} else {
		*f.at4(at + 4*lane) = uint32(bits)
	}
}

func (w *Worker) fill(f frame, t ir.Type, bits uint64) {
	for lane := range w.v.code.lanes {
		w.take(f, t, lane, bits)
	}
}

// uniform looks for lanes whose value differs from that of the first one of the group; their gangs end.
func (w *Worker) uniform(in *ir.Instr, values []uint64) {
	t := in.Args[0].Type
	key := func(b uint64) uint64 {
		switch t {
		case ir.F32:
			if x := math.Float32frombits(uint32(b)); x != x {
				return uint64(ir.NaN32)
			}
		case ir.F64:
			if x := math.Float64frombits(b); x != x {
				return ir.NaN64
			}
		}
		return b
	}
	first, want, bits := true, uint64(0), uint64(0)
	least := len(values)
	w.eachLane(func(_ frame, _, place int) { least = min(least, place) })
	if least < len(values) {
		first, want, bits = false, key(values[least]), values[least]
	}
	if first {
		return
	}
	killed := map[int]bool{}
	w.eachLane(func(f frame, lane, place int) {
		if key(values[place]) == want || w.v.code.unchecked {
			return
		}
		item, order := w.itemOf(f, lane)
		w.keep(interp.DivergentUniform, in, item, order)
		killed[f.get32(abi.FrameIndex)] = true
	})
	if w.v.code.unchecked {
		// What the first one has counts for all, unchecked.
		w.eachGang(func(f frame) { w.fill(f, t, bits) })
		return
	}
	w.eachGang(func(f frame) {
		w.fill(f, t, bits)
		if killed[f.get32(abi.FrameIndex)] {
			f.put32(abi.FrameResume, abi.FrameKilled)
		}
	})
}

// combiner is a combining operation on values of a type.
type combiner struct {
	t  ir.Type
	op ir.Op
}

func (c combiner) identity() uint64 {
	if c.op == ir.Add {
		return 0
	}
	most := c.op == ir.Min
	switch c.t {
	case ir.F32, ir.F64:
		if most {
			return ir.FloatBits(c.t, math.Inf(1))
		}
		return ir.FloatBits(c.t, math.Inf(-1))
	case ir.I32, ir.I64:
		width := 8*c.t.Size() - 1
		if most {
			return 1<<width - 1
		}
		return ir.IntBits(c.t, -1<<width)
	}
	if most {
		return ir.IntBits(c.t, -1)
	}
	return 0
}

// neutral is what a value can be combined with so that all of it stays: 0 would make 0 of −0.
func (c combiner) neutral() uint64 {
	if c.op == ir.Add && c.t.IsFloat() {
		return 1 << (8*c.t.Size() - 1)
	}
	return c.identity()
}

// apply combines two values.
func (c combiner) apply(x, y uint64) uint64 {
	if c.t == ir.F32 && c.op == ir.Add {
		return uint64(math.Float32bits(math.Float32frombits(uint32(x)) + math.Float32frombits(uint32(y))))
	}
	r := ir.Value{Type: c.t}
	a := ir.Value{Type: c.t}
	in := ir.Instr{Op: c.op, Args: []*ir.Value{&a, &a}, Results: []*ir.Value{&r}}
	bits, _ := scalar.Eval(&in, x, y)
	return bits
}

// reduce sets all of t to its reduction: t[l] op t[l+s] for s from half of the next power of two down to 1.
func (c combiner) reduce(t []uint64) {
	identity := c.identity()
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

// scan is inclusive: blocks of 32 by Hillis and Steele, then the same over the blocks' totals, which are added.
func (c combiner) scan(t []uint64) {
	var totals [interp.MaxGroupItems / scanBlock]uint64
	n := 0
	for from := 0; from < len(t); from += scanBlock {
		b := t[from:min(from+scanBlock, len(t))]
		c.hillisSteele(b, scanBlock)
		totals[n] = b[len(b)-1]
		n++
	}
	c.hillisSteele(totals[:n], scanBlock)
	for l := scanBlock; l < len(t); l++ {
		t[l] = c.apply(totals[l/scanBlock-1], t[l])
	}
}

func (c combiner) hillisSteele(t []uint64, limit int) {
	for s := 1; s < limit; s *= 2 {
		for l := len(t) - 1; l >= s; l-- {
			t[l] = c.apply(t[l-s], t[l])
		}
	}
}

// subgroup computes a subgroup operation in runs of the subgroup's width.
func (w *Worker) subgroup(in *ir.Instr, op combiner, values, others []uint64) {
	for from := 0; from < len(values); from += subgroupSize {
		v := values[from:min(from+subgroupSize, len(values))]
		switch in.Subgroup {
		case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
			op.reduce(v)
		case ir.SubgroupScanAdd:
			op.hillisSteele(v, len(v))
		case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
			vote(in.Subgroup, v)
		default:
			shuffle(in.Subgroup, v, others[from:from+len(v)])
		}
	}
}

func vote(kind ir.SubgroupKind, v []uint64) {
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

// shuffle gives each lane another's value, 0 from one that is absent or outside the subgroup.
func shuffle(kind ir.SubgroupKind, v, from []uint64) {
	var old [subgroupSize]uint64
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
