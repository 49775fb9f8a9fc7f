package kernel

import (
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/opt"
)

// operands are the operands of the forms of [TestOperands]: every kind of value of an expression.
var operands = []string{
	"s.i32[0]", "s.u32[1]", "s.i64[0]", "s.u64[1]", "s.f16[0]", "s.f32[0]", "s.f64[1]", "(s.f32[0] < 1)", "s.n", "g.x",
	"3", "0", "-1", "2.5", "5000000000", "3n", "-3n", "9223372036854775808n", "true", "Infinity",
	"s.p[0]", "s.f32", "[1, s.i32[0]]", "({k: s.u32[0], m: 2})", "'x'", "f32",
	// Constants at the limits of types.
	"2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "9007199254740993", "9223372036854774784",
	"9223372036854775808", "-9223372036854775808", "18446744073709551616", "-Infinity", "NaN", "-0", "0.5", "-0.5", "65504", "65520", "1e-46",
	"256", "-32769", "16777217", "3.4028235677973366e38", "9223372036854775807n", "18446744073709551615n", "64", "31.5",
}

// twoOperands and oneOperand are forms with the operands A and B: expressions and, after a semicolon, statements.
var (
	twoOperands = []string{
		"A + B", "A - B", "A * B", "A / B", "A % B", "A ** B", "A & B", "A | B", "A ^ B", "A << B", "A >> B", "A >>> B",
		"A < B", "A <= B", "A > B", "A >= B", "A === B", "A !== B", "A && B", "A || B", "g.y < 3 ? A : B",
		"(A / B) | 0", "(A / B) >>> 0", "~~(A / B)", "Math.floor(A / B)", "Math.trunc(A / B)", "A * B + A", "A - A * B",
		"Math.min(A, B)", "Math.max(A, B, 1)", "Math.pow(A, B)", "Math.atan2(A, B)", "Math.hypot(A, B)", "Math.imul(A, B)", "Math.mulhi(A, B)",
		"Math.fma(A, B, A)", "Math.clamp(A, B, A)", "Math.mix(A, A, B)", "Math.ldexp(A, B)",
		"g.subgroup.shuffle(A, B)", "Atomics.add(s.i32, A, B)", "Atomics.exchange(s.f32, A, B)", "Atomics.max(s.u64, A, B)",
		"(v => { if (g.x > 1) v = B; return v })(A)", "(v => { v += B; return v })(A)", "(v => { while (v) v = B; return v })(A)",
		"(v => { switch (v) { case B: return 1; case 2: return A } return 3 })(A)",
	}
	oneOperand = []string{
		"-A", "+A", "~A", "!A", "; void A", "A ? 1 : 2", "; g.print(`${A}`, A)", "[A, 1][0]", "({k: A}).k", "A.length", "A.x", "A.shape[0]", "A[0]", "A.k",
		"s.f32[A]", "s.m[A]", "s.m[0][A]", "s.m.flat[A]", "s.p[A].v[1]", "(s.i32[0] = A)", "(s.u8[0] = A)", "(s.f16[0] = A)", "(s.bf16[1] = A)",
		"(s.f64[0] += A)", "(s.u64[0] = A)", "(s.i64[0] *= A)", "(s.bool[0] = A)", "(s.u32[1] >>>= A)", "(s.i16[1] ||= A)", "; s.p[0] = A", "; s.p[0] = {...s.p[1], id: A}", "; s.p[0].v = A", "; [s.i32[0], s.f32[1]] = A", "; ({k: s.i32[0]} = A)", "; A = s.i32[1]", "; A++", "; s.m[0] = A",
		"i8(A)", "u8(A)", "i16(A)", "u16(A)", "i32(A)", "u32(A)", "i64(A)", "u64(A)", "f16(A)", "bf16(A)", "f32(A)", "f64(A)", "bool(A)", "A | 0", "A >>> 0",
		"bits(A)", "fromBits(i32, A)", "fromBits(f32, A)", "fromBits(u64, A)", "fromBits(f64, A)", "fromBits(u16, A)", "fromBits(f16, A)",
		"Math.abs(A)", "Math.sign(A)", "Math.floor(A)", "Math.ceil(A)", "Math.trunc(A)", "Math.round(A)", "Math.sqrt(A)", "Math.exp(A)", "Math.fround(A)", "Math.min(A)", "Math.hypot(A)",
		"Math.clz32(A)", "Math.ctz(A)", "Math.popcount(A)", "Math.frexp(A)[0]", "Math.frexp(A)[1]",
		"g.reduce.add(A)", "g.reduce.min(A)", "g.scan.add(A)", "g.subgroup.add(A)", "g.subgroup.any(A)", "g.subgroup.ballot(A)", "g.subgroup.broadcast(A, 0)", "g.subgroup.scanAdd(A)",
		"; g.assert(A, 'it')", "g.private(f32, A)[0]", "(v => { v++; return v-- })(A)", "(v => { const [a, b] = v; return b })(A)", "(v => { const {k, m} = v; return k })(A)",
		"(v => { for (let i = A; i < 4; i++) v = i; return v })(0)", "(v => { do { v = v } while (A); return v })(1)", "(v => { if (A) return 1; else { v = 2 } return v })(A)",
	}
)

