package ir

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// textHeader starts the text form and precedes the version.
const textHeader = "orepl-ir"

// String returns the module's text form. [ParseText] parses that of a valid module to an equal module without proofs, but not
// that of lowered kernels.
func (m *Module) String() string {
	p := printer{}
	p.module(m)
	return p.b.String()
}

// WriteText writes the module's text form to w, and returns the error of w.
func (m *Module) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, m.String())
	return err
}

// String returns the kernel's text form.
func (k *Kernel) String() string {
	p := printer{}
	p.kernel(k)
	return p.b.String()
}

// String returns the instruction in text form without its nested blocks.
func (in *Instr) String() string {
	p := printer{}
	p.instr(in, false)
	return strings.TrimSpace(p.b.String())
}

// String returns the name of the value in text form, such as "%sum.12".
func (v *Value) String() string {
	switch {
	case v == nil:
		return "%?"
	case v.Name == "":
		return "%" + strconv.Itoa(v.ID)
	case isIdent(v.Name):
		return "%" + v.Name + "." + strconv.Itoa(v.ID)
	}
	return "%" + strconv.Quote(v.Name) + "." + strconv.Itoa(v.ID)
}

// printer prints the text form. It also prints malformed modules, which may not be parseable.
type printer struct {
	b      strings.Builder
	indent int
	labels map[*Instr]int
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *printer) line(format string, args ...any) {
	for range p.indent {
		p.b.WriteString("  ")
	}
	p.printf(format, args...)
}

func (p *printer) module(m *Module) {
	p.line("%s %d\n", textHeader, m.Version())
	for i, f := range m.Files {
		p.line("file %d %s\n", i, strconv.Quote(f))
	}
	for _, r := range m.Records {
		p.record(r)
	}
	for _, k := range m.Kernels {
		p.printf("\n")
		p.kernel(k)
	}
}

func (p *printer) record(r *Record) {
	p.line("record %s {", quoteName(r.Name))
	for i, f := range r.Fields {
		if i > 0 {
			p.printf(",")
		}
		p.printf(" %s: %s%s @%d", quoteName(f.Name), elemText(f.Elem), dimsText(f.Dims), f.Offset)
	}
	p.printf(" } size %d align %d\n", r.Size, r.Align)
}

func (p *printer) kernel(k *Kernel) {
	p.labels = map[*Instr]int{}
	k.Body.Walk(func(in *Instr) {
		if in.Op == Region || in.Op == Loop {
			p.labels[in] = len(p.labels) + 1
		}
	})
	p.line("kernel %s(", quoteName(k.Name))
	scalars := 0
	for i, param := range k.Params {
		if i > 0 {
			p.printf(", ")
		}
		if a := param.Array; a != nil {
			p.printf("%s: %s[%s]", quoteName(param.Name), elemText(a.Elem), strings.TrimSuffix(strings.Repeat("*,", max(a.Rank, 0)), ","))
			continue
		}
		var v *Value
		if k.Body != nil && scalars < len(k.Body.Params) {
			v = k.Body.Params[scalars]
		}
		scalars++
		p.printf("%s %v: %v", quoteName(param.Name), v, param.Type)
	}
	p.printf(")")
	if k.Real != Void {
		p.printf(" real %v", k.Real)
	}
	p.printf(" {\n")
	p.indent++
	for _, a := range k.Arrays {
		if a.Space != Global {
			p.array(a)
		}
	}
	for i, s := range k.Sites {
		p.line("site %d = %d:%d:%d %s\n", i, s.File, s.Line, s.Col, strconv.Quote(s.Text))
	}
	p.block(k.Body)
	p.indent--
	p.line("}\n")
}

func (p *printer) array(a *Array) {
	p.line("%v %s: %s%s", a.Space, quoteName(a.Name), elemText(a.Elem), dimsText(a.Dims))
	if a.Space != Table {
		p.printf("\n")
		return
	}
	size := a.Elem.Scalar.Size()
	if a.Elem.Record != nil || size == 0 || len(a.Data)%size != 0 {
		p.printf(" = hex %q\n", hex.EncodeToString(a.Data))
		return
	}
	p.printf(" = [")
	const perLine = 16
	n := len(a.Data) / size
	for i := range n {
		switch {
		case n > perLine && i%perLine == 0:
			p.printf("\n")
			p.line("  ")
		case i > 0:
			p.printf(" ")
		}
		p.printf("%s", constText(a.Elem.Scalar, loadBits(a.Data[i*size:][:size])))
		if i < n-1 {
			p.printf(",")
		}
	}
	if n > perLine {
		p.printf("\n")
		p.line("")
	}
	p.printf("]\n")
}

