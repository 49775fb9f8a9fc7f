package races

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// Limits of the evaluation of items. A loop that exceeds one of the first three is left with unknown results. Accesses and guards
// beyond the others are dropped.
const (
	maxTrips     = 64      // iterations of a loop
	maxItemSteps = 3_000   // instructions of an item
	maxSteps     = 150_000 // instructions of all items
	maxAccesses  = 512     // per item
	maxPath      = 64      // guards of a path
)

// kind is the kind of an access.
type kind uint8

const (
	read kind = iota
	write
	atomicRead
	atomicWrite
)

// address identifies the element of an access.
type address struct {
	base  uint64 // identity of the array's memory
	known bool
	off   int64 // bytes from the base, if known
	size  int64
	id    uint64 // equal for equal addresses
	index val    // an unknown index; only if the address is not known
}

// access is an access of one item.
type access struct {
	in     *ir.Instr
	item   int // index in the sample
	kind   kind
	addr   address
	epoch  uint64 // equal for accesses of an item that no barrier separates
	value  val    // of a write
	guards []guard
	// update is set if the written value depends on the item's own load of the element, and decided if a guard of the write does.
	update, decided bool
	loaded          uint64 // update: identity of the loaded value
}

// machine evaluates the items of a launch one by one. A value that depends on the contents of buffers is unknown.
type machine struct {
	k       *ir.Kernel
	l       *Launch
	params  map[*ir.Value]val
	structs *analysis.Structure
	written map[uint64]bool           // bases of arrays that plain stores change
	bits    map[*ir.Instr]uint64      // by load that may read a changed element: its bit in val.deps
	paths   map[*ir.Instr]ir.Resolved // resolved paths, for reuse
	inside  map[*ir.Instr]*loopFacts  // properties of loops, for reuse
	bases   map[*ir.Array]Location    // memory of arrays
	names   map[any]uint64            // numbers of memories
	hints   map[int64]bool            // coordinates of items to sample; see suggest
	hint    bool                      // collects hints
	steps   int                       // steps of all items
	itemState
}

// itemState is the state of the current item.
type itemState struct {
	at       [3]int64 // position of the item in the launch
	item     int      // index in the sample
	values   map[*ir.Value]val
	frames   []*frame
	guards   []guard // unknown conditions of the path
	epoch    uint64
	once     uint64             // number of identities from unique
	left     int                // steps that the item may still take
	synced   bool               // records no further accesses; see record
	memory   map[memoryKey]val  // elements that the item has stored
	lost     map[uint64]uint64  // by base: identity of the stores at unknown elements
	loads    map[loadKey]uint64 // identities of values loaded from elements that may change
	seen     map[accessKey]bool // accesses that are recorded
	accesses []access
	count    int // number of recorded accesses
}

type memoryKey struct {
	base uint64
	off  int64
}

type loadKey struct {
	in   *ir.Instr
	addr uint64
}

type accessKey struct {
	in    *ir.Instr
	addr  uint64
	epoch uint64
}

// frame is an active structured instruction.
type frame struct {
	in      *ir.Instr
	outs    []out // paths to its end
	next    []out // paths to its next iteration
	guards  int   // number of guards at its start
	escaped bool  // a path left an enclosing instruction, too
}

// out is the end of a path.
type out struct {
	vals   []val
	guards []guard
}

// loopFacts are the properties of a loop's body.
type loopFacts struct {
	uses     []*ir.Value // values that the body uses and does not define
	stores   []*ir.Array
	deps     uint64
	barrier  bool
	varies   bool // the result depends on the item not only through uses
	sync     bool // contains an atomic operation, a call of the host, a subgroup operation or a clock
	observed bool // loads from written or private arrays
}

func newMachine(k *ir.Kernel, l *Launch) *machine {
	m := &machine{k: k, l: l, params: map[*ir.Value]val{}, structs: analysis.StructureOf(k), written: map[uint64]bool{}, bits: map[*ir.Instr]uint64{},
		paths: map[*ir.Instr]ir.Resolved{}, inside: map[*ir.Instr]*loopFacts{}, bases: map[*ir.Array]Location{}, names: map[any]uint64{}, hints: map[int64]bool{}}
	i := 0
	for n, p := range k.Params {
		if p.Array != nil {
			at, ok := l.Memory[p.Name]
			if !ok {
				at = Location{Memory: p.Array}
			}
			m.bases[p.Array] = at
			continue
		}
		v := k.Body.Params[i]
		i++
		if bits, ok := l.Scalars[p.Name]; ok {
			m.params[v] = constant(v.Type, bits)
			m.suggest(v.Type, bits)
		} else {
			m.params[v] = unknown(hash(idParam, uint64(n)))
		}
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Store && (in.Array.Space == ir.Global || in.Array.Space == ir.Shared) {
			m.written[m.base(in.Array)] = true
		}
	})
	n := 0
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load && m.written[m.base(in.Array)] {
			m.bits[in] = 1 << min(n, 63)
			n++
		}
	})
	return m
}

