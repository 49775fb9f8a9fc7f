package emitgo_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/orepl/orepl/lang/kernel/emitgo"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

func parse(t *testing.T, text string) *ir.Kernel {
	t.Helper()
	m, err := ir.ParseText("test.ir", "orepl-ir 1\n"+text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := m.Verify(); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m.Kernels[0]
}

// An operation is an operation with its operand types.
type operation struct {
	name string
	to   ir.Type
	from []ir.Type
}

func operations() []operation {
	ints := []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64}
	floats := []ir.Type{ir.F32, ir.F64}
	var list []operation
	add := func(names string, to ir.Type, from ...ir.Type) {
		for _, name := range strings.Fields(names) {
			list = append(list, operation{name, to, from})
		}
	}
	for _, t := range append(ints, floats...) {
		add("neg abs", t, t)
		add("add sub mul min max", t, t, t)
		add("eq ne lt le", ir.Bool, t, t)
		add("select", t, ir.Bool, t, t)
		add("convert", t, ir.Bool)
	}
	for _, t := range ints {
		add("not", t, t)
		add("clz ctz popcnt", ir.I32, t)
		add("mulhi and or xor", t, t, t)
		add("shl shr", t, t, ir.I32)
		for _, u := range ints {
			add("wrap", t, u)
		}
		for _, u := range floats {
			add("sat wrap", t, u)
			add("convert", u, t)
		}
	}
	for _, t := range floats {
		add("sqrt floor ceil trunc round rint", t, t)
		add("div rem", t, t, t)
		add("fma", t, t, t, t)
		add("convert", t, ir.F32)
		add("convert", t, ir.F64)
	}
	add("not", ir.Bool, ir.Bool)
	add("and or xor", ir.Bool, ir.Bool, ir.Bool)
	for _, p := range [][2]ir.Type{{ir.F32, ir.U32}, {ir.F32, ir.I32}, {ir.F64, ir.U64}, {ir.F64, ir.I64}, {ir.I32, ir.U32}, {ir.I64, ir.U64}} {
		add("bitcast", p[0], p[1])
		add("bitcast", p[1], p[0])
	}
	for _, p := range [][2]ir.Type{{ir.I64, ir.I32}, {ir.U64, ir.I32}, {ir.I64, ir.U32}, {ir.U64, ir.U32}} {
		add("convert", p[0], p[1])
	}
	return list
}

// text returns the text of a kernel for the operation; operands are its parameters, or constants.
func (o operation) text(constants []uint64) string {
	var params, lines, names []string
	for i, t := range o.from {
		name := fmt.Sprintf("%%%d", i)
		if constants == nil {
			params = append(params, fmt.Sprintf("p%d %s: %s", i, name, t))
		} else {
			lines = append(lines, fmt.Sprintf("%s: %s = const %s", name, t, constant(t, constants[i])))
		}
		names = append(names, name)
	}
	params = append(params, fmt.Sprintf("result: %s[*]", o.to))
	lines = append(lines, "%100: i32 = const 0", fmt.Sprintf("%%101: %s = %s %s", o.to, o.name, strings.Join(names, ", ")), "store result[%100], %101", "return")
	return fmt.Sprintf("kernel f(%s) real f64 {\n site 0 = 0:0:0 \"\"\n %s\n}\n", strings.Join(params, ", "), strings.Join(lines, "\n "))
}

// constant returns the text form of a value.
func constant(t ir.Type, bits uint64) string {
	switch t {
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.I32:
		return strconv.Itoa(int(int32(bits)))
	case ir.I64:
		return strconv.Itoa(int(bits))
	case ir.U32, ir.U64:
		return strconv.FormatUint(bits, 10)
	}
	return fmt.Sprintf("bits %#x", bits)
}

// patterns returns the bits of the values of a type with which operations are tested.
func patterns(t ir.Type) []uint64 {
	switch t {
	case ir.Bool:
		return []uint64{0, 1}
	case ir.I32, ir.U32:
		return []uint64{0, 1, 7, 31, 0x7fffffff, 0x80000000, 0xffffffff, 0xdeadbeef}
	case ir.I64, ir.U64:
		return []uint64{0, 1, 63, 0xffffffff, 0x80000000, 1 << 63, 1<<63 - 1, math.MaxUint64, 0x123456789abcdef1}
	}
	var list []uint64
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1.5, 0.5, -0.5, 2.5, 0.1, -1e-40, 3e9, -3e9, 1e19, 1.9e19, -1e19, 16777217, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32} {
		list = append(list, ir.FloatBits(t, x))
	}
	return list
}

