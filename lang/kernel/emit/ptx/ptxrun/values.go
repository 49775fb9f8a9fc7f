package ptxrun

import (
	"errors"
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
)

// low returns the lowest size bytes of a value.
func low(x uint64, size int) uint64 {
	if size == 8 {
		return x
	}
	return x & (1<<(8*size) - 1)
}

func signed(x uint64, size int) int64 { return int64(x<<(64-8*size)) >> (64 - 8*size) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func first(x, _, _ uint64) uint64 { return x }

// float returns the float of type t whose bits are x.
func float(t kind, x uint64) float64 {
	if t.size == 4 {
		return float64(math.Float32frombits(uint32(x)))
	}
	return math.Float64frombits(x)
}

// Bits of NaN results on NVIDIA's processors.
const (
	nan32 = 0x7fffffff
	nan64 = 0xfff8000000000000
)

func bits32(x float32) uint64 {
	if x != x {
		return nan32
	}
	return uint64(math.Float32bits(x))
}

func bits64(x float64) uint64 {
	if x != x {
		return nan64
	}
	return math.Float64bits(x)
}

// floats returns an operation on floats of both sizes.
func floats(f32 func(x, y float32) float32, f64 func(x, y float64) float64) func(kind) func(x, y, z uint64) uint64 {
	return func(t kind) func(x, y, z uint64) uint64 {
		if t.size == 4 {
			return func(x, y, _ uint64) uint64 {
				return bits32(f32(math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))))
			}
		}
		return func(x, y, _ uint64) uint64 { return bits64(f64(math.Float64frombits(x), math.Float64frombits(y))) }
	}
}

// integers returns an operation that truncates the result of a 64-bit computation.
func integers(f func(x, y uint64) uint64) func(kind) func(x, y, z uint64) uint64 {
	return func(t kind) func(x, y, z uint64) uint64 {
		return func(x, y, _ uint64) uint64 { return low(f(t.extend(x), t.extend(y)), t.size) }
	}
}

// compared returns a setp instruction, which compares floats by f, and signed and unsigned integers by s and u.
func compared(f func(x, y float64) bool, s func(x, y int64) bool, u func(x, y uint64) bool) operation {
	return operation{operands: 2, classes: "bsuf", result: kind{'p', 1}, fast: func(t kind) func(x, y, z uint64) uint64 {
		switch t.class {
		case 'f':
			return func(x, y, _ uint64) uint64 { return truth(f(float(t, x), float(t, y))) }
		case 's':
			return func(x, y, _ uint64) uint64 { return truth(s(signed(x, t.size), signed(y, t.size))) }
		}
		return func(x, y, _ uint64) uint64 { return truth(u(x, y)) }
	}}
}

// divided returns div or rem of integers. Operands for which PTX leaves the result undefined are errors.
func divided(s func(x, y int64) int64, u func(x, y uint64) uint64) operation {
	return operation{operands: 2, classes: "su", of: func(t kind) func(x, y, z uint64) (uint64, error) {
		return func(x, y, _ uint64) (uint64, error) {
			switch {
			case y == 0:
				return 0, errors.New("division by zero")
			case t.class == 'u':
				return u(x, y), nil
			case signed(y, t.size) == -1 && signed(x, t.size) == math.MinInt64>>(64-8*t.size):
				return 0, errors.New("the quotient is too large")
			}
			return low(uint64(s(signed(x, t.size), signed(y, t.size))), t.size), nil
		}
	}}
}

// shifted returns a shift. PTX clamps counts to the width.
func shifted(f func(t kind, x, n uint64) uint64, classes string) operation {
	return operation{operands: 2, classes: classes, last: kind{'u', 4}, fast: func(t kind) func(x, y, z uint64) uint64 {
		return func(x, n, _ uint64) uint64 { return low(f(t, x, min(n, uint64(8*t.size))), t.size) }
	}}
}

// unary returns an operation with one operand.
func unary(classes string, f func(t kind, x uint64) uint64) operation {
	return operation{operands: 1, classes: classes, fast: func(t kind) func(x, y, z uint64) uint64 {
		return func(x, _, _ uint64) uint64 { return f(t, x) }
	}}
}

func logic(f func(x, y uint64) uint64) operation {
	return operation{operands: 2, classes: "bp", fast: func(kind) func(x, y, z uint64) uint64 {
		return func(x, y, _ uint64) uint64 { return f(x, y) }
	}}
}

func binary(classes string, fast func(kind) func(x, y, z uint64) uint64) operation {
	return operation{operands: 2, classes: classes, fast: fast}
}

func mulHigh(t kind) func(x, y, z uint64) uint64 {
	return func(x, y, _ uint64) uint64 {
		high, product := bits.Mul64(x, y)
		switch {
		case t.size == 4 && t.class == 's':
			return uint64(uint32(uint64(signed(x, 4)*signed(y, 4)) >> 32))
		case t.size == 4:
			return product >> 32
		case t.class == 's':
			return high - uint64(int64(x)>>63)&y - uint64(int64(y)>>63)&x
		}
		return high
	}
}

