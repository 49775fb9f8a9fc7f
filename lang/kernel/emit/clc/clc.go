package clc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/orepl/orepl/lang/kernel/emit/text"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/later"
)

// Target returns the capabilities of OpenCL C 1.2. An error is a defect of this package.
var Target = sync.OnceValues(func() (*lower.Target, error) {
	leaves := []string{"mulhi", "wide indices"}
	for _, op := range []string{"min", "max"} {
		for _, t := range []string{"i32", "u32", "i64", "u64"} {
			leaves = append(leaves, op+"."+t)
		}
	}
	for _, op := range []string{"add", "sub", "min", "max", "and", "or", "xor", "exchange"} {
		leaves = append(leaves, "atomic."+op+".i32", "atomic."+op+".u32")
	}
	return lower.NewTarget("OpenCL C 1.2", leaves...)
})

// Options configure [Options.Emit]. The zero value suits drivers that conform to the specification.
type Options struct {
	// FlatGroups is for launches whose OpenCL work-groups are one-dimensional: kernels compute their local IDs on all axes from the
	// one on axis 0. Three further parameters after the launch size hold the group size on each axis.
	FlatGroups bool
}

// Emit returns the source text of kernels that were lowered for [Target]. Its errors are those of [Options.Emit].
func Emit(list ...*lower.Kernel) (string, error) { return Options{}.Emit(list...) }

// Emit returns the source text of kernels that were lowered for [Target]. An instruction that is not a leaf of the target is an
// error.
func (o Options) Emit(list ...*lower.Kernel) (string, error) {
	target, err := Target()
	if err != nil {
		return "", err
	}
	var bodies strings.Builder
	head := map[string]bool{}
	names := map[string]bool{}
	for n, k := range list {
		k.IR.Body.Walk(func(in *ir.Instr) {
			if e := target.Check(in); e != nil && err == nil {
				err = fmt.Errorf("kernel %s: %w", k.IR.Name, e)
			}
		})
		if err != nil {
			return "", err
		}
		e := &emitter{options: o, kernel: k, number: n, needs: head, bits: map[*ir.Value]bool{}, indent: 1}
		name := identifier(k.IR.Name)
		for names[name] {
			name += "_"
		}
		names[name] = true
		bodies.WriteString(e.text(name))
	}
	var b strings.Builder
	b.WriteString("// OpenCL C 1.2\n#pragma OPENCL FP_CONTRACT OFF\n")
	for _, extension := range []string{"cl_khr_fp64", "cl_khr_int64_base_atomics"} {
		if head[extension] {
			fmt.Fprintf(&b, "#pragma OPENCL EXTENSION %s : enable\n", extension)
		}
	}
	b.WriteString("#if defined(__clang__) || defined(__GNUC__)\n#define ALIASES __attribute__((may_alias)) // buffers may overlap\n#else\n#define ALIASES\n#endif\n")
	for _, t := range []ir.Type{ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64} {
		if t != ir.F64 || head["cl_khr_fp64"] {
			fmt.Fprintf(&b, "typedef %s mem_%v ALIASES;\n", cTypes.Get()[t], t)
		}
	}
	return b.String() + bodies.String(), nil
}

var cTypes = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{ir.Bool: "bool", ir.I8: "char", ir.U8: "uchar", ir.I16: "short", ir.U16: "ushort", ir.I32: "int", ir.U32: "uint",
		ir.I64: "long", ir.U64: "ulong", ir.F32: "float", ir.F64: "double"}
}}

// Name returns a kernel's name in the text of [Emit]. Underscores follow it there if an earlier kernel has the same name.
func Name(k *ir.Kernel) string { return identifier(k.Name) }

// where returns the line and column of a site in the format of the text's comments.
func where(s *ir.Site) string { return fmt.Sprintf("%d:%d ", s.Line, s.Col) }

// SiteOf returns the kernel's site for which line n of a text, counted from 1, was printed. Of several sites at one position it
// returns the first. It returns false if there is none.
func SiteOf(k *ir.Kernel, text string, n int) (site int, ok bool) {
	lines := strings.Split(text, "\n")
	for i := min(n, len(lines)) - 1; i >= 0 && !strings.HasPrefix(lines[i], "__kernel "); i-- {
		s, found := strings.CutPrefix(strings.TrimLeft(lines[i], "\t"), "// ")
		if !found {
			continue
		}
		for site := range k.Sites {
			if strings.HasPrefix(s, where(&k.Sites[site])) {
				return site, true
			}
		}
	}
	return 0, false
}

