package exec

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// current returns the frame of the gang that trapped.
func (w *Worker) current() frame {
	if !w.v.Code.Observes {
		return w.frame(0)
	}
	base := uintptr(unsafe.Pointer(&w.frames[0]))
	return w.frame(int(uintptr(w.get64(abi.CtxGPR+8*15))-base) / w.v.Code.Frame)
}

// register returns the address of a virtual register's value during a trap, in the context or in the gang's frame.
func (w *Worker) register(f frame, r vcode.Reg) unsafe.Pointer {
	c := w.v.Code
	v, phys := &c.Regs[r], int(c.Where.Phys[r])
	if phys < 0 {
		if v.Shared {
			return unsafe.Pointer(&w.context[c.Shared+int(c.Where.Slot[r])])
		}
		return unsafe.Pointer(&f[c.Layout.Frame+int(c.Where.Slot[r])])
	}
	switch v.Class {
	case vcode.ClassVec:
		return unsafe.Pointer(&w.context[abi.CtxVec+64*phys])
	case vcode.ClassMask:
		return unsafe.Pointer(&w.context[abi.CtxMasks+8*phys])
	}
	return unsafe.Pointer(&w.context[abi.CtxGPR+8*phys])
}

// laneSet is a set of lanes of the widest gang.
type laneSet [abi.MaxGangItems / 64]uint64

func (s *laneSet) has(lane int) bool { return s[lane/64]>>(lane%64)&1 != 0 }

// active returns the lanes of a mask; nil is all lanes.
func (w *Worker) active(f frame, mask []vcode.Reg) (set laneSet) {
	if mask == nil {
		for i := range set {
			set[i] = math.MaxUint64
		}
	}
	for i, r := range mask {
		lane := w.v.Code.Target.Lanes * i
		set[lane/64] |= w.maskBits(f, r) << (lane % 64)
	}
	return set
}

// lane returns the bits of a value of type t in a lane.
func (w *Worker) lane(f frame, regs []vcode.Reg, t ir.Type, lane int) uint64 {
	c := w.v.Code
	lanes := c.Target.Lanes
	r := regs[0]
	if c.Regs[r].Elem != 0 && c.Where.Phys[r] < 0 {
		return c.Constants[r]
	}
	switch {
	case c.Regs[r].Class == vcode.ClassGPR:
		b := *(*uint64)(w.register(f, r))
		if t.Size() == 4 {
			b = uint64(uint32(b))
		}
		return b
	case t == ir.Bool:
		return w.maskBits(f, regs[lane/lanes]) >> (lane % lanes) & 1
	case t.Size() == 8:
		return *(*uint64)(unsafe.Add(w.register(f, vcode.Part(regs, lane/(lanes/2))), lane%(lanes/2)*8))
	}
	return uint64(*(*uint32)(unsafe.Add(w.register(f, vcode.Part(regs, lane/lanes)), lane%lanes*4)))
}

// maskBits returns the lanes of a mask register as bits.
func (w *Worker) maskBits(f frame, r vcode.Reg) uint64 {
	at := w.register(f, r)
	if w.v.Code.Target.HasMasks {
		return uint64(*(*uint16)(at))
	}
	bits := uint64(0)
	for i, x := range unsafe.Slice((*uint32)(at), w.v.Code.Target.Lanes) {
		bits |= uint64(x>>31) << i
	}
	return bits
}

// setMaskBit sets a lane of a mask register to bit, 0 or 1.
func (w *Worker) setMaskBit(f frame, r vcode.Reg, lane int, bit uint64) {
	at := w.register(f, r)
	if w.v.Code.Target.HasMasks {
		m := (*uint16)(at)
		*m = *m&^(1<<lane) | uint16(bit)<<lane
		return
	}
	*(*uint32)(unsafe.Add(at, 4*lane)) = -uint32(bit)
}

// setLane sets a lane of a result of type t.
func (w *Worker) setLane(f frame, regs []vcode.Reg, t ir.Type, lane int, bits uint64) {
	lanes := w.v.Code.Target.Lanes
	switch r := regs[0]; {
	case w.v.Code.Regs[r].Class == vcode.ClassGPR:
		*(*uint64)(w.register(f, r)) = bits
	case t == ir.Bool:
		w.setMaskBit(f, regs[lane/lanes], lane%lanes, bits)
	case t.Size() == 8:
		*(*uint64)(unsafe.Add(w.register(f, vcode.Part(regs, lane/(lanes/2))), lane%(lanes/2)*8)) = bits
	default:
		*(*uint32)(unsafe.Add(w.register(f, vcode.Part(regs, lane/lanes)), lane%lanes*4)) = uint32(bits)
	}
}

