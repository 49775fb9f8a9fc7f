package ir

import (
	"fmt"
	"strconv"
)

// Version is the newest version of the text and binary forms. A module is written in the oldest version that suffices; see
// [Module.Version].
const Version = 2

// Version returns the version of the module's text and binary forms.
func (m *Module) Version() int {
	version := 1
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *Instr) {
			if in.Op.IsVersion2() || in.Op == Region && in.Fn != "" {
				version = 2
			}
		})
	}
	return version
}

// Module is a unit of compilation: the content of an image of kind "ir".
type Module struct {
	Records []*Record
	Kernels []*Kernel
	Files   []string // source file names, indexed by [Site.File]
}

// Kernel returns the kernel with a name, or nil.
func (m *Module) Kernel(name string) *Kernel {
	for _, k := range m.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Kernel is an entry point.
type Kernel struct {
	Name   string
	Real   Type     // real type of the kernel, F32 or F64, or Void if unknown; informational
	Params []Param  // in the order of the launch's arguments
	Arrays []*Array // buffers in parameter order, then shared and private arrays and tables
	Body   *Block   // its parameters are the scalar parameters in order
	Sites  []Site   // indexed by Instr.Site; entry 0 is the kernel itself

	numValues int
}

// Param is a parameter: a scalar if Array is nil, otherwise a buffer.
type Param struct {
	Name  string
	Type  Type   // type of a scalar
	Array *Array // buffer in space Global
}

// Site is a source position for faults and diagnostics.
type Site struct {
	File int    // index in [Module.Files]
	Line int    // 1-based; 0 if unknown
	Col  int    // 1-based, in characters
	Text string // source text of the expression
}

// Block is a region: a list of instructions that ends with its only terminator.
type Block struct {
	Params []*Value // carried values of a loop, or the scalar parameters of a kernel's body
	Instrs []*Instr
}

// Terminator returns the block's terminator, or nil if the block is incomplete.
func (b *Block) Terminator() *Instr {
	if n := len(b.Instrs); n > 0 && b.Instrs[n-1].Op.IsTerminator() {
		return b.Instrs[n-1]
	}
	return nil
}

// Value is a virtual register in SSA form: the result of an instruction or a parameter of a block.
type Value struct {
	ID   int // unique in the kernel, below [Kernel.NumValues]
	Type Type
	Def  *Instr // nil for a block parameter
	Name string // source variable held by the value, if any; informational
}

// StepKind is the kind of a [Step].
type StepKind uint8

// The kinds of steps.
const (
	StepIndex StepKind = iota // takes the next index operand
	StepField                 // enters field Step.Field of a record
	StepFlat                  // one row-major index over all elements of an array of any rank
	StepByte                  // a byte offset of type i64 to an element of type Instr.Elem; lowered kernels only, as the only step
)

// Step is one step of the path from an array to an accessed scalar.
type Step struct {
	Kind  StepKind
	Field int
}

// Instr is an instruction. The documentation of each Op lists the fields that it uses besides Args and Results.
type Instr struct {
	Op      Op
	Args    []*Value
	Results []*Value

	Bits  uint64 // Const: bits of the value, zero-extended
	Array *Array // Load, Store, Atomic, Zero, Extent
	Path  []Step // Load, Store, Atomic
	Axis  int    // Item: 0 x, 1 y, 2 z; Extent: 0 outermost

	Item      ItemKind
	Combine   Combine
	Exclusive bool
	Atomic    AtomicKind
	Subgroup  SubgroupKind
	Assert    AssertKind
	Elem      Type // Quant; Load, Store and Atomic by StepByte
	Order     FenceOrder
	Reach     FenceReach
	Arrays    []*Array // Lib: arrays passed to the function by reference
	Fn        string   // Math, Call, Lib; Region: an extension operation on Args with the block as its fallback
	Text      []string // Print, Assert

	Then   *Block // If; the body of Region and Loop
	Else   *Block // If
	Target *Instr // Break, Continue

	Site   int    // index in [Kernel.Sites]
	Proved uint32 // set by passes, never stored: bit i = index operand i needs no check; bit 31 = the divisor is not zero
}

// ProvedDivisor is the bit of [Instr.Proved] for an integer Div or Rem that cannot fault.
const ProvedDivisor = 1 << 31

// Result returns the only result, or nil if there is not exactly one.
func (in *Instr) Result() *Value {
	if len(in.Results) == 1 {
		return in.Results[0]
	}
	return nil
}

// Type returns the type of the only result, or Void.
func (in *Instr) Type() Type {
	if len(in.Results) == 1 {
		return in.Results[0].Type
	}
	return Void
}

// IsPure reports whether the instruction has no effect, cannot fault, and has the same result wherever an item executes it. An integer
// division is pure if its divisor is proved not to be zero.
func (in *Instr) IsPure() bool {
	if in.Op == Div || in.Op == Rem {
		return in.Args[0].Type.IsFloat() || in.Proved&ProvedDivisor != 0
	}
	return in.Op.IsPure()
}

// NumIndices returns the number of leading operands that are indices of the path.
func (in *Instr) NumIndices() int {
	n := 0
	for _, s := range in.Path {
		if s.Kind != StepField {
			n++
		}
	}
	return n
}

// NumValues returns a number that is greater than all IDs of the kernel's values.
func (k *Kernel) NumValues() int { return k.numValues }

// NewValue returns a new value with the next ID.
func (k *Kernel) NewValue(t Type, def *Instr) *Value {
	v := &Value{ID: k.numValues, Type: t, Def: def}
	k.numValues++
	return v
}

// Walk calls visit for every instruction in order, before those in its nested blocks.
func (b *Block) Walk(visit func(*Instr)) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		visit(in)
		in.Then.Walk(visit)
		in.Else.Walk(visit)
	}
}

