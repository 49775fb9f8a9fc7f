package opt_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

var update = flag.Bool("update", false, "write what the passes do into testdata")

const goldenHead = `orepl-ir 1
kernel k(a %0: i32, b %1: i32, u %2: u32, f %3: f32, g %4: f32, c %5: bool, l %6: i64, x: f32[*], y: f32[*], n: i32[*,*], h: f16[*]) {
  shared s: i32[16]
  private p: f32[8]
  table t: i32[4] = [1, 2, 3, 4]
`

func parseBody(t *testing.T, body string) *ir.Module {
	t.Helper()
	body = strings.TrimRight(body, "\n")
	if !strings.HasSuffix(body, "\nreturn") && !strings.HasSuffix(body, "\nunreachable") {
		body += "\nreturn"
	}
	m, err := ir.ParseText("body", goldenHead+body+"\n}\n")
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if err := m.Verify(); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return m
}

// bodyText returns the text of a kernel's body in the format of parseBody.
func bodyText(k *ir.Kernel) string {
	_, body, _ := strings.Cut(k.String(), "table t: i32[4] = [1, 2, 3, 4]\n")
	body = strings.TrimSuffix(body, "}\n")
	return strings.ReplaceAll("\n"+strings.TrimSuffix(body, "  return\n"), "\n  ", "\n")[1:]
}

var passes = map[string]func(*ir.Kernel){
	"fold":      func(k *ir.Kernel) { opt.Fold(k, nil) },
	"cse":       func(k *ir.Kernel) { opt.CSE(k, nil) },
	"dce":       func(k *ir.Kernel) { opt.DCE(k, nil) },
	"prove":     func(k *ir.Kernel) { opt.Prove(k, nil) },
	"licm":      func(k *ir.Kernel) { opt.LICM(k, nil) },
	"unroll":    func(k *ir.Kernel) { opt.Unroll(k, nil) },
	"sroa":      func(k *ir.Kernel) { opt.SROA(k, nil) },
	"ifconvert": func(k *ir.Kernel) { opt.IfConvert(k, 4) },
	"run":       func(k *ir.Kernel) { opt.Run(&ir.Module{Kernels: []*ir.Kernel{k}}, opt.Default, nil) },
}

