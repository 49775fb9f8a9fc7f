package kernlang

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// A rule is a kernel of testdata/rules/*.js or testdata/finds/*.js. The lines before it describe its launch and the expected
// results:
//
//	// [4.2] its subject                       the cited sentences of the definition
//	//# x: i32 = 1 2 3                         a buffer; [2,3] behind the type gives its dimensions
//	//# y: i32[4] -> 1 2 3 4                   the final contents of the buffer; without = it initially contains zeros
//	//# ps: Particle[4]                        records: element k is {x: k, v: [k, 10+k, 20+k], id: k}
//	//# n = 3                                  a Number; n: u32 = 3 by signature; n: bigint = 3; n: boolean = 1
//	//# let K = 3                              a captured value: a number, BigInt, bool, array or function
//	//# size: 8 or 4,2      group: 64          of the launch; by default 1 item
//	//# options: real=f64 contract=false checks=off
//	//# error: ID LINE:COL                     the first diagnostic
//	//# fault: KIND LINE:COL
//	//# prints: one per line "…" "…"
//	//# type: n i32 REASON                     how a parameter is typed
//	//# ir: fma, not mul                       operations that the kernel has, or has not
type rule struct {
	file    string
	line    int // number of the kernel's first line
	whole   string
	title   string
	program Program
	names   []string          // names of the arguments
	args    map[string]*Arg   // by name
	want    map[string][]byte // by name
	errorAt string
	faultAt string
	prints  []string
	checks  []string // on the line of prints: whether they are checked
	types   map[string]string
	ops     []string
}

func readRules(t *testing.T, file string) []*rule {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*rule
	lines := strings.Split(string(data), "\n")
	start := 0
	for i := 0; i <= len(lines); i++ {
		if i == len(lines) || lines[i] == "---" {
			if strings.TrimSpace(strings.Join(lines[start:i], "")) != "" {
				out = append(out, readRule(t, file, lines[start:i], start+1))
			}
			start = i + 1
		}
	}
	return out
}

func readRule(t *testing.T, file string, lines []string, first int) *rule {
	t.Helper()
	r := &rule{file: file, whole: strings.Join(lines, "\n"), args: map[string]*Arg{}, want: map[string][]byte{}, types: map[string]string{}}
	r.program.Size = [3]int{1, 1, 1}
	r.program.Scope = map[string]any{"Particle": particle}
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "//# "):
			if err := r.directive(line[4:]); err != nil {
				t.Fatalf("%s:%d: %v", file, first+i, err)
			}
			continue
		case strings.HasPrefix(line, "// "):
			r.title += strings.TrimSpace(line[3:]) + " "
			continue
		}
		r.line, r.program.Text = first+i, strings.Join(lines[i:], "\n")
		break
	}
	f, err := kernel.Parse(&kernel.Source{Text: r.program.Text})
	if err != nil {
		return r
	}
	for _, name := range f.Params() {
		a := r.args[name]
		if a == nil {
			t.Fatalf("%s:%d: nothing says what %s is", file, r.line, name)
		}
		r.names = append(r.names, name)
		r.program.Args = append(r.program.Args, *a)
	}
	return r
}

var particle = ir.NewRecord("Particle", []ir.Field{
	{Name: "x", Elem: ir.Elem{Scalar: ir.F32}},
	{Name: "v", Elem: ir.Elem{Scalar: ir.F32}, Dims: []int{3}},
	{Name: "id", Elem: ir.Elem{Scalar: ir.U32}},
})

