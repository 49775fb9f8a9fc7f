package scalar_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// instr returns an instruction with operands of one type.
func instr(op ir.Op, from, to ir.Type, n int) *ir.Instr {
	in := &ir.Instr{Op: op}
	for range n {
		in.Args = append(in.Args, &ir.Value{Type: from})
	}
	in.Results = []*ir.Value{{Type: to, Def: in}}
	return in
}

func eval(t *testing.T, in *ir.Instr, args ...uint64) uint64 {
	t.Helper()
	b, ok := scalar.Eval(in, args...)
	if !ok {
		t.Fatalf("%v of %#x has no value", in, args)
	}
	return b
}

func b32(x float32) uint64 { return uint64(math.Float32bits(x)) }
func b64(x float64) uint64 { return math.Float64bits(x) }

var edge64 = []float64{0, math.Copysign(0, -1), 0.5, -0.5, 0.49999999999999994, 1, -1, 1.5, 2.5, -1.5, -2.5, math.Inf(1), math.Inf(-1),
	math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1 << 31, -1 << 31, 1<<31 - 1, 1 << 32, 1<<32 - 1,
	1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, -1 << 63, 1 << 64, 0x1p-1022, 0x1p-149, math.MaxFloat32, 0x1p127, 1e20, 4294967295.5, -0.9, 0.1, 1.0 / 3}

var edgeInts = []uint64{0, 1, 2, 3, 7, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 1, 1<<64 - 2,
	0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 1<<24 + 1, 1<<24 + 3, 1<<40 + 1<<16, 1<<40 + 1<<16 + 1, 0xffffff7fffffffff, 0xffffff8000000000}

// float64s returns edge cases and n random values of every exponent.
func float64s(rng *rand.Rand, n int) []float64 {
	all := append([]float64(nil), edge64...)
	for range n {
		all = append(all, math.Float64frombits(rng.Uint64()), float64(math.Float32frombits(rng.Uint32())))
	}
	return all
}

func TestIntegersAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ints := append([]uint64(nil), edgeInts...)
	for range 40 {
		ints = append(ints, rng.Uint64(), rng.Uint64()>>rng.IntN(64))
	}
	for _, typ := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64} {
		width := uint(8 * typ.Size())
		mod := new(big.Int).Lsh(big.NewInt(1), width)
		value := func(b uint64) *big.Int {
			v := new(big.Int).SetUint64(b)
			if typ.IsSigned() && v.Bit(int(width-1)) == 1 {
				v.Sub(v, mod)
			}
			return v
		}
		for _, x := range ints {
			for _, y := range ints {
				x, y := x<<(64-width)>>(64-width), y<<(64-width)>>(64-width)
				bx, by := value(x), value(y)
				want := map[ir.Op]*big.Int{
					ir.Add: new(big.Int).Add(bx, by), ir.Sub: new(big.Int).Sub(bx, by), ir.Mul: new(big.Int).Mul(bx, by),
					ir.MulHi: new(big.Int).Rsh(new(big.Int).Mul(bx, by), width),
					ir.And:   new(big.Int).And(bx, by), ir.Or: new(big.Int).Or(bx, by), ir.Xor: new(big.Int).Xor(bx, by),
					ir.Shl: new(big.Int).Lsh(bx, uint(y)%width), ir.Shr: new(big.Int).Rsh(bx, uint(y)%width),
					ir.Min: bx, ir.Max: by,
				}
				if bx.Cmp(by) > 0 {
					want[ir.Min], want[ir.Max] = by, bx
				}
				if y != 0 {
					want[ir.Div], want[ir.Rem] = new(big.Int).Quo(bx, by), new(big.Int).Rem(bx, by)
				} else if _, ok := scalar.Eval(instr(ir.Div, typ, typ, 2), x, y); ok {
					t.Fatal("division by zero has a value")
				}
				for op, w := range want {
					if got := eval(t, instr(op, typ, typ, 2), x, y); got != new(big.Int).Mod(w, mod).Uint64() {
						t.Fatalf("%v %v %v %v = %#x, want %v", typ, bx, op, by, got, w)
					}
				}
				for op, w := range map[ir.Op]bool{ir.Eq: bx.Cmp(by) == 0, ir.Ne: bx.Cmp(by) != 0, ir.Lt: bx.Cmp(by) < 0, ir.Le: bx.Cmp(by) <= 0} {
					if got := eval(t, instr(op, typ, ir.Bool, 2), x, y); (got == 1) != w {
						t.Fatalf("%v %v %v %v = %v", typ, bx, op, by, got)
					}
				}
				for _, to := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64} {
					if got, want := scalar.Wrap(typ, to, x), bitsOf(to, bx); got != want {
						t.Fatalf("wrap %v %v to %v = %#x, want %#x", typ, bx, to, got, want)
					}
				}
				for _, to := range []ir.Type{ir.F32, ir.F64} {
					if got, want := scalar.Convert(typ, to, x), roundBig(to, new(big.Float).SetInt(bx)); got != want {
						t.Fatalf("convert %v %v to %v = %#x, want %#x", typ, bx, to, got, want)
					}
				}
			}
		}
	}
}

