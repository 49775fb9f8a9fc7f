package overflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/overflow"
)

// compile compiles a kernel with the parameters o, f64; x, f32; k, i32; u, u32; m, i32 with two dimensions; b, u8; n, a number.
// If the text declares parameters, they are k, u and n as i32.
func compile(t testing.TB, text string) *kernel.Compiled {
	t.Helper()
	if !strings.HasPrefix(text, "(") {
		text = "(g, o, x, k, u, m, b, n) => {" + text + "}"
	}
	f, err := kernel.Parse(&kernel.Source{Text: text, Position: func(at int) (string, int, int) {
		before := text[:at]
		return "k.js", 1 + strings.Count(before, "\n"), 1 + at - 1 - strings.LastIndexByte(before, '\n')
	}, Capture: func(string) (any, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	buffer := func(t ir.Type, rank int) kernel.Arg {
		return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: rank}
	}
	args := []kernel.Arg{buffer(ir.I32, 1), buffer(ir.U32, 1), {Kind: kernel.Scalar, Type: ir.I32}}
	if len(f.Params()) > 3 {
		args = []kernel.Arg{buffer(ir.F64, 1), buffer(ir.F32, 1), buffer(ir.I32, 1), buffer(ir.U32, 1), buffer(ir.I32, 2), buffer(ir.U8, 1), {Kind: kernel.Number}}
	}
	c, err := f.Compile(args, kernel.Options{Warnings: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// sized returns launches with at most x and y items on the axes, where every extent is 4096 and n is 1000.
func sized(c *kernel.Compiled, x, y int64) *opt.Launches {
	l := overflow.Assumed(c)
	l.Size = [3]int64{x, y, 1}
	for name, dims := range l.Extents {
		for i := range dims {
			l.Extents[name][i] = 4096
		}
	}
	for name := range l.Scalars {
		l.Scalars[name] = [2]int64{1000, 1000}
	}
	return l
}

func texts(list diag.List) string {
	var out []string
	for _, d := range list {
		out = append(out, d.Excerpt)
	}
	return strings.Join(out, "; ")
}

// TestWarnings checks that an operation that may wrap causes one warning, at its position, if its full value is used.
//
// [11.11]
func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		text string
		x    int64  // size of the launch; 0: not launched
		want string // expressions with warnings
	}{
		{"o[0] = 100000 * (g.x + 99999)", 1, "100000 * (g.x + 99999)"},
		{"let s = 0; for (let i = 0; i < 100000; i++) s += i; o[0] = s", 1, "s += i"},
		{"let s = 0; for (let i = 0; i < 100000; i++) { for (let j = 0; j < 100; j++) s += i } o[0] = s", 1, "s += i"},
		{"let s = 0.0; for (let i = 0; i < 100000; i++) s = s + i; o[0] = s", 1, "s + i"},
		{"let s = 0; for (let i = 0; i < k.length; i++) s += k[i]; o[0] = s / k.length", 1, "s += k[i]"},
		{"o[g.x] = (g.x % 256) * 16777216 / 255", 256, "(g.x % 256) * 16777216"},
		{"o[g.x] = (g.x % 256) * 16777216 / 255", 100, ""},
		{"o[g.x] = (g.x * g.x) % 7", 50000, "g.x * g.x"},
		{"o[g.x] = (g.x * g.x) % 7", 46341, ""},
		{"o[g.x] = (g.x * g.x) % 7", 0, "g.x * g.x"},
		{"o[g.x] = g.x * g.x > 2147483647", 50000, "g.x * g.x"},
		{"o[g.x] = g.x * g.x > 2147483647 ? 1 : 0", 4096, ""},
		{"o[g.x] = g.x * g.x", 50000, "g.x * g.x"},
		{"o[g.x] = g.x * g.x + 1", 50000, "g.x * g.x"},
		{"o[g.x] = g.x ** 2", 50000, "g.x ** 2"},
		{"x[g.x] = k[0] * k[1]", 1, "k[0] * k[1]"},
		{"x[g.x] = (k[0] + k[1]) * 0.5", 1, "k[0] + k[1]"},
		{"const t = k[0] + k[1]; x[g.x] = 0.5 * t", 1, "k[0] + k[1]"},
		{"x[0] = Math.max(k[0] * 3, 0)", 1, "k[0] * 3"},
		{"x[0] = Math.abs(k[0] - k[1])", 1, "k[0] - k[1]"},
		{"x[0] = Math.sqrt(k[0] * k[0])", 1, "k[0] * k[0]"},
		{"x[0] = u[0] - u[1]", 1, "u[0] - u[1]"},
		{"if (u[0] - 1 > 5) x[0] = 1", 1, "u[0] - 1"},
		{"x[0] = (k[0] * 8 / 3) | 0", 1, "k[0] * 8"},
		{"let p = 1; for (let i = 0; i < n; i++) p *= 2; x[0] = p", 1, "p *= 2"},
		{"o[g.x] = g.y * 65536 * 65536 + g.x", 0, "g.y * 65536"},
		{"for (let i = 0; i < 3; i++) o[i] = (n + i) * 3000000", 1, "(n + i) * 3000000"},

		// an i32 converted to u32
		{"o[0] = u[0] > 8 ? u[0] : -1", 1, "u[0] > 8 ? u[0] : -1"},
		{"let best = -1; if (u[0] > 8) best = u[0]; o[0] = best", 1, "-1"},
		{"let best = -1; for (let i = 0; i < u.length; i++) if (u[i] > 8) best = u[i]; if (best < 0) o[0] = 1", 1, "-1"},
		{"o[0] = u[0] > 8 ? u[0] : k[0]", 1, "u[0] > 8 ? u[0] : k[0]"},
		{"const t = u[0] > 8 ? u[0] : k[0]; o[0] = t < 0 ? 1 : 0", 1, "u[0] > 8 ? u[0] : k[0]"},
		{"let h = u[0]; h ^= h << 13; x[0] = h / 7", 1, "h ^= h << 13"},
		{"o[0] = -1 - u[0]", 1, "-1 - u[0]"},
		{"o[0] = Math.floor(u[0] / -7)", 1, "Math.floor(u[0] / -7)"},
		{"o[0] = Math.trunc(u[0] / -7)", 1, "Math.trunc(u[0] / -7)"},
		{"o[0] = Math.floor(u[0] / n)", 1, ""},
		{"o[0] = u[0] > 8 ? u[0] : g.x", 1, ""},
		{"o[0] = u[0] > 8 ? u[0] : n", 1, ""},
		{"o[0] = u[0] > 8 ? u[0] : b[0]", 1, ""},
		{"o[0] = (u[0] > 8 ? u[0] : -1) >>> 0", 1, ""},
		{"o[0] = u[0] > 8 ? u[0] : k[0] >>> 0", 1, ""},
		{"o[0] = u[0] > 8 ? u[0] : u32(k[0])", 1, ""},
		{"u[0] = u[0] > 8 ? u[0] : -1", 1, ""},
		{"let h = -1; h = h ^ u[0]; h >>>= 0; o[0] = h", 1, ""},
		{"let h = u[0]; h ^= h << 13; h ^= h >>> 17; h ^= h << 5; x[0] = (h >>> 0) / 4294967296", 1, ""},
		{"o[0] = u[0] + -7 > 3 ? 1 : 0", 1, "u[0] + -7"},

		// explicit wrapping, and uses of integers only
		{"o[g.x] = (g.x * g.x) | 0", 0, ""},
		{"o[g.x] = (b[0] * k[1]) >>> 0", 0, ""},
		{"o[g.x] = i32(k[0] * 2097152)", 0, ""},
		{"o[g.x] = u32(u[0] * (u[1] & 1023) + 7)", 0, ""},
		{"o[g.x] = Math.imul(k[0], k[1])", 0, ""},
		{"o[g.x] = (Math.imul(k[0], k[1]) + 5) & 1023", 0, ""},
		{"k[g.x] = k[0] * k[1] + k[2]", 0, ""},
		{"let h = 17; for (let i = 0; i < 9; i++) h = (h * 31 + k[i]) | 0; o[0] = h", 0, ""},
		{"let h = 17; for (let i = 0; i < 9; i++) h = h * 31 + k[i]; k[0] = h", 0, ""},
		{"let h = u[0]; h ^= h >>> 16; h = Math.imul(h, 0x85ebca6b); h ^= h >>> 13; x[0] = (h >>> 0) / 4294967296", 0, ""},
		{"let h = u[0]; h = h * 1597 + 51749; u[0] = (h >>> 9) ^ h", 0, ""},
		{"u[0] = u[1] * 747796405", 0, ""},
		{"o[g.x] = (g.x * g.y * 3) | 0", 0, ""},
		{"o[g.x] = (k[0] % 1000 * (k[1] >> 4)) | 0", 0, ""},
		{"o[g.x] = (n * k[1]) | 0", 1, ""},

		// products that JavaScript rounds
		{"o[g.x] = (k[0] * k[1]) >>> 0", 0, "k[0] * k[1]"},
		{"o[g.x] = (k[0] * k[1]) | 0", 1, "k[0] * k[1]"},
		{"o[g.x] = i32(k[0] * k[1])", 0, "k[0] * k[1]"},
		{"o[g.x] = u32(u[0] * u[1] + 7)", 0, "u[0] * u[1]"},
		{"o[g.x] = ~(k[0] * k[1])", 0, "k[0] * k[1]"},
		{"o[g.x] = (k[0] * k[1]) & 1023", 0, "k[0] * k[1]"},
		{"o[g.x] = (k[0] * 16777619) >>> 0", 0, "k[0] * 16777619"},
		{"let h = u[0]; h = h * 747796405 + 2891336453; u[0] = (h >>> 9) ^ h", 0, "h * 747796405"},
		{"let h = u[0]; h *= 747796405; u[0] = (h >>> 9) ^ h", 0, "h *= 747796405"},
		{"o[g.x] = (k[0] * 3000 * k[1] * 5) | 0", 0, "k[0] * 3000 * k[1]"},

		// counters and sums that end before they wrap
		{"let c = 0; for (let i = 0; i < n; i++) if (k[i] > 0) c++; o[0] = c", 0, ""},
		{"let c = 0; for (let i = 0; i < k.length; i++) if (k[i] > 0) c++; o[0] = c * 100", 0, ""},
		{"let c = 0; for (let i = 0; i < k.length; i++) if (k[i] > 0) c++; o[0] = c * 100", 1, ""},
		{"let c = 0; for (const v = n; c < v;) c++; o[0] = c", 0, ""},
		{"let c = 0, v = k[0]; while (v !== 1) { v = v % 2 === 0 ? v >> 1 : (v * 3 + 1) | 0; c++ } o[0] = c", 0, ""},
		{"let c = 0; for (let i = n - 1; i >= 0; i--) c += 2; o[0] = c", 0, ""},
		{"let c = 0; for (let i = g.x; i < n; i += g.size.x) c++; o[0] = c / n", 0, ""},
		{"let c = 0; for (let y = 0; y < m.shape[0]; y++) for (let x = 0; x < m.shape[1]; x++) if (m[y][x] > 3) c++; o[0] = c / (m.shape[0] * 4)", 1, ""},
		{"let c = 0; for (let i = k[0]; i < k[1]; i++) c++; o[0] = c", 0, ""},
		{"let s = 0; for (let i = 0; i < b.length; i++) s += b[i]; o[0] = s", 1, ""},
		{"let run = 0, best = 0; for (let i = 1; i < n; i++) { run = k[i] === k[i - 1] ? run + 1 : 0; best = Math.max(best, run) } o[0] = best + 1", 0, ""},
		{"let a = 0, c = 1; for (let i = 0; i < 10; i++) { if (a < c) a = a + 1; else c = c + 1 } o[0] = a + c", 0, ""},
		{"let lo = 0, hi = n; while (lo < hi) { const mid = (lo + hi) >> 1; if (k[mid] < 7) lo = mid + 1; else hi = mid } o[0] = lo", 0, ""},
		{"if (k[g.x] + 1 > k[0] - 1) o[g.x] = 1", 0, ""},
		{"if (g.x * 4 + 3 < x.length) o[g.x] = g.x * 4", 0, ""},
		{"o[g.x] = i64(g.x) * i64(g.x) % 7n > 3n ? 1 : 0", 0, ""},
		{"o[g.x] = f64(g.x) * g.x", 0, ""},
		{"o[g.x] = (g.x & 255) * (g.y & 255) / 3", 0, ""},
		{"o[0] = (b[0] - b[1]) * (b[2] - b[3])", 0, ""},
		{"o[0] = (k[0] > 0) + (u[0] > 0) * 3 - (x[0] < 2)", 0, ""},
		{"o[0] = Number(k[0] > 0) + i32(u[0] > 0)", 0, ""},
		{"for (let s = g.groupSize.x / 2 | 0; s > 0; s >>= 1) if (g.local.x < s) x[g.local.x] = x[g.local.x + s]", 0, ""},
	} {
		c := compile(t, test.text)
		l := overflow.Assumed(c)
		if test.x > 0 {
			l = sized(c, test.x, 1)
		}
		list := overflow.Warnings(c, l)
		if got := texts(list); got != test.want {
			t.Errorf("%s at %d: warns of %q, want %q", test.text, test.x, got, test.want)
		}
		if testing.Verbose() {
			for _, d := range list {
				t.Logf("%v", d)
			}
		}
	}
}

// TestWarningsOfNests checks warnings about sums in loops nested as deeply as in a convolution.
func TestWarningsOfNests(t *testing.T) {
	for depth := 1; depth <= 8; depth++ {
		text := "let s = 0; "
		for i := range depth {
			text += fmt.Sprintf("for (let i%[1]d = 0; i%[1]d < %[2]d; i%[1]d++) { ", i, 3+i)
		}
		c := compile(t, text+"s += k[i0] * b[i0 + 1]"+strings.Repeat(" }", depth)+" o[0] = s")
		if got := texts(overflow.Warnings(c, overflow.Assumed(c))); got != "k[i0] * b[i0 + 1]" {
			t.Errorf("%d loops: warns of %q", depth, got)
		}
	}
}
