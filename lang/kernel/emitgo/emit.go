package emitgo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// Function is a kernel to be printed as a Go function. The kernel has scalar parameters and a final one-dimensional buffer, and
// stores its result to element 0. It may read tables and use no other memory.
type Function struct {
	Name   string // name in Go
	Doc    string // comment without slashes
	Kernel *ir.Kernel
}

// UnsupportedError reports an operation that this package cannot express in Go.
type UnsupportedError struct {
	Function string
	What     string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("function %s: unsupported in Go: %s", e.Function, e.What)
}

// File returns a Go file with the functions, the tables they read, and the helpers they call. head precedes the package clause.
// The error is an [*UnsupportedError] if Go cannot express a function.
func File(pkg, head string, functions []Function) ([]byte, error) {
	f := &file{tables: map[string]string{}, taken: map[string]bool{}, helpers: map[string]bool{}}
	var body bytes.Buffer
	for _, fn := range functions {
		e := &emitter{file: f, fn: fn, names: map[*ir.Value]string{}, home: map[*ir.Instr]*arm{}, labels: map[*ir.Instr]string{}}
		text, err := e.function()
		if err != nil {
			return nil, err
		}
		body.WriteString(text)
	}
	body.Write(f.data.Bytes())
	for _, name := range slices.Sorted(maps.Keys(f.helpers)) {
		fmt.Fprintf(&body, "\n%s\n", helpers.Get()[name])
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n\npackage %s\n\n", head, pkg)
	var imports []string
	for _, name := range []string{"math", "math/bits"} {
		if bytes.Contains(body.Bytes(), []byte(name[strings.LastIndexByte(name, '/')+1:]+".")) {
			imports = append(imports, fmt.Sprintf("%q", name))
		}
	}
	if len(imports) > 0 {
		fmt.Fprintf(&out, "import (\n%s\n)\n", strings.Join(imports, "\n"))
	}
	out.Write(body.Bytes())
	text, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the Go written for package %s: %w", pkg, err)
	}
	return text, nil
}

// file is the state that the functions of a file share.
type file struct {
	tables  map[string]string // Go names by table name and contents
	taken   map[string]bool
	data    bytes.Buffer // declarations of tables
	helpers map[string]bool
}

// help records a call of a helper and returns the helper's name.
func (f *file) help(name string) string {
	f.helpers[name] = true
	for _, other := range needs.Get()[name] {
		f.help(other)
	}
	return name
}

// table declares a table once and returns its name.
func (f *file) table(a *ir.Array) string {
	key := a.Name + "\x00" + a.Elem.Scalar.String() + "\x00" + string(a.Data)
	if name := f.tables[key]; name != "" {
		return name
	}
	base := camel(a.Name)
	name := base
	for n := 2; f.taken[name]; n++ {
		name = fmt.Sprintf("%sOf%d", base, n)
	}
	f.tables[key], f.taken[name] = name, true
	t := a.Elem.Scalar
	size := t.Size()
	fmt.Fprintf(&f.data, "\nvar %s = [...]%s{", name, storage.Get()[t])
	for i := 0; i < len(a.Data); i += size {
		if i/size%4 == 0 {
			f.data.WriteByte('\n')
		}
		var b [8]byte
		copy(b[:], a.Data[i:i+size])
		fmt.Fprintf(&f.data, "%s, ", element(t, binary.LittleEndian.Uint64(b[:])))
	}
	f.data.WriteString("\n}\n")
	return name
}

// camel returns the Go name of a table, such as tableTwoOverPi for TWO_OVER_PI.
func camel(name string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return "table" + strings.ToUpper(b.String()[:1]) + b.String()[1:]
}

// An arm is code that executes together: a block, or one operand of a select with the instructions that only it needs.
type arm struct {
	parent *arm
	depth  int
	block  *ir.Block
	instrs []*ir.Instr // in order
}

// common returns the innermost arm that contains a and b, which are in one block.
func common(a, b *arm) *arm {
	for a != b {
		if a.depth < b.depth {
			b = b.parent
		} else {
			a = a.parent
		}
	}
	return a
}

// emitter prints one function.
type emitter struct {
	file   *file
	fn     Function
	b      strings.Builder
	uses   *ir.Uses
	names  map[*ir.Value]string    // name or expression of each value
	home   map[*ir.Instr]*arm      // arm in which an instruction is printed
	choice map[*ir.Instr]*[2]*arm  // arms of selects
	block  map[*ir.Instr]*ir.Block // block of an instruction
	root   map[*ir.Block]*arm      // arm of a whole block
	labels map[*ir.Instr]string
	target map[*ir.Instr]bool // a break or continue targets the instruction
	owner  *ir.Instr          // the instruction that a yield ends
	store  *ir.Instr          // the store of the result
	err    error
}

func (e *emitter) line(format string, args ...any) { fmt.Fprintf(&e.b, format+"\n", args...) }

func (e *emitter) unsupported(what string) {
	if e.err == nil {
		e.err = &UnsupportedError{e.fn.Name, what}
	}
}

