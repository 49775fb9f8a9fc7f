package opt

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// CSE replaces an instruction by an equal one that dominates it. Two loads are equal if no instruction between them may write
// the element; a store forwards its value to loads of the same element. A write to a buffer may write all buffers, and one to a
// shared array all shared arrays. Writes of other items are ignored up to the next barrier: they are races, and a race allows
// any value. CSE reports whether it changed the kernel.
func CSE(k *ir.Kernel, _ *Facts) bool {
	m := &cse{subst: analysis.NewValues[*ir.Value](k), table: make([]available, 1, k.NumValues()/2+1), buckets: make([]int32, 1<<bits.Len(uint(k.NumValues()))), effects: map[*ir.Instr]effect{}}
	for _, in := range k.Body.Instrs {
		m.gather(in)
	}
	m.state.private = make([]int, len(k.Arrays))
	m.block(k.Body)
	return m.changed
}

// memoryState versions the contents of memory: an unchanged version means unchanged contents.
type memoryState struct {
	global, shared int
	private        []int // by Array.ID
}

// effect is the memory that may change during an instruction and those nested in it. At a barrier, other items may have written.
type effect struct {
	global, shared bool
	private        map[*ir.Array]bool
}

// expression identifies a value: an instruction with its operands, and for loads the version of the memory.
type expression struct {
	in      *ir.Instr
	args    []*ir.Value
	load    bool // a load of the element that in accesses; in may be a store
	epoch   int
	commute bool // the first two operands commute
}

// available is an expression computed by a dominating instruction.
type available struct {
	expression
	value *ir.Value
	hash  uint64
	next  int32 // previous entry in the same bucket; 0 ends the list
}

type cse struct {
	subst   analysis.Values[*ir.Value]
	table   []available // in order of insertion; entry 0 is unused
	buckets []int32     // by hash: the last entry in the table
	state   memoryState
	epochs  int
	effects map[*ir.Instr]effect // effects of structured instructions
	changed bool
}

// gather returns the effect of an instruction, and records the effects of structured instructions in m.effects.
func (m *cse) gather(in *ir.Instr) effect {
	var e effect
	switch in.Op {
	case ir.Store, ir.Zero, ir.Atomic:
		switch in.Array.Space {
		case ir.Global:
			e.global = true
		case ir.Shared:
			e.shared = true
		case ir.Private:
			e.private = map[*ir.Array]bool{in.Array: true}
		}
	case ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform, ir.Call, ir.Fence, ir.Pause:
		e.global, e.shared = true, true // other items may have written meanwhile
	case ir.Lib:
		e.global, e.shared = len(in.Arrays) > 0, len(in.Arrays) > 0
		e.private = map[*ir.Array]bool{}
		for _, a := range in.Arrays {
			e.private[a] = a.Space == ir.Private
		}
		maps.DeleteFunc(e.private, func(_ *ir.Array, written bool) bool { return !written })
	case ir.Region, ir.If, ir.Loop:
		for _, b := range []*ir.Block{in.Then, in.Else} {
			if b == nil {
				continue
			}
			for _, inner := range b.Instrs {
				ie := m.gather(inner)
				e.global, e.shared = e.global || ie.global, e.shared || ie.shared
				if len(ie.private) > 0 && e.private == nil {
					e.private = map[*ir.Array]bool{}
				}
				maps.Copy(e.private, ie.private)
			}
		}
		m.effects[in] = e
	}
	return e
}

func (m *cse) epoch() int {
	m.epochs++
	return m.epochs
}

func (m *cse) apply(e effect) {
	if e.global {
		m.state.global = m.epoch()
	}
	if e.shared {
		m.state.shared = m.epoch()
	}
	for a := range e.private {
		m.state.private[a.ID] = m.epoch()
	}
}

func (m *cse) block(b *ir.Block) {
	mark := len(m.table)
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		for i, a := range in.Args {
			if by := m.subst.At(a); by != nil {
				in.Args[i] = by
			}
		}
		if m.duplicate(in) {
			m.changed = true
			continue
		}
		kept = append(kept, in)
		if in.Then != nil {
			m.structured(in)
		}
	}
	clear(b.Instrs[len(kept):])
	b.Instrs = kept
	for i := len(m.table) - 1; i >= mark; i-- {
		*m.bucket(m.table[i].hash) = m.table[i].next
	}
	m.table = m.table[:mark]
}

