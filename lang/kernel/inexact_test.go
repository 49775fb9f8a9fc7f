package kernel

import (
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// inexact returns the messages of inexact-number warnings of a kernel with the parameters x, f32; d, f64; k, i32; b, u8; h, f16;
// and s, i8.
func inexact(t *testing.T, body string) string {
	t.Helper()
	scope := map[string]any{"big": 99999043.0, "third": 1 / 3.0, "table": []float64{0.5, 16777217}, "ints": []float64{16777217, 1}}
	f, err := Parse(&Source{Text: "(g, x, d, k, b, h, s) => {" + body + "}", Capture: func(name string) (any, error) { return scope[name], nil }})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var args []Arg
	for _, typ := range []ir.Type{ir.F32, ir.F64, ir.I32, ir.U8, ir.F16, ir.I8} {
		args = append(args, Arg{Kind: Buffer, Elem: ir.Elem{Scalar: typ}, Rank: 1})
	}
	c, err := f.Compile(args, Options{Warnings: true, Real: ir.F32})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var out []string
	for _, w := range c.Warnings {
		if w.ID == diag.InexactNumber {
			out = append(out, w.Message)
		}
	}
	return strings.Join(out, "; ")
}

// TestInexactConstants checks that each place at which a constant becomes another number is reported, and that rounded
// fractions, factors and written conversions are not.
//
// [8.8]
func TestInexactConstants(t *testing.T) {
	for body, want := range map[string]string{
		"x[0] = 99999043":                       "`99999043` becomes 99999040 in f32",
		"x[0] = x[1] + 16777217":                "`16777217` becomes 16777216 in f32",
		"x[0] = 16777217 - x[1]":                "`16777217` becomes 16777216 in f32",
		"x[0] = x[1] * x[2] + 16777217":         "`16777217` becomes 16777216 in f32",
		"x[0] = big":                            "`big`, 99999043, becomes 99999040 in f32",
		"x[0] = x[1] % big":                     "`big`, 99999043, becomes 99999040 in f32",
		"x[0] = Math.max(x[1], big)":            "`big`, 99999043, becomes 99999040 in f32",
		"if (x[0] > 16777217) x[1] = 0":         "`x[0] > 16777217`, 16777217, becomes 16777216 in f32",
		"let v = 16777217; v += x[0]; x[1] = v": "`16777217` becomes 16777216 in f32",
		"x[0] = x[1] * 1e300":                   "`1e300` becomes Infinity in f32",
		"x[0] = x[1] + 1e-60":                   "`1e-60` becomes 0 in f32",
		"x[0] = table[k[0]]":                    "table[1], 16777217, becomes 16777216 in f32, the type of the table",
		"h[0] = 70000":                          "`70000` becomes Infinity in f16",
		"h[0] = 2049":                           "`2049` becomes 2048 in f16",
		"k[0] = 1.5":                            "`1.5` becomes 1 in i32",
		"k[0] = 3000000000":                     "`3000000000` becomes -1294967296 in i32",
		"k[0] = third":                          "`third`, 0.3333333333333333, becomes 0 in i32",
		"b[0] = 256":                            "`256` becomes 0 in u8",
		"s[0] = 200":                            "`200` becomes -56 in i8",
		"k[0] = Infinity":                       "`Infinity`, Infinity, becomes 0 in i32",
		"x[0] = 0.1 + x[1]":                     "",
		"x[0] = third":                          "",
		"x[0] = x[1] / 4294967295":              "",
		"x[0] = (k[0] >>> 0) * 4294967297":      "",
		"x[0] = f32(16777217)":                  "",
		"x[0] = Math.fround(big)":               "",
		"x[0] = 16777216 + x[1]":                "",
		"x[0] = 6.02214076e23 + x[1]":           "",
		"d[0] = 16777217 + d[1]":                "",
		"d[0] = big":                            "",
		"k[0] = big":                            "",
		"k[0] = 0x9e3779b9":                     "",
		"k[0] = 1.5 | 0":                        "",
		"b[0] = -1":                             "",
		"k[0] = ints[k[1]]":                     "",
		"let m = Number.MAX_VALUE; m = Math.min(m, x[0]); x[1] = m": "",
		"let m = Infinity; m = Math.min(m, x[0]); x[1] = m":         "",
	} {
		if got := inexact(t, body); got != want {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
}

// TestInexactArguments checks that an argument is reported that its inferred type holds as another number.
func TestInexactArguments(t *testing.T) {
	compiled := func(body string, signature ...Arg) *Compiled {
		f, err := Parse(&Source{Text: "(g, x, n) => {" + body + "}"})
		if err != nil {
			t.Fatal(err)
		}
		arg := Arg{Kind: Number}
		if len(signature) > 0 {
			arg = signature[0]
		}
		c, err := f.Compile([]Arg{{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}, arg}, Options{Warnings: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, test := range []struct {
		body  string
		value float64
		want  string // part of the message
		hint  string
	}{
		{"x[0] = Math.sqrt(n)", 99999043, "99999043 becomes 99999040, since n is f32, the kernel's real type, because of a call of Math.sqrt", "kernel({x: [f32], n: i32}, …)"},
		{"x[0] = n", 16777217, "16777217 becomes 16777216, since n is f32", "{ real: f64 }"},
		{"x[0] = n", 1e300, "becomes Infinity", "{ real: f64 }"},
		{"x[0] = n", 1e-60, "becomes 0", "{ real: f64 }"},
		{"const i = n + g.x; x[0] = Math.sqrt(i)", 99999000, "99999000 is beyond 2²⁴, where f32 does not have every integer", "n: i32"},
		{"x[0] = Math.sqrt(n)", 99999000, "", ""},
		{"x[0] = n", 0.1, "", ""},
		{"x[0] = n", 1e23, "", ""},
		{"x[0] = n", math.Inf(1), "", ""},
		{"x[0] = n", math.NaN(), "", ""},
		{"x[n] = 1", 99999043, "", ""},
	} {
		c := compiled(test.body)
		d := c.Params[1].Inexact(test.value)
		switch {
		case d == nil && test.want != "" || d != nil && test.want == "":
			t.Errorf("%s with %v: %v, want %q", test.body, test.value, d, test.want)
		case d != nil && (!strings.Contains(d.Message, test.want) || !strings.Contains(d.Rewrite, test.hint)):
			t.Errorf("%s with %v: %v, want %q and the hint %q", test.body, test.value, d, test.want, test.hint)
		}
	}
	if d := compiled("x[0] = n", Arg{Kind: Scalar, Type: ir.F32}).Params[1].Inexact(99999043); d != nil {
		t.Errorf("a type of the signature is reported: %v", d)
	}
}