func (r *rule) directive(s string) error {
	if let, ok := strings.CutPrefix(s, "let "); ok {
		name, value, _ := strings.Cut(let, " = ")
		v, err := captured(value, r.program.Scope)
		r.program.Scope[name] = v
		return err
	}
	head, rest, _ := strings.Cut(s, ":")
	rest = strings.TrimSpace(rest)
	switch head {
	case "size", "group":
		var dims [3]int
		for i := range dims {
			dims[i] = 1
		}
		for i, n := range strings.Split(rest, ",") {
			v, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				return err
			}
			dims[i] = v
		}
		if head == "size" {
			r.program.Size = dims
		} else {
			r.program.GroupSize = dims
		}
		return nil
	case "options":
		for _, o := range strings.Fields(rest) {
			switch o {
			case "real=f64":
				r.program.Options.Real = ir.F64
			case "contract=false":
				r.program.Options.NoContract = true
			case "checks=off":
				r.program.Unchecked = true
			default:
				return fmt.Errorf("unknown option %s", o)
			}
		}
		return nil
	case "error":
		r.errorAt = rest
		return nil
	case "fault":
		r.faultAt = rest
		return nil
	case "prints":
		r.checks = append(r.checks, rest)
		for rest != "" {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return err
			}
			text, _ := strconv.Unquote(q)
			r.prints = append(r.prints, text)
			rest = strings.TrimSpace(rest[len(q):])
		}
		return nil
	case "type":
		name, want, _ := strings.Cut(rest, " ")
		r.types[name] = want
		return nil
	case "ir":
		for _, op := range strings.Split(rest, ",") {
			r.ops = append(r.ops, strings.TrimSpace(op))
		}
		return nil
	}
	return r.argument(s)
}

// argument parses "n = 3", "n: u32 = 3", "x: f32[2,3] = 1 2 3 -> 4 5 6".
func (r *rule) argument(s string) error {
	left, want, checked := strings.Cut(s, " -> ")
	left, value, given := strings.Cut(left, " = ")
	name, typ, typed := strings.Cut(left, ":")
	name, typ = strings.TrimSpace(name), strings.TrimSpace(typ)
	if !typed {
		x, err := strconv.ParseFloat(value, 64)
		r.args[name] = &Arg{Arg: kernel.Arg{Kind: kernel.Number}, Value: x}
		return err
	}
	kinds := map[string]kernel.ArgKind{"bigint": kernel.BigInt, "boolean": kernel.Bool}
	elem, dims, hasDims := strings.Cut(strings.TrimSuffix(typ, "]"), "[")
	scalar, _ := ir.ParseType(elem)
	isScalar := given && !hasDims && !checked && len(strings.Fields(value)) == 1 && strings.HasPrefix(name, "n")
	if kind, ok := kinds[typ]; ok || isScalar {
		x, err := strconv.ParseFloat(value, 64)
		if !ok {
			kind = kernel.Scalar
		}
		r.args[name] = &Arg{Arg: kernel.Arg{Kind: kind, Type: scalar}, Value: x}
		return err
	}
	a := &Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: scalar}, Rank: 1}}
	n := 1
	if hasDims {
		for _, d := range strings.Split(dims, ",") {
			v, err := strconv.Atoi(d)
			if err != nil {
				return err
			}
			a.Dims = append(a.Dims, int32(v))
			n *= v
		}
		a.Rank = len(a.Dims)
	}
	r.args[name] = a
	if elem == "Particle" {
		a.Elem = ir.Elem{Record: particle}
		for k := range n {
			for _, x := range []int{k, k, 10 + k, 20 + k} {
				a.Data = irgen.AppendElem(a.Data, ir.F32, ir.FloatBits(ir.F32, float64(x)))
			}
			a.Data = irgen.AppendElem(a.Data, ir.U32, uint64(k))
		}
		return nil
	}
	if a.Dims == nil {
		a.Dims = []int32{int32(len(strings.Fields(value)))}
		if !given {
			a.Dims[0] = int32(len(strings.Fields(want)))
		}
		n = int(a.Dims[0])
	}
	var err error
	a.Data = make([]byte, n*scalar.Size())
	if given {
		if a.Data, err = elements(scalar, value); err != nil {
			return err
		}
	}
	if checked {
		r.want[name], err = elements(scalar, want)
	}
	return err
}

func elements(t ir.Type, list string) (data []byte, err error) {
	for _, s := range strings.Fields(list) {
		var bits uint64
		if t.IsFloat() {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return nil, err
			}
			bits = num{t: t, f: roundTo(t, x)}.bits(t)
		} else {
			i, ok := new(big.Int).SetString(s, 0)
			if !ok {
				return nil, fmt.Errorf("%q is no integer", s)
			}
			bits = wrapBits(i)
		}
		data = irgen.AppendElem(data, t, bits)
	}
	return data, nil
}

