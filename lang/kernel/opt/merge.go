package opt

import (
	"encoding/binary"
	"maps"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Merge replaces an instruction by an equal one that is sure to have run before it. Loads count as equal while nothing
// may have written what they read; a load also takes the value of a store to the same place. What other items write
// without a barrier between is a race, after which any value will do.
func Merge(k *ir.Kernel, _ *Facts) bool {
	m := &merger{subst: analysis.NewValues[*ir.Value](k), table: map[string]*ir.Value{}, effects: map[*ir.Instr]effect{}}
	for _, in := range k.Body.Instrs {
		m.gather(in)
	}
	m.state.private = make([]int, len(k.Arrays))
	m.block(k.Body)
	return m.changed
}

// memoryState numbers the contents of memory: while a number stays, so do the contents.
type memoryState struct {
	global, shared int
	private        []int // by Array.ID
}

// effect is what an instruction, or all that is nested in it, may write.
type effect struct {
	global, shared bool
	private        map[*ir.Array]bool
}

type merger struct {
	subst   analysis.Values[*ir.Value]
	table   map[string]*ir.Value
	undo    []string // keys of the table, in the order of entry
	state   memoryState
	epochs  int
	effects map[*ir.Instr]effect // of structured instructions
	key     []byte
	changed bool
}

// gather finds what structured instructions may write.
func (m *merger) gather(in *ir.Instr) effect {
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

func (m *merger) epoch() int {
	m.epochs++
	return m.epochs
}

func (m *merger) apply(e effect) {
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

func (m *merger) block(b *ir.Block) {
	mark := len(m.undo)
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
	for _, key := range m.undo[mark:] {
		delete(m.table, key)
	}
	m.undo = m.undo[:mark]
}

// structured merges in the nested blocks. Each begins with the memory as it is before, but for a loop, which may come
// round again; after it, memory is as after anything in it.
func (m *merger) structured(in *ir.Instr) {
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

// duplicate replaces the result of an instruction by that of an equal one, or enters it for those to come.
func (m *merger) duplicate(in *ir.Instr) bool {
	switch {
	case in.Op == ir.Load:
		return m.enter(m.loadKey(in, in.Args), in.Results[0])
	case in.Op.IsArith() || in.Op == ir.Extent || in.Op == ir.Item:
		// Integer divisions too: where an equal one ran before, this one cannot fault.
		return m.enter(m.valueKey(in), in.Results[0])
	}
	if in.Then == nil {
		m.apply(m.gather(in))
	}
	if in.Op == ir.Store {
		n := in.NumIndices()
		if v := in.Args[n]; in.Accessed() == v.Type && in.Array.Space != ir.Table {
			key := string(m.loadKey(in, in.Args[:n]))
			m.table[key] = v
			m.undo = append(m.undo, key)
		}
	}
	return false
}

func (m *merger) enter(key []byte, result *ir.Value) bool {
	if v, ok := m.table[string(key)]; ok {
		m.subst.Set(result, v)
		return true
	}
	text := string(key)
	m.table[text] = result
	m.undo = append(m.undo, text)
	return false
}

func (m *merger) int(n int) { m.key = binary.AppendUvarint(m.key, uint64(n)) }

func (m *merger) valueKey(in *ir.Instr) []byte {
	args := in.Args
	if commutes(in.Op) && args[0].ID > args[1].ID {
		args = append([]*ir.Value{args[1], args[0]}, args[2:]...)
	}
	m.key = append(m.key[:0], byte(in.Op), byte(in.Type()), byte(in.Item), byte(in.Axis), byte(in.Elem))
	m.key = binary.AppendUvarint(m.key, in.Bits)
	if in.Array != nil {
		m.int(in.Array.ID)
	}
	m.int(len(args))
	for _, a := range args {
		m.int(a.ID)
	}
	m.key = append(m.key, in.Fn...)
	return m.key
}

// loadKey stands for what a path leads to with memory as it is.
func (m *merger) loadKey(in *ir.Instr, indices []*ir.Value) []byte {
	epoch := 0
	switch in.Array.Space {
	case ir.Global:
		epoch = m.state.global
	case ir.Shared:
		epoch = m.state.shared
	case ir.Private:
		epoch = m.state.private[in.Array.ID]
	}
	m.key = append(m.key[:0], byte(ir.Load))
	m.int(in.Array.ID)
	m.int(epoch)
	for _, s := range in.Path {
		m.int(int(s.Kind))
		m.int(s.Field)
	}
	for _, v := range indices {
		m.int(v.ID)
	}
	return m.key
}
