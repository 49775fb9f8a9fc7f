package kernel

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/orepl/orepl/lang/kernel/ir"
)

const items = 64

// TestAgainstJavaScript runs the kernels of testdata/run/*.js in the interpreter, and as plain JavaScript in goja, on the same
// data. They use only integers coerced to 32 bits and f64, for which the results must be equal bit for bit.
func TestAgainstJavaScript(t *testing.T) {
	files, _ := filepath.Glob("testdata/run/*.js")
	if len(files) == 0 {
		t.Fatal("no test files")
	}
	for _, file := range files {
		for _, c := range chunks(t, file) {
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(file), c.line), func(t *testing.T) { compareWithJavaScript(t, &c) })
		}
	}
}

func compareWithJavaScript(t *testing.T, c *chunk) {
	if err := difference(t, c); err != nil {
		t.Fatal(err)
	}
}

// difference runs a kernel both ways and returns an error that describes the difference of the results.
func difference(t *testing.T, c *chunk) error {
	out, err := c.compile()
	if err != nil {
		return err
	}
	vm := goja.New()
	var setup strings.Builder
	for _, line := range c.lines {
		if rest, ok := strings.CutPrefix(line, "//# let "); ok {
			fmt.Fprintf(&setup, "const %s\n", rest)
		}
	}
	setup.WriteString("Math.mulhi = (a, b) => Number(BigInt.asIntN(32, BigInt(a) * BigInt(b) >> 32n))\n")
	setup.WriteString("Math.clamp = (x, a, b) => Math.min(Math.max(x, a), b)\n")
	setup.WriteString("const i32 = x => x !== x ? 0 : Math.trunc(Math.min(Math.max(x, -2147483648), 2147483647)) + 0\n")
	setup.WriteString("const u32 = x => x !== x ? 0 : Math.trunc(Math.min(Math.max(x, 0), 4294967295)) + 0\n")
	setup.WriteString("const f64 = x => Number(x), bool = x => !!x\n")
	setup.WriteString("const kernel = (" + c.text + "\n)\n")
	if _, err := vm.RunString(setup.String()); err != nil {
		return err
	}
	var jsArgs []goja.Value
	var irArgs []any
	for i, a := range c.args {
		if a.Kind != Buffer {
			x := float64(3*i + 5)
			if a.Kind == Bool {
				x = 1
			}
			irArgs = append(irArgs, x)
			jsArgs = append(jsArgs, vm.ToValue(x))
			if a.Kind == Bool {
				jsArgs[i] = vm.ToValue(true)
			}
			continue
		}
		dims := []int{items}
		if a.Rank == 2 {
			dims = []int{8, items / 8}
		}
		m := newMemory(t, fill(a.Elem.Scalar, uint64(i)), dims...)
		irArgs = append(irArgs, m)
		jsArgs = append(jsArgs, jsBuffer(t, vm, a, m))
	}
	if f := launch(t, out, [3]int{items, 1, 1}, irArgs...); f != nil {
		return fmt.Errorf("%w at %+v", f, out.Kernel.Sites[f.Site])
	}
	kernel, _ := goja.AssertFunction(vm.Get("kernel"))
	if kernel == nil {
		v, err := vm.RunString("kernel")
		if err != nil {
			return err
		}
		kernel, _ = goja.AssertFunction(v)
	}
	for x := range items {
		g := vm.NewObject()
		size := vm.NewObject()
		_ = size.Set("x", items)
		for name, v := range map[string]any{"x": x, "y": 0, "z": 0, "size": size,
			"private": func(_ goja.Value, n int) goja.Value {
				v, _ := vm.RunString(fmt.Sprintf("new Float64Array(%d)", n))
				return v
			}} {
			_ = g.Set(name, v)
		}
		if _, err := kernel(goja.Undefined(), append([]goja.Value{g}, jsArgs...)...); err != nil {
			return err
		}
	}
	var got, want [][]byte
	for i, a := range c.args {
		if a.Kind != Buffer {
			got, want = append(got, nil), append(want, nil)
			continue
		}
		got = append(got, irArgs[i].(*memory).data())
		want = append(want, jsArgs[i].ToObject(vm).Get("raw").Export().(goja.ArrayBuffer).Bytes())
	}
	return compareBuffers(c, got, want)
}

// compareBuffers compares the buffers of two runs, by argument.
func compareBuffers(c *chunk, got, want [][]byte) error {
	for i, a := range c.args {
		size := a.Elem.Scalar.Size()
		for e := 0; e*max(size, 1) < len(want[i]); e++ {
			g, w := element(got[i][e*size:], a.Elem.Scalar), element(want[i][e*size:], a.Elem.Scalar)
			if g != w {
				return fmt.Errorf("%w: argument %d, element %d: got %s, JavaScript gives %s", errDifferent, i, e, g, w)
			}
		}
	}
	return nil
}

var errDifferent = errors.New("the results differ")

// element formats an element, with one text for all NaNs.
func element(b []byte, t ir.Type) string {
	var bits uint64
	for i := range t.Size() {
		bits |= uint64(b[i]) << (8 * i)
	}
	switch t {
	case ir.F64:
		x := math.Float64frombits(bits)
		return fmt.Sprint(x, math.Signbit(x) && x == x)
	case ir.I32:
		return fmt.Sprint(int32(bits))
	}
	return fmt.Sprint(bits)
}

// fill returns data that includes the special values of arithmetic.
func fill(t ir.Type, seed uint64) any {
	s := seed*0x9e3779b97f4a7c15 + 1
	next := func() uint64 {
		s ^= s << 13
		s ^= s >> 7
		s ^= s << 17
		return s
	}
	if t == ir.F64 {
		special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e-320, 2147483648, 4294967297, -2147483649}
		out := make([]float64, items)
		for i := range out {
			out[i] = float64(int64(next()))/(1<<60) + float64(next()%16)
			if k := next() % 32; k < uint64(len(special)) {
				out[i] = special[k]
			}
		}
		return out
	}
	special := []uint32{0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe}
	words := make([]uint32, items)
	for i := range words {
		words[i] = uint32(next() % 200)
		if k := next() % 20; k < uint64(len(special)) {
			words[i] = special[k]
		} else if k > 16 {
			words[i] = uint32(next())
		}
	}
	if t == ir.U8 {
		out := make([]uint8, items)
		for i := range out {
			out[i] = uint8(words[i])
		}
		return out
	}
	return words
}

// jsBuffer returns the JavaScript counterpart of a buffer: a typed array, or an array of typed arrays for two dimensions. Its
// property raw is the memory.
func jsBuffer(t *testing.T, vm *goja.Runtime, a Arg, m *memory) goja.Value {
	name := map[ir.Type]string{ir.F64: "Float64Array", ir.I32: "Int32Array", ir.U32: "Uint32Array", ir.U8: "Uint8Array"}[a.Elem.Scalar]
	if name == "" {
		t.Fatalf("no JavaScript array of %v", a.Elem)
	}
	raw := vm.NewArrayBuffer(append([]byte{}, m.data()...))
	_ = vm.Set("raw", raw)
	code := fmt.Sprintf("(() => { const m = new %s(raw); m.raw = raw; m.shape = [m.length]; m.flat = m; return m })()", name)
	if a.Rank == 2 {
		code = fmt.Sprintf(`(() => { const w = %d, h = %d, flat = new %s(raw), m = []
			for (let i = 0; i < h; i++) m.push(flat.subarray(i * w, (i + 1) * w))
			m.flat = flat; m.raw = raw; m.shape = [h, w]; return m })()`, m.dims[1], m.dims[0], name)
	}
	v, err := vm.RunString(code)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
