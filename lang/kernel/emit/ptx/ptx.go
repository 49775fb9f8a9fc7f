package ptx

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"unicode"

	"github.com/orepl/orepl/lang/kernel/emit/text"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/later"
)

// Target returns the capabilities of PTX on sm_70 and later. An error is a defect of this package.
var Target = sync.OnceValues(func() (*lower.Target, error) {
	leaves := []string{"nested jumps", "calls", "div.f32", "sqrt.f32", "mulhi", "clock", "pause",
		"subgroup.ballot", "subgroup.shuffle", "subgroup.shuffle_up", "subgroup.shuffle_down"}
	for _, op := range []string{"min", "max"} {
		for _, t := range []string{"i32", "u32", "i64", "u64"} {
			leaves = append(leaves, op+"."+t, "atomic."+op+"."+t)
		}
	}
	for _, op := range []string{"add", "and", "or", "xor", "exchange"} {
		for _, t := range []string{"i32", "u32", "i64", "u64"} {
			leaves = append(leaves, "atomic."+op+"."+t)
		}
	}
	return lower.NewTarget("PTX sm_70", leaves...)
})

// Emit returns the text of kernels that were lowered for [Target]. It is valid for all launches. Its errors are those of
// [Options.Emit].
func Emit(list ...*lower.Kernel) (string, error) { return Options{}.Emit(list...) }

// Options describe kernels and their launches.
type Options struct {
	Axes     int      // launches have size and groups 1 on the axes numbered Axes and above; 0 means no such axis
	Files    []string // source file names, indexed by [ir.Site.File]
	ReadOnly []bool   // by parameter: buffers without writers during a launch; requires a single kernel
}

// Emit returns the text of kernels that were lowered for [Target]. Errors are an instruction that is not a leaf of the target,
// subgroups that are no warps, and parameters that take too many bytes.
func (o Options) Emit(list ...*lower.Kernel) (string, error) {
	if o.Axes == 0 {
		o.Axes = 3
	}
	target, err := Target()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(".version 7.0\n.target sm_70\n.address_size 64\n")
	b.WriteString(files(list, o.Files))
	names := map[string]bool{}
	for n, k := range list {
		k.IR.Body.Walk(func(in *ir.Instr) {
			e := target.Check(in)
			if in.Op == ir.Subgroup && k.SubgroupSize != warpItems {
				e = fmt.Errorf("subgroups of %d items, and a warp has %d", k.SubgroupSize, warpItems)
			}
			if e != nil && err == nil {
				err = fmt.Errorf("kernel %s: %w", k.IR.Name, e)
			}
		})
		if err == nil {
			err = checkBlock(k)
		}
		if err != nil {
			return "", err
		}
		name := Name(k.IR)
		for names[name] {
			name += "_"
		}
		names[name] = true
		readOnly := map[*ir.Array]bool{}
		for i, loads := range ReadOnly(k.IR) {
			if loads && i < len(o.ReadOnly) && o.ReadOnly[i] {
				readOnly[k.IR.Params[i].Array] = true
			}
		}
		e := &emitter{kernel: k, readOnly: readOnly, number: n, axes: o.Axes, targets: map[*ir.Instr]int{}}
		b.WriteString(e.text(name))
	}
	return b.String(), nil
}

// Name returns a kernel's name in the text of [Emit]. Underscores follow it there if an earlier kernel has the same name.
func Name(k *ir.Kernel) string {
	return "k_" + strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, k.Name)
}

// registers maps value types to register types.
var registers = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{ir.Bool: "pred", ir.I32: "b32", ir.U32: "b32", ir.I64: "b64", ir.U64: "b64", ir.F32: "f32", ir.F64: "f64"}
}}

// typed maps integer and float types, also those of 8-bit and 16-bit elements, to instruction types.
var typed = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{ir.I8: "s8", ir.U8: "u8", ir.I16: "s16", ir.U16: "u16", ir.I32: "s32", ir.U32: "u32", ir.I64: "s64", ir.U64: "u64", ir.F32: "f32", ir.F64: "f64"}
}}