// base returns a number that identifies the memory of an array.
func (m *machine) base(a *ir.Array) uint64 {
	at, ok := m.bases[a]
	if !ok {
		at = Location{Memory: a}
		m.bases[a] = at
	}
	id := m.names[at.Memory]
	if id == 0 {
		id = uint64(len(m.names) + 1)
		m.names[at.Memory] = id
	}
	return id
}

// suggest records an integer constant from 9 to 2^31−1 as the coordinate of an item to sample. It records at most 20.
func (m *machine) suggest(t ir.Type, bits uint64) {
	if t.IsInt() {
		if n := scalar.Signed(t, bits); n > 8 && n < 1<<31 && len(m.hints) < 20 {
			m.hints[n] = true
		}
	}
}

// run evaluates the item at a position of the launch, and adds its accesses to m.accesses. item is its index in the sample.
func (m *machine) run(item int, at [3]int64) {
	m.item, m.at = item, at
	m.values, m.frames, m.guards = map[*ir.Value]val{}, nil, nil
	m.epoch, m.once, m.left, m.synced, m.count = 0, 0, maxItemSteps, false, 0
	m.memory, m.lost, m.loads, m.seen = map[memoryKey]val{}, map[uint64]uint64{}, map[loadKey]uint64{}, map[accessKey]bool{}
	m.block(m.k.Body)
}

func (m *machine) of(v *ir.Value) val {
	if x, ok := m.values[v]; ok {
		return x
	}
	if x, ok := m.params[v]; ok {
		return x
	}
	return val{id: m.unique()}
}

// unique returns an identity that no other value has.
func (m *machine) unique() uint64 {
	m.once++
	return hash(idOnce, uint64(m.item), m.once)
}

func (m *machine) all(list []*ir.Value) []val {
	out := make([]val, len(list))
	for i, v := range list {
		out[i] = m.of(v)
	}
	return out
}

func (m *machine) path(vals []val) out { return out{vals, append([]guard(nil), m.guards...)} }

// guard adds an unknown condition to the path. It drops those beyond maxPath.
func (m *machine) guard(g guard) {
	m.synced = m.synced || g.cond.sync
	if len(m.guards) < maxPath {
		m.guards = append(m.guards, g)
	}
}

// jump returns the frame of the target of a jump, or nil for the end of the item. It marks the frames inside it, which the jump
// leaves early.
func (m *machine) jump(target *ir.Instr) *frame {
	for i := len(m.frames) - 1; i >= 0; i-- {
		f := m.frames[i]
		if f.in == target {
			return f
		}
		f.escaped = true
	}
	return nil
}

// block evaluates a block to its terminator.
func (m *machine) block(b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		m.left--
		m.steps++
		switch in.Op {
		case ir.Region, ir.If:
			f := m.enter(in)
			if in.Op == ir.If {
				m.branch(in, f)
			} else {
				m.block(in.Then)
			}
			if !m.leave(f) {
				return
			}
		case ir.Loop:
			f := m.enter(in)
			m.loop(in, f)
			if !m.leave(f) {
				return
			}
		case ir.Yield:
			f := m.frames[len(m.frames)-1]
			f.outs = append(f.outs, m.path(m.all(in.Args)))
			return
		case ir.Break:
			if f := m.jump(in.Target); f != nil {
				f.outs = append(f.outs, m.path(m.all(in.Args)))
			}
			return
		case ir.Continue:
			if f := m.jump(in.Target); f != nil {
				f.next = append(f.next, m.path(m.all(in.Args)))
			}
			return
		case ir.Return, ir.Unreachable:
			m.jump(nil)
			return
		default:
			if !m.instr(in) {
				m.jump(nil)
				return
			}
		}
	}
}

func (m *machine) enter(in *ir.Instr) *frame {
	f := &frame{in: in, guards: len(m.guards)}
	m.frames = append(m.frames, f)
	return f
}

// branch evaluates an If: one branch if the condition is known, otherwise both.
func (m *machine) branch(in *ir.Instr, f *frame) {
	cond := m.of(in.Args[0])
	side := func(b *ir.Block) {
		if b == nil {
			f.outs = append(f.outs, m.path(nil))
			return
		}
		m.block(b)
	}
	if cond.known {
		m.synced = m.synced || cond.sync
		if cond.bits != 0 {
			side(in.Then)
		} else {
			side(in.Else)
		}
		return
	}
	m.guard(guard{cond: cond, taken: true})
	side(in.Then)
	m.guards = m.guards[:min(f.guards, len(m.guards))]
	m.guard(guard{cond: cond})
	side(in.Else)
}

