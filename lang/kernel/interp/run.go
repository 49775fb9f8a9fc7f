package interp

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Worker holds the memory for running groups of a program. Only one goroutine may use it at a time.
type Worker struct {
	program *Program
	launch  *Launch

	frames  []frame
	active  mask    // active lanes of the body
	masks   []mask  // masks of branches
	sets    [][]set // lane sets of structured instructions, a set for each row
	arrays  []memory
	shared  []uint64
	private []uint64
	scratch []uint64 // an element per item, for group operations
	prints  Prints
	calls   []Scalar // arguments of the current call of a service
	races   *races

	group   int    // the running group
	groupAt [3]int // position of the group, if groups are observed
	first   int    // first item of the group, if they are not
	stopped bool
	faulted bool
	fault   Fault
}

// NewWorker returns a worker for the program.
func (p *Program) NewWorker() *Worker {
	w := &Worker{program: p, arrays: make([]memory, len(p.kernel.Arrays)), shared: make([]uint64, p.sharedBytes/8+1)}
	for _, a := range p.kernel.Arrays {
		switch {
		case a.Space == ir.Shared:
			w.arrays[a.ID].base = unsafe.Pointer(&w.shared[p.offsets[a.ID]/8])
		case a.Space == ir.Table && len(a.Data) > 0:
			words := make([]uint64, (len(a.Data)+7)/8) // for alignment
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(a.Data)), a.Data)
			w.arrays[a.ID].base = unsafe.Pointer(&words[0])
		}
	}
	w.sets = make([][]set, p.numSets)
	w.masks = make([]mask, p.numMasks)
	if p.options.Races {
		w.races = newRaces(w)
	}
	w.grow(1)
	return w
}

// grow allocates the memory for blocks of up to rows rows, unless the worker has it.
func (w *Worker) grow(rows int) {
	if rows <= len(w.frames) {
		return
	}
	p := w.program
	w.frames = make([]frame, rows)
	for r := range w.frames {
		f := &w.frames[r]
		f.w, f.row, f.regs = w, r, make([]uint64, p.regWords)
		for _, k := range p.constants {
			f.fill(k.reg, k.t, k.bits)
		}
	}
	w.active = make(mask, rows)
	for i := range w.masks {
		w.masks[i] = make(mask, rows)
	}
	for i := range w.sets {
		w.sets[i] = make([]set, rows)
	}
	w.scratch = make([]uint64, rows*width)
	w.private = make([]uint64, rows*width*p.privateBytes/8+1)
	for _, a := range p.kernel.Arrays {
		if a.Space == ir.Private {
			w.arrays[a.ID].base = unsafe.Pointer(&w.private[0])
		}
	}
}

// fill sets all lanes of a register.
func (f *frame) fill(reg int, t ir.Type, bits uint64) {
	switch t.Size() {
	case 1:
		r := at[uint8](f, reg)
		for i := range r {
			r[i] = uint8(bits)
		}
	case 4:
		r := at[uint32](f, reg)
		for i := range r {
			r[i] = uint32(bits)
		}
	default:
		r := at[uint64](f, reg)
		for i := range r {
			r[i] = bits
		}
	}
}

// Run runs the groups first to last−1 of a launch prepared by [Program.Prepare], and returns the first fault, or nil. It ignores
// numbers of groups that the launch does not have. A fault ends only its work-item. Run panics if the launch or the worker is of
// another program. Only one goroutine may use the worker at a time.
func (p *Program) Run(w *Worker, l *Launch, first, last int) *Fault {
	if l.program != p || w.program != p {
		panic("interp: the launch was not prepared for this program, or the worker is another's")
	}
	last = min(last, l.count)
	if first = max(first, 0); first >= last {
		return nil
	}
	rows := 1
	if p.observes {
		rows = (l.items-1)/width + 1
	}
	w.grow(rows)
	w.begin(l, rows)
	defer w.prints.Drop() // after a panic of the host
	for group := first; group < last && !w.stop(); group++ {
		w.run(group, rows)
	}
	w.launch = nil
	if !w.faulted {
		return nil
	}
	fault := w.fault
	return &fault
}

// stop reports whether Launch.Stop was set. Once the worker has seen it set, stop returns true for the rest of the run.
func (w *Worker) stop() bool {
	if !w.stopped && w.launch.Stop != nil && w.launch.Stop.Load() {
		w.stopped = true
	}
	return w.stopped
}

// begin sets the state that all groups share.
func (w *Worker) begin(l *Launch, rows int) {
	w.launch, w.stopped, w.faulted = l, false, false
	p := w.program
	for i := range p.kernel.Params {
		if a := p.kernel.Params[i].Array; a != nil {
			m := &w.arrays[a.ID]
			m.base = l.Args[i].Base
			for axis, d := range l.Args[i].Dims[:a.Rank] {
				m.dims[axis] = uint64(d)
			}
		}
	}
	for r := range rows {
		f := &w.frames[r]
		f.bad, f.left = set{}, false
		for i := range p.inputs {
			in := &p.inputs[i]
			switch in.kind {
			case inputParam:
				bits := l.Args[in.param].Bits
				if in.t == ir.Bool {
					bits = uint64(truth(bits != 0))
				}
				f.fill(in.reg, in.t, bits)
			case inputExtent:
				f.fill(in.reg, in.t, w.arrays[in.array.ID].dims[in.axis])
			case inputItem:
				f.launchItem(in)
			}
		}
	}
}