// item returns the position of a lane of the gang that trapped, and the lane's rank in the order of items.
func (w *Worker) item(f frame, t *vcode.Trap, lane int) (at [3]int, order int) {
	if !w.v.Code.Observes {
		x := int(*(*int32)(w.register(f, t.X)))
		width := w.v.Code.Width
		at = [3]int{x + lane%width, w.get32(abi.CtxY) + lane/width, w.get32(abi.CtxZ)}
		return at, (at[2]*w.g.Size[1]+at[1])*w.g.Size[0] + at[0]
	}
	return w.itemOf(f, lane)
}

// itemOf returns the position and the rank of a lane of a gang of the current work-group. Items are ordered by their
// work-groups, then within them.
func (w *Worker) itemOf(f frame, lane int) (at [3]int, order int) {
	size := w.g.GroupSize
	var group [3]int
	for axis := range 3 {
		group[axis] = w.get32(abi.CtxGroup + 4*axis)
		at[axis] = group[axis]*size[axis] + f.get32(abi.FrameLocal+4*axis)
	}
	at[0] += lane % w.v.Code.Width
	at[1] += lane / w.v.Code.Width
	items := size[0] * size[1] * size[2]
	number := (group[2]*w.get32(abi.CtxGroups+4)+group[1])*w.get32(abi.CtxGroups) + group[0]
	return at, number*items + w.place(f, lane)
}

// place returns the rank of a lane in its work-group.
func (w *Worker) place(f frame, lane int) int {
	size, width := w.g.GroupSize, w.v.Code.Width
	row := f.get32(abi.FrameLocal+8)*size[1] + f.get32(abi.FrameLocal+4) + lane/width
	return row*size[0] + f.get32(abi.FrameLocal) + lane%width
}

// trap serves the trap with number n. Services and evaluations run for each active lane in order. A fault is recorded for the
// first active lane only.
func (w *Worker) trap(n int) {
	t := &w.v.Code.Traps[n]
	if t.Kind == vcode.TrapGroup {
		op := w.get32(abi.CtxPending)
		w.put32(abi.CtxPending, 0)
		w.groupOp(w.v.Code.Groups[op-1])
		return
	}
	f := w.current()
	set := w.active(f, t.Mask)
	if t.Kind == vcode.TrapPrint {
		if w.g.Services != nil {
			w.print(f, t, set)
		}
		return
	}
	var now uint64
	if t.Kind == vcode.TrapClock {
		now = interp.Clock()
	}
	for lane := 0; lane < t.Lanes; lane++ {
		if !set.has(lane) {
			continue
		}
		switch t.Kind {
		case vcode.TrapBounds:
			w.outOfBounds(f, t, lane)
			return
		case vcode.TrapZero:
			w.record(f, t, lane, interp.DivisionByZero)
			return
		case vcode.TrapAssert:
			if fault := w.record(f, t, lane, interp.OfAssert(t.In)); fault != nil {
				fault.Text = string(w.message(nil, f, t, lane))
			}
			return
		case vcode.TrapEval:
			w.eval(f, t, lane)
		case vcode.TrapClock:
			w.setLane(f, t.Results, ir.U64, lane, now)
		case vcode.TrapCall:
			if !w.call(f, t, lane) {
				w.leave(n)
				return
			}
		}
	}
}

// leave makes the gang that trapped by trap n resume at its end.
func (w *Worker) leave(n int) {
	w.put64(abi.CtxResume, uint64(w.v.memory.Entry(w.v.Code.Ends[n])))
}

// record records a fault of a lane and returns it, for the caller to complete. It returns nil if this or an earlier item has a
// recorded fault.
func (w *Worker) record(f frame, t *vcode.Trap, lane int, kind interp.FaultKind) *interp.Fault {
	item, order := w.item(f, t, lane)
	return w.keep(kind, t.In, item, order)
}

// keep records a fault of an item and returns it. order is the item's rank. If this or an earlier item has a recorded fault,
// keep only returns nil.
func (w *Worker) keep(kind interp.FaultKind, in *ir.Instr, item [3]int, order int) *interp.Fault {
	if w.faulted && w.order <= order {
		return nil
	}
	w.faulted, w.order = true, order
	w.fault = interp.Fault{Kind: kind, Site: in.Site, Item: item}
	return &w.fault
}