func (p *printer) block(b *Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		p.instr(in, true)
	}
}

func (p *printer) instr(in *Instr, nested bool) {
	p.line("")
	for i, r := range in.Results {
		if i > 0 {
			p.printf(", ")
		}
		p.printf("%v: %v", r, valueType(r))
	}
	if len(in.Results) > 0 {
		p.printf(" = ")
	}
	p.printf("%v", in.Op)
	switch in.Op {
	case Const:
		p.printf(" %s", constText(in.Type(), in.Bits))
	case Quant:
		p.printf(".%v", in.Elem)
		p.operands(in.Args, " ")
	case Math, Call:
		p.printf(".%s", quoteName(in.Fn))
		p.operands(in.Args, " ")
	case Load, Store:
		p.operands(p.path(in), ", ")
	case Atomic:
		p.printf(".%v", in.Atomic)
		p.operands(p.path(in), ", ")
	case Zero:
		p.printf(" %s", arrayName(in.Array))
	case Extent:
		p.printf(".%d %s", in.Axis, arrayName(in.Array))
	case Item:
		p.printf(".%v", in.Item)
		if in.Item.HasAxis() {
			p.printf(".%s", axisName(in.Axis))
		}
	case Reduce, Scan:
		p.printf(".%v", in.Combine)
		if in.Exclusive {
			p.printf(".exclusive")
		}
		p.operands(in.Args, " ")
	case Subgroup:
		p.printf(".%v", in.Subgroup)
		p.operands(in.Args, " ")
	case Print:
		p.pieces(in.Text, in.Args)
	case Assert:
		if in.Assert != AssertFailed {
			p.printf(".%v", in.Assert)
		}
		if len(in.Args) > 0 {
			p.printf(" %v,", in.Args[0])
			p.pieces(in.Text, in.Args[1:])
		}
	case Fence:
		p.printf(".%v.%v", in.Order, in.Reach)
	case Lib:
		p.printf(".%s", quoteName(in.Fn))
		for i, a := range in.Arrays {
			p.printf("%s%s", []string{" [", ", "}[min(i, 1)], arrayName(a))
		}
		if len(in.Arrays) > 0 {
			p.printf("]")
		}
		p.operands(in.Args, " ")
	case Region, If, Loop:
		p.structured(in, nested)
		return
	case Break, Continue:
		p.printf(" %s", p.label(in.Target))
		p.operands(in.Args, " ")
	default:
		p.operands(in.Args, " ")
	}
	p.site(in)
	p.printf("\n")
}

func (p *printer) structured(in *Instr, nested bool) {
	switch in.Op {
	case Region:
		if in.Fn != "" {
			p.printf(".%s", quoteName(in.Fn))
		}
		p.printf(" %s", p.label(in))
		p.operands(in.Args, " ")
	case If:
		p.operands(in.Args, " ")
	case Loop:
		p.printf(" %s (", p.label(in))
		for i, a := range in.Args {
			if i > 0 {
				p.printf(", ")
			}
			var param *Value
			if in.Then != nil && i < len(in.Then.Params) {
				param = in.Then.Params[i]
			}
			p.printf("%v: %v = %v", param, valueType(param), a)
		}
		p.printf(")")
	}
	p.site(in)
	p.printf(" {")
	if !nested {
		return
	}
	p.printf("\n")
	p.nest(in.Then)
	if in.Op == If && !in.Else.isEmpty() {
		p.line("} else {\n")
		p.nest(in.Else)
	}
	p.line("}\n")
}

func (p *printer) nest(b *Block) {
	p.indent++
	p.block(b)
	p.indent--
}

// isEmpty reports whether the block is only an empty yield, such as an else branch that the text form omits.
func (b *Block) isEmpty() bool {
	return b != nil && len(b.Instrs) == 1 && b.Instrs[0].Op == Yield && len(b.Instrs[0].Args) == 0 && b.Instrs[0].Site == 0
}

func (p *printer) site(in *Instr) {
	if in.Site != 0 {
		p.printf(" !%d", in.Site)
	}
}

