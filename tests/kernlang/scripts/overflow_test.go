package scripts

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// overflows are kernels with buffers o: f64, k: i32, u: u32, n: i64, w: u64 and b: u8, and their fault with checks:
// 'overflow', "" if they have none.
var overflows = []struct{ kernel, want string }{
	{"o[g.x] = 100000 * (g.x + 99999)", "100000 * 99999 is 9999900000, beyond i32, in `100000 * (g.x + 99999)`, kernel k, work-item [0, 0, 0]"},
	{"let s = 0; for (let i = 0; i < 100000; i++) s += i; o[0] = s", "2147450880 + 65536 is 2147516416, beyond i32, in `s += i`"},
	{"o[g.x] = (g.x % 256) * 16777216 / 255", "128 * 16777216 is 2147483648, beyond i32, in `(g.x % 256) * 16777216`, kernel k, work-item [128, 0, 0]"},
	{"o[g.x] = (g.x * g.x) % 7", "46341 * 46341 is 2147488281, beyond i32, in `g.x * g.x`, kernel k, work-item [46341, 0, 0]"},
	{"o[g.x] = g.x * g.x > 2147483647", "46341 * 46341 is 2147488281"},
	{"o[g.x] = g.x ** 2", "46341 * 46341 is 2147488281"},
	{"let i = k[0]; i++; o[0] = i", "2147483647 + 1 is 2147483648, beyond i32, in `i++`"},
	{"let i = k[1]; i--; o[0] = i", "-2147483648 - 1 is -2147483649, beyond i32, in `i--`"},
	{"o[0] = -k[1]", "-(-2147483648) is 2147483648, beyond i32, in `-k[1]`"},
	{"o[0] = Math.abs(k[1])", "the absolute value of (-2147483648) is 2147483648, beyond i32"},
	{"o[0] = Math.trunc(k[1] / k[2])", "-2147483648 / -1 is 2147483648, beyond i32"},
	{"o[0] = u[0] - u[1]", "3 - 5 is -2, beyond u32, in `u[0] - u[1]`"},
	{"o[0] = u[2] + u[2]", "4294967295 + 4294967295 is 8589934590, beyond u32"},
	{"o[0] = u[2] * u[2]", "4294967295 * 4294967295 is 18446744065119617025, beyond u32"},
	{"o[0] = u[2] * k[1]", "4294967295 * -2147483648 is -9223372034707292160, beyond u32"},
	{"o[0] = -u[0]", "-(3) is -3, beyond u32"},
	{"b[k[0] + 1] = 1", "2147483647 + 1 is 2147483648, beyond i32, in `k[0] + 1`"},
	{"o[0] = f64(n[0] + n[0])", "9223372036854775807 + 9223372036854775807 is beyond i64, in `n[0] + n[0]`"},
	{"o[0] = f64(n[1] - n[0])", "-9223372036854775808 - 9223372036854775807 is beyond i64"},
	{"o[0] = f64(n[0] * n[2])", "9223372036854775807 * 3 is beyond i64"},
	{"o[0] = f64(-n[1])", "-(-9223372036854775808) is beyond i64"},
	{"o[0] = f64(n[1] / n[3])", "-9223372036854775808 / -1 is beyond i64"},
	{"o[0] = f64(w[0] - w[1])", "1 - 2 is beyond u64"},
	{"o[0] = f64(w[2] + w[1])", "18446744073709551615 + 2 is beyond u64"},
	{"o[0] = f64(w[2] * w[1])", "18446744073709551615 * 2 is beyond u64"},
	{"o[0] = f64(-w[0])", "-(1) is beyond u64"},
	{"let h = 17; for (let i = 0; i < 30; i++) h = h * 31 + 7; k[3] = h", "* 31 is"}, // as a number it soon exceeds 2⁵³
	{"const sq = v => v * v; o[g.x] = sq(g.x)", "46341 * 46341 is 2147488281, beyond i32, in `v * v`"},
	{"const t = g.shared(i32, 256); t[g.local.x] = g.x; g.barrier(); o[g.x] = t[g.local.x] * 50000", "42950 * 50000 is 2147500000, beyond i32"},
	{"o[0] = u[0] > 8 ? u[0] : k[2]", "-1 becomes u32, which holds no number below 0, in `u[0] > 8 ? u[0] : k[2]`"},
	{"o[0] = u[0] > 8 ? u[0] : -1", "-1 becomes u32"},
	{"let best = -1; if (u[0] > 8) best = u[0]; o[0] = best", "-1 becomes u32, which holds no number below 0, in `-1`"},
	{"const t = u[0] > 8 ? u[0] : k[2]; o[0] = t < 0 ? 1 : 0", "-1 becomes u32"},
	{"let h = u[0]; h ^= k[2]; o[0] = h", "-4 becomes u32, which holds no number below 0, in `h ^= k[2]`"},
	{"o[0] = -1 - u[0]", "-1 - 3 is -4, beyond u32, in `-1 - u[0]`"},
	{"o[0] = Math.floor(u[1] / -2)", "-3 becomes u32, which holds no number below 0, in `Math.floor(u[1] / -2)`"},
	{"o[0] = Math.trunc(u[1] / k[2])", "-5 becomes u32"},

	// Arithmetic that wraps in JavaScript, too, or is not computed.
	{"o[g.x] = (g.x * g.x) | 0", ""},
	{"o[g.x] = (u[2] + u[2]) >>> 0", ""},
	{"o[g.x] = i32(k[0] + 1)", ""},
	{"o[g.x] = u32(u[2] * u[2])", ""},
	{"o[g.x] = Math.imul(k[0], k[0])", ""},
	{"o[g.x] = (k[0] + 1) & 255", ""},
	{"o[g.x] = (k[1] / k[2]) | 0", ""},
	{"k[3] = g.x * g.x + k[0]", ""},
	{"b[0] = k[0] + k[0]", ""},
	{"n[4] = n[0] + n[0]", ""},
	{"let h = u[2]; for (let i = 0; i < 30; i++) h = h * 747796405 + 2891336453; u[3] = (h >>> 9) ^ h", ""},
	{"let h = 17; for (let i = 0; i < 30; i++) h = (h * 31 + 7) | 0; o[g.x] = h", ""},
	{"o[g.x] = g.x < 46341 ? g.x * g.x : 0", ""},
	{"o[g.x] = u[1] + (k[2] + 0)", ""},
	{"let s = 0; for (let i = 0; i < 60000; i++) s += i; o[0] = s", ""},
	{"o[0] = u[1] + -3", ""},
	{"o[0] = u[1] > 4 ? u[1] : k[2]", ""},
	{"o[0] = (u[1] > 8 ? u[1] : -1) >>> 0", ""},
	{"o[0] = u32(Math.floor(u[1] / -2))", ""},
	{"let h = -1; h = h ^ u[0]; h >>>= 0; o[0] = h", ""},
	{"o[g.x] = f64(g.x) * g.x", ""},
	{"o[g.x] = f64(i64(g.x) * i64(g.x))", ""},
}