// bits returns the untyped instruction type for the size of t.
func bits(t ir.Type) string {
	if t.Size() == 8 {
		return "b64"
	}
	return "b32"
}

// pairedGroup is the maximum group size for which two groups of a kernel with barriers must fit on a multiprocessor. Each then
// has at most half of the registers, and one group computes while the other waits.
const pairedGroup = 256

// emitter prints one kernel.
type emitter struct {
	kernel   *lower.Kernel
	number   int                   // number of the kernel, for global names
	axes     int                   // number of axes, from x on, on which launches may have more than one item
	head     strings.Builder       // declarations of registers and arrays
	b        strings.Builder       // instructions
	labels   int                   // number of labels so far
	scratch  int                   // number of registers declared by fresh
	mask     string                // register with the mask of the warp's lanes
	targets  map[*ir.Instr]int     // label numbers of structured instructions
	scalars  map[*ir.Array]ir.Type // private arrays that are registers
	waits    bool                  // the kernel has a barrier
	owner    *ir.Instr             // the instruction that a yield ends
	readOnly map[*ir.Array]bool    // buffers that launches do not write
	here     string                // operands of the last .loc
}

func (e *emitter) line(format string, args ...any) {
	e.b.WriteByte('\t')
	fmt.Fprintf(&e.b, format, args...)
	e.b.WriteString(";\n")
}

func (e *emitter) label(format string, args ...any) { fmt.Fprintf(&e.b, format+":\n", args...) }

// fresh declares a register and returns its name.
func (e *emitter) fresh(kind string) string {
	e.scratch++
	name := fmt.Sprintf("%%t%d", e.scratch)
	fmt.Fprintf(&e.head, "\t.reg .%s %s;\n", kind, name)
	return name
}

func register(v *ir.Value) string { return fmt.Sprintf("%%v%d", v.ID) }

func (e *emitter) declare(v *ir.Value) {
	fmt.Fprintf(&e.head, "\t.reg .%s %s;\n", registers.Get()[v.Type], register(v))
}

func (e *emitter) text(name string) string {
	k := e.kernel.IR
	e.scalars = text.Scalars(k)
	maps.DeleteFunc(e.scalars, func(_ *ir.Array, t ir.Type) bool { return t == ir.Bool })
	e.locateFirst()
	var params []string
	param := func(kind, format string, args ...any) string {
		p := "p_" + fmt.Sprintf(format, args...)
		params = append(params, fmt.Sprintf("\t.param .%s %s", kind, p))
		return p
	}
	scalars := k.Body.Params
	for _, v := range scalars {
		e.declare(v)
	}
	var tables strings.Builder
	for _, p := range k.Params {
		if p.Array == nil {
			v := scalars[0]
			scalars = scalars[1:]
			e.scalarParam(v, param)
			continue
		}
		a := p.Array
		address := e.pointer(a)
		e.line("ld.param.u64 %s, [%s]", address, param("u64", "g%d", a.ID))
		e.line("cvta.to.global.u64 %s, %s", address, address)
		for axis := range a.Rank {
			param("u32", "d%d_%d", a.ID, axis)
		}
	}
	for axis := range 3 {
		param("u32", "size_%d", axis)
	}
	for _, a := range k.Arrays {
		e.array(a, &tables)
	}
	e.members()
	e.block(k.Body)
	var b strings.Builder
	b.WriteString(tables.String())
	fmt.Fprintf(&b, "\n.visible .entry %s(\n%s\n)", name, strings.Join(params, ",\n"))
	if n := e.kernel.MaxGroup; n > 0 {
		fmt.Fprintf(&b, "\n.maxntid %d, 1, 1", n)
		if n <= pairedGroup && e.waits {
			b.WriteString("\n.minnctapersm 2")
		}
	}
	fmt.Fprintf(&b, "\n{\n%s%s}\n", e.head.String(), e.b.String())
	return b.String()
}

