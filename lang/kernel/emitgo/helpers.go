package emitgo

import (
	"github.com/orepl/orepl/lang/later"
)

// needs maps helpers to the helpers that they call.
var needs = later.Value[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{"mulHighSigned": {"mulHigh"}}
}}

// helpers maps names to the Go source of functions that printed code calls.
var helpers = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"opaque": `// opaque returns x and prevents Go from evaluating constants exactly.
func opaque[T any](x T) T { return x }`,

		"truth": `// truth returns 1 for true and 0 for false.
func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}`,

		"round": `// round implements JavaScript's Math.round: to the nearest integer, ties up, keeping the sign of zero.
func round(x float64) float64 {
	r := math.Floor(x)
	if x-r >= 0.5 {
		r++
	}
	return math.Copysign(r, x)
}`,

		"bits64": `// bits64 returns the bits of x, canonical for NaN.
func bits64(x float64) uint64 {
	if x != x {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}`,

		"bits32": `// bits32 returns the bits of x, canonical for NaN.
func bits32(x float32) uint32 {
	if x != x {
		return 0x7fc00000
	}
	return math.Float32bits(x)
}`,

		"mulHigh": `// mulHigh returns the upper half of a product.
func mulHigh(x, y uint64) uint64 {
	high, _ := bits.Mul64(x, y)
	return high
}`,

		"mulHighSigned": `// mulHighSigned returns the upper half of a signed product.
func mulHighSigned(x, y int64) int64 {
	return int64(mulHigh(uint64(x), uint64(y))) - x>>63&y - y>>63&x
}`,

		"saturateI32": `// saturateI32 truncates x to an int32, saturated; NaN becomes 0.
func saturateI32(x float64) int32 {
	switch {
	case x != x:
		return 0
	case x <= math.MinInt32:
		return math.MinInt32
	case x >= math.MaxInt32:
		return math.MaxInt32
	}
	return int32(x)
}`,

		"saturateU32": `// saturateU32 truncates x to a uint32, saturated; NaN becomes 0.
func saturateU32(x float64) uint32 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint32:
		return math.MaxUint32
	}
	return uint32(int64(x))
}`,

		"saturateI64": `// saturateI64 truncates x to an int64, saturated; NaN becomes 0.
func saturateI64(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x <= math.MinInt64:
		return math.MinInt64
	case x >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(x)
}`,

		"saturateU64": `// saturateU64 truncates x to a uint64, saturated; NaN becomes 0.
func saturateU64(x float64) uint64 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint64:
		return math.MaxUint64
	case x >= 1<<63:
		return uint64(int64(x-1<<63)) | 1<<63
	}
	return uint64(int64(x))
}`,

		"wrapFloat": `// wrapFloat truncates x to an integer modulo 2⁶⁴; NaN and infinities become 0.
func wrapFloat(x float64) uint64 {
	b := math.Float64bits(x)
	m, e := b&(1<<52-1)|1<<52, int(b>>52&0x7ff)-1075
	switch {
	case e >= 64 || e <= -53:
		return 0
	case e >= 0:
		m <<= e
	default:
		m >>= -e
	}
	if x < 0 {
		m = -m
	}
	return m
}`,

		"fma32": `// fma32 returns a·b + c rounded once. The product is exact in float64, where the sum is rounded to odd.
func fma32(a, b, c float32) float32 {
	p, z := float64(float64(a)*float64(b)), float64(c)
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	zz := s - p
	lost := (p - (s - zz)) + (z - zz)
	if u := math.Float64bits(s); lost != 0 && u&1 == 0 {
		if (lost < 0) == math.Signbit(s) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}`,
	}
}}