// TestOperands compiles every form with every operand, and binary forms with a subset of all pairs, and compares the results
// with testdata/operands.golden. Each line describes a form: the number of operands that compile, and checksums of the IR, of
// the optimized IR, and of the diagnostics.
func TestOperands(t *testing.T) {
	const golden = "testdata/operands.golden"
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		want[line] = true
	}
	c := readChunk(t, []string{"//# args: i32[1]", "()"}, 1)
	var args []string
	for _, name := range []string{"i32", "u32", "i64", "u64", "f16", "f32", "f64", "u8", "i16", "bf16"} {
		args = append(args, name+"[1]")
	}
	c.options.Warnings = true
	c.args = parseArgs(t, strings.Join(args, ", ")+", bool[1], f32[2], Particle[1], number")
	var all []string
	check := func(line, text string) {
		all = append(all, line)
		if !want[line] && !*update {
			if testing.Verbose() {
				t.Log(text)
			}
			t.Fatalf("%s (-update writes what is expected anew; -v shows it)", line)
		}
	}
	for i, form := range twoOperands {
		var d digest
		for j, a := range operands {
			for k, b := range operands {
				if (i+5*j+7*k)%60 == 0 { // every kind of value is combined with every other in some forms
					d.add(&c, replace(form, a, b))
				}
			}
		}
		check(d.line(form))
	}
	for _, form := range oneOperand {
		var d digest
		for _, a := range operands {
			d.add(&c, replace(form, a, ""))
		}
		check(d.line(form))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// digest summarizes the compilation of several expressions.
type digest struct {
	all, compiled int
	text          strings.Builder
}

// names lists a parameter for each kind of argument.
const names = "i32_, u32_, i64_, u64_, f16_, f32_, f64_, u8_, i16_, bf16_, bool_, m_, p_, n_"

var placeholder = regexp.MustCompile(`\b[AB]\b`)

// replace substitutes operands in a form. The name s.f32 stands for the parameter f32_.
func replace(form, a, b string) string {
	form = placeholder.ReplaceAllStringFunc(form, func(name string) string {
		if name == "A" {
			return a
		}
		return b
	})
	return parameter.ReplaceAllString(form, "${1}_")
}

var parameter = regexp.MustCompile(`\bs\.(\w+)`)

func (d *digest) add(c *chunk, expr string) {
	d.all++
	statement, ok := strings.CutPrefix(expr, "; ")
	if !ok {
		statement = "const result = " + expr + "; g.print(result)"
	}
	c.text = "(g, " + names + ") => { " + statement + " }"
	fmt.Fprintf(&d.text, "%s\n", expr)
	out, err := c.compile()
	if err != nil {
		fmt.Fprintf(&d.text, "%v\n", err)
		return
	}
	d.compiled++
	for _, w := range out.Warnings {
		fmt.Fprintf(&d.text, "%v\n", w)
	}
	_, body, _ := strings.Cut(out.Kernel.String(), "{\n") // the parameters are always the same
	fmt.Fprintf(&d.text, "%s%s\n", out.Params[len(out.Params)-1].Reason, body)
	m := out.Module.Clone()
	opt.Run(m, opt.Default, nil)
	_, body, _ = strings.Cut(m.Kernels[0].String(), "{\n")
	d.text.WriteString(body)
}

func (d *digest) line(form string) (line, text string) {
	text = d.text.String()
	return fmt.Sprintf("%s: %d of %d compile #%08x", form, d.compiled, d.all, crc32.ChecksumIEEE([]byte(text))), text
}
