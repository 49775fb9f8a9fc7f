package races

import (
	"encoding/binary"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// instr evaluates an instruction without blocks. It returns false if the item ends in a fault.
func (m *machine) instr(in *ir.Instr) bool {
	switch in.Op {
	case ir.Const:
		m.values[in.Results[0]] = constant(in.Type(), in.Bits)
	case ir.Item:
		m.values[in.Results[0]] = m.identifier(in)
	case ir.Extent:
		if dims := m.l.Extents[in.Array.Name]; in.Axis < len(dims) {
			m.values[in.Results[0]] = constant(ir.I32, uint64(uint32(dims[in.Axis])))
			m.suggestOnce(ir.I32, uint64(uint32(dims[in.Axis])))
		} else {
			m.values[in.Results[0]] = unknown(hash(idExtent, m.base(in.Array), uint64(in.Axis)))
		}
	case ir.Load:
		return m.load(in)
	case ir.Store:
		return m.store(in)
	case ir.Atomic:
		return m.atomic(in)
	case ir.Zero:
		base := m.base(in.Array)
		for k := range m.memory {
			if k.base == base {
				delete(m.memory, k)
			}
		}
		delete(m.lost, base)
	case ir.Barrier:
		m.epoch++
		m.forgetGlobal()
	case ir.Reduce, ir.Uniform:
		m.epoch++ // the items of a group meet
		m.forgetGlobal()
		v := unknown(hash(idGroup, uint64(in.Site), m.epoch, m.group()))
		if x := m.of(in.Args[0]); in.Op == ir.Uniform && x.known {
			v = x
		}
		m.values[in.Results[0]] = v
	case ir.Scan:
		m.epoch++
		m.forgetGlobal()
		v := unknown(m.unique())
		v.sync = true // usually the index of an element that only this item accesses
		m.values[in.Results[0]] = v
	case ir.Assert:
		if c := m.of(in.Args[0]); c.known && c.bits == 0 {
			return false
		}
	case ir.Print, ir.Fence, ir.Pause:
	case ir.Call, ir.Subgroup, ir.Clock:
		for _, r := range in.Results {
			v := unknown(m.unique())
			v.sync = true
			m.values[r] = v
		}
	case ir.Lib:
		for _, a := range in.Arrays {
			m.forget(a, m.unique())
		}
		h := hash(idOp, hashText(in.Fn))
		var v val
		for _, x := range m.all(in.Args) {
			v.from(x)
			h = mix(h, x.id)
		}
		if len(in.Arrays) > 0 {
			h = m.unique()
		}
		for i, r := range in.Results {
			v.id = hash(h, uint64(i))
			v.leaf = v.id
			m.values[r] = v
		}
	default:
		args := m.all(in.Args)
		if m.hint {
			switch in.Op {
			case ir.Rem, ir.Div, ir.And, ir.Mul, ir.Add, ir.Sub, ir.Min, ir.Max, ir.Lt, ir.Le, ir.Eq, ir.Ne:
				for i, a := range args {
					if a.known && !a.ids {
						m.suggest(in.Args[i].Type, a.bits)
					}
				}
			}
		}
		v, ok := compute(in, args)
		if !ok {
			return false
		}
		for _, r := range in.Results {
			m.values[r] = v
		}
	}
	return true
}

func (m *machine) suggestOnce(t ir.Type, bits uint64) {
	if m.hint {
		m.suggest(t, bits)
	}
}

// identifier returns the value of an Item instruction.
func (m *machine) identifier(in *ir.Instr) val {
	size, group := m.l.Size[in.Axis], max(m.l.GroupSize[in.Axis], 1)
	x := m.at[in.Axis]
	n, ids := int64(0), true
	switch in.Item {
	case ir.GlobalID:
		n = x
	case ir.LocalID:
		n = x % group
	case ir.GroupID:
		n = x / group
	case ir.GlobalSize:
		n, ids = size, false
	case ir.GroupSize:
		n, ids = group, false
	case ir.NumGroups:
		n, ids = (size+group-1)/group, false
	case ir.SubgroupSize:
		return unknown(hash(idItem, 0))
	default:
		v := unknown(m.unique())
		v.sync = true
		return v
	}
	v := constant(ir.I32, uint64(uint32(n)))
	v.ids = ids
	return v
}

// group returns a number that identifies the current item's group.
func (m *machine) group() uint64 {
	h := uint64(0)
	for axis, x := range m.at {
		h = mix(h, uint64(x/max(m.l.GroupSize[axis], 1)))
	}
	return h | 1
}

// memoryOf returns a number that identifies the memory of an array. Each group has shared memory of its own.
func (m *machine) memoryOf(a *ir.Array) uint64 {
	if a.Space == ir.Shared {
		return hash(m.base(a), m.group())
	}
	return m.base(a)
}

// address resolves the address of an access; ok is false if it is out of bounds.
func (m *machine) address(in *ir.Instr) (a address, ok bool) {
	r, found := m.paths[in]
	if !found {
		r = in.Resolve()
		m.paths[in] = r
	}
	dims := m.l.Extents[in.Array.Name]
	if in.Array.Space != ir.Global {
		dims = nil
	}
	a = address{base: m.memoryOf(in.Array), known: true, off: int64(r.Offset), size: int64(r.Scalar.Size())}
	h := hash(a.base, uint64(r.Offset), uint64(r.Scalar))
	for i := range r.Strides {
		v := m.of(in.Args[i])
		h = mix(h, v.id)
		h = mix(h, uint64(r.Strides[i]))
		h = mix(h, uint64(r.Inner[i]))
		if !v.known {
			a.known, a.index = false, v
			continue
		}
		n := scalar.Signed(in.Args[i].Type, v.bits)
		extent := int64(-1)
		switch e := r.Extents[i]; {
		case e >= 0:
			extent = int64(e)
		case e == ir.Flat:
			if dims != nil {
				extent = 1
				for _, d := range dims {
					extent *= d
				}
			}
		case -1-e < len(dims):
			extent = dims[-1-e]
		}
		if n < 0 || extent >= 0 && n >= extent {
			return a, false
		}
		stride := int64(r.Strides[i])
		if r.Inner[i] > 0 {
			if len(dims) < r.Inner[i] {
				a.known = false
				continue
			}
			for _, d := range dims[len(dims)-r.Inner[i]:] {
				stride *= d
			}
		}
		a.off += n * stride
	}
	if at := m.bases[in.Array]; in.Array.Space == ir.Global {
		a.off += at.Offset
	}
	a.id = h
	if a.known {
		a.id = hash(a.base, uint64(a.off))
	}
	return a, true
}

// record adds an access to those of the item. It drops repetitions in one epoch, and those beyond maxAccesses. It also drops
// accesses after a condition that depends on an atomic operation, a subgroup or the host.
func (m *machine) record(a access) {
	key := accessKey{a.in, a.addr.id, m.epoch}
	if m.synced || m.seen[key] || m.count >= maxAccesses {
		return
	}
	m.seen[key] = true
	m.count++
	a.item, a.epoch, a.guards = m.item, m.epoch, append([]guard(nil), m.guards...)
	m.accesses = append(m.accesses, a)
}

// load evaluates a Load. Like store and atomic, it returns false if the access is out of bounds.
func (m *machine) load(in *ir.Instr) bool {
	a, ok := m.address(in)
	if !ok {
		return false
	}
	r := in.Results[0]
	if in.Array.Space == ir.Table && a.known {
		if n := a.off + a.size; n <= int64(len(in.Array.Data)) {
			var raw [8]byte
			copy(raw[:], in.Array.Data[a.off:n])
			m.values[r] = constant(r.Type, scalar.Load(in.Accessed(), binary.LittleEndian.Uint64(raw[:])))
			return true
		}
	}
	shared := in.Array.Space == ir.Global || in.Array.Space == ir.Shared
	changes := m.bits[in] != 0
	if shared && changes {
		m.record(access{in: in, kind: read, addr: a})
	}
	if v, ok := m.memory[memoryKey{a.base, a.off}]; ok && a.known {
		m.values[r] = v
		return true
	}
	lost := m.lost[a.base]
	if in.Array.Space == ir.Private && a.known && lost == 0 {
		m.values[r] = constant(r.Type, 0)
		return true
	}
	h := hash(idLoad, a.id, uint64(r.Type))
	if changes {
		h = mix(h, m.epoch)
	}
	v := unknown(mix(h, lost))
	for i := range in.NumIndices() {
		v.from(m.of(in.Args[i]))
	}
	if changes {
		v.deps |= m.bits[in]
		m.loads[loadKey{in, a.id}] = v.id
	}
	m.values[r] = v
	return true
}

func (m *machine) store(in *ir.Instr) bool {
	a, ok := m.address(in)
	if !ok {
		return false
	}
	v := m.of(in.Args[len(in.Args)-1])
	if in.Array.Space == ir.Global || in.Array.Space == ir.Shared {
		w := access{in: in, kind: write, addr: a, value: v}
		var conds uint64
		for _, g := range m.guards {
			conds |= g.cond.deps
		}
		for key, id := range m.loads {
			if key.addr != a.id {
				continue
			}
			bit := m.bits[key.in]
			if v.deps&bit != 0 && (!w.update || id < w.loaded) {
				w.update, w.loaded = true, id
			}
			w.decided = w.decided || conds&bit != 0
		}
		m.record(w)
	}
	m.put(in.Array, a, v)
	return true
}

// put changes an element as the current item sees it.
func (m *machine) put(array *ir.Array, a address, v val) {
	if !a.known {
		m.forget(array, hash(idLost, m.lost[a.base], a.id, v.id))
		return
	}
	key := memoryKey{a.base, a.off}
	if len(m.guards) > 0 {
		old := m.memory[key]
		h := hash(idWeak, old.id, v.id)
		for _, g := range m.guards {
			h = mix(h, g.cond.id)
			v.from(g.cond)
		}
		v.from(old)
		v = val{id: h, deps: v.deps, sync: v.sync, ids: v.ids}
	}
	m.memory[key] = v
}

// forget makes the elements of an array unknown. id identifies the store that changed them.
func (m *machine) forget(a *ir.Array, id uint64) {
	base := m.memoryOf(a)
	for k := range m.memory {
		if k.base == base {
			delete(m.memory, k)
		}
	}
	m.lost[base] = hash(idLost, id)
}

// forgetGlobal drops what the item knows of buffers and shared arrays, which other items may have changed.
func (m *machine) forgetGlobal() {
	private := map[uint64]bool{}
	for _, a := range m.k.Arrays {
		if a.Space == ir.Private {
			private[m.base(a)] = true
		}
	}
	for k := range m.memory {
		if !private[k.base] {
			delete(m.memory, k)
		}
	}
}

func (m *machine) atomic(in *ir.Instr) bool {
	a, ok := m.address(in)
	if !ok {
		return false
	}
	k := atomicWrite
	if in.Atomic == ir.AtomicLoad {
		k = atomicRead
	}
	if m.written[m.base(in.Array)] {
		m.record(access{in: in, kind: k, addr: a})
	}
	if a.known {
		delete(m.memory, memoryKey{a.base, a.off})
	}
	for _, r := range in.Results {
		v := unknown(m.unique())
		v.sync = true
		m.values[r] = v
	}
	return true
}
