package opt

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// interval is the set of integers from lo to hi. It is empty if lo is greater than hi, which happens in unreachable code.
type interval struct{ lo, hi int64 }

// tracked reports whether values of the type have intervals.
func tracked(t ir.Type) bool { return t == ir.I32 || t == ir.U32 || t == ir.I64 }

// full returns the interval of all values of a tracked type, and that of i64 for u64, bool and floats.
func full(t ir.Type) interval {
	lo, hi, ok := analysis.IntRange(t)
	if !ok {
		lo, hi = math.MinInt64, math.MaxInt64
	}
	return interval{lo, hi}
}

func exactly(n int64) interval { return interval{n, n} }

func (r interval) within(o interval) bool { return o.lo <= r.lo && r.hi <= o.hi }

func (r interval) join(o interval) interval { return interval{min(r.lo, o.lo), max(r.hi, o.hi)} }

func (r interval) meet(o interval) interval { return interval{max(r.lo, o.lo), min(r.hi, o.hi)} }

func addOK(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func mulOK(a, b int64) (int64, bool) {
	abs := func(n int64) uint64 {
		if n < 0 {
			return -uint64(n)
		}
		return uint64(n)
	}
	hi, lo := bits.Mul64(abs(a), abs(b))
	return a * b, hi == 0 && lo <= math.MaxInt64
}

// fit returns the interval lo to hi and true if ok is true and the type has all its values. Otherwise it returns the type's full
// interval and false.
func fit(t ir.Type, lo, hi int64, ok bool) (interval, bool) {
	r := interval{lo, hi}
	if !ok || !r.within(full(t)) {
		return full(t), false
	}
	return r, true
}

// addRange returns the range of sums of x and y. It returns false, and the full range of the type, if a sum may wrap. subRange and
// mulRange do so for differences and products.
func addRange(t ir.Type, x, y interval) (interval, bool) {
	lo, ok1 := addOK(x.lo, y.lo)
	hi, ok2 := addOK(x.hi, y.hi)
	return fit(t, lo, hi, ok1 && ok2)
}

func subRange(t ir.Type, x, y interval) (interval, bool) {
	if y.lo == math.MinInt64 {
		return full(t), false
	}
	return addRange(t, x, interval{-y.hi, -y.lo})
}

func mulRange(t ir.Type, x, y interval) (interval, bool) {
	r := interval{math.MaxInt64, math.MinInt64}
	for _, a := range [2]int64{x.lo, x.hi} {
		for _, b := range [2]int64{y.lo, y.hi} {
			n, ok := mulOK(a, b)
			if !ok {
				return full(t), false
			}
			r = r.join(exactly(n))
		}
	}
	return fit(t, r.lo, r.hi, true)
}

// divRange returns the interval of a quotient. It is full unless y, the interval of the divisors, is positive and not empty.
func divRange(t ir.Type, x, y interval) interval {
	if y.lo < 1 || y.hi < y.lo {
		return full(t)
	}
	r := exactly(x.lo / y.lo)
	for _, n := range [3]int64{x.lo / y.hi, x.hi / y.lo, x.hi / y.hi} {
		r = r.join(exactly(n))
	}
	return r
}

// remRange returns the interval of a remainder. It is full unless all divisors are positive.
func remRange(t ir.Type, x, y interval) interval {
	if y.lo < 1 {
		return full(t)
	}
	r := interval{max(x.lo, 1-y.hi), min(x.hi, y.hi-1)}
	if x.lo >= 0 {
		r.lo = 0
	} else {
		r.hi = max(r.hi, 0)
	}
	if x.hi <= 0 {
		r.hi = 0
	} else {
		r.lo = min(r.lo, 0)
	}
	return r
}

// shiftRight returns the interval of an arithmetic right shift by a constant.
func shiftRight(x interval, n int64) interval { return interval{x.lo >> n, x.hi >> n} }

// storageRange returns the interval of elements of an 8-bit or 16-bit integer type. It returns false for other types.
func storageRange(t ir.Type) (interval, bool) {
	lo, hi, ok := analysis.IntRange(t)
	return interval{lo, hi}, ok && t.Size() < 4
}
