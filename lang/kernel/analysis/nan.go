package analysis

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// NaNs holds a set of possible values for each float of a kernel.
type NaNs struct {
	ranges Values[floats]
}

// floats is a set of floats: the interval from lo to hi, and NaN if nan is true. It is empty if lo > hi and nan is false.
type floats struct {
	lo, hi float64
	nan    bool
	raw    bool // a NaN may have other than the canonical bits
	known  bool // false in the zero value
}

// FindNaNs computes a set of possible values for each float of a verified kernel.
func FindNaNs(k *ir.Kernel) *NaNs {
	n := &NaNs{NewValues[floats](k)}
	n.block(StructureOf(k), k.Body)
	return n
}

// None reports whether a float is known never to be NaN.
func (n *NaNs) None(v *ir.Value) bool { return !n.of(v).nan }

// Canonical reports whether v is known to have the canonical bits whenever it is NaN.
func (n *NaNs) Canonical(v *ir.Value) bool {
	r := n.of(v)
	return !r.nan || !r.raw
}

func anyFloat() floats { return floats{math.Inf(-1), math.Inf(1), true, true, true} }

// span returns the set of floats from lo to hi, rounded to type t, and NaN if nan is set. It returns all floats if lo or hi is NaN.
func span(t ir.Type, lo, hi float64, nan bool) floats {
	lo, hi = roundTo(t, lo), roundTo(t, hi)
	if lo != lo || hi != hi {
		return anyFloat()
	}
	return floats{lo, hi, nan, nan, true}
}

func roundTo(t ir.Type, x float64) float64 {
	if t == ir.F32 {
		return float64(float32(x))
	}
	return x
}

func (n *NaNs) of(v *ir.Value) floats {
	if r := n.ranges.At(v); r.known {
		return r
	}
	return anyFloat()
}

func (r floats) join(o floats) floats {
	return floats{math.Min(r.lo, o.lo), math.Max(r.hi, o.hi), r.nan || o.nan, r.raw || o.raw, true}
}

func (r floats) has(x float64) bool { return r.lo <= x && x <= r.hi }

func (r floats) infinite() bool { return math.IsInf(r.lo, -1) || math.IsInf(r.hi, 1) }

func (n *NaNs) block(s *Structure, b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		if in.Then != nil {
			n.block(s, in.Then)
			n.block(s, in.Else)
			n.joined(s, in)
			continue
		}
		if v := in.Result(); v != nil && v.Type.IsFloat() {
			n.ranges.Set(v, n.result(in, v.Type))
		}
	}
}

// joined computes the results of a structured instruction from the operands at its ends.
func (n *NaNs) joined(s *Structure, in *ir.Instr) {
	edges := s.Ends(in)
	for i, v := range in.Results {
		if !v.Type.IsFloat() || len(edges) == 0 {
			continue
		}
		r := n.of(edges[0].Args[i])
		for _, e := range edges[1:] {
			r = r.join(n.of(e.Args[i]))
		}
		n.ranges.Set(v, r)
	}
}

func (n *NaNs) result(in *ir.Instr, t ir.Type) floats {
	switch in.Op {
	case ir.Const:
		x := floatOf(t, in.Bits)
		if x != x {
			return floats{math.Inf(1), math.Inf(-1), true, in.Bits != nanOf(t), true}
		}
		return floats{x, x, false, false, true}
	case ir.Convert:
		return n.converted(in.Args[0], t)
	case ir.Select:
		return n.chosen(in)
	case ir.Uniform:
		return n.of(in.Args[0])
	case ir.Quant:
		x := n.of(in.Args[0])
		if in.Elem != t { // the result is at most twice as large, or infinite
			x = floats{rounded16(math.Min(x.lo, 0)), rounded16(math.Max(x.hi, 0)), x.nan, false, true}
		}
		x.raw = false
		return x
	}
	if in.Op.IsUnary() {
		return n.unary(in.Op, t, n.of(in.Args[0]))
	}
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Min, ir.Max:
		return binaryFloats(in.Op, t, n.of(in.Args[0]), n.of(in.Args[1]), in.Args[0] == in.Args[1])
	case ir.FMA:
		x := binaryFloats(ir.Mul, ir.F64, n.of(in.Args[0]), n.of(in.Args[1]), in.Args[0] == in.Args[1])
		return binaryFloats(ir.Add, t, x.wider(), n.of(in.Args[2]), false)
	}
	return anyFloat()
}

// rounded16 returns a bound of the magnitude of numbers between 0 and x after rounding to f16 or bf16, with the sign of x.
func rounded16(x float64) float64 {
	if math.Abs(x) < 32768 {
		return 2 * x
	}
	return math.Copysign(math.Inf(1), x)
}

// wider returns the set extended by one float at both ends, which may have been rounded inwards.
func (r floats) wider() floats {
	r.lo, r.hi = math.Nextafter(r.lo, math.Inf(-1)), math.Nextafter(r.hi, math.Inf(1))
	return r
}

