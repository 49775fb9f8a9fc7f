package ir_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/stopwatch"
)

func TestVerifyAccepts(t *testing.T) {
	if err := readModule(t, "testdata/all.ir").Verify(); err != nil {
		t.Error(err)
	}
}

// testKernel wraps a body in a kernel whose values %0 to %6 have one type each.
func testKernel(body string) string {
	return `orepl-ir 1
file 0 "k.js"
record R { x: f32 @0, v: i16[2,3] @4 } size 16 align 4
kernel k(b %0: bool, i %1: i32, u %2: u32, l %3: i64, m %4: u64, f %5: f32, d %6: f64, x: f32[*], h: f16[*], n: i32[*,*], r: R[*], by: u8[*]) {
  shared s: i32[4,4]
  private p: f32[8]
  table t: f32[2] = [1, 2]
  site 0 = 0:1:1 "k"
  site 1 = 0:7:3 "cond"
` + body + "\n}\n"
}

func TestVerifyRejects(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		// Operands and results.
		{"%9: i32 = add %1", "add takes 2 operands, not 1"},
		{"%9: i32 = add %1, %5", "operand 2 is of type f32, not i32"},
		{"%9: f32 = add %1, %1", "the result is of type f32, not i32"},
		{"%9: bool = add %0, %0", "add is not for type bool"},
		{"%9: f32 = and %5, %5", "and is not for type f32"},
		{"%9: i32 = sqrt %1", "sqrt is not for type i32"},
		{"%9: f32 = mulhi %5, %5", "mulhi is not for type f32"},
		{"%9: i64 = clz %3", "not i32"},
		{"%9: i64 = shl %3, %3", "shift count is of type i64"},
		{"%9: i32 = select %1, %1, %1", "operand 1 is of type i32, not bool"},
		{"%9: i32 = select %0, %1, %2", "operand 3 is of type u32"},
		{"%9: bool = lt %0, %0", "lt is not for type bool"},
		{"%9: i32 = eq %1, %1", "not bool"},
		{"%9: i32 = convert %5", "convert is not for f32 to i32"},
		{"%9: i32 = convert %3", "convert is not for i64 to i32"},
		{"%9: bool = convert %1", "convert is not for i32 to bool"},
		{"%9: f32 = sat %6", "sat is not for f64 to f32"},
		{"%9: f32 = bitcast %6", "bitcast is not for f64 to f32"},
		{"%9: f32 = quant.i32 %5", "quant is not for i32"},
		{"%9: f64 = quant.f16 %6", "quant is not for type f64"},
		{"%9: f32 = quant.f64 %5", "quant is not for type f32"},
		{"%9: i32 = math.sin %1", "math is not for type i32"},
		{"%9: i8 = const 1", "type i8, which no register can hold"},
		{"%9: i32 = const bits 0x100000000", "are no bits of a i32"},
		{"%9: bool = const bits 0x2", "are no bits of a bool"},
		{"add %1, %1", "add has one result"},
		{"%9: i32 = barrier", "barrier has no result"},
		// Memory.
		{"%9: f32 = load x", "the path does not lead from x of rank 1 to a scalar"},
		{"%9: f32 = load x[%1][%1]", "the path does not lead"},
		{"%9: f32 = load n[%1]", "the path does not lead"},
		{"%9: f32 = load r[%1]", "the path does not lead"},
		{"%9: i32 = load r[%1].v[flat %1]", "the path does not lead"},
		{"%9: i32 = load r[%1].v[%1]", "the path does not lead"},
		{"%9: f32 = load x[%5]", "index 1 is of type f32, not an integer"},
		{"%9: f64 = load x[%1]", "the result is of type f64, not f32"},
		{"%9: u32 = load by[%1]", "not i32"},
		{"store x[%1], %6", "operand 2 is of type f64, not f32"},
		{"store x[%1]", "store takes 2 operands, not 1"},
		{"store t[%1], %5", "t is a table"},
		{"%9: f32 = atomic.add p[%1], %5", "p is in private memory"},
		{"%9: i32 = atomic.add by[%1], %1", "no atomics on elements of type u8"},
		{"%9: f32 = atomic.xor x[%1], %5", "atomic xor is not for type f32"},
		{"%9: i32 = atomic.cmpxchg n[%1][%1], %1", "takes 4 operands, not 3"},
		{"zero x", "x is in global memory"},
		{"%9: i32 = extent.0 p", "p is in private memory"},
		{"%9: i32 = extent.1 x", "x has rank 1 and no extent 1"},
		// Items and host.
		{"%9: u32 = item.global.x", "not i32"},
		{"%9: bool = reduce.add %0", "reduce is not for type bool"},
		{"%9: i32 = subgroup.any %1", "operand 1 is of type i32, not bool"},
		{"%9: i32 = subgroup.shuffle %1", "takes 2 operands"},
		{"assert %1, \"x\"", "the first operand is not a bool"},
		// Structure.
		{"return\nreturn", "a terminator stands before the end"},
		{"%9: i32 = const 1", "ends without a terminator"},
		{"yield", "yield ends a block of if or block only"},
		{"block @1 {\n}", "a block is empty"},
		{"if %1 {\nyield\n}", "operand 1 is of type i32, not bool"},
		{"%9: i32 = if %0 {\nyield %1\n}", "yield takes 1 operands, not 0"},
		{"%9: i32 = if %0 {\nyield %1\n} else {\nyield %2\n}", "operand 1 is of type u32, not i32"},
		{"loop @1 (%9: i32 = %1) {\ncontinue @1\n}", "continue takes 1 operands, not 0"},
		{"loop @1 (%9: i32 = %2) {\ncontinue @1 %9\n}", "operand 1 is of type u32, not i32"},
		{"loop @1 () {\nyield\n}", "yield ends a block of if or block only"},
		{"block @1 {\ncontinue @1\n}", "continue does not go to block"},
		// Visibility.
		{"block @1 {\n%9: i32 = const 1\nyield\n}\n%10: i32 = neg %9", "value %9 is not visible here"},
		{"if %0 {\n%9: i32 = const 1\nyield\n} else {\n%10: i32 = neg %9\nyield\n}", "value %9 is not visible here"},
		{"loop @1 (%9: i32 = %1) {\nbreak @1\n}\n%10: i32 = neg %9", "value %9 is not visible here"},
		{"%9: i32 = block @1 {\n%10: i32 = neg %9\nbreak @1 %10\n}", "value %9 is not visible here"},
		{"barrier !2", "site 2 of 2"},
		// Uniform control flow.
		{"%9: i32 = item.local.x\n%10: bool = lt %9, %1\nif %10 !1 {\nbarrier\nyield\n}", "but 'if %10 !1 {' at k.js:7:3 may go different ways"},
	} {
		t.Run(c.want, func(t *testing.T) {
			body := c.body
			if !strings.HasPrefix(c.want, "ends without") && !strings.Contains(c.body, "return") && !strings.HasPrefix(c.body, "yield") {
				body += "\nreturn"
			}
			m, err := ir.ParseText("t", testKernel(body))
			if err != nil {
				t.Fatal(err)
			}
			err = m.Verify()
			var ve *ir.VerifyError
			if !errors.As(err, &ve) {
				t.Fatalf("accepted, or another error: %v", err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "kernel k") {
				t.Errorf("error %q, want %q", err, c.want)
			}
			if ve.Code() != "invalid-binary" {
				t.Errorf("code %q", ve.Code())
			}
		})
	}
}