// outOfBounds records the fault of an index out of bounds, with its array, index and extent.
func (w *Worker) outOfBounds(f frame, t *vcode.Trap, lane int) {
	fault := w.record(f, t, lane, interp.OutOfBounds)
	if fault == nil {
		return
	}
	in := t.In
	index := in.Args[t.Axis].Type
	bits := w.lane(f, t.Args[0], index, lane)
	fault.Array, fault.Axis, fault.Index = in.Array, t.Axis, scalar.Signed(index, bits)
	extent := in.Extent(t.Axis)
	fault.Extent = int64(extent)
	if extent < 0 {
		fault.Extent = w.extent(in.Array, extent)
	}
}

// extent returns the extent of a buffer on axis −1−extent, or its number of elements for [ir.Flat]. It returns 0 for an array that is no
// buffer.
func (w *Worker) extent(a *ir.Array, extent int) int64 {
	for i := range w.v.Code.Params {
		p := w.v.Code.Params[i].Array
		if p == nil || p.ID != a.ID {
			continue
		}
		dims := w.g.Args[i].Dims
		if extent != ir.Flat {
			return int64(dims[-1-extent])
		}
		n := int64(1)
		for _, d := range dims[:a.Rank] {
			n *= int64(d)
		}
		return n
	}
	return 0
}

// operands returns the bits of a trap's operands in a lane. The list is valid until the next call.
func (w *Worker) operands(f frame, t *vcode.Trap, lane int) []uint64 {
	w.bits = w.bits[:0]
	for i, regs := range t.Args {
		w.bits = append(w.bits, w.lane(f, regs, t.Types[i], lane))
	}
	return w.bits
}

// eval computes the result of an instruction in a lane. A uniform result is stored in all lanes of its vector.
func (w *Worker) eval(f frame, t *vcode.Trap, lane int) {
	bits, ok := scalar.Eval(t.In, w.operands(f, t, lane)...)
	if !ok { // an integer division by zero in unchecked code
		bits = 0
	}
	if t.Uniform {
		for i := range w.v.Code.Target.Bytes() / t.In.Type().Size() {
			w.setLane(f, t.Results, t.In.Type(), i, bits)
		}
		return
	}
	w.setLane(f, t.Results, t.In.Type(), lane, bits)
}

// message appends the text of a trap's instruction for a lane: its pieces with the operands between them.
func (w *Worker) message(to []byte, f frame, t *vcode.Trap, lane int) []byte {
	args := w.operands(f, t, lane)
	for i, piece := range t.In.Text {
		to = append(to, piece...)
		if i < len(args) {
			to = interp.AppendScalar(to, interp.Scalar{Type: t.Types[i], Bits: args[i]})
		}
	}
	return to
}

// call calls a host service and stores its result. It records a fault and returns false if the call fails.
func (w *Worker) call(f frame, t *vcode.Trap, lane int) bool {
	item, _ := w.item(f, t, lane)
	w.values = w.values[:0]
	for i, bits := range w.operands(f, t, lane) {
		w.values = append(w.values, interp.Scalar{Type: t.Types[i], Bits: bits})
	}
	var bits uint64
	var err error
	if w.g.Services != nil {
		bits, err = w.g.Services.Call(t.In.Site, t.In.Fn, item, w.values, t.In.Type())
	} else {
		err = fmt.Errorf("there is no service %s", t.In.Fn)
	}
	if err != nil {
		if fault := w.record(f, t, lane, interp.CallFailed); fault != nil {
			fault.Text = err.Error()
		}
		return false
	}
	if len(t.Results) > 0 {
		if t.In.Type() == ir.Bool && bits != 0 {
			bits = 1
		}
		w.setLane(f, t.Results, t.In.Type(), lane, bits)
	}
	return true
}

// print adds a message to the prints of the run for each lane in a set.
func (w *Worker) print(f frame, t *vcode.Trap, set laneSet) {
	text := w.prints.Begin(w.g.Services)
	for lane := 0; lane < t.Lanes; lane++ {
		if set.has(lane) {
			item, order := w.item(f, t, lane)
			text = w.prints.Add(w.message(text, f, t, lane), t.In.Site, order, item)
		}
	}
	w.prints.End(w.g.Prompt)
}