func (p *printer) label(in *Instr) string {
	if n, ok := p.labels[in]; ok {
		return "@" + strconv.Itoa(n)
	}
	return "@?"
}

func (p *printer) operands(args []*Value, before string) {
	for _, a := range args {
		p.printf("%s%v", before, a)
		before = ", "
	}
}

// path prints the array and path of an access and returns the operands after the indices.
func (p *printer) path(in *Instr) []*Value {
	p.printf(" %s", arrayName(in.Array))
	args := in.Args
	next := func() *Value {
		if len(args) == 0 {
			return nil
		}
		v := args[0]
		args = args[1:]
		return v
	}
	var elem Elem
	if in.Array != nil {
		elem = in.Array.Elem
	}
	for _, s := range in.Path {
		switch s.Kind {
		case StepIndex:
			p.printf("[%v]", next())
		case StepFlat:
			p.printf("[flat %v]", next())
		case StepByte:
			p.printf("[byte %v %v]", in.Elem, next())
		default:
			if r := elem.Record; r != nil && s.Field >= 0 && s.Field < len(r.Fields) {
				p.printf(".%s", quoteName(r.Fields[s.Field].Name))
				elem = r.Fields[s.Field].Elem
			} else {
				p.printf(".?%d", s.Field)
			}
		}
	}
	return args
}

// pieces prints the strings of a message with the values between them.
func (p *printer) pieces(text []string, args []*Value) {
	for i := range max(len(text), len(args)) {
		if i < len(text) {
			p.printf(" %s", strconv.Quote(text[i]))
		}
		if i < len(args) {
			p.printf(" %v", args[i])
		}
	}
}

func arrayName(a *Array) string {
	if a == nil {
		return "?"
	}
	return quoteName(a.Name)
}

func valueType(v *Value) Type {
	if v == nil {
		return Void
	}
	return v.Type
}

func elemText(e Elem) string {
	if e.Record != nil {
		return quoteName(e.Record.Name)
	}
	return e.Scalar.String()
}

func dimsText(dims []int) string {
	if len(dims) == 0 {
		return ""
	}
	s := make([]string, len(dims))
	for i, d := range dims {
		s[i] = strconv.Itoa(d)
	}
	return "[" + strings.Join(s, ",") + "]"
}

func axisName(axis int) string {
	if axis >= 0 && axis < 3 {
		return "xyz"[axis : axis+1]
	}
	return strconv.Itoa(axis)
}

// Bits of the canonical NaNs.
const (
	NaN32 = 0x7fc00000
	NaN64 = 0x7ff8000000000000
)

// constText formats the bits of a value or element. [parser.constant] parses the text to exactly these bits.
func constText(t Type, bits uint64) string {
	if size := t.Size(); size == 0 || size < 8 && bits>>(8*size) != 0 {
		return "bits 0x" + strconv.FormatUint(bits, 16)
	}
	switch t {
	case Bool:
		if bits <= 1 {
			return strconv.FormatBool(bits == 1)
		}
	case I8:
		return strconv.Itoa(int(int8(bits)))
	case I16:
		return strconv.Itoa(int(int16(bits)))
	case I32:
		return strconv.Itoa(int(int32(bits)))
	case I64:
		return strconv.FormatInt(int64(bits), 10)
	case U8, U16, U32, U64:
		return strconv.FormatUint(bits, 10)
	case F32:
		if x := float64(math.Float32frombits(uint32(bits))); x == x || bits == NaN32 {
			return floatText(x, 32)
		}
	case F64:
		if x := math.Float64frombits(bits); x == x || bits == NaN64 {
			return floatText(x, 64)
		}
	}
	return "bits 0x" + strconv.FormatUint(bits, 16)
}

func floatText(x float64, size int) string {
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, size)
}

func loadBits(b []byte) uint64 {
	var bits uint64
	for i, c := range b {
		bits |= uint64(c) << (8 * i)
	}
	return bits
}

func isIdent(s string) bool {
	for i, r := range s {
		if !isIdentRune(r, i == 0) {
			return false
		}
	}
	return s != ""
}

func isIdentRune(r rune, first bool) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || !first && unicode.IsDigit(r)
}

// quoteName returns an identifier that is not a type unchanged, and any other name in quotes.
func quoteName(s string) string {
	if _, isType := ParseType(s); isIdent(s) && !isType {
		return s
	}
	return strconv.Quote(s)
}
