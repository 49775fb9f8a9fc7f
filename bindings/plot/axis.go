package plot

import (
	"math"
	"strconv"
	"strings"
)

// An axis maps the values from low to high to the range from 0 to 1.
type axis struct {
	low, high float64
	log       bool
	known     bool // low and high are those of at least one value
}

// extend makes the axis include a value.
func (a *axis) extend(v float64) {
	if !a.known {
		a.low, a.high, a.known = v, v, true
		return
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
}

// rounded returns the axis with its ends moved outward to round values that are near, so that labels stand at the ends.
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
	const parts = 4 // of the axis between round values
	step, near := roundStep(a.high/parts-a.low/parts), a.high/10-a.low/10
	if down := math.Floor(a.low/step) * step; isFinite(down) && a.low-down <= near {
		a.low = down
	}
	if up := math.Ceil(a.high/step) * step; isFinite(up) && up-a.high <= near {
		a.high = up
	}
	return a
}

// widen makes the axis of equal values longer than nothing.
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

// at returns the place of a value, from 0 to 1 if it is inside of the axis.
func (a *axis) at(v float64) float64 {
	if a.log { // math.Log of a denormal is wrong on amd64, unlike Log2
		low := math.Log2(a.low)
		return (math.Log2(v) - low) / (math.Log2(a.high) - low)
	}
	if span := a.high - a.low; !math.IsInf(span, 0) {
		return (v - a.low) / span
	}
	return (v/2 - a.low/2) / (a.high/2 - a.low/2)
}

// ticks returns about n round values of the axis, in order, and their texts.
func (a *axis) ticks(n int) (values []float64, labels []string) {
	if a.log {
		values = a.powers(n)
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
			v = 0 // not -0
		}
		values = append(values, v)
		labels = append(labels, stepped(v, step, max(math.Abs(a.low), math.Abs(a.high))))
	}
	return values, labels
}

// powers returns the powers of ten on the axis, at most n of them.
func (a *axis) powers(n int) (values []float64) {
	low, high := math.Ceil(math.Log10(a.low)-1e-9), math.Floor(math.Log10(a.high)+1e-9)
	step := max(1, math.Ceil((high-low)/float64(n)))
	for e := low; e <= high; e += step {
		values = append(values, math.Pow(10, e))
	}
	return values
}

// roundStep returns the least of 1, 2 and 5 times a power of ten that is not below a step.
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

// stepped formats a value with as many digits as tell it from its neighbors at a distance of step.
func stepped(v, step, most float64) string {
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if most >= 1e7 || digits > 6 {
		significant := int(math.Ceil(math.Log10(most)-math.Log10(step))) + 1
		return tidy(strconv.FormatFloat(v, 'e', min(max(significant-1, 0), 15), 64))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// short formats a value with at most six digits.
func short(v float64) string { return tidy(strconv.FormatFloat(v, 'g', 6, 64)) }

// tidy drops the zeros and the plus sign of an exponent, and the zeros before it: 1.50e+06 is 1.5e6.
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
