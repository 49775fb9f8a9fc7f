package kernlang

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// nanBits are NaNs of a type: the canonical one, the default of x86, one with another payload, and a signalling one.
var nanBits = map[ir.Type][]uint64{
	ir.F16:  {0x7e00, 0xfe00, 0x7fff, 0xfc01},
	ir.BF16: {0x7fc0, 0xffc0, 0x7fff, 0xff81},
	ir.F32:  {0x7fc00000, 0xffc00000, 0x7fffffff, 0xff812345},
	ir.F64:  {0x7ff8000000000000, 0xfff8000000000000, 0x7fffffffffffffff, 0xfff123456789abcd},
}

// nanKernel is the body of a kernel that stores a function of x and z in y; both contain NaNs of all kinds.
type nanKernel struct {
	body string
	copy bool // the NaNs of x keep their bits
}

var nanKernels = []nanKernel{
	// [15.8] plain copies
	{"y[i] = x[i]", true},
	{"const a = x[i]; y[i] = a", true},
	{"let a = 0; if (i >= 0) a = x[i]; y[i] = a", true},
	{"y[i] = i >= 0 ? x[i] : z[i]", true},
	{"y[i] = i < 9 && x[i]", true},
	{"y[i] = x[i] || x[i]", true},
	{"const same = a => a; y[i] = same(+x[i])", true},
	{"let a = z[i]; for (let k = 0; k < 3; k++) a = x[i]; y[i] = a", true},
	{"const p = g.private(T, 4); p[i & 3] = x[i]; y[i] = p[i & 3]", true},
	{"const s = g.shared(T, 4); s[g.local.x] = x[3 - i]; g.barrier(); y[i] = s[3 - g.local.x]", true},
	{"y[i] = x[i]; y[i] = y[i]", true},
	{"y[i] = g.subgroup.shuffle(x[3 - i], 3 - i)", true},
	// [15.7] computed floats
	{"y[i] = x[i] + 1", false},
	{"y[i] = 1 - x[i]", false},
	{"y[i] = x[i] * z[3 - i]", false},
	{"y[i] = z[0] / x[i]", false},
	{"y[i] = x[i] * 1", false},
	{"y[i] = x[i] - 0", false},
	{"y[i] = -x[i]", false},
	{"y[i] = -(-x[i])", false},
	{"y[i] = Math.abs(x[i])", false},
	{"y[i] = Math.min(x[i], 1)", false},
	{"y[i] = Math.max(z[i], x[i])", false},
	{"y[i] = Math.floor(x[i])", false},
	{"y[i] = Math.round(x[i])", false},
	{"y[i] = Math.sqrt(x[i])", false},
	{"y[i] = Math.sqrt(-1 - i)", false},
	{"y[i] = (i - i) / (i - i) + x[i]", false},
	{"y[i] = Math.fma(x[i], z[i], x[i])", false},
	{"y[i] = x[i] * z[i] + 1", false},
	{"y[i] = x[i] % 2", false},
	{"y[i] = Math.sin(x[i])", false},
	{"y[i] = Math.exp(x[i]) + Math.log(-1 - i)", false},
	{"y[i] = f16(x[i])", false},
	{"y[i] = bf16(x[i])", false},
	{"y[i] = f32(f64(x[i]))", false},
	{"y[i] += 1", false},
	{"y[i] = i === 0 ? x[i] : x[i] * 2", false},
	{"let a = x[i]; if (i > 5) a++; y[i] = a", false},
	{"let a = x[i]; for (let k = 0; k < 3; k++) a = a * 2 - a; y[i] = a", false},
	{"const p = g.private(T, 4); p[i & 3] = x[i] * 2; y[i] = p[i & 3]", false},
	{"const s = g.shared(T, 4); s[g.local.x] = x[i] * 2; g.barrier(); y[i] = s[3 - g.local.x]", false},
	{"y[i] = g.reduce.add(x[i])", false},
	{"y[i] = g.reduce.max(x[i])", false},
	{"y[i] = g.scan.min(x[i])", false},
	{"y[i] = g.subgroup.add(x[i])", false},
	{"y[i] = fromBits(B, bits(x[i]) | 1)", false},
	{"y[i] = NaN + i", false},
	{"y[i] = [1, NaN, 2, NaN][1]", false},
}

