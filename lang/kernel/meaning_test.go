package kernel

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// meaning is a kernel with its data and expected results. Buffers are slices; want replaces those it names.
type meaning struct {
	name  string
	text  string
	scope map[string]any
	args  []any // []float32, …: a buffer; float64: a Number
	want  map[int]any
	fault string // the fault's text; empty if none is expected
	opts  Options
}

func (m *meaning) run(t *testing.T) {
	f, err := Parse(&Source{Text: m.text, Capture: capture(m.scope)})
	if err != nil {
		t.Fatal(err)
	}
	var args []Arg
	var values []any
	for _, a := range m.args {
		if x, ok := a.(float64); ok {
			args, values = append(args, Arg{Kind: Number}), append(values, x)
			continue
		}
		if p, ok := a.(particles); ok {
			args = append(args, Arg{Kind: Buffer, Elem: ir.Elem{Record: particle}, Rank: 1})
			values = append(values, newMemory(t, p.Items, len(p.Items)))
			continue
		}
		args, values = append(args, Arg{Kind: Buffer, Elem: ir.Elem{Scalar: elemType(a)}, Rank: 1}), append(values, newMemory(t, a))
	}
	c, err := f.Compile(args, m.opts)
	if err != nil {
		t.Fatal(err)
	}
	n := 8
	fault := launch(t, c, [3]int{n, 1, 1}, values...)
	switch {
	case fault != nil && m.fault == "":
		t.Fatalf("%v at %+v", fault, c.Kernel.Sites[fault.Site])
	case m.fault != "":
		if fault == nil {
			t.Fatal("no fault")
		}
		s := c.Kernel.Sites[fault.Site]
		if got := fmt.Sprintf("%d:%d %s: %v", s.Line, s.Col, s.Text, fault); !strings.Contains(got, m.fault) {
			t.Errorf("got %q, want %q", got, m.fault)
		}
		return
	}
	for i, want := range m.want {
		got := reflect.New(reflect.TypeOf(want)).Elem()
		got.Set(reflect.MakeSlice(got.Type(), reflect.ValueOf(want).Len(), reflect.ValueOf(want).Len()))
		values[i].(*memory).read(t, got.Interface())
		if !reflect.DeepEqual(got.Interface(), want) {
			t.Errorf("argument %d: got %v, want %v", i, got.Interface(), want)
		}
	}
}

type particles struct{ Items []particleItem }

type particleItem struct {
	X  float32
	V  [3]float32
	ID uint32
}

func elemType(slice any) ir.Type {
	switch slice.(type) {
	case []float32:
		return ir.F32
	case []float64:
		return ir.F64
	case []uint32:
		return ir.U32
	case []int64:
		return ir.I64
	case []uint64:
		return ir.U64
	case []uint8:
		return ir.U8
	}
	return ir.I32
}