// ObservesGroup reports whether the kernel's result may depend on the group size, by a group or subgroup operation, a coordinate or a
// shared array. The language's default sizes then apply, and the plugin cannot choose.
func (k *Kernel) ObservesGroup() bool {
	observes := false
	k.Body.Walk(func(in *Instr) {
		switch {
		case in.Op == Item:
			observes = observes || in.Item.ObservesGroup()
		case in.Op.IsGroup() || in.Op == Subgroup:
			observes = true
		case in.Array != nil && in.Array.Space == Shared:
			observes = true
		}
		for _, a := range in.Arrays {
			observes = observes || a.Space == Shared
		}
	})
	return observes
}

// ReadsDirty reports whether an access to a private array, also a store, may precede all its Zeros at the top level of the body.
func (k *Kernel) ReadsDirty() bool {
	clean := make([]bool, len(k.Arrays))
	dirty := false
	check := func(in *Instr) {
		if in.Array != nil && in.Array.Space == Private && !clean[in.Array.ID] && in.Op != Zero {
			dirty = true
		}
		for _, a := range in.Arrays {
			dirty = dirty || a.Space == Private && !clean[a.ID]
		}
	}
	for _, in := range k.Body.Instrs {
		if in.Op == Zero {
			clean[in.Array.ID] = true
		}
		check(in)
		in.Then.Walk(check)
		in.Else.Walk(check)
	}
	return dirty
}

// Records returns the records that the kernel's arrays use, inner before outer.
func (k *Kernel) Records() (out []*Record) {
	seen := map[*Record]bool{}
	var add func(r *Record)
	add = func(r *Record) {
		if r == nil || seen[r] {
			return
		}
		seen[r] = true
		for i := range r.Fields {
			add(r.Fields[i].Elem.Record)
		}
		out = append(out, r)
	}
	for _, a := range k.Arrays {
		add(a.Elem.Record)
	}
	return out
}

// Access is the set of uses of a buffer by a kernel.
type Access uint8

// The bits of an [Access].
const (
	Reads Access = 1 << iota
	Writes
)

// Access returns the accesses to each array, by [Array.ID]. A Lib counts as both kinds for each of its arrays. An Atomic does
// for its array, except an atomic load, which only reads. Zero and Extent do not count.
func (k *Kernel) Access() []Access {
	access := make([]Access, len(k.Arrays))
	k.Body.Walk(func(in *Instr) {
		for _, a := range in.Arrays {
			access[a.ID] |= Reads | Writes
		}
		if in.Array == nil {
			return
		}
		switch in.Op {
		case Load:
			access[in.Array.ID] |= Reads
		case Store:
			access[in.Array.ID] |= Writes
		case Atomic:
			access[in.Array.ID] |= Reads
			if in.Atomic != AtomicLoad {
				access[in.Array.ID] |= Writes
			}
		}
	})
	return access
}