// structured visits the nested blocks. Each starts with the memory state before the instruction, except that a loop's body may
// see its own writes. The effects of all blocks apply afterwards.
func (m *cse) structured(in *ir.Instr) {
	e := m.effects[in]
	if in.Op == ir.Loop {
		m.apply(e)
	}
	before := m.state
	before.private = append([]int(nil), m.state.private...)
	m.block(in.Then)
	if in.Else != nil {
		m.state = before
		m.block(in.Else)
	}
	m.apply(e)
}

// duplicate replaces the result of an instruction by an available one, and reports whether it did. Otherwise it applies the
// instruction's effect, and makes a loaded, stored or computed value available.
func (m *cse) duplicate(in *ir.Instr) bool {
	switch {
	case in.Op == ir.Load:
		return m.enter(m.loadOf(in, in.Args), in.Results[0])
	case in.Op.IsArith() || in.Op == ir.Extent || in.Op == ir.Item:
		// Integer divisions are included: after an equal one, this one cannot fault.
		return m.enter(expression{in: in, args: in.Args, commute: commutes(in.Op)}, in.Results[0])
	}
	if in.Then == nil {
		m.apply(m.gather(in))
	}
	if in.Op == ir.Store {
		n := in.NumIndices()
		if v := in.Args[n]; in.Accessed() == v.Type && in.Array.Space != ir.Table {
			x := m.loadOf(in, in.Args[:n])
			m.add(x.hash(), x, v)
		}
	}
	return false
}

// enter replaces result by the value of an available equal expression, and reports whether there is one. Otherwise it makes the
// expression available.
func (m *cse) enter(x expression, result *ir.Value) bool {
	hash := x.hash()
	for i := *m.bucket(hash); i != 0; i = m.table[i].next {
		if a := &m.table[i]; a.hash == hash && a.equals(x) {
			m.subst.Set(result, a.value)
			return true
		}
	}
	m.add(hash, x, result)
	return false
}

func (m *cse) add(hash uint64, x expression, v *ir.Value) {
	bucket := m.bucket(hash)
	m.table = append(m.table, available{x, v, hash, *bucket})
	*bucket = int32(len(m.table) - 1)
}

func (m *cse) bucket(hash uint64) *int32 { return &m.buckets[hash&uint64(len(m.buckets)-1)] }

// loadOf returns the load of the element that in accesses in the current memory state.
func (m *cse) loadOf(in *ir.Instr, indices []*ir.Value) expression {
	x := expression{in: in, args: indices, load: true}
	switch in.Array.Space {
	case ir.Global:
		x.epoch = m.state.global
	case ir.Shared:
		x.epoch = m.state.shared
	case ir.Private:
		x.epoch = m.state.private[in.Array.ID]
	}
	return x
}

// hash returns equal numbers for equal expressions.
func (x expression) hash() uint64 {
	h := uint64(len(x.args))
	mix := func(n uint64) { h = (h ^ n) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	if x.load {
		mix(uint64(x.in.Array.ID)<<32 | uint64(x.epoch))
	} else {
		mix(uint64(x.in.Op)<<16 | uint64(x.in.Type())<<8 | uint64(x.in.Item))
		mix(x.in.Bits)
	}
	rest := x.args
	if x.commute {
		a, b := uint64(rest[0].ID), uint64(rest[1].ID)
		mix(min(a, b)<<32 | max(a, b))
		rest = rest[2:]
	}
	for _, v := range rest {
		mix(uint64(v.ID))
	}
	return h
}

// equals reports whether two expressions are the same, so that they have the same value.
func (x expression) equals(y expression) bool {
	a, b := x.in, y.in
	if x.load || y.load {
		return x.load == y.load && a.Array == b.Array && a.Accessed() == b.Accessed() && x.epoch == y.epoch && slices.Equal(a.Path, b.Path) && slices.Equal(x.args, y.args)
	}
	if a.Op != b.Op || a.Type() != b.Type() || a.Item != b.Item || a.Axis != b.Axis || a.Elem != b.Elem || a.Bits != b.Bits || a.Array != b.Array || a.Fn != b.Fn {
		return false
	}
	return slices.Equal(x.args, y.args) || x.commute && x.args[0] == y.args[1] && x.args[1] == y.args[0] && slices.Equal(x.args[2:], y.args[2:])
}
