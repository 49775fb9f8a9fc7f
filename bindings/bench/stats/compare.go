package stats

import (
	"math"
	"slices"
)

// Significance is the probability of a false alarm below which two sets of samples are called different.
const Significance = 0.01

// Comparison describes how times b differ from times a.
type Comparison struct {
	Change    float64 `json:"change"` // relative change of the median: 0.05 means that b takes 5 % longer
	Low       float64 `json:"low"`    // confidence interval of the change
	High      float64 `json:"high"`
	P         float64 `json:"p"`    // probability of a difference at least as large if there is none
	Test      string  `json:"test"` // the test that p comes from
	Different bool    `json:"different"`
	// Doubtful is set if the samples differ by a quarter or more, and by what two runs may differ without a change of the program.
	Doubtful bool `json:"-"`
}

// Verdict returns "slower", "faster", or "~" if the samples do not differ.
func (c Comparison) Verdict() string {
	switch {
	case !c.Different:
		return "~"
	case c.Change > 0:
		return "slower"
	}
	return "faster"
}

// alike is the least fraction of a change that the fast samples must show.
const alike = 0.25

// fastest returns the tenth percentile of samples.
func fastest(samples []float64) float64 {
	return Quantile(slices.Sorted(slices.Values(samples)), 0.1)
}

// Tries is the number of samples of each set of which [ComparePairs] uses the least.
const Tries = 3

// ComparePairs compares samples that were measured in turn, a[i] beside b[i], by the Wilcoxon signed-rank test. It tests the
// logarithms of the ratios of pairs. A pair is the least of [Tries] samples of each set, since other programs that use the
// machine only make samples longer.
//
// The sets differ if p is below [Significance] and the interval of the change excludes 0. The change must be at least noise,
// and so must that of the fast samples. The latter must also be at least a quarter of the former, in the same direction. The
// medians of the samples in the pairs must have changed in the same direction.
//
// If there are many samples, and both sets are mostly much longer than their fast samples, a pair is the least of twice as
// many.
func ComparePairs(a, b []float64, noise float64) Comparison {
	tries := Tries
	if n := min(len(a), len(b)); n >= crowdedFrom && min(Median(a)/fastest(a), Median(b)/fastest(b)) > crowded {
		tries *= 2
	}
	return comparePairs(a, b, noise, tries)
}

const (
	// crowded is the ratio of the median to the tenth percentile above which other programs disturb most samples.
	crowded = 1.2
	// crowdedFrom is the least number of samples for which a pair may be the least of twice as many.
	crowdedFrom = 40 * Tries
)

// CompareTurns compares the medians of runs of two programs in turn, Old[i] of a row beside New[i], like [ComparePairs] for single
// samples. A row differs only if the paired t test of the logarithms, after Holm's correction for the number of rows, has p below
// [Familywise], too. At least eight runs of each are needed for a difference.
func CompareTurns(rows []Row, noise float64) []Comparison {
	out, p := make([]Comparison, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		out[i] = comparePairs(r.Old, r.New, noise, 1)
		p[i] = pairedT(r.Old, r.New)
	}
	for i, q := range holm(p) {
		out[i].P, out[i].Test = max(out[i].P, q), out[i].Test+" and t"
		out[i].Different = out[i].Different && q < Familywise
	}
	return out
}

func comparePairs(a, b []float64, noise float64, tries int) Comparison {
	n := min(len(a), len(b))
	var ratios, leastA, leastB []float64
	for i := 0; i < n; i += tries {
		end := min(i+tries, n)
		leastA, leastB = append(leastA, slices.Min(a[i:end])), append(leastB, slices.Min(b[i:end]))
		ratios = append(ratios, math.Log(leastB[len(leastB)-1]/leastA[len(leastA)-1]))
	}
	c := Comparison{Change: math.Expm1(Median(ratios)), P: signedRank(ratios), Test: "Wilcoxon signed-rank"}
	if n == 0 {
		c.Low, c.High = math.NaN(), math.NaN()
		return c
	}
	low, high := Interval(ratios)
	c.Low, c.High = math.Expm1(low), math.Expm1(high)
	c.decide(Median(leastB)-Median(leastA), fastest(b)/fastest(a)-1, noise)
	return c
}

