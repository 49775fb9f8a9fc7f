package emitjs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Runtime is the JavaScript runtime of emitted kernels.
//
//go:embed runtime.js
var Runtime string

// Emit returns a verified kernel as a JavaScript expression: an object to pass to the runtime's run. Its errors are of type
// [*UnsupportedError].
func Emit(k *ir.Kernel) (string, error) {
	e := &emitter{k: k, exprs: make([]string, k.NumValues()), labels: map[*ir.Instr]string{}}
	e.kernel()
	if e.err != nil {
		return "", e.err
	}
	return e.b.String(), nil
}

// Module returns verified kernels as a complete program: the runtime and a const for each kernel, such as kernel_sum for sum.
// Of two kernels with the same name the second is kernel_sum_2. A kernel whose name is no identifier is called kernel and its
// index.
func Module(kernels ...*ir.Kernel) (string, error) {
	var b strings.Builder
	b.WriteString(Runtime)
	names := map[string]bool{}
	for i, k := range kernels {
		text, err := Emit(k)
		if err != nil {
			return "", err
		}
		name := "kernel" + strconv.Itoa(i)
		if isIdentifier(k.Name) {
			name = "kernel_" + k.Name
		}
		unique := name
		for n := 2; names[unique]; n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		names[unique] = true
		fmt.Fprintf(&b, "\nconst %s = %s\n", unique, text)
	}
	return b.String(), nil
}

// UnsupportedError reports an operation that this package cannot express in JavaScript.
type UnsupportedError struct {
	Kernel string
	Site   int // index in [ir.Kernel.Sites]
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: unsupported in JavaScript: %s", e.Kernel, e.What)
}

type emitter struct {
	k      *ir.Kernel
	b      strings.Builder
	indent int
	err    error

	exprs    []string // name or expression of each value, by ID
	labels   map[*ir.Instr]string
	owner    *ir.Instr // the instruction that a yield ends
	numbered int       // number of group operations and atomic operations so far
}

func (e *emitter) line(format string, args ...any) {
	for range e.indent {
		e.b.WriteString("  ")
	}
	fmt.Fprintf(&e.b, format, args...)
	e.b.WriteByte('\n')
}

func (e *emitter) open(format string, args ...any) {
	e.line(format, args...)
	e.indent++
}

func (e *emitter) close(format string, args ...any) {
	e.indent--
	e.line(format, args...)
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// name records and returns a name for a value, based on the source variable that holds it.
func (e *emitter) name(v *ir.Value) string {
	name := "v" + strconv.Itoa(v.ID)
	if isIdentifier(v.Name) {
		name = v.Name + "_" + strconv.Itoa(v.ID)
	}
	e.exprs[v.ID] = name
	return name
}

// array returns the name of an array; the $ avoids collisions with other names.
func array(a *ir.Array) string {
	if isIdentifier(a.Name) {
		return a.Name + "$" + strconv.Itoa(a.ID)
	}
	return "$" + strconv.Itoa(a.ID)
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // strings always marshal
		panic(err)
	}
	return string(text)
}

