package exec

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// groupOp computes a group operation. Each gang that waits for it has stored its operands in its frame, and finds its results
// there.
func (w *Worker) groupOp(in *ir.Instr) {
	size := w.g.GroupSize
	items := size[0] * size[1] * size[2]
	t, r := in.Args[0].Type, in.Type()
	values := w.room(0, items)
	others := w.room(1, items)
	op, none := scalar.CombinerOf(in), scalar.Absent(in)
	for i := range values {
		values[i] = none
	}
	w.eachLane(func(f frame, lane, place int) {
		values[place] = w.operand(f, 0, t, lane)
		if len(in.Args) > 1 {
			others[place] = w.operand(f, 1, ir.I32, lane)
		}
	})
	switch in.Op {
	case ir.Reduce:
		scalar.Reduce(op, values)
	case ir.Scan:
		if in.Exclusive {
			scalar.ScanExclusive(op, values)
		} else {
			scalar.Scan(op, values)
		}
	case ir.Subgroup:
		w.subgroup(in, op, values, others)
	case ir.Uniform:
		w.uniform(in, values)
		return
	}
	whole := in.Op == ir.Reduce
	w.eachGang(func(f frame) {
		if whole { // including absent lanes
			w.fill(f, r, values[0])
		}
	})
	if !whole {
		w.eachLane(func(f frame, lane, place int) { w.take(f, r, lane, values[place]) })
	}
}

// room returns operand list n (0 or 1), with one value per item. The next group operation reuses the memory.
func (w *Worker) room(n, items int) []uint64 {
	if need := 2 * items; len(w.Scratch) < need {
		w.Scratch = make([]uint64, need)
	}
	return w.Scratch[n*items : (n+1)*items]
}

// eachGang calls visit for each gang of the current work-group that has not ended.
func (w *Worker) eachGang(visit func(f frame)) {
	size := w.v.Code.Frame
	first := int(w.get64(abi.CtxFrame)-w.get64(abi.CtxFrames)) / size
	for i := range w.Gangs {
		if f := w.frame(first + i); uint32(f.get32(abi.FrameResume)) < abi.FrameKilled {
			visit(f)
		}
	}
}

// eachLane calls visit for each active lane of the waiting gangs. place is the rank of the lane's item in its work-group.
func (w *Worker) eachLane(visit func(f frame, lane, place int)) {
	y := &w.v.Code.Layout
	perReg := w.v.Code.Target.Lanes
	w.eachGang(func(f frame) {
		for lane := range w.v.Code.Lanes {
			if f.get16(abi.GroupMasks(y)+2*(lane/perReg))>>(lane%perReg)&1 != 0 {
				visit(f, lane, w.place(f, lane))
			}
		}
	})
}

// operand returns the bits of operand n of a lane in a group operation.
func (w *Worker) operand(f frame, n int, t ir.Type, lane int) uint64 {
	at := abi.GroupValue(&w.v.Code.Layout, n)
	if t.Size() == 8 {
		return *f.at(at + 8*lane)
	}
	return uint64(*f.at4(at + 4*lane))
}

// take stores bits as the result of a lane in its gang's frame.
func (w *Worker) take(f frame, t ir.Type, lane int, bits uint64) {
	at := abi.GroupValue(&w.v.Code.Layout, 0)
	if t.Size() == 8 {
		*f.at(at + 8*lane) = bits
	} else {
		*f.at4(at + 4*lane) = uint32(bits)
	}
}

// fill stores bits as the result of all lanes of a gang.
func (w *Worker) fill(f frame, t ir.Type, bits uint64) {
	for lane := range w.v.Code.Lanes {
		w.take(f, t, lane, bits)
	}
}

// uniform stores the value of the first active item as the result of all lanes, or nothing if no lane is active. In checked code it
// records faults for lanes with other values, and ends their gangs. All NaNs count as the same value.
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
		if key(values[place]) == want || w.v.Code.Unchecked {
			return
		}
		item, order := w.itemOf(f, lane)
		w.keep(interp.DivergentUniform, in, item, order)
		killed[f.get32(abi.FrameIndex)] = true
	})
	if w.v.Code.Unchecked {
		// The value of the first active item is the result, and no gang ends.
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

// subgroup computes a subgroup operation, one subgroup after another. values has the first operand of each item, and others the
// second if the operation has two. The results replace values.
func (w *Worker) subgroup(in *ir.Instr, op scalar.Combiner, values, others []uint64) {
	for from := 0; from < len(values); from += abi.SubgroupSize {
		v := values[from:min(from+abi.SubgroupSize, len(values))]
		switch in.Subgroup {
		case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
			scalar.Reduce(op, v)
		case ir.SubgroupScanAdd:
			scalar.HillisSteele(op, v)
		case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
			scalar.Vote(in.Subgroup, v)
		default:
			scalar.Shuffle(in.Subgroup, v, others[from:from+len(v)])
		}
	}
}