// Resolved is a path resolved to an address: the start of the array plus Offset plus Strides[i] bytes times index i, for each
// index. Index i must be in [0, Extents[i]). The extents of a Global array are unknown at compile time. For such an extent,
// Extents[i] is −1−axis, or [Flat]. A stride that depends on extents is Strides[i] bytes times the product of the last Inner[i]
// extents.
type Resolved struct {
	Scalar  Type // storage type of the accessed element; Void if the path is invalid
	Offset  int
	Strides []int
	Extents []int
	Inner   []int
}

// Flat is the entry of [Resolved.Extents] for an index over all elements of a Global array, and for a byte offset in any array.
const Flat = -4

// Resolve resolves the path of an access. It returns the zero Resolved if the path is invalid.
func (in *Instr) Resolve() Resolved {
	n := in.NumIndices()
	room := make([]int, 3*n)
	r := Resolved{Strides: room[0:0:n], Extents: room[n : n : 2*n], Inner: room[2*n : 2*n : 3*n]}
	r.Scalar, r.Offset = in.follow(func(stride, extent, inner int) {
		r.Strides, r.Extents, r.Inner = append(r.Strides, stride), append(r.Extents, extent), append(r.Inner, inner)
	})
	if r.Scalar == Void {
		return Resolved{}
	}
	return r
}

// Extent returns element i of [Resolved.Extents], or 0 if the access has no such index.
func (in *Instr) Extent(i int) (extent int) {
	n := 0
	in.follow(func(_, e, _ int) {
		if n == i {
			extent = e
		}
		n++
	})
	return extent
}

// Accessed returns the storage type of the accessed element, or Void if the path is invalid.
func (in *Instr) Accessed() Type {
	t, _ := in.follow(func(_, _, _ int) {})
	return t
}

// follow resolves the path of an access and calls index for each index. It returns Void if the path is invalid.
func (in *Instr) follow(index func(stride, extent, inner int)) (scalar Type, offset int) {
	a := in.Array
	if a == nil {
		return Void, 0
	}
	if len(in.Path) == 1 && in.Path[0].Kind == StepByte {
		index(1, Flat, 0)
		return in.Elem, 0
	}
	elem := a.Elem
	dims := a.Dims
	if a.Space == Global {
		dims = nil
	}
	left := a.Rank // remaining dimensions of the array
	top := true    // the step indexes the array itself, not a field
	for _, s := range in.Path {
		switch s.Kind {
		case StepFlat:
			if !top || left != a.Rank {
				return Void, 0
			}
			n := Flat
			if a.Space != Global {
				n = product(a.Dims)
			}
			index(elem.Size(), n, 0)
			left, dims = 0, nil
		case StepIndex:
			if left == 0 {
				return Void, 0
			}
			if top && a.Space == Global {
				index(elem.Size(), -1-(a.Rank-left), left-1)
			} else {
				index(elem.Size()*product(dims[1:]), dims[0], 0)
				dims = dims[1:]
			}
			left--
		case StepField:
			if left != 0 || elem.Record == nil || s.Field < 0 || s.Field >= len(elem.Record.Fields) {
				return Void, 0
			}
			f := &elem.Record.Fields[s.Field]
			offset += f.Offset
			elem, dims, left, top = f.Elem, f.Dims, len(f.Dims), false
		default:
			return Void, 0
		}
	}
	if left != 0 || elem.Record != nil {
		return Void, 0
	}
	return elem.Scalar, offset
}

// Bound returns the source text of the upper bound of index i: x.length, m.shape[1], m.flat.length, or a constant.
func (in *Instr) Bound(i int) string {
	switch extent := in.Extent(i); {
	case extent >= 0:
		return strconv.Itoa(extent)
	case extent == Flat && in.Array.Rank > 1:
		return in.Array.Name + ".flat.length"
	case in.Array.Rank == 1:
		return in.Array.Name + ".length"
	default:
		return fmt.Sprintf("%s.shape[%d]", in.Array.Name, -1-extent)
	}
}