// mostTuples is the maximum number of operand combinations per operation.
const mostTuples = 24

// tuples returns combinations of patterns.
func tuples(types []ir.Type) [][]uint64 {
	if len(types) == 0 {
		return [][]uint64{nil}
	}
	var list [][]uint64
	for _, rest := range tuples(types[1:]) {
		for i, p := range patterns(types[0]) {
			if len(types) < 3 || (i+len(list))%3 == 0 {
				list = append(list, append([]uint64{p}, rest...))
			}
		}
	}
	return list
}

const control = `kernel f(n %n.0: i32, x %x.1: f64, result: f64[*]) real f64 {
  table steps: u8[3] = [1, 2, 3]
  site 0 = 0:0:0 ""
  %2: i32 = const 0
  %3: f64 = const 0
  %s.4: f64 = loop @1 (%k.5: i32 = %2, %t.6: f64 = %3) {
    %7: bool = lt %k.5, %n.0
    if %7 {
      yield
    } else {
      break @1 %t.6
    }
    %8: i32 = const 3
    %9: i32 = const 1
    %10: u32 = wrap %k.5
    %11: u32 = const 1
    %12: u32 = and %10, %11
    %13: i32 = wrap %12
    %d.14: i32 = load steps[%13]
    %15: i32 = add %k.5, %d.14
    %16: f64 = fma %t.6, %x.1, %x.1
    %17: f64 = const 100
    %18: f64 = block @2 {
      %19: bool = lt %17, %16
      if %19 {
        break @2 %17
      } else {
        yield
      }
      %20: f64 = add %16, %x.1
      yield %20
    }
    continue @1 %15, %18
  }
  store result[%2], %s.4
  return
}
`

// TestOperationsAreRun checks that TestOperations has each arithmetic operation but quant, which emitgo refuses.
func TestOperationsAreRun(t *testing.T) {
	run := map[string]bool{"const": true, "math": true, "quant": true} // operands; TestUnsupported has the others
	for _, o := range operations() {
		run[o.name] = true
	}
	for op := range ir.Op(255) {
		if op.IsArith() && !run[op.String()] {
			t.Errorf("operations lacks %v: add it here and to arith.go, or to TestUnsupported", op)
		}
	}
}

// TestOperations runs every operation in Go on variables and on constants, and a function with loops, and compares the results
// with package scalar.
func TestOperations(t *testing.T) {
	var functions []emitgo.Function
	var main strings.Builder
	var wants []uint64
	var what []string
	value := func(t ir.Type, bits uint64) string {
		switch t {
		case ir.Bool:
			return strconv.FormatBool(bits != 0)
		case ir.F32:
			return fmt.Sprintf("math.Float32frombits(%#x)", bits)
		case ir.F64:
			return fmt.Sprintf("math.Float64frombits(%#x)", bits)
		case ir.I32:
			return strconv.Itoa(int(int32(bits)))
		case ir.I64:
			return strconv.Itoa(int(bits))
		}
		return fmt.Sprintf("%#x", bits)
	}
	expect := func(o operation, args []uint64, call string) {
		operands := make([]*ir.Value, len(args))
		for i := range args {
			operands[i] = &ir.Value{Type: o.from[i]}
		}
		in := parseOp(t, o)
		want, ok := scalar.Eval(in, args...)
		if !ok {
			t.Fatalf("%v is no operation of package scalar", o)
		}
		if o.to == ir.F32 && math.Float32frombits(uint32(want)) != math.Float32frombits(uint32(want)) {
			want = ir.NaN32
		}
		if o.to == ir.F64 && math.Float64frombits(want) != math.Float64frombits(want) {
			want = ir.NaN64
		}
		if len(wants)%100 == 99 { // Go compiles functions in parallel, and long ones slowly
			fmt.Fprintf(&main, "\tmain%d()\n}\n\nfunc main%d() {\n", len(wants), len(wants))
		}
		fmt.Fprintf(&main, "\tshow(%s)\n", call)
		wants, what = append(wants, want), append(what, fmt.Sprintf("%s of %v: %#x → %v", o.name, o.from, args, o.to))
	}
	for i, o := range operations() {
		name := fmt.Sprintf("op%d", i)
		functions = append(functions, emitgo.Function{Name: name, Doc: name, Kernel: parse(t, o.text(nil))})
		list := tuples(o.from)
		step := (len(list) + mostTuples - 1) / mostTuples
		for n, args := range list {
			if step > 1 && (n+i)%step != 0 {
				continue
			}
			var list []string
			for k, a := range args {
				list = append(list, value(o.from[k], a))
			}
			expect(o, args, fmt.Sprintf("%s(%s)", name, strings.Join(list, ", ")))
			if n%7 == 5 {
				folded := fmt.Sprintf("%s_%d", name, n)
				functions = append(functions, emitgo.Function{Name: folded, Doc: folded, Kernel: parse(t, o.text(args))})
				expect(o, args, folded+"()")
			}
		}
	}
	functions = append(functions, emitgo.Function{Name: "control", Doc: "control", Kernel: parse(t, control)})
	for _, c := range []struct {
		n    int
		x, y float64
	}{{0, 3, 0}, {1, 3, 6}, {2, 3, 24}, {5, 3, 78}, {6, 3, 100}, {8, 3, 100}} {
		fmt.Fprintf(&main, "\tshow(control(%d, %g))\n", c.n, c.x)
		wants, what = append(wants, math.Float64bits(c.y)), append(what, fmt.Sprintf("control(%d, %g)", c.n, c.x))
	}
	text, err := emitgo.File("main", "// Code generated by a test; DO NOT EDIT.", functions)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module written\n\ngo 1.22\n", "functions.go": string(text),
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n)\n" + show + "\nfunc main() {\n" + main.String() + "}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if x := &cpu.X86; x.HasAVX2 && x.HasFMA && x.HasBMI1 && x.HasBMI2 && x.HasOSXSAVE {
		cmd.Env = append(cmd.Env, "GOAMD64=v3") // allows Go to fuse products
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(wants) {
		t.Fatalf("%d results, want %d", len(lines), len(wants))
	}
	for i, line := range lines {
		if got, err := strconv.ParseUint(line, 16, 64); err != nil || got != wants[i] {
			t.Errorf("%s: got %s, want %x", what[i], line, wants[i])
		}
	}
}