func fused(t kind) func(x, y, z uint64) uint64 {
	return func(x, y, z uint64) uint64 {
		if t.size == 4 {
			return bits32(scalar.FMA32(math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y)), math.Float32frombits(uint32(z))))
		}
		return bits64(math.FMA(math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)))
	}
}

func least[T int64 | uint64](x, y T) T    { return min(x, y) }
func greatest[T int64 | uint64](x, y T) T { return max(x, y) }

// ordered returns min or max of integers, by s for signed and by u for unsigned types.
func ordered(s func(x, y int64) int64, u func(x, y uint64) uint64) func(kind) func(x, y, z uint64) uint64 {
	return func(t kind) func(x, y, z uint64) uint64 {
		if t.class == 's' {
			return func(x, y, _ uint64) uint64 {
				return low(uint64(s(signed(x, t.size), signed(y, t.size))), t.size)
			}
		}
		return func(x, y, _ uint64) uint64 { return u(x, y) }
	}
}

// operations maps names without types to the instructions on values.
var operations = later.Value[map[string]operation]{Make: func() map[string]operation {
	return map[string]operation{
		"mov": unary("bsufp", func(_ kind, x uint64) uint64 { return x }),
		"not": unary("bp", func(t kind, x uint64) uint64 {
			return map[bool]uint64{true: x ^ 1, false: low(^x, t.size)}[t.class == 'p']
		}),
		"neg": unary("s", func(t kind, x uint64) uint64 { return low(-x, t.size) }),
		"abs": unary("s", func(t kind, x uint64) uint64 { n := signed(x, t.size); return low(uint64(max(n, -n)), t.size) }),
		"clz": {operands: 1, classes: "b", result: kind{'u', 4}, fast: func(t kind) func(x, y, z uint64) uint64 {
			return func(x, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(x) - 64 + 8*t.size) }
		}},
		"popc": {operands: 1, classes: "b", result: kind{'u', 4}, fast: func(kind) func(x, y, z uint64) uint64 {
			return func(x, _, _ uint64) uint64 { return uint64(bits.OnesCount64(x)) }
		}},
		"and":    logic(func(x, y uint64) uint64 { return x & y }),
		"or":     logic(func(x, y uint64) uint64 { return x | y }),
		"xor":    logic(func(x, y uint64) uint64 { return x ^ y }),
		"add":    binary("su", integers(func(x, y uint64) uint64 { return x + y })),
		"sub":    binary("su", integers(func(x, y uint64) uint64 { return x - y })),
		"mul.lo": binary("su", integers(func(x, y uint64) uint64 { return x * y })),
		"mul.hi": binary("su", mulHigh),
		"mul.wide": {operands: 2, classes: "su", narrow: true, result: kind{'b', 8}, fast: func(t kind) func(x, y, z uint64) uint64 {
			return func(x, y, _ uint64) uint64 { return t.extend(x) * t.extend(y) }
		}},
		"min": binary("su", ordered(least[int64], least[uint64])),
		"max": binary("su", ordered(greatest[int64], greatest[uint64])),
		"div": divided(func(x, y int64) int64 { return x / y }, func(x, y uint64) uint64 { return x / y }),
		"rem": divided(func(x, y int64) int64 { return x % y }, func(x, y uint64) uint64 { return x % y }),
		"shl": shifted(func(_ kind, x, n uint64) uint64 { return x << n }, "b"),
		"shr": shifted(func(t kind, x, n uint64) uint64 {
			if t.class == 's' {
				return uint64(signed(x, t.size) >> n)
			}
			return x >> n
		}, "bsu"),
		"add.rn":   binary("f", floats(func(x, y float32) float32 { return x + y }, func(x, y float64) float64 { return x + y })),
		"sub.rn":   binary("f", floats(func(x, y float32) float32 { return x - y }, func(x, y float64) float64 { return x - y })),
		"mul.rn":   binary("f", floats(func(x, y float32) float32 { return x * y }, func(x, y float64) float64 { return x * y })),
		"div.rn":   binary("f", floats(func(x, y float32) float32 { return x / y }, func(x, y float64) float64 { return x / y })),
		"sqrt.rn":  {operands: 1, classes: "f", fast: floats(func(x, _ float32) float32 { return float32(math.Sqrt(float64(x))) }, func(x, _ float64) float64 { return math.Sqrt(x) })},
		"fma.rn":   {operands: 3, classes: "f", fast: fused},
		"setp.eq":  compared(func(x, y float64) bool { return x == y }, func(x, y int64) bool { return x == y }, func(x, y uint64) bool { return x == y }),
		"setp.ne":  compared(func(x, y float64) bool { return x != y && x == x && y == y }, func(x, y int64) bool { return x != y }, func(x, y uint64) bool { return x != y }),
		"setp.neu": compared(func(x, y float64) bool { return x != y }, nil, nil),
		"setp.lt":  compared(func(x, y float64) bool { return x < y }, func(x, y int64) bool { return x < y }, func(x, y uint64) bool { return x < y }),
		"setp.le":  compared(func(x, y float64) bool { return x <= y }, func(x, y int64) bool { return x <= y }, func(x, y uint64) bool { return x <= y }),
		"selp": {operands: 3, classes: "bsuf", last: kind{'p', 1}, fast: func(kind) func(x, y, z uint64) uint64 {
			return func(x, y, z uint64) uint64 {
				if z != 0 {
					return x
				}
				return y
			}
		}},
	}
}}

