// Package stats describes samples of times and compares them. Every function is deterministic: resampling uses a fixed seed.
package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// Level is the confidence level of intervals.
	Level = 0.95
	// resamples is the number of bootstrap resamples.
	resamples = 1000
	// fewest is the number of samples below which an interval is the range of the samples.
	fewest = 6
)

// Summary describes samples, in the unit of the samples.
type Summary struct {
	Median    float64
	Low, High float64 // confidence interval of the median
	Least     float64
	Most      float64
	Deviation float64   // median absolute deviation, scaled to the standard deviation of a normal distribution
	Outliers  Outliers  // samples far from the quartiles
	Modes     []float64 // the two modes of a bimodal distribution, else empty
}

// Outliers counts samples that are more than 1.5 and up to 3 (mild), or more than 3 (severe) interquartile ranges from the quartiles.
type Outliers struct {
	LowSevere  int `json:"lowSevere"`
	LowMild    int `json:"lowMild"`
	HighMild   int `json:"highMild"`
	HighSevere int `json:"highSevere"`
}

// Summarize returns the summary of samples in the order of their measurement. It returns NaNs for no samples.
func Summarize(samples []float64) Summary {
	if len(samples) == 0 {
		nan := math.NaN()
		return Summary{Median: nan, Low: nan, High: nan, Least: nan, Most: nan, Deviation: nan}
	}
	sorted := slices.Sorted(slices.Values(samples))
	s := Summary{Median: Quantile(sorted, 0.5), Least: sorted[0], Most: sorted[len(sorted)-1], Deviation: deviation(sorted)}
	s.Low, s.High = Interval(samples)
	s.Outliers = classify(sorted)
	if low, high, ok := modes(sorted); ok {
		s.Modes = []float64{low, high}
	}
	return s
}

// Median returns the median of unsorted values, or NaN for no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// Quantile returns the quantile q, from 0 to 1, of sorted values by linear interpolation. There must be at least one value.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// deviation returns the scaled median absolute deviation of sorted values.
func deviation(sorted []float64) float64 {
	center := Quantile(sorted, 0.5)
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v - center)
	}
	return 1.4826 * Median(distances)
}

// Interval returns the bootstrap confidence interval of the median, by percentiles of resampled medians. It is widened for
// samples whose order of measurement shows that they depend on each other, up to their range. For very few samples it returns their
// range. There must be at least one.
func Interval(samples []float64) (low, high float64) {
	n := len(samples)
	sorted := slices.Sorted(slices.Values(samples))
	if n < fewest {
		return sorted[0], sorted[n-1]
	}
	random := rand.New(rand.NewPCG(0x6f7265706c, uint64(n)))
	found := make([]float64, resamples)
	counts := make([]int, n) // how often a resample holds each sample
	for i := range found {
		clear(counts)
		for range n {
			counts[random.IntN(n)]++
		}
		found[i] = weighted(sorted, counts)
	}
	slices.Sort(found)
	tail := (1 - Level) / 2
	median, wider := Quantile(sorted, 0.5), math.Sqrt(Inflation(samples))
	low = median - wider*(median-Quantile(found, tail))
	high = median + wider*(Quantile(found, 1-tail)-median)
	return max(low, sorted[0]), min(high, sorted[n-1])
}

// weighted returns the median of sorted values, each repeated by its count. The counts add up to the number of values.
func weighted(sorted []float64, counts []int) float64 {
	n, seen, lower := len(sorted), 0, math.NaN()
	for i, c := range counts {
		seen += c
		if n%2 == 0 && math.IsNaN(lower) && seen >= n/2 {
			lower = sorted[i]
		}
		if seen > n/2 {
			if n%2 == 1 {
				return sorted[i]
			}
			return (lower + sorted[i]) / 2
		}
	}
	return sorted[n-1]
}

// Inflation returns the factor by which the autocorrelation of samples increases the variance of their median. It is 1
// for samples that look independent, and for too few samples to tell.
func Inflation(samples []float64) float64 {
	n := float64(len(samples))
	r := autocorrelation(samples)
	if n < 20 || r < 1/math.Sqrt(n) {
		return 1
	}
	r = min(r+(1+4*r)/n, 0.8) // the estimate from few samples is too small by (1+4r)/n
	return (1 + r) / (1 - r)
}

// autocorrelation returns the rank correlation of each sample with the next one, 0 if all samples are equal.
func autocorrelation(samples []float64) float64 {
	r := ranks(samples)
	n := len(r)
	mean := float64(n+1) / 2
	var with, of float64
	for i, v := range r {
		of += (v - mean) * (v - mean)
		if i+1 < n {
			with += (v - mean) * (r[i+1] - mean)
		}
	}
	if of == 0 {
		return 0
	}
	return with / of
}

// ascending returns the indices of values in ascending order. Equal values keep their order.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// ranks returns the ranks of values from 1 on. Equal values share the mean of their ranks.
func ranks(values []float64) []float64 {
	order := ascending(values)
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// classify counts the outliers of sorted values.
func classify(sorted []float64) (o Outliers) {
	first, third := Quantile(sorted, 0.25), Quantile(sorted, 0.75)
	width := third - first
	for _, v := range sorted {
		switch {
		case v < first-3*width:
			o.LowSevere++
		case v < first-1.5*width:
			o.LowMild++
		case v > third+3*width:
			o.HighSevere++
		case v > third+1.5*width:
			o.HighMild++
		}
	}
	return o
}

const (
	// separation is the least distance of two modes, in standard deviations of the samples around them.
	separation = 6
	// minority is the least share of the samples in each mode.
	minority = 0.2
	// apart is the least distance of two modes, as a fraction of the lower one.
	apart = 0.03
	// fewestModes is the number of samples below which no modes are sought.
	fewestModes = 12
)

// modes returns the medians of the two groups of a bimodal distribution, from sorted samples. The split minimizes the sum
// of squares within the groups. The result ok is false unless both groups have a good share of the samples and are far
// apart relative to their spreads.
func modes(sorted []float64) (low, high float64, ok bool) {
	n := len(sorted)
	if n < fewestModes {
		return 0, 0, false
	}
	sum, total := 0.0, 0.0
	for _, v := range sorted {
		total += v
	}
	at, most := 0, math.Inf(-1)
	for i := 1; i < n; i++ {
		sum += sorted[i-1]
		a, b := sum/float64(i), (total-sum)/float64(n-i)
		if between := float64(i) * float64(n-i) * (a - b) * (a - b); between > most {
			at, most = i, between
		}
	}
	if share := float64(min(at, n-at)) / float64(n); share < minority {
		return 0, 0, false
	}
	low, high = Quantile(sorted[:at], 0.5), Quantile(sorted[at:], 0.5)
	spread := math.Sqrt((sq(deviation(sorted[:at])) + sq(deviation(sorted[at:]))) / 2)
	return low, high, high-low > separation*spread && high-low > apart*low
}

func sq(v float64) float64 { return v * v }