var types = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{ir.Bool: "bool", ir.I32: "int32", ir.U32: "uint32", ir.I64: "int64", ir.U64: "uint64", ir.F32: "float32", ir.F64: "float64"}
}}

var storage = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{ir.Bool: "bool", ir.I8: "int8", ir.U8: "uint8", ir.I16: "int16", ir.U16: "uint16",
		ir.I32: "int32", ir.U32: "uint32", ir.I64: "int64", ir.U64: "uint64", ir.F32: "float32", ir.F64: "float64"}
}}

func (e *emitter) function() (string, error) {
	k := e.fn.Kernel
	n := len(k.Body.Instrs)
	if len(k.Params) == 0 || n < 2 || k.Body.Instrs[n-1].Op != ir.Return || k.Body.Instrs[n-2].Op != ir.Store {
		return "", &UnsupportedError{e.fn.Name, "a body that does not end by storing the result"}
	}
	e.store = k.Body.Instrs[n-2]
	e.uses = k.Uses()
	e.choice, e.block, e.root, e.target = map[*ir.Instr]*[2]*arm{}, map[*ir.Instr]*ir.Block{}, map[*ir.Block]*arm{}, map[*ir.Instr]bool{}
	e.place(k.Body)
	result := e.store.Args[len(e.store.Args)-1]
	var params []string
	for i, v := range k.Body.Params {
		e.names[v] = k.Params[i].Name
		if !isIdentifier(e.names[v]) {
			e.names[v] = fmt.Sprintf("x%d", i)
		}
		params = append(params, e.names[v]+" "+types.Get()[v.Type])
	}
	e.line("\n// %s", strings.ReplaceAll(e.fn.Doc, "\n", "\n// "))
	e.line("func %s(%s) %s {", e.fn.Name, strings.Join(params, ", "), types.Get()[result.Type])
	e.arm(e.root[k.Body])
	e.line("return %s", bare(e.x(result)))
	e.line("}")
	return e.b.String(), e.err
}

// place assigns each instruction of a block to the innermost arm that contains all of its uses. Code that only one operand of a
// select needs is thus executed only if that operand is selected.
func (e *emitter) place(b *ir.Block) {
	root := &arm{block: b}
	e.root[b] = root
	for _, in := range b.Instrs {
		e.block[in] = b
	}
	need := func(v *ir.Value, a *arm) {
		def := v.Def
		if def == nil || e.block[def] != b {
			return
		}
		if at := e.home[def]; at != nil {
			a = common(at, a)
		}
		e.home[def] = a
	}
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		at := e.home[in]
		if at == nil || in.Then != nil {
			at = root
		}
		e.home[in] = at
		if in.Target != nil {
			e.target[in.Target] = true
		}
		switch {
		case in.Op == ir.Select:
			arms := &[2]*arm{{parent: at, depth: at.depth + 1, block: b}, {parent: at, depth: at.depth + 1, block: b}}
			e.choice[in] = arms
			need(in.Args[0], at)
			need(in.Args[1], arms[0])
			need(in.Args[2], arms[1])
		default:
			for _, v := range in.Args {
				need(v, at)
			}
		}
		for _, inner := range []*ir.Block{in.Then, in.Else} {
			inner.Walk(func(used *ir.Instr) {
				for _, v := range used.Args {
					need(v, at)
				}
			})
			if inner != nil {
				e.place(inner)
			}
		}
	}
	for _, in := range b.Instrs {
		e.home[in].instrs = append(e.home[in].instrs, in)
	}
}

func (e *emitter) arm(a *arm) {
	for _, in := range a.instrs {
		if e.err == nil && in != e.store {
			e.instr(in)
		}
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && s != "_" && !reserved.Get()[s] && helpers.Get()[s] == ""
}

// reserved is the set of names with another meaning in the printed code.
var reserved = later.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"math": true, "bits": true, "min": true, "max": true, "func": true, "type": true, "range": true, "var": true, "map": true, "chan": true, "go": true, "select": true, "package": true, "interface": true, "struct": true, "defer": true, "fallthrough": true, "goto": true}
}}

// name records and returns a name for a value, based on the source variable that holds it.
func (e *emitter) name(v *ir.Value) string {
	name := fmt.Sprintf("v%d", v.ID)
	if isIdentifier(v.Name) {
		name = fmt.Sprintf("%s_%d", v.Name, v.ID)
		if last := v.Name[len(v.Name)-1]; last < '0' || last > '9' {
			name = fmt.Sprintf("%s%d", v.Name, v.ID)
		}
	}
	e.names[v] = name
	return name
}

func (e *emitter) x(v *ir.Value) string { return e.names[v] }

// bare returns an expression without its outermost parentheses.
func bare(expr string) string {
	if expr[0] != '(' {
		return expr
	}
	depth := 0
	for i, r := range expr {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(expr)-1 {
			return expr
		}
	}
	return expr[1 : len(expr)-1]
}