// identifier returns k_ and the name, in which underscores replace all characters but ASCII letters and digits.
func identifier(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	return "k_" + out
}

// emitter prints one kernel.
type emitter struct {
	options Options
	kernel  *lower.Kernel
	number  int // number of the kernel, for global names
	b       strings.Builder
	indent  int
	needs   map[string]bool       // extensions
	scalars map[*ir.Array]ir.Type // private arrays that are scalar variables
	bits    map[*ir.Value]bool    // floats that also have an integer variable
	owner   *ir.Instr             // the instruction that a yield ends
	tables  strings.Builder
}

func (e *emitter) line(format string, args ...any) {
	e.b.WriteString(strings.Repeat("\t", e.indent))
	fmt.Fprintf(&e.b, format, args...)
	e.b.WriteByte('\n')
}

func (e *emitter) text(name string) string {
	k := e.kernel.IR
	e.scalars = text.Scalars(k)
	e.b.WriteString("\n__kernel ")
	if n := e.kernel.MaxGroup; n > 0 && e.kernel.Meets {
		fmt.Fprintf(&e.b, "/* at most %d items in a group */ ", n)
	}
	var params []string
	scalars := k.Body.Params
	for _, p := range k.Params {
		if p.Array == nil {
			t := cTypes.Get()[p.Type]
			if p.Type == ir.Bool {
				t = "uchar"
			}
			if p.Type == ir.F64 {
				e.needs["cl_khr_fp64"] = true
			}
			params = append(params, fmt.Sprintf("%s p%d", t, scalars[0].ID))
			scalars = scalars[1:]
			continue
		}
		a := p.Array
		params = append(params, fmt.Sprintf("__global uchar *g%d", a.ID), fmt.Sprintf("ulong at%d", a.ID))
		for axis := range a.Rank {
			params = append(params, fmt.Sprintf("int d%d_%d", a.ID, axis))
		}
	}
	params = append(params, "int size_0", "int size_1", "int size_2")
	if e.options.FlatGroups {
		params = append(params, "int group_0", "int group_1", "int group_2")
	}
	fmt.Fprintf(&e.b, "void %s(%s) {\n", name, strings.Join(params, ", "))
	if e.options.FlatGroups {
		e.line("const int item_0 = (int)get_local_id(0) %% group_0;")
		e.line("const int item_1 = (int)get_local_id(0) / group_0 %% group_1;")
		e.line("const int item_2 = (int)get_local_id(0) / group_0 / group_1;")
	}
	scalars = k.Body.Params
	for _, v := range scalars {
		test := ""
		if v.Type == ir.Bool {
			test = " != 0"
		}
		e.line("const %s v%d = p%d%s;", cTypes.Get()[v.Type], v.ID, v.ID, test)
	}
	for _, a := range k.Arrays {
		e.array(a)
	}
	e.block(k.Body)
	e.b.WriteString("}\n")
	return e.tables.String() + e.b.String()
}

// array declares the array with ID N as aN: a pointer to bytes, or a variable for an array of e.scalars.
func (e *emitter) array(a *ir.Array) {
	if t, ok := e.scalars[a]; ok {
		e.line("%s a%d = 0; // %s", cTypes.Get()[t], a.ID, text.Comment(a.Name))
		return
	}
	words := (a.Bytes() + 7) / 8
	switch a.Space {
	case ir.Global:
		e.line("__global uchar *const a%d = g%d + at%d; // %s", a.ID, a.ID, a.ID, text.Comment(a.Name))
	case ir.Shared:
		e.line("__local ulong w%d[%d]; // %s", a.ID, words, text.Comment(a.Name))
		e.line("__local uchar *const a%d = (__local uchar *)w%d;", a.ID, a.ID)
	case ir.Private:
		e.line("ulong w%d[%d]; // %s", a.ID, words, text.Comment(a.Name))
		e.line("uchar *const a%d = (uchar *)w%d;", a.ID, a.ID)
	case ir.Table:
		data := append(slices.Clone(a.Data), make([]byte, 8)...)
		fmt.Fprintf(&e.tables, "\n__constant ulong table_%d_%d[%d] = {", e.number, a.ID, max(words, 1))
		for i := range max(words, 1) {
			var w uint64
			for j := range 8 {
				if i*8+j < a.Bytes() {
					w |= uint64(data[i*8+j]) << (8 * j)
				}
			}
			if i%4 == 0 {
				e.tables.WriteString("\n\t")
			}
			fmt.Fprintf(&e.tables, "0x%xUL, ", w)
		}
		e.tables.WriteString("\n};\n")
		e.line("__constant uchar *const a%d = (__constant uchar *)table_%d_%d; // %s", a.ID, e.number, a.ID, text.Comment(a.Name))
	}
}

