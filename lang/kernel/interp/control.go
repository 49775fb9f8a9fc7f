package interp

// node is a part of a kernel's body. It runs for all rows of the block and removes leaving lanes from the mask.
type node interface {
	run(w *Worker, m mask)
}

// block is a sequence of nodes that ends with a jump or a finish.
type block []node

func (b block) run(w *Worker, m mask) {
	for _, n := range b {
		n.run(w, m)
		if m.empty() {
			return
		}
	}
}

// line is a sequence of instructions without control flow or group operations.
type line []step

func (n line) run(w *Worker, m mask) {
	for r := range m {
		row := &m[r]
		f := &w.frames[r]
		for _, s := range n {
			if len(row.lanes) == 0 {
				break
			}
			s(f, row.lanes)
			if f.left {
				f.drop(row)
			}
		}
	}
}

// branch executes an If.
type branch struct {
	cond      int
	then, els block
	masks     int // index of two masks for the branches
	exit      int // set of lanes that reached the end
}

func (n *branch) run(w *Worker, m mask) {
	then, els, exit := w.masks[n.masks], w.masks[n.masks+1], w.sets[n.exit]
	clear(exit)
	for r := range m {
		row := &m[r]
		cond := at[uint8](&w.frames[r], n.cond)
		some, all := uint8(0), uint8(1)
		for _, i := range row.lanes {
			some |= cond[i]
			all &= cond[i]
		}
		switch {
		case all != 0:
			then[r].share(row)
			els[r].clear()
		case some == 0:
			then[r].clear()
			els[r].share(row)
		default:
			var yes set
			for _, i := range row.lanes {
				yes[i>>6] |= uint64(cond[i]) << (i & 63)
			}
			no := row.set
			no.remove(&yes)
			then[r].assign(&yes)
			els[r].assign(&no)
		}
	}
	if !then.empty() {
		n.then.run(w, then)
	}
	if !els.empty() {
		n.els.run(w, els)
	}
	m.keep(exit)
}

// region executes a Region.
type region struct {
	body block
	exit int
}

func (n *region) run(w *Worker, m mask) {
	exit := w.sets[n.exit]
	clear(exit)
	n.body.run(w, m)
	m.keep(exit)
}

// loop executes a Loop.
type loop struct {
	enter line // initializes the parameters
	body  block
	exit  int
	next  int // set of lanes of the next iteration
}

func (n *loop) run(w *Worker, m mask) {
	exit, next := w.sets[n.exit], w.sets[n.next]
	clear(exit)
	n.enter.run(w, m)
	for !m.empty() {
		if w.stop() {
			m.clear()
			return
		}
		clear(next)
		n.body.run(w, m)
		m.keep(next)
	}
	m.keep(exit)
}

// jump ends a block: it copies values and adds the lanes to a set of its target. The target continues with the lanes of that set.
// Instructions between the jump and its target drop these lanes, which are not in their sets.
type jump struct {
	copies line
	to     int
}

func (n *jump) run(w *Worker, m mask) {
	n.copies.run(w, m)
	m.collect(w.sets[n.to])
}

// finish ends a block without a successor.
type finish struct{}

func (finish) run(*Worker, mask) {}
