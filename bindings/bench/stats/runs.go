package stats

import (
	"math"
	"slices"
)

// Row holds the samples of one benchmark in two runs that were measured at different times.
type Row struct {
	Old, New []float64
	Medians  []float64 // the medians of the old runs whose samples Old joins, if it is a join
	Shares   *Shares   // of other programs while the samples of this row were taken; nil if they are unknown
}

// Shares are the shares of the processors' time that other programs used during two runs, from 0 to 1.
type Shares struct{ Old, New float64 }

// explained returns the part of change, the logarithm of the ratio of new to old times, that other programs explain. Beside them
// a program that uses all processors takes 1/(1-share) times as long.
func (s Shares) explained(change float64) float64 {
	return min(max(change, math.Log1p(-clampShare(s.Old))), -math.Log1p(-clampShare(s.New)))
}

// most returns the logarithm of the greatest slow-down by other programs.
func (s Shares) most() float64 { return -math.Log1p(-max(clampShare(s.Old), clampShare(s.New))) }

// exceeded reports whether both changes, of the median and of the fast samples, exceed in one direction what other programs
// explain. Changes are logarithms of ratios. The excess must be more than log([unexplained]) plus twice unsteady, the deviation
// of the samples.
func (s Shares) exceeded(median, fast, unsteady float64) bool {
	limit := math.Log(unexplained) + 2*unsteady
	return median-s.explained(median) > limit && fast-s.explained(fast) > limit || s.explained(median)-median > limit && s.explained(fast)-fast > limit
}

func clampShare(s float64) float64 { return min(max(s, 0), 0.99) }

const (
	// Familywise is the probability of calling any row of two equal runs different.
	Familywise = 0.05
	// fewestRows is the number of rows from which on their scatter is the variance between runs.
	fewestRows = 8
	// quiet is the standard deviation between runs of a quiet machine. The scatter of the rows is limited to it, or to that of
	// samples within a run if greater, plus what other programs explain. More is a change of the program.
	quiet = 0.02
	// tails are the degrees of freedom of the deviations between runs. Single rows react to other programs more than most.
	tails = 4
	// halfOfSquares is the median of the chi-squared distribution with one degree of freedom.
	halfOfSquares = 0.45493642311957283
	// unexplained is the ratio beyond what other programs explain from which on the scatter of other rows does not matter.
	unexplained = 3
	// doubtful is the change from which on samples that differ are reported, though the runs may be the cause.
	doubtful = 0.25
	// runsOfBaseline is the number of old runs from which on their medians have the variance between runs of a row.
	runsOfBaseline = 3
)

// A shift is the logarithm of a ratio of two runs with its standard error within the runs.
type shift struct{ at, within float64 }

// CompareRows compares the rows of two runs. Runs differ by more than the samples within them show, for example by what else
// the machine does. The variance between runs is estimated by the scatter of all rows around their common change (the empirical
// null distribution of Efron, JASA 99:465, 2004; the estimator is that of Paule and Mandel with medians in place of means), or
// by the medians of several old runs. The t distribution of the scatter has 4 degrees of freedom (Lange, Little and Taylor,
// JASA 84:408, 1989), and sums have Satterthwaite's.
//
// A row differs if p is below [Significance], and below [Familywise] after Holm's correction for the number of rows. p is the
// greatest of those of the Mann-Whitney U test, the t test of the median, and the t test of the fast samples. The change must
// be at least noise, with the fast samples as in [ComparePairs]. The common change is ascribed to other programs as far as
// their shares explain it. The interval has the change with and without what they explain. A row needs no t test if its change
// is three times what known shares explain, beyond the scatter of its samples. A row with three old medians always has one.
func CompareRows(rows []Row, noise float64, shares Shares) []Comparison {
	medians, fast := make([]shift, len(rows)), make([]shift, len(rows))
	for i, r := range rows {
		within := math.Hypot(uncertainty(r.Old), uncertainty(r.New))
		medians[i] = shift{math.Log(Median(r.New) / Median(r.Old)), within}
		fast[i] = shift{math.Log(fastest(r.New) / fastest(r.Old)), within}
	}
	most := quietest(rows) + shares.most()
	common, between := scatter(medians, most)
	commonFast, betweenFast := scatter(fast, most)
	common, commonFast = shares.explained(common), shares.explained(commonFast)
	out, p, distinct := make([]Comparison, len(rows)), make([]float64, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		m, f := medians[i], fast[i]
		spread, freedom := combine(m.within, between, len(r.Old)+len(r.New)-2)
		spreadFast, freedomFast := combine(f.within, betweenFast, len(r.Old)+len(r.New)-2)
		if len(r.Medians) >= runsOfBaseline {
			spread, freedom = ofRuns(r.Medians)
			spreadFast, freedomFast = spread, freedom
		}
		own := shares
		if r.Shares != nil {
			own = *r.Shares
		}
		if len(rows) < fewestRows {
			common, commonFast = own.explained(m.at), own.explained(f.at)
		}
		c := Comparison{Change: math.Expm1(m.at), Test: "Mann-Whitney U and t"}
		wide := quantileT(0.975, freedom) * spread
		c.Low, c.High = math.Expm1(m.at-max(common, 0)-wide), math.Expm1(m.at-min(common, 0)+wide)
		p[i] = mannWhitney(r.Old, r.New)
		distinct[i] = p[i] < Significance && (c.Low > 0 || c.High < 0) && math.Abs(c.Change) >= max(noise, doubtful)
		if own == (Shares{}) || len(r.Medians) >= runsOfBaseline || !own.exceeded(m.at, f.at, unsteadiness(r)) {
			p[i] = max(p[i], beyond(m.at, common, spread, freedom), beyond(f.at, commonFast, spreadFast, freedomFast))
		}
		away := math.Abs(m.at-common) >= math.Log1p(noise) && (m.at > common) == (m.at > 0)
		c.Different = p[i] < Significance && away && math.Abs(c.Change) >= noise && (f.at > commonFast) == (m.at > common) &&
			math.Abs(math.Expm1(f.at)) >= max(noise, math.Abs(c.Change)*alike) && (f.at > 0) == (m.at > 0)
		out[i] = c
	}
	for i, q := range holm(p) {
		out[i].P, out[i].Different = q, out[i].Different && q < Familywise
		out[i].Doubtful = distinct[i] && !out[i].Different
	}
	return out
}