func (e *emitter) kernel() {
	k := e.k
	cooperates := false
	k.Body.Walk(func(in *ir.Instr) { cooperates = cooperates || in.Op.IsGroup() || in.Op == ir.Subgroup })

	e.b.WriteString("(() => {\n")
	e.indent++
	for _, a := range k.Arrays {
		if a.Space == ir.Table {
			e.line("const %s = new Memory(%s, new Uint8Array([%s]))", array(a), quote(a.Name), byteList(a.Data))
		}
	}
	e.open("return {")
	e.line("name: %s,", quote(k.Name))
	e.line("observesGroup: %v, cooperates: %v,", k.ObservesGroup(), cooperates)
	e.open("shared: () => ({")
	for _, a := range k.Arrays {
		if a.Space == ir.Shared {
			e.line("%s: new Memory(%s, new Uint8Array(%d)),", array(a), quote(a.Name), a.Bytes())
		}
	}
	e.close("}),")
	star := ""
	if cooperates {
		star = "*"
	}
	params := []string{"g"}
	scalars := k.Body.Params
	for i := range k.Params {
		if a := k.Params[i].Array; a != nil {
			params = append(params, array(a))
		} else {
			params = append(params, e.name(scalars[0]))
			scalars = scalars[1:]
		}
	}
	e.open("%sitem(%s) {", star, strings.Join(params, ", "))
	for _, a := range k.Arrays {
		switch a.Space {
		case ir.Private:
			e.line("const %s = new Memory(%s, new Uint8Array(%d))", array(a), quote(a.Name), a.Bytes())
		case ir.Shared:
			e.line("const { %s } = g.team.shared", array(a))
		}
	}
	e.block(k.Body)
	e.close("},")
	e.close("}")
	e.indent--
	e.b.WriteString("})()")
}

func byteList(data []byte) string {
	var b strings.Builder
	for i, x := range data {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(x)))
	}
	return b.String()
}

func (e *emitter) block(b *ir.Block) {
	for _, in := range b.Instrs {
		if e.err != nil {
			return
		}
		e.instr(in)
	}
}

func (e *emitter) x(v *ir.Value) string { return e.exprs[v.ID] }

func (e *emitter) list(vs []*ir.Value) string {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = e.x(v)
	}
	return strings.Join(names, ", ")
}

// define prints the instruction's result as a const, or the expression alone if there is no result.
func (e *emitter) define(in *ir.Instr, format string, args ...any) {
	expr := fmt.Sprintf(format, args...)
	if in.Result() == nil {
		e.line("%s", expr)
		return
	}
	e.line("const %s = %s", e.name(in.Result()), expr)
}

func (e *emitter) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Const:
		e.exprs[in.Result().ID] = literal(in.Type(), in.Bits)
	case ir.Item:
		e.exprs[in.Result().ID] = coordinate(in)
	case ir.Extent:
		e.exprs[in.Result().ID] = fmt.Sprintf("%s.dims[%d]", array(in.Array), in.Axis)
	case ir.Load:
		e.define(in, "%s.%s(%s)", array(in.Array), in.Accessed(), e.address(in))
	case ir.Store:
		e.line("%s.set_%s(%s, %s)", array(in.Array), in.Accessed(), e.address(in), e.x(in.Args[len(in.Args)-1]))
	case ir.Atomic:
		e.atomic(in)
	case ir.Zero:
		e.line("%s.zero()", array(in.Array))
	case ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
		e.group(in)
	case ir.Print:
		e.line("g.print(%d, %s)", in.Site, e.message(in.Text, in.Args))
	case ir.Assert:
		e.line("g.assert(%s, %d, () => %s)", e.x(in.Args[0]), in.Site, e.message(in.Text, in.Args[1:]))
	case ir.Call:
		e.define(in, "g.call(%d, %s, [%s])", in.Site, quote(in.Fn), e.list(in.Args))
	case ir.Fence, ir.Pause: // items run one after the other
	case ir.Clock:
		e.define(in, "BigInt(Math.floor(performance.now() * 1e6))")
	case ir.Region, ir.If, ir.Loop:
		e.nested(in)
	case ir.Yield:
		e.assign(e.owner.Results, in.Args)
	case ir.Break:
		e.assign(in.Target.Results, in.Args)
		e.line("break %s", e.labels[in.Target])
	case ir.Continue:
		e.assign(in.Target.Then.Params, in.Args)
		e.line("continue %s", e.labels[in.Target])
	case ir.Return, ir.Unreachable:
		e.line("return")
	default:
		if (in.Op == ir.Div || in.Op == ir.Rem) && in.Args[0].Type.IsInt() {
			e.line("g.nonzero(%s, %d)", e.x(in.Args[1]), in.Site)
		}
		expr := e.arithmetic(in)
		if expr == "" {
			e.unsupported(in)
			return
		}
		e.define(in, "%s", expr)
	}
}

