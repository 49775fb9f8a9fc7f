package irpage

import (
	"time"

	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// item is a work-item, which runs independently between group operations.
type item struct {
	g             *group
	number        int // number in its group
	global, local [3]int
	regs          []uint64 // by Value.ID
	private       [][]byte // by Array.ID

	// wait is called at a group operation. It stores the result in regs, and returns false if the item ended there.
	wait   func(*ir.Instr) bool
	fault  *oracle.Fault
	prints []oracle.Print
}

// exit is the way in which control leaves a block.
type exit struct {
	op     ir.Op // Yield, Break, Continue or Return
	target *ir.Instr
	values []uint64
}

func (t *item) values(args []*ir.Value) []uint64 {
	out := make([]uint64, len(args))
	for i, v := range args {
		out[i] = t.regs[v.ID]
	}
	return out
}

func (t *item) set(to []*ir.Value, values []uint64) {
	for i, v := range to {
		t.regs[v.ID] = values[i]
	}
}

var ended = exit{op: ir.Return}

func (t *item) block(b *ir.Block) exit {
	l := t.g.l
	for _, in := range b.Instrs {
		if l.steps++; l.limits.Steps > 0 && l.steps > l.limits.Steps {
			panic(ErrTooLong)
		}
		switch in.Op {
		case ir.Yield, ir.Break, ir.Continue:
			return exit{in.Op, in.Target, t.values(in.Args)}
		case ir.Return, ir.Unreachable:
			return ended
		case ir.Region, ir.If, ir.Loop:
			e := t.structured(in)
			if e.op != ir.Yield && (e.op != ir.Break || e.target != in) {
				return e
			}
			t.set(in.Results, e.values)
		case ir.Fence, ir.Pause:
		case ir.Clock:
			t.set(in.Results, []uint64{uint64(time.Since(l.began))})
		case ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
			if !t.wait(in) {
				return ended
			}
		default:
			if !t.run(in) {
				return ended
			}
		}
	}
	panic("a block without a terminator")
}

func (t *item) structured(in *ir.Instr) exit {
	switch {
	case in.Op == ir.Region:
		return t.block(in.Then)
	case in.Op == ir.If && t.regs[in.Args[0].ID] != 0:
		return t.block(in.Then)
	case in.Op == ir.If:
		return t.block(in.Else)
	}
	carried := t.values(in.Args)
	for {
		t.set(in.Then.Params, carried)
		e := t.block(in.Then)
		if e.op != ir.Continue || e.target != in {
			return e
		}
		carried = e.values
	}
}

// fail ends the item with a fault.
func (t *item) fail(kind string, in *ir.Instr) *oracle.Fault {
	t.fault = &oracle.Fault{Kind: kind, Site: in.Site, Item: t.global}
	return t.fault
}

// run executes an instruction without nested blocks. It returns false if the item ends.
func (t *item) run(in *ir.Instr) bool {
	l := t.g.l
	result := func(b uint64) bool {
		if len(in.Results) > 0 {
			t.regs[in.Results[0].ID] = b
		}
		return true
	}
	switch in.Op {
	case ir.Const:
		return result(in.Bits)
	case ir.Load, ir.Store, ir.Atomic:
		return t.access(in)
	case ir.Zero:
		clear(t.private[in.Array.ID])
		return true
	case ir.Extent:
		return result(uint64(l.dims[in.Array.ID][in.Axis]))
	case ir.Item:
		return result(uint64(uint32(t.coordinate(in))))
	case ir.Print:
		t.prints = append(t.prints, oracle.Print{Site: in.Site, Item: t.global, Text: t.message(in.Text, in.Args)})
		return true
	case ir.Assert:
		if t.regs[in.Args[0].ID] == 0 && !l.unchecked {
			kind := "assertion"
			if in.Assert == ir.AssertOverflow {
				kind = "overflow"
			}
			t.fail(kind, in).Text = t.message(in.Text, in.Args[1:])
			return false
		}
		return true
	case ir.Call:
		if l.limits.Call == nil {
			t.fail("call-failed", in).Text = "there is no service " + in.Fn
			return false
		}
		b, err := l.limits.Call(in.Fn, t.values(in.Args))
		if err != nil {
			t.fail("call-failed", in).Text = err.Error()
			return false
		}
		return result(b)
	case ir.Div, ir.Rem:
		if in.Type().IsInt() && t.regs[in.Args[1].ID] == 0 {
			if l.unchecked {
				return result(0)
			}
			t.fail("division-by-zero", in)
			return false
		}
	}
	return result(compute(in, t.values(in.Args)))
}

func (t *item) coordinate(in *ir.Instr) int {
	l, axis := t.g.l, in.Axis
	switch in.Item {
	case ir.GlobalID:
		return t.global[axis]
	case ir.LocalID:
		return t.local[axis]
	case ir.GroupID:
		return t.g.at[axis]
	case ir.GlobalSize:
		return l.size[axis]
	case ir.GroupSize:
		return l.groupSize[axis]
	case ir.NumGroups:
		return l.groups[axis]
	case ir.Lane:
		return t.number % l.subgroup
	}
	return l.subgroup
}

// locate returns the element of an access. ok is false for an index out of bounds, which is a fault unless checks are off.
func (t *item) locate(in *ir.Instr) (element []byte, scalar ir.Type, ok bool) {
	l, a := t.g.l, in.Array
	var memory []byte
	dims := a.Dims
	switch a.Space {
	case ir.Global:
		memory, dims = l.buffers[a.ID], l.dims[a.ID]
	case ir.Shared:
		memory = t.g.shared[a.ID]
	case ir.Private:
		memory = t.private[a.ID]
	case ir.Table:
		memory = a.Data
	}
	elem, at, arg := a.Elem, 0, 0
	index := func(extent int) (int, bool) {
		v := in.Args[arg]
		n := extend(v.Type, t.regs[v.ID])
		arg++
		if n < 0 || n >= int64(extent) {
			if !l.unchecked {
				f := t.fail("out-of-bounds", in)
				f.Array, f.Axis, f.Index, f.Extent = a.Name, arg-1, fmt.Sprint(n), fmt.Sprint(extent)
			}
			return 0, false
		}
		return int(n), true
	}
	for _, s := range in.Path {
		if s.Kind == ir.StepField {
			f := &elem.Record.Fields[s.Field]
			at += f.Offset
			elem, dims = f.Elem, f.Dims
			continue
		}
		extent, rest := product(dims), []int(nil)
		if s.Kind == ir.StepIndex {
			extent, rest = dims[0], dims[1:]
		}
		n, ok := index(extent)
		if !ok {
			return nil, elem.Scalar, false
		}
		at += n * product(rest) * elem.Size()
		dims = rest
	}
	return memory[at : at+elem.Scalar.Size()], elem.Scalar, true
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func read(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

func write(b []byte, v uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	copy(b, word[:])
}

func (t *item) access(in *ir.Instr) bool {
	element, scalar, ok := t.locate(in)
	if t.fault != nil {
		return false
	}
	if !ok { // with checks off, a load returns 0, and stores and atomics do nothing
		t.set(in.Results, make([]uint64, len(in.Results)))
		return true
	}
	operands := t.values(in.Args[in.NumIndices():])
	switch in.Op {
	case ir.Load:
		t.set(in.Results, []uint64{loaded(scalar, read(element))})
	case ir.Store:
		write(element, stored(scalar, operands[0]))
	case ir.Atomic:
		old := read(element)
		write(element, updated(in.Atomic, scalar, old, operands))
		t.set(in.Results, []uint64{old})
	}
	return true
}

// updated returns the element's new value after an atomic operation.
func updated(kind ir.AtomicKind, t ir.Type, old uint64, x []uint64) uint64 {
	switch kind {
	case ir.AtomicLoad:
		return old
	case ir.AtomicStore, ir.AtomicExchange:
		return x[0]
	case ir.AtomicCompareExchange:
		if old == x[0] {
			return x[1]
		}
		return old
	}
	op := map[ir.AtomicKind]ir.Op{ir.AtomicAdd: ir.Add, ir.AtomicSub: ir.Sub, ir.AtomicMin: ir.Min, ir.AtomicMax: ir.Max,
		ir.AtomicAnd: ir.And, ir.AtomicOr: ir.Or, ir.AtomicXor: ir.Xor}[kind]
	return canonical(t, binaryOp(op, t, old, x[0]))
}

func (t *item) message(pieces []string, args []*ir.Value) string {
	var b strings.Builder
	for i, p := range pieces {
		b.WriteString(p)
		if i < len(args) {
			b.WriteString(text(args[i].Type, t.regs[args[i].ID]))
		}
	}
	return b.String()
}

// text formats a value for a print.
func text(t ir.Type, b uint64) string {
	switch {
	case t == ir.Bool:
		return strconv.FormatBool(b != 0)
	case t.IsSigned():
		return strconv.FormatInt(signed(t, b), 10)
	case t.IsInt():
		return strconv.FormatUint(b, 10)
	}
	x := float(t, b)
	size := math.Abs(x)
	switch {
	case x != x:
		return "NaN"
	case x == 0:
		return "0"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	case size >= 1e-6 && size < 1e21:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	return digits + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}
