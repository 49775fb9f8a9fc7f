package kernellang_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// hostAndKernel compares the results of each expression on the host and in a kernel: of x and y in f64, of i and j in i32, of
// a and b in u32, and of l and m in i64.
const hostAndKernel = `
import { device, kernel, f64, i32, u32, i64 } from 'offload'
const dev = device('cpu'), n = xs.length
const ls = BigInt64Array.from(is, (i, k) => BigInt(i) << BigInt(k % 32)), ms = BigInt64Array.from(js, (j, k) => BigInt(j) * BigInt(us[k]))
const types = { f: f64, i: i32, u: u32, l: i64 }
const arrays = { x: xs, y: ys, z: zs, i: is, j: js, a: us, b: vs, l: ls, m: ms }
const typeOf = { x: f64, y: f64, z: f64, i: i32, j: i32, a: u32, b: u32, l: i64, m: i64 }
const buffers = {}
for (const name in arrays) {
  buffers[name] = dev.buffer(typeOf[name], n)
  await buffers[name].write(arrays[name])
}
let count = 0
const wrong = []
export async function check(type, expression, names, of, inKernel) {
  const out = dev.buffer(types[type], n)
  await inKernel.launch({ size: n }, out, ...names.map(name => buffers[name]))
  const got = await out.read(), args = names.map(name => arrays[name])
  for (let k = 0; k < n; k++) {
    const want = of(...args.map(list => list[k]))
    count++
    if (!Object.is(got[k], want)) {
      wrong.push(expression + ' of ' + args.map(list => list[k]).join(', ') + ': host ' + want + ', kernel ' + got[k])
      break
    }
  }
  out.free()
}
CHECKS
export { count }
export const report = wrong.join('\n')
`

// expressions are by the type of the result and the names of the operands.
var expressions = []struct{ result, names, list string }{
	{"f", "x", `Math.exp(x); Math.exp2(x); Math.expm1(x); Math.log(x); Math.log2(x); Math.log10(x); Math.log1p(x); Math.sin(x); Math.cos(x);
		Math.tan(x); Math.asin(x); Math.acos(x); Math.atan(x); Math.sinh(x); Math.cosh(x); Math.tanh(x); Math.asinh(x); Math.acosh(x);
		Math.atanh(x); Math.cbrt(x); Math.rsqrt(x); Math.erf(x); Math.sqrt(x); Math.floor(x); Math.ceil(x); Math.trunc(x); Math.round(x);
		Math.abs(x); Math.sign(x); Math.fround(x); Math.frexp(x)[0]; Math.frexp(x)[1]; x ** 2; x ** 3; x ** 0.5; x ** -1; Math.pow(x, 2); 2 ** x; Math.pow(x, 7.5);
		Math.hypot(x); Math.min(x); Math.fast.sin(x); Math.fast.exp(x); Math.fast.log(x); Math.fast.rsqrt(x); Math.fast.erf(x); Math.fast.sqrt(x)`},
	{"f", "x y", "Math.atan2(x, y); Math.pow(x, y); x ** y; Math.hypot(x, y); Math.min(x, y); Math.max(x, y); Math.fast.pow(x, y); x % y"},
	{"f", "x y z", "Math.fma(x, y, z); Math.mix(x, y, z); Math.clamp(x, y, z); Math.hypot(x, y, z); Math.max(x, y, z)"},
	{"f", "x i", "Math.ldexp(x, i)"},
	{"i", "i", "Math.clz32(i); Math.ctz(i); Math.popcount(i); Math.sign(i); Math.abs(i)"},
	{"i", "i j", "Math.imul(i, j); Math.mulhi(i, j); Math.min(i, j)"},
	{"i", "a", "Math.clz32(a); Math.ctz(a); Math.popcount(a)"},
	{"u", "a b", "Math.mulhi(a, b); Math.max(a, b)"},
	{"i", "l", "Math.ctz(l); Math.popcount(l)"},
	{"l", "l m", "Math.mulhi(l, m)"},
}