func TestVerifyRejectsDeclarations(t *testing.T) {
	const k = "kernel k() {\n return\n}\n"
	for _, c := range []struct{ text, want string }{
		{"record R { } size 0 align 1\n" + k, "record R has no fields"},
		{"record R { a: u8 @0, b: i32 @1 } size 8 align 4\n", "field b of record R is at offset 1; C layout puts it at 4"},
		{"record R { a: u8 @0 } size 2 align 1\n", "C layout gives 1 and 1"},
		{"record R { a: u8 @0, a: u8 @1 } size 2 align 1\n", "two of the fields are called a"},
		{"record R { a: u8[2000,2000] @0 } size 4 align 1\n", "takes more than 1048576 bytes"},
		{"record R { a: u8[0] @0 } size 4 align 1\n", "extent of 0"},
		{"record R { a: void @0 } size 4 align 1\n", "elements of type void"},
		{"kernel k(a %0: f16) {\n return\n}\n", "type f16, which no register can hold"},
		{"kernel k(a %0: f32, a %1: f32) {\n return\n}\n", "two of the parameters are called a"},
		{"kernel k() {\n shared s: f32[2147483647]\n return\n}\n", "takes more than 16777216 bytes"},
		{"kernel k() {\n shared s: f32[4000000]\n shared r: f32[4000000]\n return\n}\n", "shared arrays take more than 16777216 bytes together"},
		{"kernel k() {\n shared s: f32[2,2,2,2]\n return\n}\n", "rank 4; ranks are from 1 to 3"},
		{"kernel k() {\n table s: f32[2] = [1]\n return\n}\n", "has 4 bytes of data, not 8"},
		{"kernel k() real i32 {\n return\n}\n", "the real type is i32"},
		{"kernel k() {\n site 0 = 1:1:1 \"\"\n return\n}\n", "a site is in file 1 of 0"},
		{"kernel k() {\n}\n", "a block is empty"},
		{"kernel \"\"() {\n return\n}\n", "a kernel has no name"},
		{"kernel \"\\xff\"() {\n return\n}\n", "not valid UTF-8"},
	} {
		m, err := ir.ParseText("t", "orepl-ir 1\n"+c.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Verify(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestVerifyMalformed verifies modules with errors that the text form cannot express.
func TestVerifyMalformed(t *testing.T) {
	for name, spoil := range map[string]func(*ir.Kernel){
		"nil body":         func(k *ir.Kernel) { k.Body = nil },
		"nil instruction":  func(k *ir.Kernel) { k.Body.Instrs[0] = nil },
		"nil operand":      func(k *ir.Kernel) { k.Body.Instrs[1].Args[0] = nil },
		"nil result":       func(k *ir.Kernel) { k.Body.Instrs[0].Results[0] = nil },
		"no result":        func(k *ir.Kernel) { k.Body.Instrs[0].Results = nil },
		"no operation":     func(k *ir.Kernel) { k.Body.Instrs[0].Op = 200 },
		"invalid":          func(k *ir.Kernel) { k.Body.Instrs[0].Op = ir.Invalid },
		"foreign value":    func(k *ir.Kernel) { k.Body.Instrs[1].Args[0] = &ir.Value{ID: 0, Type: ir.F32} },
		"id out of range":  func(k *ir.Kernel) { k.Body.Instrs[0].Results[0].ID = 1 << 40 },
		"negative id":      func(k *ir.Kernel) { k.Body.Instrs[0].Results[0].ID = -1 },
		"wrong def":        func(k *ir.Kernel) { k.Body.Instrs[0].Results[0].Def = nil },
		"twice":            func(k *ir.Kernel) { k.Body.Instrs = append([]*ir.Instr{k.Body.Instrs[0]}, k.Body.Instrs...) },
		"nil array":        func(k *ir.Kernel) { k.Arrays[0] = nil },
		"foreign array":    func(k *ir.Kernel) { k.Body.Instrs[1].Array = &ir.Array{Name: "x", Rank: 1} },
		"array id":         func(k *ir.Kernel) { k.Arrays[0].ID = 7 },
		"buffer with dims": func(k *ir.Kernel) { k.Arrays[0].Dims = []int{4} },
		"space":            func(k *ir.Kernel) { k.Arrays[0].Space = 9 },
		"undeclared record": func(k *ir.Kernel) {
			k.Arrays[0].Elem = ir.Elem{Record: ir.NewRecord("R", []ir.Field{{Name: "x", Elem: ir.Elem{Scalar: ir.F32}}})}
		},
		"bad step":       func(k *ir.Kernel) { k.Body.Instrs[1].Path[0].Kind = 9 },
		"bad field":      func(k *ir.Kernel) { k.Body.Instrs[1].Path[0] = ir.Step{Kind: ir.StepField, Field: -1} },
		"negative axis":  func(k *ir.Kernel) { k.Body.Instrs[0].Axis = -1 },
		"bad coordinate": func(k *ir.Kernel) { k.Body.Instrs[0].Item = 99 },
		"stray bits":     func(k *ir.Kernel) { k.Body.Instrs[0].Bits = 1 },
		"negative site":  func(k *ir.Kernel) { k.Body.Instrs[0].Site = -1 },
		"self nested":    func(k *ir.Kernel) { k.Body.Instrs[2].Then.Instrs[0] = k.Body.Instrs[2] },
		"own block":      func(k *ir.Kernel) { k.Body.Instrs[2].Then = k.Body },
		"nil else":       func(k *ir.Kernel) { k.Body.Instrs[2].Else = nil },
		"nil then":       func(k *ir.Kernel) { k.Body.Instrs[2].Then = nil },
		"stray target":   func(k *ir.Kernel) { k.Body.Instrs[0].Target = k.Body.Instrs[2] },
		"nil target": func(k *ir.Kernel) {
			k.Body.Instrs[2].Then.Instrs[0] = &ir.Instr{Op: ir.Break}
		},
		"foreign target": func(k *ir.Kernel) {
			k.Body.Instrs[2].Then.Instrs[0] = &ir.Instr{Op: ir.Break, Target: &ir.Instr{Op: ir.Region}}
		},
		"parameters of if": func(k *ir.Kernel) { k.Body.Instrs[2].Then.Params = []*ir.Value{k.NewValue(ir.I32, nil)} },
		"name":             func(k *ir.Kernel) { k.Body.Instrs[0].Results[0].Name = "\xff" },
	} {
		m, err := ir.ParseText("t", "orepl-ir 1\nkernel k(b %0: bool, x: f32[*]) {\n %1: i32 = item.global.x\n %2: f32 = load x[%1]\n if %0 {\n yield\n } else {\n yield\n }\n return\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Verify(); err != nil {
			t.Fatal(err)
		}
		spoil(m.Kernels[0])
		if err := m.Verify(); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			_ = err.Error() // printing the error must not fail either
		}
	}
	if err := (*ir.Module)(nil).Verify(); err == nil {
		t.Error("no module: accepted")
	}
}

// TestVerifyIsLinear verifies modules designed to be slow. The loose bound excludes only superlinear time.
func TestVerifyIsLinear(t *testing.T) {
	deep := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "loop @%d (%%%d: i32 = %%1) {\n", i, 1000+i)
		}
		b.WriteString("barrier\nbreak @0\n}\n")
		for range n - 1 {
			b.WriteString("unreachable\n}\n")
		}
		return b.String() + "return"
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("%7: i32 = item.global.x\nloop @1 (%100: i32 = %7")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, ", %%%d: i32 = %%1", 100+i)
		}
		b.WriteString(") {\n barrier\ncontinue @1 %100")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, ", %%%d", 99+i)
		}
		return b.String() + "\n}\nreturn"
	}
	for name, c := range map[string]struct {
		body, want string
	}{
		"deep":       {deep(ir.MaxDepth), ""},
		"chain":      {chain(2000), ""},
		"long chain": {chain(4000), "barrier needs control flow"}, // the analysis has given up
	} {
		m, err := ir.ParseText("t", testKernel(c.body))
		if err != nil {
			t.Fatal(name, err)
		}
		start := stopwatch.Start()
		err = m.Verify()
		if took := start.Elapsed(); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