func (e *emitter) unsupported(in *ir.Instr) {
	what := in.Op.String()
	if in.Op == ir.Math {
		what += "." + in.Fn
	}
	e.err = &UnsupportedError{e.k.Name, in.Site, what}
}

func (e *emitter) nested(in *ir.Instr) {
	for _, v := range in.Results {
		e.line("let %s", e.name(v))
	}
	outer := e.owner
	e.owner = in
	switch in.Op {
	case ir.If:
		cond, then, els := e.x(in.Args[0]), in.Then, in.Else
		if yieldsNothing(then) {
			cond, then, els = "!"+cond, els, then
		}
		e.open("if (%s) {", cond)
		e.block(then)
		if !yieldsNothing(els) {
			e.indent--
			e.open("} else {")
			e.block(els)
		}
		e.close("}")
	case ir.Region:
		e.labels[in] = fmt.Sprintf("block%d", len(e.labels)+1)
		e.open("%s: {", e.labels[in])
		e.block(in.Then)
		e.close("}")
	case ir.Loop:
		e.labels[in] = fmt.Sprintf("loop%d", len(e.labels)+1)
		for i, v := range in.Then.Params {
			e.line("let %s = %s", e.name(v), e.x(in.Args[i]))
		}
		e.open("%s: for (;;) {", e.labels[in])
		e.block(in.Then)
		e.close("}")
	}
	e.owner = outer
}

// yieldsNothing reports whether a block is only an empty yield.
func yieldsNothing(b *ir.Block) bool {
	return len(b.Instrs) == 1 && b.Instrs[0].Op == ir.Yield && len(b.Instrs[0].Args) == 0
}

// assign prints a parallel assignment.
func (e *emitter) assign(to, from []*ir.Value) {
	switch {
	case len(to) == 0:
	case len(to) == 1:
		e.line("%s = %s", e.x(to[0]), e.x(from[0]))
	default:
		e.line(";[%s] = [%s]", e.list(to), e.list(from))
	}
}

// message returns a string expression of the text pieces with the values between them.
func (e *emitter) message(text []string, args []*ir.Value) string {
	var parts []string
	for i, piece := range text {
		if i == 0 || piece != "" {
			parts = append(parts, quote(piece))
		}
		if i < len(args) {
			parts = append(parts, e.x(args[i]))
		}
	}
	return strings.Join(parts, " + ")
}

