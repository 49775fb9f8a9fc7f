package irgen

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// Form is a memory, item, group, subgroup or version 2 operation with its fields and type.
type Form struct {
	Op   ir.Op
	Type ir.Type // of the elements or the operand; Void if the operation has neither

	Space     ir.Space // of Load, Store, Atomic, Zero and Extent
	Atomic    ir.AtomicKind
	Combine   ir.Combine // of Reduce and Scan
	Exclusive bool       // of Scan
	Subgroup  ir.SubgroupKind
	Item      ir.ItemKind
	Axis      int // of Item and Extent
	Order     ir.FenceOrder
	Reach     ir.FenceReach
}

// String returns the operation with the fields that it has.
func (f Form) String() string {
	s := f.Op.String()
	switch {
	case f.Op == ir.Atomic:
		s += fmt.Sprintf(" %v in %v memory", f.Atomic, f.Space)
	case f.Op.IsMemory():
		s += fmt.Sprintf(" in %v memory, axis %d", f.Space, f.Axis)
	case f.Op == ir.Reduce, f.Op == ir.Scan:
		s += fmt.Sprintf(" %v, exclusive %v", f.Combine, f.Exclusive)
	case f.Op == ir.Subgroup:
		s += " " + f.Subgroup.String()
	case f.Op == ir.Item:
		s += fmt.Sprintf(" %v, axis %d", f.Item, f.Axis)
	case f.Op == ir.Fence:
		s += fmt.Sprintf(" %v %v", f.Order, f.Reach)
	}
	if f.Type != ir.Void {
		s += " of " + f.Type.String()
	}
	return s
}

// Forms returns all forms of memory, item, group, subgroup and version 2 operations, except Lib and extension operations.
func Forms() (out []Form) {
	for _, t := range Storage {
		for space := ir.Global; space <= ir.Table; space++ {
			out = append(out, Form{Op: ir.Load, Type: t, Space: space})
			if space != ir.Table {
				out = append(out, Form{Op: ir.Store, Type: t, Space: space})
			}
		}
		out = append(out, Form{Op: ir.Zero, Type: t, Space: ir.Private})
		for axis := range 3 {
			out = append(out, Form{Op: ir.Extent, Type: t, Axis: axis})
		}
	}
	for _, t := range Values {
		out = append(out, Form{Op: ir.Uniform, Type: t})
		for kind := ir.SubgroupAdd; kind <= ir.SubgroupScanAdd; kind++ {
			if valid := subgroupTypes(kind); valid(t) {
				out = append(out, Form{Op: ir.Subgroup, Type: t, Subgroup: kind})
			}
		}
		if t == ir.Bool {
			continue
		}
		for kind := ir.AtomicAdd; kind <= ir.AtomicStore; kind++ {
			if bitwise := kind == ir.AtomicAnd || kind == ir.AtomicOr || kind == ir.AtomicXor; !bitwise || t.IsInt() {
				out = append(out, Form{Op: ir.Atomic, Type: t, Atomic: kind}, Form{Op: ir.Atomic, Type: t, Atomic: kind, Space: ir.Shared})
			}
		}
		for combine := ir.CombineAdd; combine <= ir.CombineMax; combine++ {
			out = append(out, Form{Op: ir.Reduce, Type: t, Combine: combine}, Form{Op: ir.Scan, Type: t, Combine: combine},
				Form{Op: ir.Scan, Type: t, Combine: combine, Exclusive: true})
		}
	}
	for kind := ir.GlobalID; kind <= ir.SubgroupSize; kind++ {
		for axis := range 3 {
			if axis == 0 || kind.HasAxis() {
				out = append(out, Form{Op: ir.Item, Item: kind, Axis: axis})
			}
		}
	}
	for order := ir.Acquire; order <= ir.AcquireRelease; order++ {
		for reach := ir.ReachGroup; reach <= ir.ReachSystem; reach++ {
			out = append(out, Form{Op: ir.Fence, Order: order, Reach: reach})
		}
	}
	return append(out, Form{Op: ir.Barrier}, Form{Op: ir.Clock}, Form{Op: ir.Pause})
}