// decide sets Different by the p value, the interval and the size of the change. medians is the change of the median of pairs, and
// fast the relative change of the fast samples. Both must have the sign of the change, and fast must be at least noise and alike times
// the change. A busy machine slows most samples, a change of the program all of them.
func (c *Comparison) decide(medians, fast, noise float64) {
	c.Different = (medians > 0) == (c.Change > 0) && c.P < Significance && (c.Low > 0 || c.High < 0) && math.Abs(c.Change) >= noise &&
		math.Abs(fast) >= max(noise, math.Abs(c.Change)*alike) && (fast > 0) == (c.Change > 0)
}

// mannWhitney returns the two-sided p value of the Mann-Whitney U test, or 1 without samples in one of the sets. It is exact for few
// independent samples without ties; autocorrelation increases the variance of U.
func mannWhitney(a, b []float64) float64 {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return 1
	}
	r := ranks(append(append(make([]float64, 0, n+m), a...), b...))
	sum, ties := 0.0, tieTerm(r)
	for _, v := range r[:n] {
		sum += v
	}
	u := sum - float64(n*(n+1))/2
	inflation := (Inflation(a) + Inflation(b)) / 2
	if ties == 0 && n*m <= 400 && inflation == 1 {
		return exactU(n, m, u)
	}
	mean, total := float64(n*m)/2, float64(n+m)
	variance := inflation * float64(n*m) / 12 * (total + 1 - ties/(total*(total-1)))
	return twoSided(math.Abs(u-mean), variance)
}

// tieTerm returns the sum of t³-t over the groups of t equal ranks.
func tieTerm(r []float64) float64 {
	count := map[float64]float64{}
	for _, v := range r {
		count[v]++
	}
	sum := 0.0
	for _, t := range count {
		sum += t*t*t - t
	}
	return sum
}

// twoSided returns the two-sided p value of a distance from the mean under the normal approximation, with a correction for
// continuity.
func twoSided(distance, variance float64) float64 {
	if variance <= 0 {
		return 1
	}
	return min(1, math.Erfc(max(0, distance-0.5)/math.Sqrt(2*variance)))
}

// exactU returns the two-sided p value of U for n and m samples without ties.
func exactU(n, m int, u float64) float64 {
	// counts[i][s] is the number of ways in which i of the first samples have the sum s of smaller partners.
	counts := make([][]float64, n+1)
	for i := range counts {
		counts[i] = make([]float64, n*m+1)
	}
	counts[0][0] = 1
	// Each of the n+m positions holds a sample of either set; one of the first set passes the partners before it.
	for position := 1; position <= n+m; position++ {
		for i := min(position, n); i >= 1; i-- {
			partners := position - i
			if partners > m {
				continue
			}
			for s := n * m; s >= partners; s-- {
				counts[i][s] += counts[i-1][s-partners]
			}
		}
	}
	total, tail := 0.0, 0.0
	u = min(u, float64(n*m)-u)
	for s, ways := range counts[n] {
		total += ways
		if float64(s) <= u {
			tail += ways
		}
	}
	return min(1, 2*tail/total)
}

// signedRank returns the two-sided p value of the Wilcoxon signed-rank test. It is exact for few independent differences without ties,
// and 1 if all differences are 0.
func signedRank(differences []float64) float64 {
	var size []float64
	var positive []bool
	for _, d := range differences {
		if d != 0 {
			size, positive = append(size, math.Abs(d)), append(positive, d > 0)
		}
	}
	n := len(size)
	if n == 0 {
		return 1
	}
	r := ranks(size)
	w := 0.0
	for i, v := range r {
		if positive[i] {
			w += v
		}
	}
	ties := tieTerm(r)
	inflation := Inflation(differences)
	if ties == 0 && n <= 50 && inflation == 1 {
		return exactW(n, w)
	}
	count := float64(n)
	return twoSided(math.Abs(w-count*(count+1)/4), inflation*(count*(count+1)*(2*count+1)/24-ties/48))
}

// exactW returns the two-sided p value of a sum of ranks of n differences without ties.
func exactW(n int, w float64) float64 {
	most := n * (n + 1) / 2
	ways := make([]float64, most+1)
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for s := most; s >= rank; s-- {
			ways[s] += ways[s-rank]
		}
	}
	w = min(w, float64(most)-w)
	tail := 0.0
	for s := 0; float64(s) <= w; s++ {
		tail += ways[s]
	}
	return min(1, 2*tail/math.Exp2(float64(n)))
}