// x returns a value as an operand.
func (e *emitter) x(v *ir.Value) string {
	if v.Def != nil && v.Def.Op == ir.Const {
		return e.literal(v.Type, v.Def.Bits)
	}
	return "v" + strconv.Itoa(v.ID)
}

func (e *emitter) literal(t ir.Type, bits uint64) string {
	switch t {
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.I32:
		if n := int32(bits); n > -1<<31 {
			return fmt.Sprintf("(%d)", n)
		}
		return "(int)0x80000000u"
	case ir.U32:
		return fmt.Sprintf("%du", bits)
	case ir.I64:
		if n := int64(bits); n > -1<<63 {
			return fmt.Sprintf("(%dL)", n)
		}
		return "(long)0x8000000000000000UL"
	case ir.U64:
		return fmt.Sprintf("%dUL", bits)
	case ir.F32:
		return fmt.Sprintf("as_float(0x%08xu)", bits)
	}
	e.needs["cl_khr_fp64"] = true
	return fmt.Sprintf("as_double(0x%016xUL)", bits)
}

func (e *emitter) declare(v *ir.Value) {
	if v.Type == ir.F64 {
		e.needs["cl_khr_fp64"] = true
	}
	e.line("%s v%d;", cTypes.Get()[v.Type], v.ID)
}

func (e *emitter) define(in *ir.Instr, expr string) {
	v := in.Results[0]
	if v.Type == ir.F64 {
		e.needs["cl_khr_fp64"] = true
	}
	e.line("const %s v%d = %s;", cTypes.Get()[v.Type], v.ID, expr)
}

// assign prints a parallel assignment: each variable of to receives the value that the operand in from had before.
func (e *emitter) assign(to, from []*ir.Value) {
	late := false
	for i := range to {
		for j := range i {
			late = late || from[i] == to[j]
		}
	}
	if late {
		e.line("{")
		e.indent++
		for i, v := range from {
			e.line("const %s t%d = %s;", cTypes.Get()[v.Type], i, e.x(v))
		}
	}
	for i, v := range to {
		switch {
		case late:
			e.line("v%d = t%d;", v.ID, i)
		case v != from[i]:
			e.line("v%d = %s;", v.ID, e.x(from[i]))
		}
	}
	if late {
		e.indent--
		e.line("}")
	}
}

func (e *emitter) block(b *ir.Block) {
	site := 0
	for _, in := range b.Instrs {
		if s := in.Site; s != site && s > 0 && in.Op != ir.Const && s < len(e.kernel.IR.Sites) {
			if code := e.kernel.IR.Sites[s].Text; code != "" {
				e.line("// %s%s", where(&e.kernel.IR.Sites[s]), text.Comment(code))
			}
			site = s
		}
		e.instr(in)
	}
}

func (e *emitter) nested(in *ir.Instr, b *ir.Block) {
	outer := e.owner
	e.owner = in
	e.indent++
	e.block(b)
	e.indent--
	e.owner = outer
}

func (e *emitter) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Const:
	case ir.Region, ir.If, ir.Loop:
		e.structured(in)
	case ir.Yield:
		e.assign(e.owner.Results, in.Args)
	case ir.Break:
		e.assign(in.Target.Results, in.Args)
		e.line("break;")
	case ir.Continue:
		e.assign(in.Target.Then.Params, in.Args)
		e.line("continue;")
	case ir.Return, ir.Unreachable:
		e.line("return;")
	case ir.Load, ir.Store, ir.Atomic:
		e.access(in)
	case ir.Barrier:
		e.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
	case ir.Fence:
		name := map[ir.FenceOrder]string{ir.Acquire: "read_mem_fence", ir.Release: "write_mem_fence", ir.AcquireRelease: "mem_fence"}[in.Order]
		e.line("%s(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);", name)
	case ir.Extent:
		e.define(in, fmt.Sprintf("d%d_%d", in.Array.ID, in.Axis))
	case ir.Item:
		e.define(in, e.coordinate(in))
	case ir.Select:
		e.selection(in)
	default:
		e.define(in, e.compute(in))
	}
}

var sameBits = later.Value[map[ir.Type]ir.Type]{Make: func() map[ir.Type]ir.Type {
	return map[ir.Type]ir.Type{ir.F32: ir.U32, ir.F64: ir.U64}
}}