// atomicOp is an atomic instruction. The function that of returns computes the value to write from the old value and the
// instruction's operands. classes are the valid type classes.
type atomicOp struct {
	classes string
	of      func(t kind) func(old, x, y uint64) uint64
}

var atomics = later.Value[map[string]atomicOp]{Make: func() map[string]atomicOp {
	return map[string]atomicOp{
		"add":  {"us", integers(func(x, y uint64) uint64 { return x + y })},
		"and":  {"b", logic(func(x, y uint64) uint64 { return x & y }).fast},
		"or":   {"b", logic(func(x, y uint64) uint64 { return x | y }).fast},
		"xor":  {"b", logic(func(x, y uint64) uint64 { return x ^ y }).fast},
		"min":  {"us", ordered(least[int64], least[uint64])},
		"max":  {"us", ordered(greatest[int64], greatest[uint64])},
		"exch": {"b", func(kind) func(old, x, y uint64) uint64 { return func(_, x, _ uint64) uint64 { return x } }},
		"cas": {"b", func(kind) func(old, x, y uint64) uint64 {
			return func(old, x, y uint64) uint64 {
				if old == x {
					return y
				}
				return old
			}
		}},
	}
}}

// convert returns the function of a cvt instruction with a rounding mode, or an error for an unknown one.
func convert(mode string, to, from kind) (func(x, y, z uint64) uint64, error) {
	isFloat := func(k kind) bool { return k.class == 'f' }
	switch {
	case !isFloat(to) && !isFloat(from) && mode == "":
		return func(x, _, _ uint64) uint64 { return low(from.extend(low(x, from.size)), max(to.size, 4)) }, nil
	case isFloat(to) && isFloat(from) && to == from:
		round, ok := map[string]func(float64) float64{"rmi": math.Floor, "rpi": math.Ceil, "rzi": math.Trunc, "rni": math.RoundToEven}[mode]
		if !ok {
			break
		}
		if to.size == 4 {
			return func(x, _, _ uint64) uint64 { return bits32(float32(round(float(from, x)))) }, nil
		}
		return func(x, _, _ uint64) uint64 { return bits64(round(float(from, x))) }, nil
	case isFloat(to) && isFloat(from) && to.size == 4 && mode == "rn":
		return func(x, _, _ uint64) uint64 { return bits32(float32(float(from, x))) }, nil
	case isFloat(to) && isFloat(from) && to.size == 8 && mode == "":
		return func(x, _, _ uint64) uint64 { return bits64(float(from, x)) }, nil
	case isFloat(to) && !isFloat(from) && mode == "rn":
		return func(x, _, _ uint64) uint64 {
			x = low(x, from.size)
			switch {
			case from.class == 's' && to.size == 4:
				return bits32(float32(signed(x, from.size)))
			case from.class == 's':
				return bits64(float64(signed(x, from.size)))
			case to.size == 4:
				return bits32(float32(x))
			}
			return bits64(float64(x))
		}, nil
	case isFloat(from) && !isFloat(to) && mode == "rzi" && to.size >= 4:
		return func(x, _, _ uint64) uint64 { return truncated(to, from, float(from, x)) }, nil
	}
	return nil, errors.New("unknown conversion")
}

// truncated converts a float to an integer, truncated and saturated. NaN becomes 0 between types of 32 bits, otherwise the integer
// whose highest bit alone is set.
func truncated(to, from kind, v float64) uint64 {
	width := 8 * to.size
	v = math.Trunc(v)
	switch {
	case v != v && from.size == 4 && to.size == 4:
		return 0
	case v != v:
		return 1 << (width - 1)
	case to.class == 's' && v >= math.Ldexp(1, width-1):
		return 1<<(width-1) - 1
	case to.class == 's' && v < -math.Ldexp(1, width-1):
		return 1 << (width - 1)
	case to.class == 's':
		return low(uint64(int64(v)), to.size)
	case v >= math.Ldexp(1, width):
		return low(math.MaxUint64, to.size)
	case v <= 0:
		return 0
	}
	return uint64(v)
}