// TestHostHasTheBitsOfKernels compares all functions of Math, and the operator **, on the host and on the CPU device: with special
// arguments and 10 000 random ones, or 100 000 with OREPL_TEST_LONG=1.
func TestHostHasTheBitsOfKernels(t *testing.T) {
	count := 10_000
	switch {
	case os.Getenv("OREPL_TEST_LONG") == "1":
		count = 100_000
	case testing.Short():
		count = 3000
	}
	rng := rand.New(rand.NewPCG(6, 6))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 1.5, 2.5, -2.5, 3, 10, 0.1, 1e-300, 5e-324, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64,
		math.Inf(1), math.Inf(-1), math.NaN(), 0.49999999999999994, 1 - 0x1p-53, 1 + 0x1p-52, 1.0000001, math.Pi, math.Pi / 2, 710, -746, 1e22, 0x1p53 + 2, 4503599627370495.5}
	var xs, ys, zs []float64
	for _, x := range special {
		for _, y := range special {
			xs, ys, zs = append(xs, x), append(ys, y), append(zs, special[len(xs)%7])
		}
	}
	draw := func() float64 {
		switch rng.IntN(4) {
		case 0:
			return math.Float64frombits(rng.Uint64())
		case 1:
			return rng.NormFloat64() * 10
		case 2:
			return 1 + rng.NormFloat64()*math.Ldexp(1, -rng.IntN(40))
		}
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(30)-20)
	}
	for len(xs) < count+len(special)*len(special) {
		xs, ys, zs = append(xs, draw()), append(ys, draw()), append(zs, draw())
	}
	n := len(xs)
	var is, js []int32
	var us, vs []uint32
	for k := range n {
		shift := k % 32
		is, js = append(is, int32(rng.Uint32())>>shift), append(js, int32(rng.Uint32()))
		us, vs = append(us, rng.Uint32()>>shift), append(vs, rng.Uint32()|1<<31)
	}
	var checks strings.Builder
	for _, e := range expressions {
		params := strings.ReplaceAll(e.names, " ", ", ")
		kernelText := params
		for _, name := range strings.Fields(e.names) {
			kernelText = strings.Replace(kernelText, name, name+"s", 1)
		}
		var reads string
		for _, name := range strings.Fields(e.names) {
			reads += "const " + name + " = " + name + "s[g.x]; "
		}
		for _, expr := range strings.Split(e.list, ";") {
			expr = strings.TrimSpace(expr)
			in := "out[g.x] = " + expr
			if base, ok := strings.CutSuffix(expr, "[0]"); ok {
				in = "const [f, e] = " + base + "; out[g.x] = f"
			} else if base, ok := strings.CutSuffix(expr, "[1]"); ok {
				in = "const [f, e] = " + base + "; out[g.x] = e"
			}
			checks.WriteString("await check('" + e.result + "', '" + expr + "', ['" + strings.ReplaceAll(e.names, " ", "', '") + "'], (" + params + ") => " + expr +
				", kernel((g, out, " + kernelText + ") => { " + reads + in + " }))\n")
		}
	}
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Globals: map[string]any{"xs": xs, "ys": ys, "zs": zs, "is": is, "js": js, "us": us, "vs": vs}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v, err := e.Run(t.Context(), "math.js", strings.Replace(hostAndKernel, "CHECKS", checks.String(), 1))
	if err != nil {
		t.Fatal(err, diag.Hint(err))
	}
	var result struct {
		Count  int
		Report string
	}
	if err := v.Decode(t.Context(), &result); err != nil {
		t.Fatal(err)
	}
	if result.Report != "" {
		t.Error(result.Report)
	}
	if want := strings.Count(checks.String(), "await check"); result.Count != want*n && result.Report == "" {
		t.Errorf("%d comparisons, want %d", result.Count, want*n)
	}
}