// TestStoredNaNs checks the bits of copied and computed NaNs in the interpreter, optimized, and in JavaScript. Package
// plugins/cpu/internal/spmd compares compiled code with the interpreter.
func TestStoredNaNs(t *testing.T) {
	t.Parallel()
	r, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, elem := range []ir.Type{ir.F32, ir.F64, ir.F16, ir.BF16} {
		var data []byte
		for _, b := range nanBits[elem] {
			data = irgen.AppendElem(data, elem, b)
		}
		for _, k := range nanKernels {
			bits, real := "f32", ir.F32
			if elem == ir.F64 {
				bits, real = "f64", ir.F64
			}
			if elem.Size() == 2 && strings.Contains(k.body, "fromBits") {
				continue
			}
			text := strings.NewReplacer("T,", elem.String()+",", "B,", bits+",").Replace("(g, x, z, y) => { const i = g.x; " + k.body + " }")
			arg := func(data []byte) Arg {
				return Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: elem}, Rank: 1}, Data: data, Dims: []int32{4}}
			}
			y := slices.Clone(data)
			p := &Program{Text: text, Args: []Arg{arg(data), arg(data), arg(y)}, Options: kernel.Options{Real: real}, Size: [3]int{4, 1, 1}, GroupSize: [3]int{4, 1, 1}}
			res, err := r.Run(p)
			if err != nil {
				t.Errorf("%v, %s: %v", elem, k.body, err)
				continue
			}
			want := data
			if !k.copy || elem.Size() == 2 { // loads of 16-bit floats convert
				want = nil
				for range nanBits[elem] {
					want = irgen.AppendElem(want, elem, nanBits[elem][0])
				}
			}
			if got := res.Data[2]; string(got) != string(want) {
				t.Errorf("%v, %s: stored % x, want % x", elem, k.body, got, want)
			}
		}
	}
}

// TestAtomicsOfNaNs runs each atomic operation on NaNs. The buffer initially contains the bits of a signalling NaN.
//
// [24.5] stored and compared values
func TestAtomicsOfNaNs(t *testing.T) {
	t.Parallel()
	r, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const raw, canonical = 0xff812345, 0x7fc00000
	for body, want := range map[string]uint32{
		"Atomics.add(y, 0, 1)":                                                   canonical,
		"Atomics.sub(y, 0, x[0])":                                                canonical,
		"Atomics.min(y, 0, 1)":                                                   canonical,
		"Atomics.max(y, 0, x[0])":                                                canonical,
		"Atomics.exchange(y, 0, x[0])":                                           0x7fffffff,
		"Atomics.store(y, 0, x[0] * 2)":                                          canonical,
		"Atomics.exchange(y, 0, Math.sqrt(-1 - g.x))":                            canonical,
		"Atomics.compareExchange(y, 0, NaN, 1)":                                  raw,
		"Atomics.compareExchange(y, 0, x[0] * 2, 1)":                             raw,
		"y[0] = x[0] * 2; Atomics.compareExchange(y, 0, Math.sqrt(-1 - g.x), 1)": 0x3f800000,
		"const s = g.shared(f32, 1); s[0] = x[0] * 2; g.barrier(); Atomics.compareExchange(s, 0, Math.sqrt(-1 - g.x), 1); y[0] = s[0]": 0x3f800000,
	} {
		y := binary.LittleEndian.AppendUint32(nil, raw)
		x := binary.LittleEndian.AppendUint32(nil, 0x7fffffff)
		arg := func(data []byte) Arg {
			return Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}, Data: data, Dims: []int32{1}}
		}
		res, err := r.Run(&Program{Text: fmt.Sprintf("(g, x, y) => { %s }", body), Args: []Arg{arg(x), arg(y)}, Size: [3]int{1, 1, 1}})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if got := binary.LittleEndian.Uint32(res.Data[1]); got != want {
			t.Errorf("%s: stored %#x, want %#x", body, got, want)
		}
	}
}