func each[T any](f func(i int) T) []T {
	out := make([]T, 8)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// exactFMA returns a·b + c of float32, rounded once: the f64 product is exact, and f64 holds these small sums.
func exactFMA(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }

func TestMeaning(t *testing.T) {
	thirds := each(func(i int) float32 { return float32(i) / 3 })
	sevenths := each(func(i int) float32 { return float32(i-4) / 7 })
	counts := each(func(i int) int32 { return int32(i) })
	wide := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1, -7}
	doubles := []float64{0.5, 1, -1.5, 1 << 63, -1 << 63, 1 << 53, 1 << 53, math.NaN()}
	tests := []meaning{
		{name: "a product is fused", text: "(g, a, b, y) => { y[g.x] = a[g.x] * b[g.x] + a[7 - g.x] }",
			args: []any{thirds, sevenths, make([]float32, 8)},
			want: map[int]any{2: each(func(i int) float32 { return exactFMA(thirds[i], sevenths[i], thirds[7-i]) })}},
		{name: "a product with a name is not", text: "(g, a, b, y) => { const p = a[g.x] * b[g.x]; y[g.x] = p + a[7 - g.x] }",
			args: []any{thirds, sevenths, make([]float32, 8)},
			want: map[int]any{2: each(func(i int) float32 { return float32(thirds[i]*sevenths[i]) + thirds[7-i] })}},
		{name: "contract: false", text: "(g, a, b, y) => { y[g.x] = a[7 - g.x] - a[g.x] * b[g.x] }", opts: Options{NoContract: true},
			args: []any{thirds, sevenths, make([]float32, 8)},
			want: map[int]any{2: each(func(i int) float32 { return thirds[7-i] - float32(thirds[i]*sevenths[i]) })}},
		{name: "f32 at every operation", text: "(g, a, y) => { y[g.x] = a[g.x] * 0.1 / 3 }",
			args: []any{thirds, make([]float32, 8)},
			want: map[int]any{1: each(func(i int) float32 { return float32(thirds[i]*float32(0.1)) / 3 })}},
		{name: "x === 0.1 in f32", text: "(g, a, y) => { y[g.x] = a[g.x] === 0.1 ? 1 : 0 }",
			args: []any{[]float32{0.1, 0.2, 0, 0.1, 1, 1, 1, 1}, make([]int32, 8)},
			want: map[int]any{1: []int32{1, 0, 0, 1, 0, 0, 0, 0}}},
		{name: "i32 wraps", text: "(g, a, y) => { y[g.x] = a[g.x] * 1000000007 + 2147483647 }",
			args: []any{counts, make([]int32, 8)},
			want: map[int]any{1: each(func(i int) int32 { return int32(i)*1000000007 + math.MaxInt32 })}},
		{name: "64-bit arithmetic", text: "(g, n, y) => { y[g.x] = (n[g.x] * 3n - 1n) / 2n % 1000n ^ n[g.x] >> 3n }",
			args: []any{wide, make([]int64, 8)},
			want: map[int]any{1: each(func(i int) int64 { return (wide[i]*3-1)/2%1000 ^ wide[i]>>3 })}},
		{name: "i64 against f64 by value", text: `(g, n, d, y) => {
			const a = n[g.x], b = d[g.x]
			y[g.x] = (a < b) + (a <= b) * 2 + (a > b) * 4 + (a >= b) * 8 + (a == b) * 16 + (a != b) * 32 }`,
			args: []any{wide, doubles, make([]int32, 8)},
			// 0<0.5, 1=1, -1>-1.5, max<2^63, min=min, 2^53=2^53, 2^53+1>2^53, NaN
			want: map[int]any{2: []int32{35, 26, 44, 35, 26, 26, 44, 32}}},
		{name: "i64 against u64 by value", text: "(g, n, u, y) => { const a = n[g.x], b = u[g.x]; y[g.x] = (a < b) + (b < a) * 2 + (a === b) * 4 }",
			args: []any{wide, []uint64{0, 0, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<53 + 1, 1 << 53, 3}, make([]int32, 8)},
			want: map[int]any{2: []int32{4, 2, 1, 4, 1, 1, 2, 1}}},
		{name: "conversions of floats saturate", text: "(g, d, y, z) => { y[g.x] = i32(d[g.x]); z[g.x] = u32(d[g.x]) }",
			args: []any{[]float64{1e10, -1e10, math.NaN(), 2.9, -2.9, 4294967295.5, math.Inf(1), math.Inf(-1)}, make([]int32, 8), make([]uint32, 8)},
			want: map[int]any{1: []int32{math.MaxInt32, math.MinInt32, 0, 2, -2, math.MaxInt32, math.MaxInt32, math.MinInt32},
				2: []uint32{math.MaxUint32, 0, 0, 2, 0, math.MaxUint32, math.MaxUint32, 0}}},
		{name: "bits of a NaN", text: "(g, a, y) => { y[g.x] = bits(a[g.x] / a[g.x] - 1) }",
			args: []any{make([]float32, 8), make([]uint32, 8)},
			want: map[int]any{1: each(func(int) uint32 { return 0x7fc00000 })}},
		{name: "records", text: `(g, ps) => {
			const p = ps[g.x], q = {...p}
			q.x += 1; q.v[1] = p.v[0] * 2
			p.id = 7
			ps[g.x] = {...q, v: [q.v[2], q.v[1], q.v[0]]}
			if (g.x === 1) { const {x, id} = ps[g.x]; ps[g.x] = {id: id + 100, v: p.v, x: -x} } }`,
			args: []any{particles{each(func(i int) particleItem { return particleItem{float32(i), [3]float32{1, 2, 3}, uint32(i)} })}},
			want: map[int]any{0: each(func(i int) particleItem {
				p := particleItem{float32(i) + 1, [3]float32{3, 2, 1}, uint32(i)}
				if i == 1 {
					p.X, p.ID = -2, 101
				}
				return p
			})}},
		{name: "swapping records", text: "(g, ps) => { if (g.x > 0) return; const a = {...ps[0]}; ps[0] = ps[1]; ps[1] = a }",
			args: []any{particles{[]particleItem{{X: 1, ID: 1}, {X: 2, ID: 2}}}},
			want: map[int]any{0: []particleItem{{X: 2, ID: 2}, {X: 1, ID: 1}}}},
		{name: "shared memory and barrier", text: `(g, a, y) => {
			const tile = g.shared(i32, 8), l = g.local.x
			tile[l] = a[g.x] + 1
			g.barrier()
			y[g.x] = tile[7 - l] * tile.length }`,
			args: []any{counts, make([]int32, 8)},
			want: map[int]any{1: each(func(i int) int32 { return int32(8-i) * 8 })}},
		{name: "reduce and scan", text: `(g, a, y) => {
			const all = g.reduce.add(a[g.x]), upTo = g.scan.add(a[g.x]), before = g.scan.add.exclusive(a[g.x]), most = g.reduce.max(a[g.x])
			y[g.x] = all * 10000 + upTo * 100 + before + most * 1000000 }`,
			args: []any{counts, make([]int32, 8)},
			want: map[int]any{1: each(func(i int) int32 { return int32(28*10000 + i*(i+1)/2*100 + i*(i-1)/2 + 7000000) })}},
		{name: "atomics", text: `(g, a, y) => {
			Atomics.add(y, 0, a[g.x]); Atomics.max(y, 1, a[g.x]); Atomics.or(y, 2, 1 << g.x); Atomics.sub(y, 3, 1)
			if (Atomics.compareExchange(y, 4, 0, 5) === 0) Atomics.add(y, 5, 1)
			if (g.x === 3) Atomics.exchange(y, 6, Atomics.store(y, 7, 9)) }`,
			args: []any{counts, make([]int32, 8)},
			want: map[int]any{1: []int32{28, 7, 255, -8, 5, 1, 9, 9}}},
		{name: "private arrays are zero in each iteration", text: `(g, y) => {
			for (let k = 0; k < 3; k++) { const a = g.private(i32, 4); a[k]++; y[g.x] += a[0] + a[1] * 10 + a[2] * 100 } }`,
			args: []any{make([]int32, 8)},
			want: map[int]any{0: each(func(int) int32 { return 111 })}},
		{name: "a variable set on one way only is zero", text: "(g, y) => { let v; if (g.x > 3) v = 2; y[g.x] = v + 1 }",
			args: []any{make([]int32, 8)},
			want: map[int]any{0: []int32{1, 1, 1, 1, 3, 3, 3, 3}}},
		{name: "tables", text: "(g, y) => { y[g.x] = offsets[g.x % 3] * fine[0] + bytes[g.x & 1] }",
			scope: map[string]any{"offsets": []float64{-1, 0, 1}, "fine": []float64{0.5}, "bytes": Table{Elem: ir.U8, Data: []byte{200, 3}}},
			args:  []any{make([]float32, 8)},
			want:  map[int]any{0: each(func(i int) float32 { return float32(i%3-1)*0.5 + float32([]int{200, 3}[i&1]) })}},
		{name: "small integers wrap when stored", text: "(g, b) => { b[g.x] += 100; b[g.x] *= 2 }",
			args: []any{each(func(i int) uint8 { return uint8(i * 30) })},
			want: map[int]any{0: each(func(i int) uint8 { return (uint8(i*30) + 100) * 2 })}},
		{name: "inferred parameters", text: "(g, n, f, y) => { for (let k = 0; k < n; k++) y[g.x] += f }",
			args: []any{3.0, 0.5, make([]float32, 8)},
			want: map[int]any{2: each(func(int) float32 { return 1.5 })}},
		{name: "out of bounds", text: "(g, y) => {\n  y[g.x + 1] = 2\n}", args: []any{make([]float32, 8)},
			fault: "2:3 y[g.x + 1]: out-of-bounds: index 8 of y is not in 0 to 7"},
		{name: "division by zero", text: "(g, y) => {\n  y[g.x] = 5 + (10 / (g.x - 2) | 0)\n}", args: []any{make([]int32, 8)},
			fault: "2:17 10 / (g.x - 2) | 0: division-by-zero"},
		{name: "the untaken side does not fault", text: "(g, y) => { y[g.x] = g.x > 7 && y[100] > 0 ? y[1000] : (g.x === 9 ? 1 % (g.x - g.x) : 3) }",
			args: []any{make([]int32, 8)}, want: map[int]any{0: each(func(int) int32 { return 3 })}},
		{name: "assert", text: "(g, y) => {\n  g.assert(g.x < 5, `item ${g.x} is late`)\n}", args: []any{make([]float32, 8)},
			fault: "2:3 g.assert(g.x < 5, `item ${g.x} is late`): assertion: item 5 is late"},
		{name: "divergent g.uniform", text: "(g, y) => {\n  if (g.uniform(g.x > 3)) g.barrier()\n}", args: []any{make([]float32, 8)},
			fault: "2:7 g.uniform(g.x > 3): divergent-uniform"},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

// TestLiteralBesideInteger checks that a literal outside the integer type of the other operand makes Math.min, Math.max,
// Math.clamp, comparisons and ?: real.
//
// [8.3] [8.4] [11.7]
func TestLiteralBesideInteger(t *testing.T) {
	us, vs := []uint32{0, 4e9, 7, 1 << 31}, []int32{-3, 5, math.MinInt32, 0}
	for _, x := range []string{"u[g.x]", "v[g.x]"} {
		for _, l := range []float64{-0.5, 0.5, -1, -1e-3, 3, 3e9, -3e9, 5e9, -5e9, math.MinInt32 - 1, 1 << 32, 1e20, -1e20, math.Inf(1), math.Inf(-1)} {
			text := scalar.Text(l)
			for form, of := range map[string]func(a float64) float64{
				"Math.min(X, L)":       func(a float64) float64 { return min(a, l) },
				"Math.min(L, X)":       func(a float64) float64 { return min(a, l) },
				"Math.max(X, L)":       func(a float64) float64 { return max(a, l) },
				"Math.max(L, X)":       func(a float64) float64 { return max(a, l) },
				"Math.min(X, L, 3)":    func(a float64) float64 { return min(a, l, 3) },
				"Math.clamp(X, L, 9)":  func(a float64) float64 { return min(max(a, l), 9) },
				"Math.clamp(X, -9, L)": func(a float64) float64 { return min(max(a, -9), l) },
				"X < L ? 1 : 0":        func(a float64) float64 { return choose(a < l, 1, 0) },
				"X >= L ? 1 : 0":       func(a float64) float64 { return choose(a >= l, 1, 0) },
				"X === L ? 1 : 0":      func(a float64) float64 { return choose(a == l, 1, 0) },
				"X > 5 ? L + 0.25 : X": func(a float64) float64 { return choose(a > 5, l+0.25, a) },
			} {
				want := make([]float64, 8)
				for i := range want {
					a := float64(us[i%4])
					if x == "v[g.x]" {
						a = float64(vs[i%4])
					}
					want[i] = of(a)
				}
				m := meaning{text: "(g, u, v, y) => { y[g.x] = " + strings.NewReplacer("X", x, "L", "("+text+")").Replace(form) + " }",
					args: []any{append(us, us...), append(vs, vs...), make([]float64, 8)}, want: map[int]any{2: want}}
				t.Run(m.text, m.run)
			}
		}
	}
}

func choose(c bool, a, b float64) float64 {
	if c {
		return a
	}
	return b
}

// TestForms converts all golden kernels to the text and binary forms and back.
func TestForms(t *testing.T) {
	files, _ := filepath.Glob("testdata/ir/*.js")
	for _, file := range files {
		for _, c := range chunks(t, file) {
			out, err := c.compile()
			if err != nil {
				t.Fatal(err)
			}
			text := out.Module.String()
			fromText, err := ir.ParseText("test.ir", text)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, c.line, err)
			}
			data, err := fromText.MarshalBinary()
			if err != nil {
				t.Fatalf("%s:%d: %v", file, c.line, err)
			}
			fromBytes, err := ir.DecodeBinary(data)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, c.line, err)
			}
			if fromBytes.Hash() != out.Module.Hash() {
				t.Errorf("%s:%d: the forms differ", file, c.line)
			}
		}
	}
}