// subgroupTypes returns the predicate of a subgroup operation's operand types.
func subgroupTypes(kind ir.SubgroupKind) func(ir.Type) bool {
	switch kind {
	case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
		return func(t ir.Type) bool { return t == ir.Bool }
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax, ir.SubgroupScanAdd:
		return func(t ir.Type) bool { return t != ir.Bool }
	}
	return func(ir.Type) bool { return true }
}

// Launch of [FormCase]: items, items of a group, elements of a private array or table.
const (
	formItems = 96
	formGroup = 32
	formArray = 8
)

// formBuilder builds the kernel of a form.
type formBuilder struct {
	ir.Builder
	c    *oracle.Case
	form Form

	at, local *ir.Value // index of the item in the launch and in its group
}

// FormCase returns a launch of a kernel that runs the form in each item and stores the result. Items access elements of their
// own, so that the results are defined.
func FormCase(f Form) *oracle.Case {
	k := &ir.Kernel{Name: "f", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := formBuilder{Builder: ir.Builder{Kernel: k, Block: k.Body}, form: f}
	b.c = &oracle.Case{Kernel: k, Size: [3]int{formItems, 1, 1}, GroupSize: [3]int{formGroup, 1, 1}, SubgroupSize: formGroup}
	b.at = b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	b.local = b.Emit(&ir.Instr{Op: ir.Item, Item: ir.LocalID}, ir.I32)
	if f.Op.IsMemory() {
		b.memory()
	} else {
		b.group()
	}
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	for i, a := range k.Arrays {
		a.ID = i
	}
	opt.CanonicalizeNaNs(k)
	return b.c
}

// buffer adds a buffer parameter of a rank. skew selects the values.
func (b *formBuilder) buffer(name string, t ir.Type, rank, skew int) *ir.Array {
	a := &ir.Array{Name: name, Elem: ir.Elem{Scalar: t}, Rank: rank}
	arg := oracle.Arg{Data: formData(t, formItems, skew), Dims: []int32{2, formItems / 8, 4}[3-rank:]}
	if rank == 1 {
		arg.Dims = []int32{formItems}
	}
	n := len(b.c.Args) // buffers precede other arrays
	b.Kernel.Arrays = append(b.Kernel.Arrays[:n:n], append([]*ir.Array{a}, b.Kernel.Arrays[n:]...)...)
	b.Kernel.Params = append(b.Kernel.Params, ir.Param{Name: name, Array: a})
	b.c.Args = append(b.c.Args, arg)
	return a
}

// formData returns n elements. Elements of value types are special values.
func formData(t ir.Type, n, skew int) (data []byte) {
	special := []uint64{1, 0}
	if t == t.Value() {
		special = Special(t)
	}
	for i := range n {
		bits := special[(i+skew)%len(special)]
		if t != t.Value() {
			bits = uint64(i+skew) * 0x457
		}
		data = AppendElem(data, t, bits)
	}
	return data
}

func (b *formBuilder) load(a *ir.Array, at *ir.Value) *ir.Value {
	return b.Emit(&ir.Instr{Op: ir.Load, Array: a, Path: []ir.Step{{}}, Args: []*ir.Value{at}}, a.Elem.Scalar.Value())
}

func (b *formBuilder) store(a *ir.Array, at, v *ir.Value) {
	b.Emit(&ir.Instr{Op: ir.Store, Array: a, Path: []ir.Step{{}}, Args: []*ir.Value{at, v}}, ir.Void)
}

// result stores a value in the item's element of a new buffer.
func (b *formBuilder) result(name string, v *ir.Value) {
	b.store(b.buffer(name, v.Type, 1, 0), b.at, v)
}

// memory emits an operation on an array and stores the result. After operations that write, it also stores the accessed element.
func (b *formBuilder) memory() {
	f := b.form
	if f.Op == ir.Extent {
		rank, a := 3, (*ir.Array)(nil)
		if f.Space == ir.Global {
			a = b.buffer("a", f.Type, rank, 1)
		} else {
			a, _ = b.array()
		}
		b.result("out", b.Emit(&ir.Instr{Op: ir.Extent, Array: a, Axis: f.Axis}, ir.I32))
		return
	}
	x := b.load(b.buffer("x", f.Type.Value(), 1, 0), b.at)
	a, at := b.array()
	switch f.Space {
	case ir.Private:
		b.Emit(&ir.Instr{Op: ir.Zero, Array: a}, ir.Void)
		b.store(a, at, x)
	case ir.Shared:
		b.store(a, at, b.load(b.buffer("init", f.Type.Value(), 1, 1), b.at))
	}
	in := &ir.Instr{Op: f.Op, Array: a, Atomic: f.Atomic, Path: []ir.Step{{}}, Args: []*ir.Value{at}}
	switch f.Op {
	case ir.Load:
		b.result("out", b.Emit(in, x.Type))
		return
	case ir.Store:
		in.Args = append(in.Args, x)
		b.Emit(in, ir.Void)
	case ir.Zero:
		b.Emit(&ir.Instr{Op: ir.Zero, Array: a}, ir.Void)
	case ir.Atomic:
		for range f.Atomic.Operands() {
			in.Args = append(in.Args, x)
		}
		if f.Atomic == ir.AtomicCompareExchange { // succeeds for items with equal operands only
			in.Args[1] = b.load(b.buffer("expected", f.Type.Value(), 1, 1), b.at)
		}
		b.result("old", b.Emit(in, x.Type))
	}
	b.result("out", b.load(a, at))
}

// array returns the array of a form, and the index of the item's element.
func (b *formBuilder) array() (a *ir.Array, at *ir.Value) {
	f := b.form
	a = &ir.Array{Name: "a", Space: f.Space, Elem: ir.Elem{Scalar: f.Type}, Rank: 1, Dims: []int{formArray}}
	at = b.Op(ir.And, ir.I32, b.at, b.Int(ir.I32, formArray-1))
	switch f.Space {
	case ir.Global:
		return b.buffer("a", f.Type, 1, 1), b.at
	case ir.Shared:
		a.Dims, at = []int{formGroup}, b.local
	case ir.Table:
		a.Data = formData(f.Type, formArray, 1)
	}
	b.Kernel.Arrays = append(b.Kernel.Arrays, a)
	return a, at
}

// group emits an operation of an item or its group.
func (b *formBuilder) group() {
	f := b.form
	in := &ir.Instr{Op: f.Op, Combine: f.Combine, Exclusive: f.Exclusive, Subgroup: f.Subgroup, Item: f.Item, Axis: f.Axis, Order: f.Order, Reach: f.Reach}
	switch f.Op {
	case ir.Item:
		b.result("out", b.Emit(in, ir.I32))
		return
	case ir.Clock: // the time is not comparable between runs
		b.result("out", b.Op(ir.Eq, ir.Bool, b.Emit(in, ir.U64), b.Int(ir.U64, 0)))
		return
	case ir.Barrier, ir.Fence, ir.Pause:
		b.Emit(in, ir.Void)
		b.result("out", b.at)
		return
	}
	at := b.at
	if f.Op == ir.Uniform {
		at = b.Int(ir.I32, 1)
	}
	in.Args = []*ir.Value{b.load(b.buffer("x", f.Type, 1, 0), at)}
	to := f.Type
	switch {
	case f.Op != ir.Subgroup:
	case f.Subgroup == ir.SubgroupBallot:
		to = ir.U64
	case f.Subgroup == ir.SubgroupBroadcast:
		in.Args = append(in.Args, b.Int(ir.I32, 5))
	case f.Subgroup == ir.SubgroupShuffleXor, f.Subgroup == ir.SubgroupShuffleUp, f.Subgroup == ir.SubgroupShuffleDown:
		in.Args = append(in.Args, b.Int(ir.I32, 3))
	case f.Subgroup == ir.SubgroupShuffle:
		in.Args = append(in.Args, b.Op(ir.And, ir.I32, b.Op(ir.Mul, ir.I32, b.local, b.Int(ir.I32, 7)), b.Int(ir.I32, 3)))
	}
	b.result("out", b.Emit(in, to))
}
