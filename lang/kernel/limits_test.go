package kernel

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

var (
	floats = Arg{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}
	ints   = Arg{Kind: Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}
)

func compileText(text string, options Options, args ...Arg) (*Compiled, error) {
	f, err := Parse(&Source{Text: text})
	if err != nil {
		return nil, err
	}
	return f.Compile(args, options)
}

func TestLimits(t *testing.T) {
	doubling := "(g, x) => { const f0 = (a) => a + 1\n"
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		prev := string(n[0] - 1)
		doubling += "const f" + n + " = (a) => " + strings.Repeat("f"+prev+"(", 8) + "a" + strings.Repeat(")", 8) + "\n"
	}
	doubling += "x[0] = f8(x[0]) }"
	constants, tuples := "(g, x) => { const f0 = (a) => a + 1\n", "(g, x) => { const f0 = (a) => [a, a]\n"
	for i := range 30 {
		constants += fmt.Sprintf("const f%d = (a) => f%d(a) + f%d(a)\n", i+1, i, i)
		tuples += fmt.Sprintf("const f%d = (a) => { const t = f%d(a); return [t, t] }\n", i+1, i)
	}
	tests := []struct {
		name, text string
		says       string
	}{
		{"long text", "(g, x) => { /*" + strings.Repeat("x", 300000) + "*/ }", "1:1: the kernel's text has 300018 bytes; the limit is 262144 [text-too-long]; move tables into typed arrays and split the kernel"},
		{"brackets", "(g, x) => { x[0] = " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + " }", "1:1: brackets nest more than 500 deep [too-deep]; split the kernel into helper functions"},
		{"minus signs", "(g, x) => { x[0] = " + strings.Repeat("- ", 5000) + "x[0] }", "1:4014: the kernel nests more than 2000 deep [too-deep]; split the kernel into helper functions"},
		{"a chain of conditions", "(g, x) => { " + strings.Repeat("if (x[0] > 1) x[0] = 1; else ", 400) + "x[0] = 2 }", "1:1: conditions and loops nest deeper than 254 [too-deep]; use a table or a loop instead of a chain of conditions"},
		{"helpers of helpers", doubling, "2:37: the kernel grows too big by inlining helper functions [too-big]; call helpers in a loop instead"},
		{"helpers that give constants", constants + "x[0] = f30(1) }", "2:27: the kernel grows too big by inlining helper functions [too-big]; call helpers in a loop instead"},
		{"tuples of tuples", tuples + "const t = x[0] > 1 ? f30(1) : f30(2); x[0] = t[0].length }", "32:11: what the condition chooses has too many parts [too-big]; choose what is needed of it"},
		{"a large power", "(g, x) => { x[0] = i32(3n ** 1000000000000n) }", "1:24: the result has more than 64 bits, or is a fraction [bigint-too-large]; compute it in the script, with BigInt.asIntN(64, …) or asUintN"},
		{"a large shift", "(g, x) => { x[0] = i32(1n << 1000000000000n) }", "1:24: the result has more than 64 bits, or is a fraction [bigint-too-large]; compute it in the script, with BigInt.asIntN(64, …) or asUintN"},
	}
	for _, test := range tests {
		_, err := compileText(test.text, Options{}, floats)
		var list diag.List
		says := fmt.Sprint(err)
		if errors.As(err, &list) {
			says, _, _ = strings.Cut(list[0].Error(), "\n") // without notes
		}
		if says != test.says {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, says, test.says)
		}
	}
}

// TestPartsThatDoNotJoin checks that a part that cannot be joined is a normal error.
func TestPartsThatDoNotJoin(t *testing.T) {
	wide := Arg{Kind: Buffer, Elem: ir.Elem{Scalar: ir.I64}, Rank: 1}
	_, err := compileText("(g, x, n) => { const [a, b] = g.x < 1 ? [1, n[0]] : [2, x[0]]; x[0] = a }", Options{}, floats, wide)
	var list diag.List
	if !errors.As(err, &list) || list[0].ID != diag.JoinFailed {
		t.Errorf("got %v, want %s", err, diag.JoinFailed)
	}
}

