// Package forms computes what charts show of many values: the bins of a histogram, the quartiles of a box, and the colors of a heat
// map.
package forms

import (
	"math"
	"slices"
)

const (
	// mostBins is the maximum number of bins that Edges chooses.
	mostBins = 60
	// whisker is the maximum length of a box's whiskers, in distances of the quartiles.
	whisker = 1.5
)

// Edges returns the edges of the bins of a histogram, in ascending order. If bins is 0, it chooses the number of bins by the
// rule of Freedman and Diaconis, at most [mostBins]. In a logarithmic histogram the edges have equal ratios. There is at least
// one value. The values are finite, and positive in a logarithmic histogram.
func Edges(values []float64, bins int, logarithmic bool) []float64 {
	scaled := slices.Clone(values)
	if logarithmic {
		for i, v := range scaled {
			scaled[i] = math.Log(v)
		}
	}
	slices.Sort(scaled)
	low, high := scaled[0], scaled[len(scaled)-1]
	if bins == 0 {
		bins = 1
		if high > low {
			bins = int(min(max(math.Ceil(math.Sqrt(float64(len(scaled)))), 1), mostBins)) // for quartiles that are equal
			if width := 2 * (quantile(scaled, 0.75) - quantile(scaled, 0.25)) / math.Cbrt(float64(len(scaled))); width > 0 {
				bins = int(min(max(math.Ceil(high/width-low/width), 1), mostBins))
			}
		}
	}
	if low == high {
		low, high = low-0.5, high+0.5
	}
	edges := make([]float64, bins+1)
	for i := range edges {
		share := float64(i) / float64(bins)
		edges[i] = low*(1-share) + high*share
		if logarithmic {
			edges[i] = math.Exp(edges[i])
		}
	}
	if !logarithmic {
		edges[0], edges[bins] = low, high
	}
	return edges
}

// Counts returns the number of values in each bin. A value on an inner edge is in the bin above it; values beyond the ends are in the
// outer bins.
func Counts(values, edges []float64) []float64 {
	counts := make([]float64, len(edges)-1)
	for _, v := range values {
		at, found := slices.BinarySearch(edges, v)
		if !found {
			at--
		}
		counts[min(max(at, 0), len(counts)-1)]++
	}
	return counts
}

// Box describes the distribution of values: the quartiles, the ends of the whiskers, and the values beyond them.
type Box struct {
	First, Median, Third float64
	Low, High            float64 // ends of the whiskers: a value, at most 1.5 × (Third − First) beyond the quartile, or the quartile
	Outliers             []float64
}

// NewBox returns the box of finite values, of which there is at least one.
func NewBox(values []float64) Box {
	sorted := slices.Sorted(slices.Values(values))
	b := Box{First: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), Third: quantile(sorted, 0.75)}
	reach := whisker * (b.Third - b.First)
	b.Low, b.High = b.First, b.Third
	for _, v := range sorted {
		if v < b.First-reach || v > b.Third+reach {
			b.Outliers = append(b.Outliers, v)
			continue
		}
		b.Low, b.High = min(b.Low, v), max(b.High, v)
	}
	return b
}

// quantile returns a quantile of sorted values by linear interpolation.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i]*(1-(at-float64(i))) + sorted[i+1]*(at-float64(i))
}

// scale are colors of equal steps of lightness, from dark to light: Viridis of Matplotlib (Smith and van der Walt, CC0), at eighths.
var scale = [][3]float64{{68, 1, 84}, {71, 44, 122}, {59, 81, 139}, {44, 113, 142}, {33, 144, 141}, {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}}

// Color returns the red, green and blue of a position from 0 to 1 on a scale that color-blind readers can follow.
func Color(at float64) (r, g, b uint8) {
	at = min(max(at, 0), 1) * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	mix := func(c int) uint8 {
		return uint8(math.Round(scale[i][c] + (at-float64(i))*(scale[i+1][c]-scale[i][c])))
	}
	return mix(0), mix(1), mix(2)
}