// uncertainty returns the standard error of the logarithm of the median of samples.
func uncertainty(samples []float64) float64 {
	low, high := Interval(samples)
	return max((math.Log(high)-math.Log(low))/(2*1.959964), 1e-4)
}

// unsteadiness returns the standard deviation of the logarithms of a row's samples within the less steady of its runs, by the tenth and
// ninetieth percentiles.
func unsteadiness(r Row) float64 {
	deviation := func(samples []float64) float64 {
		sorted := slices.Sorted(slices.Values(samples))
		return (math.Log(Quantile(sorted, 0.9)) - math.Log(Quantile(sorted, 0.1))) / 2.5631
	}
	return max(deviation(r.Old), deviation(r.New))
}

// quietest returns the standard deviation between runs that a machine without other programs has: that of samples within a run, if
// they scatter more than on a quiet machine.
func quietest(rows []Row) float64 {
	list := []float64{quiet}
	for _, r := range rows {
		if u := unsteadiness(r); u < math.Inf(1) { // samples of no time have no logarithm
			list = append(list, u)
		}
	}
	return max(quiet, Median(list))
}

// scatter returns the common change of rows, and the standard deviation between runs, at most most. It returns zeros for fewer
// than [fewestRows] rows.
func scatter(list []shift, most float64) (common, between float64) {
	if len(list) < fewestRows {
		return 0, 0
	}
	at := make([]float64, len(list))
	for i, s := range list {
		at[i] = s.at
	}
	center := Median(at)
	low, high := 0.0, 8.0
	squares := make([]float64, len(list))
	for range 60 {
		between = (low + high) / 2
		for i, s := range list {
			squares[i] = (s.at - center) * (s.at - center) / (s.within*s.within + between*between)
		}
		if Median(squares) > halfOfSquares {
			low = between
		} else {
			high = between
		}
	}
	return center, min(between, most)
}

// combine returns the standard deviation of a sum of errors within and between runs, and its degrees of freedom by Satterthwaite.
func combine(within, between float64, samples int) (spread, freedom float64) {
	w, b := within*within, between*between
	return math.Sqrt(w + b), max((w+b)*(w+b)/(w*w/float64(max(samples, 1))+b*b/tails), 1)
}

// ofRuns returns the standard error of the difference between the logarithm of one more run's median and the mean of those of
// medians. It also returns its degrees of freedom. There must be at least two medians.
func ofRuns(medians []float64) (spread, freedom float64) {
	n := float64(len(medians))
	mean, squares := 0.0, 0.0
	for _, m := range medians {
		mean += math.Log(m) / n
	}
	for _, m := range medians {
		squares += sq(math.Log(m) - mean)
	}
	return max(math.Sqrt(squares/(n-1)*(1+1/n)), 1e-4), n - 1
}

// pairedT returns the two-sided p value of the paired t test of logarithms, or 1 for fewer than two pairs.
func pairedT(a, b []float64) float64 {
	n := min(len(a), len(b))
	if n < 2 {
		return 1
	}
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = b[i] / a[i]
	}
	spread, freedom := ofRuns(ratios)
	mean := 0.0
	for _, r := range ratios {
		mean += math.Log(r) / float64(n)
	}
	return beyond(mean, 0, spread/math.Sqrt(float64(n)+1), freedom) // ofRuns has the error of one more run
}

// beyond returns the two-sided p value of a t test whether a change differs from the common one.
func beyond(change, common, spread, freedom float64) float64 {
	return tailsT(math.Abs(change-common)/spread, freedom)
}

// holm returns p values adjusted for their number: Holm, A simple sequentially rejective multiple test procedure, 1979.
func holm(p []float64) []float64 {
	order := ascending(p)
	out, most := make([]float64, len(p)), 0.0
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}

// tailsT returns the probability that a value of Student's t distribution is beyond t on either side. It is 1 if t is NaN.
func tailsT(t, freedom float64) float64 {
	if math.IsNaN(t) {
		return 1
	}
	return betaShare(freedom/2, 0.5, freedom/(freedom+t*t))
}

// quantileT returns a quantile, of at least one half, of Student's t distribution.
func quantileT(q, freedom float64) float64 {
	low, high := 0.0, 1e6
	for range 80 {
		if mid := (low + high) / 2; tailsT(mid, freedom) > 2*(1-q) {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// betaShare returns the regularized incomplete beta function by its continued fraction (Lentz's method; Press et al., Numerical Recipes,
// 6.4).
func betaShare(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaShare(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	away := func(v float64) float64 { // from zero
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	sum := d
	for m := 1.0; m < 500; m++ {
		for _, term := range []float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			d, c = 1/away(1+term*d), away(1+term/c)
			sum *= d * c
		}
		if math.Abs(d*c-1) < 1e-14 {
			break
		}
	}
	return front * sum
}