// selection prints a Select. A float select with a constant operand is computed on integers, since clang for AVX-512 would load a
// float constant under a mask. The mask is usually zero where the constant is the canonical NaN. Such a load takes 250 ns if the
// constant's page was never touched.
func (e *emitter) selection(in *ir.Instr) {
	v, constant := in.Results[0], false
	for _, a := range in.Args[1:] {
		constant = constant || a.Def != nil && a.Def.Op == ir.Const
	}
	same, float := sameBits.Get()[v.Type]
	if !float || !constant {
		e.define(in, e.compute(in))
		return
	}
	as := func(a *ir.Value) string {
		if a.Def != nil && a.Def.Op == ir.Const {
			return e.literal(same, a.Def.Bits)
		}
		return fmt.Sprintf("as_%s(%s)", cTypes.Get()[same], e.x(a))
	}
	e.bits[v] = true
	e.line("const %s b%d = %s ? %s : %s;", cTypes.Get()[same], v.ID, e.x(in.Args[0]), as(in.Args[1]), as(in.Args[2]))
	e.define(in, fmt.Sprintf("as_%s(b%d)", cTypes.Get()[v.Type], v.ID))
}

func (e *emitter) structured(in *ir.Instr) {
	for _, r := range in.Results {
		e.declare(r)
	}
	switch in.Op {
	case ir.Region:
		e.line("do {")
		e.nested(in, in.Then)
		e.line("} while (0);")
	case ir.If:
		e.line("if (%s) {", e.x(in.Args[0]))
		e.nested(in, in.Then)
		if y := in.Else.Instrs; len(y) > 1 || y[0].Op != ir.Yield || len(y[0].Args) > 0 {
			e.line("} else {")
			e.nested(in, in.Else)
		}
		e.line("}")
	case ir.Loop:
		for _, p := range in.Then.Params {
			e.declare(p)
		}
		e.assign(in.Then.Params, in.Args)
		for i, p := range in.Then.Params {
			if counts(in.Then, p) && in.Args[i].Def != nil && in.Args[i].Def.Op == ir.Const {
				e.line("v%d = as_float(as_uint(v%d) ^ (uint)size_0 >> 31); // unchanged: size_0 is not negative", p.ID, p.ID)
			}
		}
		e.line("for (;;) {")
		e.nested(in, in.Then)
		e.line("}")
	}
}

// counts reports whether p is an f32 that the loop body adds to or subtracts from a constant, or the reverse. LLVM counts such a
// variable in integers if it also knows its initial value and its limit, which differs beyond 2²⁴.
func counts(body *ir.Block, p *ir.Value) bool {
	found := false
	body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Add && in.Op != ir.Sub || in.Results[0].Type != ir.F32 {
			return
		}
		for i, a := range in.Args {
			other := in.Args[1-i].Def
			found = found || a == p && other != nil && other.Op == ir.Const
		}
	})
	return found
}

func (e *emitter) coordinate(in *ir.Instr) string {
	switch in.Item {
	case ir.GlobalSize:
		return fmt.Sprintf("size_%d", in.Axis)
	case ir.SubgroupSize:
		return strconv.Itoa(e.kernel.SubgroupSize)
	}
	if flat := map[ir.ItemKind]string{ir.LocalID: "item", ir.GroupSize: "group"}[in.Item]; flat != "" && e.options.FlatGroups {
		return fmt.Sprintf("%s_%d", flat, in.Axis)
	}
	name := map[ir.ItemKind]string{ir.LocalID: "local_id", ir.GroupID: "group_id", ir.GroupSize: "local_size", ir.NumGroups: "num_groups"}[in.Item]
	return fmt.Sprintf("(int)get_%s(%d)", name, in.Axis)
}

var spaces = later.Value[map[ir.Space]string]{Make: func() map[ir.Space]string {
	return map[ir.Space]string{ir.Global: "__global ", ir.Shared: "__local ", ir.Table: "__constant "}
}}

