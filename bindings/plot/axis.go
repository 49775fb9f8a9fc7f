package plot

import (
	"math"
	"strconv"
	"strings"
)

// An axis maps values in [low, high] to positions in [0, 1].
type axis struct {
	low, high float64
	log       bool
	known     bool // at least one value extended the axis
	binary    bool // labels are powers of two
}

// extend widens the range to include a value.
func (a *axis) extend(v float64) {
	if !a.known {
		a.low, a.high, a.known = v, v, true
		return
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
}

// rounded returns the axis with each end moved to the next round value, which has a label, if that is near.
func (a axis) rounded() axis {
	if a.log {
		low, high := math.Log10(a.low), math.Log10(a.high)
		near := (high - low) / 10
		if down := math.Floor(low); low-down <= near && down > -300 {
			a.low = math.Pow(10, down)
		}
		if up := math.Ceil(high); up-high <= near && up < 300 {
			a.high = math.Pow(10, up)
		}
		return a
	}
	const parts = 4 // number of intervals between round values
	step, near := roundStep(a.high/parts-a.low/parts), a.high/10-a.low/10
	if down := math.Floor(a.low/step) * step; isFinite(down) && a.low-down <= near {
		a.low = down
	}
	if up := math.Ceil(a.high/step) * step; isFinite(up) && up-a.high <= near {
		a.high = up
	}
	return a
}

// widen extends a range of zero length.
func (a *axis) widen() {
	switch {
	case a.low != a.high:
	case a.log:
		a.low, a.high = max(a.low/2, math.SmallestNonzeroFloat64), max(a.high, min(a.high*2, math.MaxFloat64))
	case math.Abs(a.low) < 1e-300:
		a.low, a.high = -1, 1
	default:
		d := math.Abs(a.low) / 2
		a.low, a.high = max(a.low-d, -math.MaxFloat64), min(a.high+d, math.MaxFloat64)
	}
}

// at returns the position of a value, which is in [0, 1] within the range.
func (a *axis) at(v float64) float64 {
	if a.log { // Log2, since math.Log is inaccurate for denormals on amd64
		low := math.Log2(a.low)
		return (math.Log2(v) - low) / (math.Log2(a.high) - low)
	}
	if span := a.high - a.low; !math.IsInf(span, 0) {
		return (v - a.low) / span
	}
	return (v/2 - a.low/2) / (a.high/2 - a.low/2)
}

// ticks returns about n round values within the range, in ascending order, with their labels.
func (a *axis) ticks(n int) (values []float64, labels []string) {
	if a.binary {
		return a.doubled(n)
	}
	if a.log {
		values = a.powers(n)
		if more := a.steps([]float64{1, 2, 5}); len(values) < 4 && len(more) >= 3 && len(more) <= n+2 {
			values = more
		}
	}
	if len(values) >= 2 {
		for _, v := range values {
			labels = append(labels, short(v))
		}
		return values, labels
	}
	values = nil
	step := roundStep(a.high/float64(n) - a.low/float64(n))
	first := math.Ceil(a.low / step)
	for i := 0; i <= 2*n; i++ {
		v := (first + float64(i)) * step
		if v > a.high+step*1e-9 || !isFinite(v) {
			break
		}
		if v == 0 {
			v = 0 // replaces -0
		}
		values = append(values, v)
		labels = append(labels, stepped(v, step, max(math.Abs(a.low), math.Abs(a.high))))
	}
	return values, labels
}

// doubled returns about n evenly spaced powers of two within the range, with their labels.
func (a *axis) doubled(n int) (values []float64, labels []string) {
	low, high := math.Ceil(math.Log2(a.low)-1e-9), math.Floor(math.Log2(a.high)+1e-9)
	step := max(1, math.Ceil((high-low)/float64(n)))
	for e := low; e <= high; e += step {
		values, labels = append(values, math.Exp2(e)), append(labels, a.label(math.Exp2(e)))
	}
	return values, labels
}

// label formats a value of the axis.
func (a *axis) label(v float64) string {
	if !a.binary || v < 1024 {
		return short(v)
	}
	for i, unit := range []string{"Ki", "Mi", "Gi", "Ti"} {
		if size := math.Exp2(float64(10 * (i + 1))); v < size*1024 {
			return short(v/size) + " " + unit
		}
	}
	return short(v)
}

// between returns the values of the minor grid lines of a logarithmic axis: 2 to 9 times each power of ten. It returns nil for
// a linear axis, for one of powers of two, and for one that spans more than six powers of ten.
func (a *axis) between() (values []float64) {
	if !a.log || a.binary || math.Log10(a.high)-math.Log10(a.low) > 6 {
		return nil
	}
	return a.steps([]float64{2, 3, 4, 5, 6, 7, 8, 9})
}

// steps returns the products of factors and powers of ten within the range of a logarithmic axis.
func (a *axis) steps(factors []float64) (values []float64) {
	for e := math.Floor(math.Log10(a.low)); e <= math.Log10(a.high); e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) {
				values = append(values, v)
			}
		}
	}
	return values
}

// powers returns about n evenly spaced powers of ten within the range.
func (a *axis) powers(n int) (values []float64) {
	low, high := math.Ceil(math.Log10(a.low)-1e-9), math.Floor(math.Log10(a.high)+1e-9)
	step := max(1, math.Ceil((high-low)/float64(n)))
	for e := low; e <= high; e += step {
		values = append(values, math.Pow(10, e))
	}
	return values
}

// roundStep rounds a step up to 1, 2 or 5 times a power of ten.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	if power == 0 || math.IsInf(power, 0) || math.IsNaN(power) {
		return max(step, math.SmallestNonzeroFloat64)
	}
	for _, f := range []float64{1, 2, 5} {
		if f*power >= step*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// stepped formats a value with enough digits to distinguish it from neighbors at distance step. most is the greatest magnitude
// on the axis.
func stepped(v, step, most float64) string {
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if most >= 1e7 || digits > 6 {
		significant := int(math.Ceil(math.Log10(most)-math.Log10(step))) + 1
		return tidy(strconv.FormatFloat(v, 'e', min(max(significant-1, 0), 15), 64))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// short formats a value with at most six significant digits.
func short(v float64) string { return tidy(strconv.FormatFloat(v, 'g', 6, 64)) }

// tidy removes redundant zeros and the plus sign around an exponent: 1.50e+06 becomes 1.5e6.
func tidy(s string) string {
	mantissa, exponent, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	n, _ := strconv.Atoi(exponent)
	if n == 0 || mantissa == "0" || mantissa == "-0" {
		return mantissa
	}
	return mantissa + "e" + strconv.Itoa(n)
}