// TestGolden runs the cases of testdata. A case starts with a line "## passes: name", followed by a body, a line "->" and the
// expected body after the passes.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i, c := range strings.Split(string(text), "## ") {
			if i == 0 {
				out.WriteString(c)
				continue
			}
			title, body, _ := strings.Cut(c, "\n")
			before, want, _ := strings.Cut(body, "->\n")
			names, _, _ := strings.Cut(title, ":")
			got := strings.TrimSpace(want)
			t.Run(title, func(t *testing.T) {
				m := parseBody(t, before)
				for _, name := range strings.Fields(names) {
					passes[name](m.Kernels[0])
				}
				if err := m.Verify(); err != nil {
					t.Errorf("the result is not valid: %v", err)
				}
				m.Kernels[0].Renumber()
				got = strings.TrimSpace(bodyText(m.Kernels[0]))
				if want := strings.TrimSpace(want); !*update && got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
			out.WriteString("## " + title + "\n" + before + "->\n" + got + "\n\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// flat defines %14 as the number of elements of n, from the extents %8 and %9.
const flat = "%10: i32 = item.global.x\n%8: i32 = extent.0 n\n%9: i32 = extent.1 n\n%12: i64 = convert %8\n%13: i64 = convert %9\n%14: i64 = mul %12, %13\n"

// TestProve lists the accesses and divisions of a body that must be proved (+) or must not be (-), in order.
func TestProve(t *testing.T) {
	for _, c := range []struct{ name, want, body string }{
		{"global index alone", "-", "%10: i32 = item.global.x\n%11: f32 = load x[%10]"},
		{"below the length", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\nif %12 {\n%13: f32 = load x[%10]\nyield\n}"},
		{"below another length", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 y\n%12: bool = lt %10, %11\nif %12 {\n%13: f32 = load x[%10]\nyield\n}"},
		{"the other branch", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\nif %12 {\nyield\n} else {\n%13: f32 = load x[%10]\nyield\n}"},
		{"remainder by what may be negative", "--", "%10: i32 = item.global.x\n%11: i32 = const 3\n%12: i32 = const -100\n%13: i32 = min %1, %11\n%14: i32 = max %13, %12\n%15: i32 = rem %10, %14\n%16: f32 = load p[%15]"},
		{"less one or nothing", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%8: i32 = const 1\n%12: bool = le %10, %11\n%14: bool = le %8, %10\n%15: bool = and %12, %14\nif %15 {\n%16: i32 = and %0, %8\n%17: i32 = sub %10, %16\n%13: f32 = load x[%17]\nyield\n}"},
		{"or with a negative number", "-", "%8: i32 = const 7\n%10: i32 = or %0, %8\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\nif %12 {\n%13: f32 = load x[%10]\nyield\n}"},
		{"or within a mask", "+", "%8: i32 = const 3\n%9: i32 = and %0, %8\n%10: i32 = and %1, %8\n%11: i32 = or %9, %10\n%12: i32 = load t[%11]"},
		{"divided by what is at least 1", "++", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%8: i32 = const 1\n%9: i32 = max %0, %8\n%12: bool = lt %10, %11\nif %12 {\n%14: i32 = div %10, %9\n%13: f32 = load x[%14]\nyield\n}"},
		{"divided where control can't come", "+", "%7: i32 = const 0\n%8: i32 = const 1\n%12: bool = le %8, %0\nif %12 {\n%13: bool = le %0, %7\nif %13 {\n%14: i32 = div %1, %0\nyield\n}\nyield\n}"},
		{"chosen where it is small", "+", "%8: u32 = const 4\n%9: u32 = const 0\n%10: bool = lt %2, %8\n%11: u32 = select %10, %2, %9\n%12: i32 = load t[%11]"},
		{"chosen where it is large", "-", "%8: u32 = const 4\n%9: u32 = const 0\n%10: bool = lt %2, %8\n%11: u32 = select %10, %9, %2\n%12: i32 = load t[%11]"},
		{"not below", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = le %10, %11\nif %12 {\n%13: f32 = load x[%10]\nyield\n}"},
		{"perhaps negative", "-", "%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"early return", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = le %11, %10\nif %12 {\nreturn\n}\n%13: f32 = load x[%10]\nreturn"},
		{"after both ways on", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = le %11, %10\nif %12 {\nyield\n}\n%13: f32 = load x[%10]"},
		{"and", "+", "%11: i32 = extent.0 x\n%12: bool = lt %0, %11\n%7: i32 = const 0\n%14: bool = le %7, %0\n%15: bool = and %12, %14\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"&& as an if", "+", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = le %7, %0\n%20: bool = const false\n%15: bool = if %14 {\n%12: bool = lt %0, %11\nyield %12\n} else {\nyield %20\n}\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"&& that gives the first", "+", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = le %7, %0\n%15: bool = if %14 {\n%12: bool = lt %0, %11\nyield %12\n} else {\nyield %14\n}\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"&& that gives the first, false", "-", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = le %7, %0\n%15: bool = if %14 {\n%12: bool = lt %0, %11\nyield %12\n} else {\nyield %14\n}\nif %15 {\nyield\n} else {\n%13: f32 = load x[%0]\nyield\n}"},
		{"|| that gives the first, false", "+", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = lt %0, %7\n%15: bool = if %14 {\nyield %14\n} else {\n%12: bool = le %11, %0\nyield %12\n}\nif %15 {\nyield\n} else {\n%13: f32 = load x[%0]\nyield\n}"},
		{"|| that gives the first, true", "-", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = le %7, %0\n%15: bool = if %14 {\nyield %14\n} else {\n%12: bool = lt %0, %11\nyield %12\n}\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"!a || b is true", "-", "%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = le %7, %0\n%20: bool = const true\n%15: bool = if %14 {\n%12: bool = lt %0, %11\nyield %12\n} else {\nyield %20\n}\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"flat, below the product of the least extents", "+", "%10: i32 = extent.0 n\n%11: i32 = extent.1 n\n%12: i32 = const 2\n%13: i32 = const 3\n%14: bool = le %12, %10\n%15: bool = le %13, %11\n%16: bool = and %14, %15\nif %16 {\n%17: i32 = const 5\n%18: i32 = load n[flat %17]\nyield\n}"},
		{"flat, at the product", "-", "%10: i32 = extent.0 n\n%11: i32 = extent.1 n\n%12: i32 = const 2\n%13: i32 = const 3\n%14: bool = le %12, %10\n%15: bool = le %13, %11\n%16: bool = and %14, %15\nif %16 {\n%17: i32 = const 6\n%18: i32 = load n[flat %17]\nyield\n}"},
		{"flat, below the product of the extents", "+", flat + "%15: i64 = convert %10\n%16: bool = lt %15, %14\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, the product multiplied the other way", "+", flat + "%19: i64 = mul %13, %12\n%15: i64 = convert %10\n%16: bool = lt %15, %19\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, up to the product", "-", flat + "%15: i64 = convert %10\n%16: bool = le %15, %14\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, below the square of an extent", "-", flat + "%19: i64 = mul %13, %13\n%15: i64 = convert %10\n%16: bool = lt %15, %19\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, below one extent times another's", "-", flat + "%17: i32 = extent.0 x\n%20: i64 = convert %17\n%19: i64 = mul %20, %13\n%15: i64 = convert %10\n%16: bool = lt %15, %19\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, below more than the product", "-", flat + "%19: i64 = mul %14, %13\n%15: i64 = convert %10\n%16: bool = lt %15, %19\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, below the product that wraps in 32 bits", "-", flat + "%19: i32 = mul %8, %9\n%16: bool = lt %10, %19\nif %16 {\n%18: i32 = load n[flat %10]\nyield\n}"},
		{"flat, wrapped before it is compared", "-", flat + "%15: i32 = wrap %6\n%16: bool = lt %6, %14\nif %16 {\n%18: i32 = load n[flat %15]\nyield\n}"},
		{"flat, perhaps negative", "-", flat + "%15: i64 = convert %0\n%16: bool = lt %15, %14\nif %16 {\n%18: i32 = load n[flat %0]\nyield\n}"},
		{"flat, counted up to the product, which may be beyond the type", "-", flat + "%7: i32 = const 0\n%11: i32 = const 1\nloop @1 (%20: i32 = %7) {\n%15: i64 = convert %20\n%16: bool = lt %15, %14\nif %16 {\nyield\n} else {\nbreak @1\n}\n%18: i32 = load n[flat %20]\n%21: i32 = add %20, %11\ncontinue @1 %21\n}"},
		{"below a length in 64 bits", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: i64 = convert %10\n%13: i64 = convert %11\n%14: bool = lt %12, %13\nif %14 {\n%18: f32 = load x[%10]\nyield\n}"},
		{"six times not", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\n%20: bool = not %12\n%21: bool = not %20\n%22: bool = not %21\n%23: bool = not %22\n%24: bool = not %23\n%25: bool = not %24\nif %25 {\n%13: f32 = load x[%10]\nyield\n}"},
		{"or", "-", "%11: i32 = extent.0 x\n%12: bool = lt %0, %11\n%7: i32 = const 0\n%14: bool = le %7, %0\n%15: bool = or %12, %14\nif %15 {\n%13: f32 = load x[%0]\nyield\n}"},
		{"x[i-1] after i > 0", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\n%7: i32 = const 0\n%14: bool = lt %7, %10\n%15: bool = and %12, %14\nif %15 {\n%8: i32 = const 1\n%16: i32 = sub %10, %8\n%13: f32 = load x[%16]\nyield\n}"},
		{"x[i-1] without", "-", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: bool = lt %10, %11\nif %12 {\n%8: i32 = const 1\n%16: i32 = sub %10, %8\n%13: f32 = load x[%16]\nyield\n}"},
		{"x[i+1] below length - 1", "+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%8: i32 = const 1\n%18: i32 = sub %11, %8\n%12: bool = lt %10, %18\nif %12 {\n%16: i32 = add %10, %8\n%13: f32 = load x[%16]\nyield\n}"},
		{"x[i+1] may wrap", "-", "%8: i32 = const 1\n%16: i32 = add %0, %8\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\n%13: f32 = load x[%16]\nyield\n}"},
		{"count up", "+", "%7: i32 = const 0\n%8: i32 = const 1\n%11: i32 = extent.0 x\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %11\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}"},
		{"count up without a test", "-", "%7: i32 = const 0\n%8: i32 = const 1\nloop @1 (%20: i32 = %7) {\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}\nunreachable"},
		{"count up by another bound", "-", "%7: i32 = const 0\n%8: i32 = const 1\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %0\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}"},
		{"count down", "+", "%7: i32 = const 0\n%8: i32 = const 1\n%11: i32 = extent.0 x\n%19: i32 = sub %11, %8\nloop @1 (%20: i32 = %19) {\n%12: bool = le %7, %20\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = sub %20, %8\ncontinue @1 %21\n}"},
		{"count down by two, wrapping to below the first value", "-", "%7: i32 = const 0\n%8: i32 = const 2\n%9: i32 = const 2147483646\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\nloop @1 (%20: i32 = %0) {\n%14: bool = le %7, %20\nif %14 {\n%13: f32 = load x[%20]\nyield\n}\n%21: i32 = sub %20, %8\n%22: bool = lt %9, %21\nif %22 {\nbreak @1\n}\ncontinue @1 %21\n}\nyield\n}"},
		{"count down by two, the top of the type tested", "+", "%7: i32 = const 0\n%8: i32 = const 2\n%9: i32 = const 2147483645\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\nloop @1 (%20: i32 = %0) {\n%14: bool = le %7, %20\nif %14 {\n%13: f32 = load x[%20]\nyield\n}\n%21: i32 = sub %20, %8\n%22: bool = lt %9, %21\nif %22 {\nbreak @1\n}\ncontinue @1 %21\n}\nyield\n}"},
		{"count down by half the type, wrapping", "-", "%7: i32 = const 0\n%8: i32 = const -2147483648\n%9: i32 = const 2147483646\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\nloop @1 (%20: i32 = %0) {\n%14: bool = le %7, %20\nif %14 {\n%13: f32 = load x[%20]\nyield\n}\n%21: i32 = add %20, %8\n%22: bool = lt %9, %21\nif %22 {\nbreak @1\n}\ncontinue @1 %21\n}\nyield\n}"},
		{"count down by half the type, to what is negative", "+", "%7: i32 = const 0\n%8: i32 = const -2147483648\n%9: i32 = const -1\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\nloop @1 (%20: i32 = %0) {\n%14: bool = le %7, %20\nif %14 {\n%13: f32 = load x[%20]\nyield\n}\n%21: i32 = add %20, %8\n%22: bool = lt %9, %21\nif %22 {\nbreak @1\n}\ncontinue @1 %21\n}\nyield\n}"},
		{"count down by one, the next value tested", "+", "%7: i32 = const 0\n%8: i32 = const 1\n%9: i32 = const 2147483646\n%11: i32 = extent.0 x\n%12: bool = lt %0, %11\nif %12 {\nloop @1 (%20: i32 = %0) {\n%14: bool = le %7, %20\nif %14 {\n%13: f32 = load x[%20]\nyield\n}\n%21: i32 = sub %20, %8\n%22: bool = lt %9, %21\nif %22 {\nbreak @1\n}\ncontinue @1 %21\n}\nyield\n}"},
		{"count up by two, wrapping", "-", "%7: i32 = const 0\n%8: i32 = const 2\n%9: i32 = const 2147483647\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %9\nif %12 {\nyield\n} else {\nbreak @1\n}\n%14: i32 = const 7\n%15: i32 = min %20, %14\n%13: f32 = load p[%15]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}"},
		{"halved", "+", "%7: i32 = const 0\n%8: i32 = const 1\n%9: i32 = const 7\nloop @1 (%20: i32 = %9) {\n%13: f32 = load p[%20]\n%12: bool = lt %7, %20\nif %12 {\nyield\n} else {\nbreak @1\n}\n%21: i32 = shr %20, %8\ncontinue @1 %21\n}"},
		{"clamped", "+", "%7: i32 = const 0\n%8: i32 = const 7\n%9: i32 = max %0, %7\n%10: i32 = min %9, %8\n%13: f32 = load p[%10]"},
		{"clamped to length - 1, which may be -1", "-", "%7: i32 = const 0\n%8: i32 = const 1\n%11: i32 = extent.0 x\n%12: i32 = sub %11, %8\n%9: i32 = min %0, %12\n%10: i32 = max %9, %7\n%13: f32 = load x[%10]"},
		{"masked", "+", "%8: i32 = const 7\n%10: i32 = and %0, %8\n%13: f32 = load p[%10]"},
		{"masked too wide", "-", "%8: i32 = const 8\n%10: i32 = and %0, %8\n%13: f32 = load p[%10]"},
		{"remainder", "++", "%8: u32 = const 8\n%10: u32 = rem %2, %8\n%13: f32 = load p[%10]"},
		{"signed remainder", "+-", "%8: i32 = const 8\n%10: i32 = rem %0, %8\n%13: f32 = load p[%10]"},
		{"remainder by the length", "-+", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%12: i32 = rem %10, %11\n%7: i32 = const 0\n%14: bool = lt %7, %11\nif %14 {\n%15: i32 = rem %10, %11\nyield\n}"},
		{"index by remainder", "++", "%10: i32 = item.global.x\n%11: i32 = extent.0 x\n%7: i32 = const 0\n%14: bool = lt %7, %11\nif %14 {\n%15: i32 = rem %10, %11\n%13: f32 = load x[%15]\nyield\n}"},
		{"each axis its own extent", "-", "%10: i32 = item.global.x\n%9: i32 = item.global.y\n%11: i32 = extent.0 n\n%12: i32 = extent.1 n\n%13: bool = lt %10, %11\n%14: bool = lt %9, %12\n%15: bool = and %13, %14\nif %15 {\n%16: i32 = load n[%9][%10]\nyield\n}"},
		{"rows and columns", "+", "%10: i32 = item.global.x\n%9: i32 = item.global.y\n%11: i32 = extent.0 n\n%12: i32 = extent.1 n\n%13: bool = lt %9, %11\n%14: bool = lt %10, %12\n%15: bool = and %13, %14\nif %15 {\n%16: i32 = load n[%9][%10]\nyield\n}"},
		{"constant in a table", "+", "%8: i32 = const 3\n%10: i32 = load t[%8]"},
		{"constant beyond a table", "-", "%8: i32 = const 4\n%10: i32 = load t[%8]"},
		{"divisor", "-", "%10: i32 = div %0, %1"},
		{"divisor tested", "-", "%7: i32 = const 0\n%9: bool = ne %1, %7\nif %9 {\n%10: i32 = div %0, %1\nyield\n}"},
		{"64-bit constant divisor", "+", "%9: i64 = const 10\n%10: i64 = div %6, %9"},
		{"selected", "+", "%7: i32 = const 0\n%8: i32 = const 8\n%9: u32 = bitcast %0\n%10: u32 = const 8\n%11: bool = lt %9, %10\n%12: u32 = const 0\n%14: u32 = select %11, %9, %12\n%13: f32 = load p[%14]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parseBody(t, c.body)
			opt.Prove(m.Kernels[0], nil)
			got := ""
			m.Kernels[0].Body.Walk(func(in *ir.Instr) {
				n := in.NumIndices()
				switch {
				case n > 0 && in.Proved == 1<<n-1 || in.Proved == ir.ProvedDivisor:
					got += "+"
				case n > 0 || in.Op == ir.Div || in.Op == ir.Rem:
					got += "-"
				}
			})
			if got != c.want {
				t.Errorf("proved %s, want %s", got, c.want)
			}
		})
	}
}

func TestSizeFacts(t *testing.T) {
	m := parseBody(t, "%10: i32 = item.global.x\n%11: i32 = item.global.y\n%12: f32 = load x[%10]\nstore y[%0], %12\n%13: i32 = load n[%11][%10]\n%14: f32 = load x[%10]")
	k := m.Kernels[0]
	facts := opt.SizeFacts(k)
	want := []opt.SizeFact{{1, "n", 0}, {0, "n", 1}, {0, "x", 0}}
	if len(facts) != len(want) {
		t.Fatalf("facts %v", facts)
	}
	for i := range want {
		if facts[i] != want[i] {
			t.Errorf("fact %d is %v, want %v", i, facts[i], want[i])
		}
	}
	opt.Prove(k, &opt.Facts{Within: facts})
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load && in.Proved == 0 || in.Op == ir.Store && in.Proved != 0 {
			t.Errorf("%v: proved %b", in, in.Proved)
		}
	})
}

func TestAffine(t *testing.T) {
	m := parseBody(t, `%10: i32 = item.global.x
%11: i32 = item.global.y
%12: i32 = add %10, %0
%13: i32 = const 3
%14: i32 = mul %12, %13
%15: i32 = sub %1, %14
%16: i32 = mul %10, %11
%17: i32 = mul %10, %0
%18: i32 = const 4
%19: i32 = shl %11, %18
%20: i32 = add %14, %19
%21: i32 = item.local.x
%22: i32 = select %5, %10, %21
%23: u32 = wrap %12
%24: f32 = convert %10
%25: i64 = convert %10
loop @1 (%30: i32 = %10, %31: i32 = %0, %32: i32 = %0) {
  %33: i32 = add %30, %0
  %34: bool = lt %33, %1
  if %5 {
    yield
  } else {
    break @1
  }
  %35: i32 = add %31, %13
  %36: i32 = add %32, %10
  continue @1 %33, %35, %36
}
%40: i32 = if %5 {
  yield %10
} else {
  yield %12
}
%41: bool = lt %10, %0
%42: i32 = if %41 {
  yield %10
} else {
  yield %12
}`)
	k := m.Kernels[0]
	a := analysis.FindAffine(k, k.Uniformity(ir.Scope{}))
	want := map[int]analysis.Strides{0: {}, 10: {1}, 11: {0, 1}, 12: {1}, 13: {}, 14: {3}, 15: {-3}, 19: {0, 16}, 20: {3, 16}, 21: {1}, 23: {1},
		30: {1}, 31: {}, 33: {1}, 35: {}, 40: {1}}
	none := map[int]bool{16: true, 17: true, 22: true, 24: true, 25: true, 32: true, 36: true, 42: true}
	check := func(v *ir.Value) {
		s, ok := a.Strides(v)
		if w, listed := want[v.ID]; listed && (!ok || s != w) {
			t.Errorf("%v: strides %v, %v; want %v", v, s, ok, w)
		}
		if none[v.ID] && ok {
			t.Errorf("%v: strides %v, want none", v, s)
		}
	}
	for _, p := range k.Body.Params {
		check(p)
	}
	k.Body.Walk(func(in *ir.Instr) {
		for _, r := range in.Results {
			check(r)
		}
		if in.Op == ir.Loop {
			for _, p := range in.Then.Params {
				check(p)
			}
		}
	})
}