func bounds(t ir.Type) (least, most *big.Int) {
	width := uint(8 * t.Size())
	one := big.NewInt(1)
	if t.IsSigned() {
		most = new(big.Int).Lsh(one, width-1)
		return new(big.Int).Neg(most), new(big.Int).Sub(most, one)
	}
	return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, width), one)
}

func bitsOf(t ir.Type, n *big.Int) uint64 {
	return new(big.Int).Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))).Uint64()
}

func roundBig(t ir.Type, x *big.Float) uint64 {
	if t == ir.F32 {
		f, _ := x.Float32()
		return b32(f)
	}
	f, _ := x.Float64()
	return b64(f)
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }

func TestFloatToIntAgainstBig(t *testing.T) {
	for _, x := range float64s(rand.New(rand.NewPCG(3, 4)), 2000) {
		for _, to := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64} {
			least, most := bounds(to)
			var sat, wrap uint64
			switch {
			case x != x:
			case math.IsInf(x, 1):
				sat = bitsOf(to, most)
			case math.IsInf(x, -1):
				sat = bitsOf(to, least)
			default:
				n, _ := exact(x).Int(nil)
				wrap = bitsOf(to, n)
				if n.Cmp(least) < 0 {
					n = least
				} else if n.Cmp(most) > 0 {
					n = most
				}
				sat = bitsOf(to, n)
			}
			if got := scalar.Sat(ir.F64, to, b64(x)); got != sat {
				t.Errorf("sat %v to %v = %#x, want %#x", x, to, got, sat)
			}
			if got := scalar.Wrap(ir.F64, to, b64(x)); got != wrap {
				t.Errorf("wrap %v to %v = %#x, want %#x", x, to, got, wrap)
			}
		}
	}
}

func TestFMA32AgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	random := func() float32 {
		if rng.IntN(4) == 0 {
			return float32(edge64[rng.IntN(len(edge64))])
		}
		// close exponents make sums cancel and cause ties
		return float32(math.Ldexp(float64(rng.Int32N(1<<25)-1<<24), rng.IntN(60)-50-(rng.IntN(2)*100)))
	}
	for range 300000 {
		a, b, c := random(), random(), random()
		got := scalar.FMA32(a, b, c)
		if s := float64(a)*float64(b) + float64(c); s != s || math.IsInf(s, 0) {
			if g := float64(got); g != s && g == g {
				t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, s)
			}
			continue
		}
		sum := new(big.Float).SetPrec(4000).Mul(exact(float64(a)), exact(float64(b)))
		sum.Add(sum, exact(float64(c)))
		want, _ := sum.Float32()
		if got != want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
}