// captured parses a captured value.
func captured(s string, scope map[string]any) (any, error) {
	s = strings.TrimSpace(s)
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, nil
	}
	if b, ok := strings.CutSuffix(s, "n"); ok {
		if i, ok := new(big.Int).SetString(b, 0); ok {
			return i, nil
		}
	}
	switch {
	case s == "true" || s == "false":
		return s == "true", nil
	case strings.HasPrefix(s, "["):
		var list []float64
		for _, e := range strings.Split(strings.Trim(s, "[]"), ",") {
			x, err := strconv.ParseFloat(strings.TrimSpace(e), 64)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	case strings.HasPrefix(s, "u8["):
		var data []byte
		for _, e := range strings.Split(strings.Trim(s[2:], "[]"), ",") {
			x, err := strconv.Atoi(strings.TrimSpace(e))
			if err != nil {
				return nil, err
			}
			data = append(data, byte(x))
		}
		return kernel.Table{Elem: ir.U8, Data: data}, nil
	}
	return &kernel.Source{Text: s, Capture: func(name string) (any, error) { return scope[name], nil }}, nil
}

// TestRules runs the kernels of the language's rules one by one, and the regression kernels.
func TestRules(t *testing.T) {
	t.Parallel()
	runner, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}()
	files, _ := filepath.Glob("testdata/*/*.js")
	if len(files) == 0 {
		t.Fatal("no rules")
	}
	n := 0
	for _, file := range files {
		for _, r := range readRules(t, file) {
			n++
			if err := r.check(runner); err != nil {
				t.Errorf("%s:%d: %s\n%v", r.file, r.line, r.title, err)
			}
		}
	}
	t.Logf("%d kernels", n)
}

func (r *rule) check(runner *Runner) error {
	res, err := runner.Run(&r.program)
	var list diag.List
	if errors.As(err, &list) {
		if got := fmt.Sprintf("%s %d:%d", list[0].ID, list[0].Line, list[0].Column); got != r.errorAt {
			return fmt.Errorf("expected the error %q, got %q: %v", r.errorAt, got, list[0])
		}
		return nil
	}
	if err != nil {
		return err
	}
	if r.errorAt != "" {
		return fmt.Errorf("expected the error %q", r.errorAt)
	}
	fault := ""
	if f := res.Fault; f != nil {
		s := res.Compiled.Kernel.Sites[f.Site]
		fault = fmt.Sprintf("%s %d:%d", f.Kind, s.Line, s.Col)
	}
	if fault != r.faultAt {
		return fmt.Errorf("expected the fault %q, got %q", r.faultAt, fault)
	}
	if err := r.checkForm(res); err != nil {
		return err
	}
	expect := *res.Outcome
	expect.Data = slices.Clone(res.Data)
	for i, name := range r.names {
		if want, ok := r.want[name]; ok {
			expect.Data[i] = want
			if len(want) != len(res.Data[i]) {
				return fmt.Errorf("%s has %d bytes, and %d are expected", name, len(res.Data[i]), len(want))
			}
		}
	}
	if d := res.Case.Diff(&expect, res.Outcome); d != "" {
		return fmt.Errorf("expected and found: %s", d)
	}
	return nil
}

// checkForm checks the kernel's parameter types, its IR, and its prints.
func (r *rule) checkForm(res *Result) error {
	for name, want := range r.types {
		typ, reason, _ := strings.Cut(want, " ")
		i := slices.Index(r.names, name)
		p := &res.Compiled.Params[i]
		if p.Type.String() != typ || !strings.Contains(p.Reason, reason) {
			return fmt.Errorf("%s is %v because %q, expected %s", name, p.Type, p.Reason, want)
		}
	}
	has := map[string]bool{}
	res.Compiled.Kernel.Body.Walk(func(in *ir.Instr) { has[in.Op.String()] = true })
	for _, op := range r.ops {
		name, not := strings.CutPrefix(op, "not ")
		if has[name] == not {
			return fmt.Errorf("the kernel's operations: %v, expected %s", has, op)
		}
	}
	if len(r.checks) > 0 {
		var got []string
		for _, p := range res.Prints {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, r.prints) {
			return fmt.Errorf("printed %q, expected %q", got, r.prints)
		}
	}
	return nil
}