// show prints the bits of a value, canonical for NaN.
const show = `
func show(x any) {
	switch x := x.(type) {
	case bool:
		fmt.Println(map[bool]string{true: "1", false: "0"}[x])
	case int32:
		fmt.Printf("%x\n", uint32(x))
	case int64:
		fmt.Printf("%x\n", uint64(x))
	case float32:
		if x != x {
			fmt.Println("7fc00000")
			return
		}
		fmt.Printf("%x\n", math.Float32bits(x))
	case float64:
		if x != x {
			fmt.Println("7ff8000000000000")
			return
		}
		fmt.Printf("%x\n", math.Float64bits(x))
	default:
		fmt.Printf("%x\n", x)
	}
}
`

// parseOp returns the operation's instruction in its kernel.
func parseOp(t *testing.T, o operation) *ir.Instr {
	k := parsed[fmt.Sprint(o)]
	if k == nil {
		k = parse(t, o.text(nil))
		parsed[fmt.Sprint(o)] = k
	}
	return k.Body.Instrs[len(k.Body.Instrs)-3]
}

var parsed = map[string]*ir.Kernel{}

// TestProductsAreConverted checks that every product is converted, so that none is fused with a sum.
func TestProductsAreConverted(t *testing.T) {
	k := parse(t, "kernel f(a %0: f64, b %1: f64, c %2: f64, result: f64[*]) real f64 {\n site 0 = 0:0:0 \"\"\n %3: f64 = mul %0, %1\n %4: f64 = add %3, %2\n %5: i32 = const 0\n store result[%5], %4\n return\n}")
	text, err := emitgo.File("p", "// head", []emitgo.Function{{Name: "F", Doc: "F.", Kernel: k}})
	if err != nil || !strings.Contains(string(text), "return (float64(a * b)) + c") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestUnsupported(t *testing.T) {
	for body, want := range map[string]string{
		"%2: f64 = math.sin %0":                        "math",
		"%2: i32 = item.global.x":                      "item",
		"%2: f64 = load result[%1]":                    "memory",
		"%2: i32 = const 1\n%3: i32 = div %2, %1":      "div",
		"%2: f32 = convert %0\n%3: f32 = quant.f16 %2": "quant",
	} {
		k := parse(t, "kernel f(a %0: f64, n %1: i32, result: f64[*]) real f64 {\n site 0 = 0:0:0 \"\"\n "+body+"\n store result[%1], %0\n return\n}")
		var u *emitgo.UnsupportedError
		if _, err := emitgo.File("p", "", []emitgo.Function{{Name: "F", Kernel: k}}); !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