// scalarParam declares a scalar parameter and loads it.
func (e *emitter) scalarParam(v *ir.Value, param func(kind, format string, args ...any) string) {
	if v.Type != ir.Bool {
		e.line("ld.param.%s %s, [%s]", registers.Get()[v.Type], register(v), param(registers.Get()[v.Type], "v%d", v.ID))
		return
	}
	byteOf := e.fresh("b32")
	e.line("ld.param.u8 %s, [%s]", byteOf, param("u8", "v%d", v.ID))
	e.line("setp.ne.s32 %s, %s, 0", register(v), byteOf)
}

// pointer declares the register of an array's address and returns its name.
func (e *emitter) pointer(a *ir.Array) string {
	name := fmt.Sprintf("%%a%d", a.ID)
	fmt.Fprintf(&e.head, "\t.reg .b64 %s;\n", name)
	return name
}

// array declares an array that is not a parameter: the register of an array in e.scalars, otherwise memory and the register of
// its address.
func (e *emitter) array(a *ir.Array, tables *strings.Builder) {
	if t, ok := e.scalars[a]; ok {
		fmt.Fprintf(&e.head, "\t.reg .%s %%s%d;\n", registers.Get()[t], a.ID)
		e.line("mov.%s %%s%d, %s", registers.Get()[t], a.ID, literal(t, 0))
		return
	}
	size := max(8, (a.Bytes()+7)/8*8)
	name := fmt.Sprintf("array_%d_%d", e.number, a.ID)
	switch a.Space {
	case ir.Global:
		return
	case ir.Shared:
		fmt.Fprintf(&e.head, "\t.shared .align 8 .b8 %s[%d];\n", name, size)
	case ir.Private:
		fmt.Fprintf(&e.head, "\t.local .align 8 .b8 %s[%d];\n", name, size)
	case ir.Table:
		data := make([]string, size)
		for i := range data {
			data[i] = "0"
			if i < len(a.Data) {
				data[i] = fmt.Sprint(a.Data[i])
			}
		}
		fmt.Fprintf(tables, "\n.global .align 8 .b8 %s[%d] = {%s};\n", name, size, strings.Join(data, ", "))
	}
	e.line("mov.u64 %s, %s", e.pointer(a), name)
}

// literal returns the bits of a constant as an operand.
func literal(t ir.Type, bits uint64) string {
	switch t {
	case ir.F32:
		return fmt.Sprintf("0f%08X", uint32(bits))
	case ir.F64:
		return fmt.Sprintf("0d%016X", bits)
	case ir.I32, ir.U32:
		return fmt.Sprintf("0x%x", uint32(bits))
	}
	return fmt.Sprintf("0x%x", bits)
}

// move prints a parallel copy: each register of to receives the value that the one in from had before.
func (e *emitter) move(to, from []*ir.Value) {
	source := make([]string, len(from))
	for i, v := range from {
		source[i] = register(v)
	}
	for i := range to {
		for j := range i {
			if from[i] == to[j] { // overwritten before it is read
				source[i] = e.fresh(registers.Get()[from[i].Type])
				e.line("mov.%s %s, %s", registers.Get()[from[i].Type], source[i], register(from[i]))
				break
			}
		}
	}
	for i, v := range to {
		if v != from[i] {
			e.line("mov.%s %s, %s", registers.Get()[v.Type], register(v), source[i])
		}
	}
}

func (e *emitter) block(b *ir.Block) {
	for _, in := range b.Instrs {
		e.locate(in)
		e.instr(in)
	}
}

func (e *emitter) nested(in *ir.Instr, b *ir.Block) {
	outer := e.owner
	e.owner = in
	e.block(b)
	e.owner = outer
}