func floatOf(t ir.Type, bits uint64) float64 {
	if t == ir.F32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

func nanOf(t ir.Type) uint64 {
	if t == ir.F32 {
		return ir.NaN32
	}
	return ir.NaN64
}

// converted returns the result of a conversion to a float. A converted integer is never NaN.
func (n *NaNs) converted(v *ir.Value, t ir.Type) floats {
	switch {
	case v.Type.IsFloat():
		x := n.of(v)
		return span(t, x.lo, x.hi, x.nan)
	case v.Type == ir.Bool:
		return floats{0, 1, false, false, true}
	}
	stored := v.Type
	if v.Def != nil && v.Def.Op == ir.Load {
		stored = v.Def.Accessed()
	}
	if lo, hi, ok := IntRange(stored); ok {
		return span(t, float64(lo), float64(hi), false)
	}
	return span(t, 0, 1<<64, false)
}

// chosen returns the result of a Select. In the true case of a comparison that is false for NaN, its operands are not NaN. The same holds
// for the false case of Ne.
func (n *NaNs) chosen(in *ir.Instr) floats {
	yes, no := n.of(in.Args[1]), n.of(in.Args[2])
	if c := in.Args[0].Def; c != nil {
		switch {
		case (c.Op == ir.Eq || c.Op == ir.Lt || c.Op == ir.Le) && (c.Args[0] == in.Args[1] || c.Args[1] == in.Args[1]):
			yes.nan, yes.raw = false, false
		case c.Op == ir.Ne && (c.Args[0] == in.Args[2] || c.Args[1] == in.Args[2]):
			no.nan, no.raw = false, false
		}
	}
	return yes.join(no)
}

func (n *NaNs) unary(op ir.Op, t ir.Type, x floats) floats {
	switch op {
	case ir.Neg:
		return span(t, -x.hi, -x.lo, x.nan)
	case ir.Abs:
		lo := math.Max(0, math.Max(x.lo, -x.hi))
		return span(t, lo, math.Max(-x.lo, x.hi), x.nan)
	case ir.Sqrt:
		return span(t, math.Sqrt(math.Max(x.lo, 0)), math.Sqrt(math.Max(x.hi, 0)), x.nan || x.lo < 0)
	case ir.Floor:
		return span(t, math.Floor(x.lo), math.Floor(x.hi), x.nan)
	case ir.Ceil:
		return span(t, math.Ceil(x.lo), math.Ceil(x.hi), x.nan)
	case ir.Trunc:
		return span(t, math.Trunc(x.lo), math.Trunc(x.hi), x.nan)
	case ir.Round, ir.Rint:
		return span(t, math.Floor(x.lo), math.Ceil(x.hi), x.nan)
	}
	return anyFloat()
}

// binaryFloats returns the result of an operation on two sets; same means that both operands are one value. Each operation is
// monotonic in each operand, so the bounds of the result follow from the bounds of the operands.
func binaryFloats(op ir.Op, t ir.Type, x, y floats, same bool) floats {
	nan := x.nan || y.nan
	if x.lo > x.hi || y.lo > y.hi { // an operand is always NaN, or the code is unreachable
		return anyFloat()
	}
	switch op {
	case ir.Sub:
		y.lo, y.hi = -y.hi, -y.lo
		fallthrough
	case ir.Add:
		if x.has(math.Inf(1)) && y.has(math.Inf(-1)) || x.has(math.Inf(-1)) && y.has(math.Inf(1)) {
			return anyFloat()
		}
		return span(t, x.lo+y.lo, x.hi+y.hi, nan)
	case ir.Mul:
		if same {
			if x.nan { // a square
				return floats{0, math.Inf(1), true, true, true}
			}
			most := math.Max(math.Abs(x.lo), math.Abs(x.hi))
			return span(t, 0, most*most, false)
		}
		if x.has(0) && y.infinite() || y.has(0) && x.infinite() {
			return anyFloat()
		}
		return corners(t, nan, x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi)
	case ir.Div:
		if y.has(0) || x.infinite() && y.infinite() {
			if !nan && !y.infinite() && !x.has(0) { // division by zero is infinite
				return floats{math.Inf(-1), math.Inf(1), false, false, true}
			}
			return anyFloat()
		}
		return corners(t, nan, x.lo/y.lo, x.lo/y.hi, x.hi/y.lo, x.hi/y.hi)
	case ir.Min:
		return floats{math.Min(x.lo, y.lo), math.Min(x.hi, y.hi), nan, nan, true}
	case ir.Max:
		return floats{math.Max(x.lo, y.lo), math.Max(x.hi, y.hi), nan, nan, true}
	}
	return anyFloat()
}

func corners(t ir.Type, nan bool, list ...float64) floats {
	lo, hi := list[0], list[0]
	for _, x := range list[1:] {
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	return span(t, lo, hi, nan)
}