// TestWrongClauses checks that an invalid test of a switch clause is a normal error.
func TestWrongClauses(t *testing.T) {
	for text, want := range map[string]diag.ID{
		"case nowhere: x[0] = 1": diag.UnknownName, "case x: x[0] = 1": diag.TooFewIndices, "case g.barrier(): x[0] = 1": diag.ValueUnused,
		"case 1: x[0] = 1; break; case 'a': default: x[0] = 2": diag.NoString, "case -g: x[0] = 1": diag.NotANumber,
	} {
		_, err := compileText("(g, x) => { switch (x[g.x]) { "+text+" } }", Options{}, floats)
		var list diag.List
		if !errors.As(err, &list) || list[0].ID != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestLargeSwitch(t *testing.T) {
	var b strings.Builder
	b.WriteString("(g, x) => { switch (x[g.x]) {")
	for i := range 1000 {
		b.WriteString("case ")
		b.WriteString(strings.Repeat("1", 1+i%9))
		b.WriteString(": x[0] = 1; break;")
	}
	b.WriteString("} }")
	if _, err := compileText(b.String(), Options{}, ints); err != nil {
		t.Errorf("%.300v", err)
	}
}

func TestCheckNumber(t *testing.T) {
	c, err := compileText("(g, n, a, x) => { for (let i = 0; i < n; i++) x[i] *= a }", Options{}, Arg{Kind: Number}, Arg{Kind: Number}, floats)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0, -3, 1<<31 - 1, -1 << 31} {
		if err := c.Params[0].CheckNumber(x); err != nil {
			t.Errorf("%v: %v", x, err)
		}
	}
	for _, x := range []float64{0.5, 1 << 31, -1<<31 - 1} {
		err := c.Params[0].CheckNumber(x)
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.ID != diag.FractionForInt || !strings.Contains(d.Message, "`i < n` at 1:35") {
			t.Errorf("%v: %v", x, err)
		}
	}
	if err := c.Params[1].CheckNumber(0.5); err != nil {
		t.Error(err)
	}
}

// TestNumberHints compiles kernels with the signatures that hints propose, and checks that these accept the number.
func TestNumberHints(t *testing.T) {
	num, wide := Arg{Kind: Number}, Arg{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F64}, Rank: 2}
	for _, test := range []struct {
		text  string
		args  []Arg
		value float64
		want  string
	}{
		{"(g, n, x) => { x[g.x] = n ^ g.x }", []Arg{num, ints}, 0xdeadbeef, "give the kernel a signature: kernel({n: u32, x: [i32]}, …)"},
		{"(g, n, x) => { x[g.x] = n }", []Arg{num, ints}, 0.5, "pass an integer, or give the kernel a signature: kernel({n: f32, x: [i32]}, …)"},
		{"(g, n, x) => { x[0][g.x * n | 0] = 1 }", []Arg{num, wide}, 0.5, "pass an integer, or give the kernel a signature: kernel({n: f64, x: [f64, 2]}, …)"},
		{"(g, n, x) => { x[n] = 1 }", []Arg{num, floats}, 0.5, "pass an integer; to round in the kernel, give it a signature with n: f32 and write `… | 0` where an integer is needed"},
		{"(g, n, x) => { x[n] = 1 }", []Arg{num, floats}, 1 << 40, "give the kernel a signature: kernel({n: i64, x: [f32]}, …)"},
		{"(g, n, x) => { x[g.x] = n - g.x }", []Arg{num, floats}, 1e300, "give the kernel a signature: kernel({n: f64, x: [f32]}, …)"},
		{"(g, n, x) => { x[n] = 1 }", []Arg{num, floats}, 1e300, "pass a smaller number"},
		{"(g, n, x) => { x[g.x] = n }", []Arg{{Kind: Scalar, Type: ir.U8}, ints}, 256, "pass an integer of its range, or change the signature"},
	} {
		c, err := compileText(test.text, Options{}, test.args...)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		var d *diag.Diagnostic
		if err := c.Params[0].CheckNumber(test.value); !errors.As(err, &d) || d.Rewrite != test.want {
			t.Errorf("%s: %v: %v, expected the hint %q", test.text, test.value, err, test.want)
		}
	}
}

func TestOptions(t *testing.T) {
	c, err := compileText("(g, a, x) => { x[g.x] = a }", Options{Name: "fill", Real: ir.F64}, Arg{Kind: Number}, floats)
	if err != nil {
		t.Fatal(err)
	}
	if c.Kernel.Name != "fill" || c.Params[0].Type != ir.F64 {
		t.Errorf("%s, %v", c.Kernel.Name, c.Params[0].Type)
	}
	if _, err := compileText("(g) => {}", Options{Real: ir.I32}); err == nil || err.(diag.List).Code() != string(diag.BadOption) {
		t.Errorf("got %v", err)
	}
}

// TestTwoRecordsOfOneName compiles a kernel with two struct types of the same name.
func TestTwoRecordsOfOneName(t *testing.T) {
	record := func(fields ...string) Arg {
		var list []ir.Field
		for _, f := range fields {
			list = append(list, ir.Field{Name: f, Elem: ir.Elem{Scalar: ir.F32}})
		}
		return Arg{Kind: Buffer, Elem: ir.Elem{Record: ir.NewRecord("P", list)}, Rank: 1}
	}
	c, err := compileText("(g, a, b, c) => { a[0] = b[0]; c[0].z = a[0].x }", Options{}, record("x", "y"), record("x", "y"), record("z"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Module.Records); n != 2 {
		t.Errorf("the module has %d records", n)
	}
}

func BenchmarkCompile(b *testing.B) {
	const text = "(g, a, x, y) => {\n  const i = g.x\n  y[i] = a * x[i] + y[i]\n}"
	f, err := Parse(&Source{Text: text})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("saxpy", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.Compile([]Arg{{Kind: Number}, floats, floats}, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := Parse(&Source{Text: text}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestConcurrentCompile compiles one function from several goroutines.
func TestConcurrentCompile(t *testing.T) {
	helper := &Source{Text: "(a) => a > 0 ? a : -a"}
	f, err := Parse(&Source{Text: "(g, n, x) => { x[g.x] = h(x[g.x]) * n }", Capture: capture(map[string]any{"h": helper})})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := f.Compile([]Arg{{Kind: Number}, floats}, Options{})
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