func (e *emitter) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Region, ir.If, ir.Loop:
		e.structured(in)
	case ir.Yield:
		e.move(e.owner.Results, in.Args)
		e.line("bra end_%d", e.targets[e.owner])
	case ir.Break:
		e.move(in.Target.Results, in.Args)
		e.line("bra end_%d", e.targets[in.Target])
	case ir.Continue:
		e.move(in.Target.Then.Params, in.Args)
		e.line("bra loop_%d", e.targets[in.Target])
	case ir.Return, ir.Unreachable:
		e.line("ret")
	case ir.Load, ir.Store, ir.Atomic:
		e.access(in)
	case ir.Barrier:
		e.waits = true
		e.line("bar.sync 0")
	case ir.Fence:
		e.line("fence.acq_rel.%s", map[ir.FenceReach]string{ir.ReachGroup: "cta", ir.ReachDevice: "gpu", ir.ReachSystem: "sys"}[in.Reach])
	case ir.Subgroup:
		e.declare(in.Results[0])
		e.exchange(in, register(in.Results[0]))
	case ir.Pause:
		e.line("nanosleep.u32 32")
	default:
		e.declare(in.Results[0])
		e.compute(in, register(in.Results[0]))
	}
}

func (e *emitter) structured(in *ir.Instr) {
	for _, r := range in.Results {
		e.declare(r)
	}
	e.labels++
	n := e.labels
	e.targets[in] = n
	switch in.Op {
	case ir.Region:
		e.nested(in, in.Then)
	case ir.If:
		e.line("@!%s bra else_%d", register(in.Args[0]), n)
		e.nested(in, in.Then)
		e.label("else_%d", n)
		e.nested(in, in.Else)
	case ir.Loop:
		for _, p := range in.Then.Params {
			e.declare(p)
		}
		e.move(in.Then.Params, in.Args)
		e.label("loop_%d", n)
		e.nested(in, in.Then)
	}
	e.label("end_%d", n)
}

var spaces = later.Value[map[ir.Space]string]{Make: func() map[ir.Space]string {
	return map[ir.Space]string{ir.Global: "global", ir.Shared: "shared", ir.Private: "local", ir.Table: "global"}
}}

// access prints a Load, Store or Atomic.
func (e *emitter) access(in *ir.Instr) {
	a := in.Array
	if in.Op != ir.Store {
		e.declare(in.Results[0])
	}
	if t, ok := e.scalars[a]; ok {
		if in.Op == ir.Store {
			e.line("mov.%s %%s%d, %s", registers.Get()[t], a.ID, register(in.Args[1]))
		} else {
			e.line("mov.%s %s, %%s%d", registers.Get()[t], register(in.Results[0]), a.ID)
		}
		return
	}
	at, space := e.place(in), spaces.Get()[a.Space]
	switch in.Op {
	case ir.Load:
		if a.Space == ir.Table || e.readOnly[a] {
			space += ".nc"
		}
		e.line("ld.%s.%s %s, %s", space, typed.Get()[in.Elem], register(in.Results[0]), at)
		return
	case ir.Store:
		e.line("st.%s.%s %s, %s", space, typed.Get()[in.Elem], at, register(in.Args[1]))
		return
	}
	r, t := register(in.Results[0]), in.Elem
	switch in.Atomic {
	case ir.AtomicLoad:
		scope := "gpu"
		if a == e.kernel.Records {
			scope = "sys" // the host writes the memory while the kernel runs
		}
		e.line("ld.relaxed.%s.%s.%s %s, %s", scope, space, bits(t), r, at)
	case ir.AtomicCompareExchange:
		e.line("atom.relaxed.gpu.%s.cas.%s %s, %s, %s, %s", space, bits(t), r, at, register(in.Args[1]), register(in.Args[2]))
	default:
		name, kind := in.Atomic.String(), typed.Get()[t]
		switch in.Atomic {
		case ir.AtomicExchange:
			name, kind = "exch", bits(t)
		case ir.AtomicAnd, ir.AtomicOr, ir.AtomicXor:
			kind = bits(t)
		case ir.AtomicAdd:
			kind = map[int]string{4: "u32", 8: "u64"}[t.Size()]
		}
		e.line("atom.relaxed.gpu.%s.%s.%s %s, %s, %s", space, name, kind, r, at, register(in.Args[1]))
	}
}