// access prints a Load, Store or Atomic.
func (e *emitter) access(in *ir.Instr) {
	a := in.Array
	if _, ok := e.scalars[a]; ok {
		if in.Op == ir.Store {
			e.line("a%d = %s;", a.ID, e.x(in.Args[1]))
		} else {
			e.define(in, fmt.Sprintf("a%d", a.ID))
		}
		return
	}
	place := fmt.Sprintf("(a%d + %s)", a.ID, e.x(in.Args[0]))
	if in.Elem == ir.F64 {
		e.needs["cl_khr_fp64"] = true
	}
	switch in.Op {
	case ir.Load:
		e.define(in, fmt.Sprintf("*(%smem_%v *)%s", spaces.Get()[a.Space], in.Elem, place))
	case ir.Store:
		if v := in.Args[1]; e.bits[v] && v.Type == in.Elem {
			e.line("*(%smem_%v *)%s = b%d;", spaces.Get()[a.Space], sameBits.Get()[v.Type], place, v.ID)
			return
		}
		e.line("*(%smem_%v *)%s = (%s)%s;", spaces.Get()[a.Space], in.Elem, place, cTypes.Get()[in.Elem], e.x(in.Args[1]))
	case ir.Atomic:
		pointer := fmt.Sprintf("(volatile %s%s *)%s", spaces.Get()[a.Space], cTypes.Get()[in.Elem], place)
		call := "atomic_"
		if in.Elem.Size() == 8 {
			call = "atom_"
			e.needs["cl_khr_int64_base_atomics"] = true
		}
		switch in.Atomic {
		case ir.AtomicLoad:
			e.define(in, "*"+pointer)
		case ir.AtomicCompareExchange:
			e.define(in, fmt.Sprintf("%scmpxchg(%s, %s, %s)", call, pointer, e.x(in.Args[1]), e.x(in.Args[2])))
		default:
			name := in.Atomic.String()
			if in.Atomic == ir.AtomicExchange {
				name = "xchg"
			}
			e.define(in, fmt.Sprintf("%s%s(%s, %s)", call, name, pointer, e.x(in.Args[1])))
		}
	}
}

var infix = later.Value[map[ir.Op]string]{Make: func() map[ir.Op]string {
	return map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.Div: "/", ir.Rem: "%", ir.And: "&", ir.Or: "|", ir.Xor: "^", ir.Shl: "<<", ir.Shr: ">>",
		ir.Eq: "==", ir.Ne: "!=", ir.Lt: "<", ir.Le: "<="}
}}

var calls = later.Value[map[ir.Op]string]{Make: func() map[ir.Op]string {
	return map[ir.Op]string{ir.Abs: "fabs", ir.Sqrt: "sqrt", ir.Floor: "floor", ir.Ceil: "ceil", ir.Trunc: "trunc", ir.Rint: "rint", ir.FMA: "fma",
		ir.Min: "min", ir.Max: "max", ir.MulHi: "mul_hi", ir.Clz: "clz", ir.Popcnt: "popcount"}
}}

// compute returns the expression of an operation on values. Signed sums, differences, products and left shifts are computed
// unsigned, because C leaves their overflow undefined.
func (e *emitter) compute(in *ir.Instr) string {
	args := make([]string, len(in.Args))
	for i, a := range in.Args {
		args[i] = e.x(a)
	}
	t, to := in.Args[0].Type, in.Type()
	switch in.Op {
	case ir.Select:
		return fmt.Sprintf("%s ? %s : %s", args[0], args[1], args[2])
	case ir.Convert, ir.Wrap, ir.Sat:
		if d := in.Args[0].Def; to == ir.I64 && d != nil && d.Op == ir.Item {
			if id, ok := strings.CutPrefix(e.coordinate(d), "(int)"); ok { // without a narrow value in between
				return "(long)" + id
			}
		}
		return fmt.Sprintf("(%s)%s", cTypes.Get()[to], args[0])
	case ir.Bitcast:
		return fmt.Sprintf("as_%s(%s)", cTypes.Get()[to], args[0])
	case ir.Neg:
		return "-" + args[0]
	case ir.Not:
		if t == ir.Bool {
			return "!" + args[0]
		}
		return "~" + args[0]
	case ir.Clz, ir.Popcnt:
		return fmt.Sprintf("(int)%s(%s)", calls.Get()[in.Op], args[0])
	case ir.Shl:
		args[1] = "(uint)" + args[1]
		if t.IsSigned() {
			return fmt.Sprintf("(%s)((u%s)%s << %s)", cTypes.Get()[t], cTypes.Get()[t], args[0], args[1])
		}
	case ir.Add, ir.Sub, ir.Mul:
		if t.IsSigned() {
			return fmt.Sprintf("(%s)((u%s)%s %s (u%s)%s)", cTypes.Get()[t], cTypes.Get()[t], args[0], infix.Get()[in.Op], cTypes.Get()[t], args[1])
		}
	}
	if op := infix.Get()[in.Op]; op != "" {
		return fmt.Sprintf("%s %s %s", args[0], op, args[1])
	}
	return fmt.Sprintf("%s(%s)", calls.Get()[in.Op], strings.Join(args, ", "))
}