// leave ends a structured instruction: it joins the paths to its end. It returns false if there are none.
func (m *machine) leave(f *frame) bool {
	m.frames = m.frames[:len(m.frames)-1]
	if len(f.outs) == 0 {
		return false
	}
	m.guards = m.guards[:min(f.guards, len(m.guards))]
	if len(f.outs) == 1 {
		o := f.outs[0]
		if f.escaped {
			m.guards = o.guards
		}
		for i, r := range f.in.Results {
			m.values[r] = o.vals[i]
		}
		return true
	}
	var conds val
	h := hash(idJoin)
	for _, o := range f.outs {
		for _, g := range o.guards[min(f.guards, len(o.guards)):] {
			conds.from(g.cond)
			h = mix(h, g.cond.id)
			if g.taken {
				h++
			}
		}
	}
	for i, r := range f.in.Results {
		v, equal := f.outs[0].vals[i], true
		joined := conds
		id := h
		for _, o := range f.outs {
			equal = equal && o.vals[i].id == v.id
			joined.from(o.vals[i])
			id = mix(id, o.vals[i].id)
		}
		if !equal {
			v = joined
			v.id = hash(idJoin, id)
		}
		m.values[r] = v
	}
	if f.escaped {
		conds.id = h
		m.guard(guard{cond: conds, opaque: true})
	}
	return true
}

// loop evaluates a loop as long as it is known to go on, and approximates the rest.
func (m *machine) loop(in *ir.Instr, f *frame) {
	vals := m.all(in.Args)
	for trip := 0; ; trip++ {
		f.next = nil
		for i, p := range in.Then.Params {
			m.values[p] = vals[i]
		}
		m.block(in.Then)
		if len(f.next) == 0 {
			return
		}
		certain := len(f.next) == 1 && len(f.outs) == 0 && len(f.next[0].guards) <= f.guards
		if !certain || trip >= maxTrips || m.left <= 0 || m.steps > maxSteps {
			break
		}
		vals = f.next[0].vals
		m.guards = m.guards[:min(f.guards, len(m.guards))]
	}
	facts := m.factsOf(in)
	var r val
	h := hash(idLoop, uint64(in.Site))
	for _, list := range [][]out{f.next, f.outs} {
		for _, o := range list {
			for _, v := range o.vals {
				r.from(v)
				h = mix(h, v.id)
			}
			for _, g := range o.guards[min(f.guards, len(o.guards)):] {
				r.from(g.cond)
				h = mix(h, g.cond.id)
			}
		}
	}
	for _, v := range facts.uses {
		x := m.of(v)
		r.from(x)
		h = mix(h, x.id)
	}
	r.deps |= facts.deps
	r.sync = r.sync || facts.sync
	if facts.varies {
		h, r.ids = mix(h, hash(idItem, uint64(m.item))), true
	}
	if facts.observed {
		h = mix(h, m.epoch)
		for _, a := range facts.stores {
			h = mix(h, m.lost[m.memoryOf(a)])
		}
	}
	for _, a := range facts.stores {
		m.forget(a, h)
	}
	if facts.barrier {
		m.epoch += 1 << 20
		m.forgetGlobal()
	}
	results := make([]val, len(in.Results))
	for i := range results {
		results[i] = r
		results[i].id = hash(idLoop, h, uint64(i))
		results[i].leaf = results[i].id
	}
	f.outs = []out{{results, append([]guard(nil), m.guards[:min(f.guards, len(m.guards))]...)}}
	if f.escaped {
		r.id = h
		f.outs[0].guards = append(f.outs[0].guards, guard{cond: r, opaque: true})
	}
}

// factsOf returns the properties of a loop's body.
func (m *machine) factsOf(loop *ir.Instr) *loopFacts {
	if f := m.inside[loop]; f != nil {
		return f
	}
	f := &loopFacts{}
	m.inside[loop] = f
	seen := map[*ir.Value]bool{}
	arrays := map[*ir.Array]bool{}
	stores := func(a *ir.Array) {
		if !arrays[a] {
			arrays[a] = true
			f.stores = append(f.stores, a)
		}
	}
	loop.Then.Walk(func(in *ir.Instr) {
		for _, v := range in.Args {
			if !seen[v] && m.structs.Invariant(v, loop) {
				seen[v] = true
				f.uses = append(f.uses, v)
			}
		}
		switch in.Op {
		case ir.Item:
			f.varies = f.varies || in.Item != ir.GlobalSize && in.Item != ir.GroupSize && in.Item != ir.NumGroups
		case ir.Load:
			f.deps |= m.bits[in]
			f.observed = f.observed || m.bits[in] != 0 || in.Array.Space == ir.Private
		case ir.Store, ir.Zero:
			stores(in.Array)
		case ir.Barrier:
			f.barrier = true
		case ir.Atomic, ir.Call, ir.Subgroup, ir.Clock:
			f.varies, f.sync = true, true
		case ir.Scan, ir.Reduce, ir.Uniform:
			f.varies = true
		case ir.Lib:
			for _, a := range in.Arrays {
				stores(a)
			}
		}
	})
	return f
}