// inlineText is the maximum length in bytes of an expression that is inlined at its only use.
const inlineText = 60

// define records the expression of an instruction's result. It prints a variable with the expression unless the only use of the
// result can contain it, or there is no use.
func (e *emitter) define(in *ir.Instr, expr string) {
	v := in.Result()
	uses := e.uses.Of(v)
	switch {
	case len(uses) == 0:
	case len(uses) == 1 && v.Name == "" && len(expr) <= inlineText && uses[0].Then == nil && uses[0].Op != ir.Select && e.home[uses[0]] == e.home[in]:
		e.names[v] = "(" + expr + ")"
	default:
		e.line("%s := %s", e.name(v), expr)
	}
}

func (e *emitter) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Const:
		e.names[in.Result()] = literal(in.Type(), in.Bits)
	case ir.Load:
		if in.Array.Space != ir.Table || len(in.Path) != 1 || types.Get()[in.Type()] == "" {
			e.unsupported("memory that is no table of one dimension")
			return
		}
		expr := fmt.Sprintf("%s[%s]", e.file.table(in.Array), e.x(in.Args[0]))
		if t := in.Array.Elem.Scalar; t != in.Type() {
			expr = fmt.Sprintf("%s(%s)", types.Get()[in.Type()], expr)
		}
		e.define(in, expr)
	case ir.Select:
		e.choose(in)
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
	case ir.Return:
		if e.block[in] != e.fn.Kernel.Body {
			e.unsupported("an early return")
		}
	case ir.Unreachable:
		e.line("panic(%q)", "unreachable")
	default:
		expr := e.arithmetic(in)
		if expr == "" {
			e.unsupported(in.Op.String())
			return
		}
		e.define(in, expr)
	}
}

// choose prints a select as a branch with the instructions of each operand in its arm.
func (e *emitter) choose(in *ir.Instr) {
	v := in.Result()
	if e.uses.Count(v) == 0 {
		return
	}
	cond, arms := e.x(in.Args[0]), e.choice[in]
	name := e.name(v)
	if len(arms[1].instrs) == 0 || onlyConstants(arms[1].instrs) {
		e.arm(arms[1])
		e.line("%s := %s(%s)", name, types.Get()[v.Type], e.x(in.Args[2]))
		e.line("if %s {", cond)
		e.arm(arms[0])
		e.line("%s = %s\n}", name, bare(e.x(in.Args[1])))
		return
	}
	e.line("var %s %s", name, types.Get()[v.Type])
	e.line("if %s {", cond)
	e.arm(arms[0])
	e.line("%s = %s\n} else {", name, bare(e.x(in.Args[1])))
	e.arm(arms[1])
	e.line("%s = %s\n}", name, bare(e.x(in.Args[2])))
}

func onlyConstants(list []*ir.Instr) bool {
	return !slices.ContainsFunc(list, func(in *ir.Instr) bool { return in.Op != ir.Const })
}

func (e *emitter) nested(in *ir.Instr) {
	for _, v := range in.Results {
		e.line("var %s %s", e.name(v), types.Get()[v.Type])
		if e.uses.Count(v) == 0 {
			e.line("_ = %s", e.x(v))
		}
	}
	label := ""
	if in.Op != ir.If {
		e.labels[in] = fmt.Sprintf("block%d", len(e.labels)+1)
		if e.target[in] {
			label = e.labels[in] + ":\n"
		}
	}
	outer := e.owner
	e.owner = in
	switch in.Op {
	case ir.If:
		e.line("if %s {", e.x(in.Args[0]))
		e.arm(e.root[in.Then])
		if !yieldsNothing(in.Else) {
			e.line("} else {")
			e.arm(e.root[in.Else])
		}
		e.line("}")
	case ir.Region: // a loop with one iteration, because its results must be assigned before a break
		e.line("%sfor {", label)
		e.arm(e.root[in.Then])
		if t := in.Then.Terminator(); t != nil && t.Op == ir.Yield {
			e.line("break")
		}
		e.line("}")
	case ir.Loop:
		for i, v := range in.Then.Params {
			e.line("var %s %s = %s", e.name(v), types.Get()[v.Type], e.x(in.Args[i]))
			e.line("_ = %s", e.x(v))
		}
		e.line("%sfor {", label)
		e.arm(e.root[in.Then])
		e.line("}")
	}
	e.owner = outer
}

// yieldsNothing reports whether a block is only an empty yield.
func yieldsNothing(b *ir.Block) bool {
	return len(b.Instrs) == 1 && b.Instrs[0].Op == ir.Yield && len(b.Instrs[0].Args) == 0
}

// assign prints a parallel assignment.
func (e *emitter) assign(to, from []*ir.Value) {
	if len(to) == 0 {
		return
	}
	var left, right []string
	for i := range to {
		left, right = append(left, e.x(to[i])), append(right, e.x(from[i]))
	}
	e.line("%s = %s", strings.Join(left, ", "), strings.Join(right, ", "))
}