// literal formats a constant; floats as the shortest decimal that converts to the same float64.
func literal(t ir.Type, bits uint64) string {
	var s string
	switch t {
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.I32:
		s = strconv.Itoa(int(int32(bits)))
	case ir.U32:
		s = strconv.FormatUint(bits, 10)
	case ir.I64:
		s = strconv.FormatInt(int64(bits), 10) + "n"
	case ir.U64:
		s = strconv.FormatUint(bits, 10) + "n"
	default:
		x := math.Float64frombits(bits)
		if t == ir.F32 {
			x = float64(math.Float32frombits(uint32(bits)))
		}
		switch {
		case x != x:
			return "NaN"
		case math.IsInf(x, 0):
			s = strings.TrimSuffix(strconv.FormatFloat(x, 'g', -1, 64), "Inf") + "Infinity"
			s = strings.TrimPrefix(s, "+")
		default:
			s = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	if s[0] == '-' {
		return "(" + s + ")"
	}
	return s
}

func coordinate(in *ir.Instr) string {
	switch in.Item {
	case ir.Lane:
		return "g.lane"
	case ir.SubgroupSize:
		return "g.subgroupSize"
	}
	name := map[ir.ItemKind]string{ir.GlobalID: "global", ir.LocalID: "local", ir.GroupID: "group", ir.GlobalSize: "size",
		ir.GroupSize: "groupSize", ir.NumGroups: "groups"}[in.Item]
	return fmt.Sprintf("g.%s[%d]", name, in.Axis)
}

// address returns an expression for the byte offset of an access. The expression checks each index.
func (e *emitter) address(in *ir.Instr) string {
	r := in.Resolve()
	a := in.Array
	var terms []string
	if r.Offset != 0 {
		terms = append(terms, strconv.Itoa(r.Offset))
	}
	for i, stride := range r.Strides {
		extent := strconv.Itoa(r.Extents[i])
		switch {
		case r.Extents[i] == ir.Flat:
			extent = array(a) + ".count"
		case r.Extents[i] < 0:
			extent = fmt.Sprintf("%s.dims[%d]", array(a), -1-r.Extents[i])
		}
		term := fmt.Sprintf("g.index(%s, %d, %d, %s, %s) * %d", array(a), in.Site, i, e.x(in.Args[i]), extent, stride)
		for n := a.Rank - r.Inner[i]; n < a.Rank; n++ {
			term += fmt.Sprintf(" * %s.dims[%d]", array(a), n)
		}
		terms = append(terms, term)
	}
	return strings.Join(terms, " + ")
}

func (e *emitter) atomic(in *ir.Instr) {
	t := in.Accessed()
	n := in.NumIndices()
	p := fmt.Sprintf("p%d", e.number())
	old := fmt.Sprintf("old%d", e.numbered)
	e.line("const %s = %s", p, e.address(in))
	e.line("const %s = %s.%s(%s)", old, array(in.Array), t, p)
	set := func(format string, args ...any) {
		e.line("%s.set_%s(%s, %s)", array(in.Array), t, p, fmt.Sprintf(format, args...))
	}
	ops := map[ir.AtomicKind]ir.Op{ir.AtomicAdd: ir.Add, ir.AtomicSub: ir.Sub, ir.AtomicMin: ir.Min, ir.AtomicMax: ir.Max,
		ir.AtomicAnd: ir.And, ir.AtomicOr: ir.Or, ir.AtomicXor: ir.Xor}
	switch in.Atomic {
	case ir.AtomicLoad:
	case ir.AtomicExchange, ir.AtomicStore:
		set("%s", e.x(in.Args[n]))
	case ir.AtomicCompareExchange:
		if t.IsFloat() {
			e.open("if (rawBits(%s, '%v') === rawBits(%s, '%v')) {", old, t, e.x(in.Args[n]), t)
		} else {
			e.open("if (%s === %s) {", old, e.x(in.Args[n]))
		}
		set("%s", e.x(in.Args[n+1]))
		e.close("}")
	default:
		sum := binary(ops[in.Atomic], t, old, e.x(in.Args[n]))
		if t.IsFloat() {
			sum = fmt.Sprintf("quant_%v(%s)", t, sum)
		}
		set("%s", sum)
	}
	if v := in.Result(); v != nil {
		e.exprs[v.ID] = old
	}
}

// number returns a new number for a group operation or an atomic operation.
func (e *emitter) number() int {
	e.numbered++
	return e.numbered
}

// group prints a group operation: the item yields a request. The runtime compares requests by their number. The property site is the
// index in [ir.Kernel.Sites], for faults.
func (e *emitter) group(in *ir.Instr) {
	request := fmt.Sprintf("op: '%s', number: %d, site: %d", in.Op, e.number(), in.Site)
	if len(in.Args) > 0 {
		request += fmt.Sprintf(", type: '%s', value: %s", in.Args[0].Type, e.x(in.Args[0]))
	}
	switch in.Op {
	case ir.Reduce, ir.Scan:
		request += fmt.Sprintf(", name: '%s', exclusive: %v", in.Combine, in.Exclusive)
	case ir.Subgroup:
		request += fmt.Sprintf(", name: '%s'", in.Subgroup)
		if len(in.Args) > 1 {
			request += ", lane: " + e.x(in.Args[1])
		}
	}
	e.define(in, "yield { %s }", request)
}