// TestOverflow launches kernels with checks: 'overflow' on every engine of the processor.
//
// [11.9] [11.10] [26.1]
func TestOverflow(t *testing.T) {
	for _, engine := range []string{"avx512", "avx2", "interp"} {
		t.Run(engine, func(t *testing.T) {
			rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{Debug: "cpu-engine=" + engine})}})
			defer func() { _ = rt.Close() }() // ignores the faults that the test causes
			for _, test := range overflows {
				size := 1
				if strings.Contains(strings.ReplaceAll(test.kernel, "o[g.x]", ""), "g.x") {
					size = 46342 // the square of the last item's index exceeds i32
				}
				var out bytes.Buffer
				e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, OnWarning: func(*diag.Diagnostic) {}})
				if err != nil {
					t.Skip(err)
				}
				_, err = e.Run(context.Background(), "main.js", imports+`const d = device('cpu')
const o = d.buffer(f64, 46342), k = d.buffer(i32, Int32Array.of(2147483647, -2147483648, -1, 0)), u = d.buffer(u32, Uint32Array.of(3, 5, 4294967295, 0))
const n = d.buffer(i64, BigInt64Array.of(9223372036854775807n, -9223372036854775808n, 3n, -1n, 0n)), w = d.buffer(u64, BigUint64Array.of(1n, 2n, 18446744073709551615n)), b = d.buffer(u8, 8)
await kernel((g, o, k, u, n, w, b) => { `+test.kernel+` }, { name: 'k' }).launch({ size: `+fmt.Sprint(size)+`, groupSize: 256, checks: 'overflow' }, o, k, u, n, w, b)`)
				if strings.Contains(diag.Format(err, false), "cpu-engine") {
					t.Skip(err)
				}
				_ = e.Close()
				switch {
				case test.want == "" && err != nil:
					t.Errorf("%s: %v", test.kernel, err)
				case test.want == "":
				case err == nil:
					t.Errorf("%s: no fault, want %s", test.kernel, test.want)
				default:
					if d := diagnosed(t, e, err); d.ID != "overflow" || d.Line != 5 || !strings.Contains(d.Message, test.want) || !strings.Contains(d.Hint, "JavaScript goes on") {
						t.Errorf("%s: %v at %d:%d, want %s", test.kernel, d, d.Line, d.Column, test.want)
					}
				}
			}
		})
	}
}