// launchItem sets the register of a coordinate that does not depend on the group. It ignores other coordinates.
func (f *frame) launchItem(in *input) {
	l := f.w.launch
	switch in.item {
	case ir.GlobalSize:
		f.fill(in.reg, ir.I32, uint64(l.Size[in.axis]))
	case ir.GroupSize:
		f.fill(in.reg, ir.I32, uint64(l.GroupSize[in.axis]))
	case ir.NumGroups:
		f.fill(in.reg, ir.I32, uint64(l.groups[in.axis]))
	case ir.SubgroupSize:
		f.fill(in.reg, ir.I32, uint64(l.SubgroupSize))
	case ir.LocalID:
		x := at[int32](f, in.reg)
		for i := range x {
			x[i] = int32(l.local(f.row*width + i)[in.axis])
		}
	case ir.Lane:
		x := at[int32](f, in.reg)
		for i := range x {
			x[i] = int32((f.row*width + i) % l.SubgroupSize)
		}
	}
}

// local returns the position of an item in its group. order is the rank of the item there.
func (l *Launch) local(order int) [3]int {
	x, y := l.GroupSize[0], l.GroupSize[1]
	return [3]int{order % x, order / x % y, order / x / y}
}

// item returns the position in the launch of an item of the running group. order is the rank of the item in the group.
func (w *Worker) item(order int) [3]int {
	l := w.launch
	if !w.program.observes {
		n := w.first + order
		x, y := l.Size[0], l.Size[1]
		return [3]int{n % x, n / x % y, n / x / y}
	}
	at := l.local(order)
	for axis := range at {
		at[axis] += w.groupAt[axis] * l.GroupSize[axis]
	}
	return at
}

// run runs one group.
func (w *Worker) run(group, rows int) {
	w.group = group
	if w.program.observes {
		w.enter(group, rows)
	} else {
		w.enterItems(group)
	}
	if w.program.dirtyPrivate {
		clear(w.private)
	}
	if w.races != nil {
		w.races.begin()
	}
	w.program.body.run(w, w.active[:rows])
	w.prints.Flush()
}

// enterItems activates the lanes for a run of items and sets the registers with their global IDs.
func (w *Worker) enterItems(group int) {
	l, f := w.launch, &w.frames[0]
	w.first = group * width
	n := min(width, l.total-w.first)
	w.active[0].first(n)
	for i := range w.program.inputs {
		in := &w.program.inputs[i]
		if in.kind != inputItem || in.item != ir.GlobalID {
			continue
		}
		x := at[int32](f, in.reg)
		start := w.item(0)
		switch in.axis {
		case 0:
			at, size := start[0], l.Size[0]
			for i := range n {
				x[i] = int32(at)
				if at++; at == size {
					at = 0
				}
			}
		default:
			for i := range n {
				x[i] = int32(w.item(i)[in.axis])
			}
		}
	}
}

// enter sets the registers for a group and clears its shared memory. Items beyond the launch size are inactive.
func (w *Worker) enter(group, rows int) {
	l := w.launch
	w.groupAt = [3]int{group % l.groups[0], group / l.groups[0] % l.groups[1], group / l.groups[0] / l.groups[1]}
	clear(w.shared)
	whole := true
	for axis, n := range w.groupAt {
		whole = whole && (n+1)*l.GroupSize[axis] <= l.Size[axis]
	}
	for r := range rows {
		f := &w.frames[r]
		n := min(width, l.items-r*width)
		if whole {
			w.active[r].first(n)
		} else {
			var present set
			for i := range n {
				at := w.item(r*width + i)
				if at[0] < l.Size[0] && at[1] < l.Size[1] && at[2] < l.Size[2] {
					present.add(uint8(i))
				}
			}
			w.active[r].assign(&present)
		}
		for i := range w.program.inputs {
			in := &w.program.inputs[i]
			if in.kind != inputItem {
				continue
			}
			switch in.item {
			case ir.GroupID:
				f.fill(in.reg, ir.I32, uint64(w.groupAt[in.axis]))
			case ir.GlobalID:
				x := at[int32](f, in.reg)
				for i := range n {
					x[i] = int32(w.item(r*width + i)[in.axis])
				}
			}
		}
	}
}

// fault records a fault of an item of the running group and returns it for completion. It returns nil if an earlier fault is kept,
// or if Launch.Watch is another item.
func (f *frame) fault(lane uint8, kind FaultKind, site int) *Fault {
	w := f.w
	order := f.row*width + int(lane)
	if watch := w.launch.Watch; watch != nil && *watch != w.item(order) {
		return nil
	}
	if w.faulted && (w.fault.group != w.group || w.fault.order <= order) {
		return nil
	}
	w.faulted = true
	w.fault = Fault{Kind: kind, Site: site, Item: w.item(order), group: w.group, order: order}
	return &w.fault
}