func TestFmodAgainstBig(t *testing.T) {
	xs := float64s(rand.New(rand.NewPCG(7, 8)), 60)
	for _, x := range xs {
		for _, y := range xs {
			got, want := scalar.Fmod(x, y), math.Mod(x, y)
			if got != want && !(got != got && want != want) || got == 0 && math.Signbit(got) != math.Signbit(want) {
				t.Fatalf("fmod(%v, %v) = %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestFloatsAgainstGo(t *testing.T) {
	xs := float64s(rand.New(rand.NewPCG(9, 10)), 80)
	for _, x := range xs {
		for _, y := range xs {
			x32, y32 := float32(x), float32(y)
			for op, w := range map[ir.Op]float64{ir.Add: x + y, ir.Sub: x - y, ir.Mul: x * y, ir.Div: x / y} {
				if got := eval(t, instr(op, ir.F64, ir.F64, 2), b64(x), b64(y)); !same64(got, w) {
					t.Fatalf("f64 %v %v %v = %#x, want %v", x, op, y, got, w)
				}
			}
			for op, w := range map[ir.Op]float32{ir.Add: x32 + y32, ir.Sub: x32 - y32, ir.Mul: x32 * y32, ir.Div: x32 / y32} {
				if got := eval(t, instr(op, ir.F32, ir.F32, 2), b32(x32), b32(y32)); !same64(scalar.Convert(ir.F32, ir.F64, got), float64(w)) {
					t.Fatalf("f32 %v %v %v = %#x, want %v", x32, op, y32, got, w)
				}
			}
			for op, w := range map[ir.Op]bool{ir.Eq: x == y, ir.Ne: x != y, ir.Lt: x < y, ir.Le: x <= y} {
				if got := eval(t, instr(op, ir.F64, ir.Bool, 2), b64(x), b64(y)); (got == 1) != w {
					t.Fatalf("%v %v %v = %v", x, op, y, got)
				}
			}
			// Go's min and max have the language's semantics
			if got := eval(t, instr(ir.Min, ir.F64, ir.F64, 2), b64(x), b64(y)); !same64(got, min(x, y)) {
				t.Fatalf("min(%v, %v) = %#x", x, y, got)
			}
			if got := eval(t, instr(ir.Max, ir.F64, ir.F64, 2), b64(x), b64(y)); !same64(got, max(x, y)) {
				t.Fatalf("max(%v, %v) = %#x", x, y, got)
			}
		}
	}
}

func same64(bits uint64, want float64) bool {
	if want != want {
		return bits == ir.NaN64
	}
	return bits == b64(want)
}

func TestRounding(t *testing.T) {
	neg0 := math.Copysign(0, -1)
	for _, c := range []struct {
		op      ir.Op
		x, want float64
	}{
		{ir.Round, 0.5, 1}, {ir.Round, -0.5, neg0}, {ir.Round, 2.5, 3}, {ir.Round, -2.5, -2}, {ir.Round, -2.6, -3},
		{ir.Round, 0.49999999999999994, 0}, {ir.Round, 4503599627370495.5, 4503599627370496}, {ir.Round, 9007199254740991, 9007199254740991},
		{ir.Round, -0.2, neg0}, {ir.Round, neg0, neg0}, {ir.Round, math.Inf(-1), math.Inf(-1)}, {ir.Round, math.NaN(), math.NaN()},
		{ir.Rint, 0.5, 0}, {ir.Rint, 1.5, 2}, {ir.Rint, -0.5, neg0}, {ir.Rint, 2.5, 2},
		{ir.Floor, -0.5, -1}, {ir.Ceil, -0.5, neg0}, {ir.Trunc, -1.9, -1}, {ir.Sqrt, 2, math.Sqrt2}, {ir.Sqrt, -1, math.NaN()},
		{ir.Abs, neg0, 0}, {ir.Neg, 0, neg0},
	} {
		if got := eval(t, instr(c.op, ir.F64, ir.F64, 1), b64(c.x)); !same64(got, c.want) {
			t.Errorf("%v %v = %#x, want %v", c.op, c.x, got, c.want)
		}
	}
}

func TestBitcastGivesTheCanonicalNaN(t *testing.T) {
	if got := eval(t, instr(ir.Bitcast, ir.F32, ir.U32, 1), 0xffc12345); got != ir.NaN32 {
		t.Errorf("bits of a NaN are %#x", got)
	}
	if got := eval(t, instr(ir.Bitcast, ir.U32, ir.F32, 1), 0x3f800000); got != b32(1) {
		t.Errorf("1.0 is %#x", got)
	}
}

// TestHalf tests all binary16 values, and the float32 values at and next to each rounding boundary, which suffices because
// rounding is monotonic.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		h := uint16(h)
		x := scalar.HalfToFloat(h)
		back := scalar.FloatToHalf(x)
		if x != x {
			if back != 0x7e00 || h&0x7c00 != 0x7c00 || h&0x3ff == 0 {
				t.Fatalf("%#04x is NaN and gives %#04x", h, back)
			}
			continue
		}
		if back != h {
			t.Fatalf("%#04x is %v and gives %#04x", h, x, back)
		}
		e, m := int(h>>10&0x1f), float64(h&0x3ff)
		want := math.Ldexp(m, -24)
		if e != 0 {
			want = math.Ldexp(1024+m, e-25)
		}
		if e != 0x1f && math.Abs(float64(x)) != want {
			t.Fatalf("%#04x is %v, want ±%v", h, x, want)
		}
		if h&0x7fff >= 0x7c00 {
			continue
		}
		next := float64(scalar.HalfToFloat(h&0x7fff + 1))
		if h&0x7fff == 0x7bff {
			next = 65536
		}
		middle := float32((math.Abs(float64(x)) + next) / 2)
		sign := h & 0x8000
		up, even := h+1, h+h&1
		for _, c := range []struct {
			x    float32
			want uint16
		}{{math.Nextafter32(middle, 0), h}, {middle, even}, {math.Nextafter32(middle, 1e9), up}} {
			x := float32(math.Copysign(float64(c.x), float64(int16(sign))+0.5))
			if got := scalar.FloatToHalf(x); got != c.want {
				t.Fatalf("%v gives %#04x, want %#04x", x, got, c.want)
			}
		}
	}
}

func TestBrain(t *testing.T) {
	for h := range uint64(1 << 16) {
		x := scalar.Load(ir.BF16, h)
		if v := math.Float32frombits(uint32(x)); v != v {
			if scalar.Store(ir.BF16, x) != 0x7fc0 {
				t.Fatal("NaN is not kept")
			}
			continue
		}
		for _, c := range []struct{ low, want uint64 }{{0, h}, {0x7fff, h}, {0x8000, h + h&1}, {0x8001, h + 1}, {0xffff, h + 1}} {
			b := h<<16 | c.low
			if v := math.Float32frombits(uint32(b)); v != v {
				continue
			}
			if got := scalar.Store(ir.BF16, b); got != c.want {
				t.Fatalf("%#08x gives %#04x, want %#04x", b, got, c.want)
			}
		}
	}
}

func TestStorage(t *testing.T) {
	for _, c := range []struct {
		t           ir.Type
		stored, reg uint64
	}{
		{ir.I8, 0xff, 0xffffffff}, {ir.U8, 0xff, 0xff}, {ir.I16, 0x8000, 0xffff8000}, {ir.U16, 0x8000, 0x8000}, {ir.Bool, 1, 1},
		{ir.I64, 1 << 63, 1 << 63}, {ir.F64, b64(0.1), b64(0.1)},
	} {
		if got := scalar.Load(c.t, c.stored); got != c.reg {
			t.Errorf("%v: %#x loads as %#x, want %#x", c.t, c.stored, got, c.reg)
		}
		if got := scalar.Store(c.t, c.reg); got != c.stored {
			t.Errorf("%v: %#x is stored as %#x, want %#x", c.t, c.reg, got, c.stored)
		}
	}
	if scalar.Load(ir.Bool, 0x80) != 1 {
		t.Error("a bool byte other than 0 is true")
	}
}

// TestRound compares roundings to f16 and bf16 with the elements on either side, compared exactly.
func TestRound(t *testing.T) {
	values := []float64{1 + 0x1p-11 + 0x1p-40, 65520 - 0x1p-20, 65520, 0x1p-25 + 0x1p-60, 0x1p-25, 1 + 0x1p-8 + 0x1p-40, 0x1p-134 + 0x1p-180,
		0x1p128 - 0x1p119 - 0x1p80, 0x1p128 - 0x1p119, 1e300, 5e-324, 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x := math.Float64frombits(rng.Uint64()>>12 | uint64(1023-150+rng.IntN(300))<<52)
		values = append(values, x, math.Float64frombits(math.Float64bits(x)&^(1<<44-1)|uint64(rng.IntN(3))), math.Float64frombits(math.Float64bits(x)&^(1<<41-1)|uint64(rng.IntN(3))))
	}
	for _, elem := range []ir.Type{ir.F16, ir.BF16} {
		for _, x := range values {
			got := scalar.Round(elem, math.Abs(x))
			value := func(b uint64) *big.Float { // of an element; infinity counts as the next power of two
				v := float64(math.Float32frombits(uint32(scalar.Load(elem, b))))
				if math.IsInf(v, 1) {
					v = 2 * math.Exp2(map[ir.Type]float64{ir.F16: 15, ir.BF16: 127}[elem])
				}
				return new(big.Float).SetPrec(2000).SetFloat64(v)
			}
			want := new(big.Float).SetPrec(2000).SetFloat64(math.Min(math.Abs(x), math.MaxFloat64))
			distance := func(b uint64) *big.Float {
				d := value(b)
				return d.Abs(d.Sub(d, want))
			}
			for _, other := range []uint64{got - 1, got + 1} {
				if other > 0xffff || float64(math.Float32frombits(uint32(scalar.Load(elem, other)))) != float64(math.Float32frombits(uint32(scalar.Load(elem, other)))) {
					continue
				}
				if c := distance(got).Cmp(distance(other)); c > 0 && got != scalar.Round(elem, math.Inf(1)) || c == 0 && got&1 == 1 {
					t.Fatalf("%v of %b is %#x, and %#x is nearer", elem, x, got, other)
				}
			}
			if neg := scalar.Round(elem, -math.Abs(x)); neg != got|0x8000 {
				t.Fatalf("%v of %v is %#x", elem, -math.Abs(x), neg)
			}
		}
		if scalar.Round(elem, math.NaN()) != map[ir.Type]uint64{ir.F16: 0x7e00, ir.BF16: 0x7fc0}[elem] {
			t.Errorf("%v of NaN is %#x", elem, scalar.Round(elem, math.NaN()))
		}
	}
	for _, n := range []int64{1<<62 + 1<<54 + 1, 1<<30 + 1<<22 + 1, 1<<53 + 1<<29 + 1, 1<<62 + 1<<38 + 1} {
		for _, elem := range []ir.Type{ir.BF16, ir.F32} {
			x, _ := new(big.Float).SetPrec(map[ir.Type]uint{ir.BF16: 8, ir.F32: 24}[elem]).SetInt64(n).Float64()
			if got := scalar.RoundInt(elem, big.NewInt(n)); got != scalar.Round(elem, x) {
				t.Errorf("%v of %d is %#x, want %#x", elem, n, got, scalar.Round(elem, x))
			}
		}
	}
}

// TestTowards compares with math.Nextafter, and for f16 and bf16 with a search among all numbers.
func TestTowards(t *testing.T) {
	inf := math.Inf(1)
	ends := []float64{-inf, -3, -1, -1e-9, 0, 1e-9, 1, 3, inf}
	same := func(typ ir.Type, x, end, want float64) {
		if got := scalar.Towards(typ, x, end); got != want {
			t.Errorf("%v from %v to %v: %v, expected %v", typ, x, end, got, want)
		}
	}
	for _, end := range ends {
		for _, x := range edge64 {
			if x == x {
				same(ir.F64, x, end, math.Nextafter(x, end))
				same(ir.F32, x, end, float64(math.Nextafter32(float32(x), float32(end))))
			}
		}
		for _, typ := range []ir.Type{ir.F16, ir.BF16} {
			round := func(x float64) float64 { return scalar.Towards(typ, x, x) }
			var all []float64
			for bits := range uint64(1 << 16) {
				if x := float64(math.Float32frombits(uint32(scalar.Load(typ, bits)))); x == x {
					all = append(all, x)
				}
			}
			slices.Sort(all)
			all = slices.Compact(all)
			for i, x := range all {
				switch last := round(end); {
				case x < last:
					same(typ, x, end, all[i+1])
				case x > last:
					same(typ, x, end, all[i-1])
				default:
					same(typ, x, end, last)
				}
			}
		}
	}
}
