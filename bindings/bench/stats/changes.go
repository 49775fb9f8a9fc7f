package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// leastPart is the number of values that each side of a change point has at least.
const leastPart = 3

// permutations is the number of random orders that a change point is compared with.
const permutations = 999

// ChangePoints returns the positions at which the level of a series of medians changes, each the first one of its new level.
// A series has one if the ranks before and behind some position differ more than in 99 % of its random orders. For its first,
// middle and last halves the share is 99.5 %. The medians must also differ by at least noise. The position has the least sum of
// distances from the medians of both sides, which are then searched alike. Values must be positive.
func ChangePoints(values []float64, noise float64) []int {
	r := rand.New(rand.NewPCG(1, 1))
	var found []int
	var search func(from, to int)
	search = func(from, to int) {
		half, quarter := (to-from)/2, (to-from)/4
		for i, w := range [][2]int{{from, to}, {from, from + half}, {from + quarter, from + quarter + half}, {to - half, to}} {
			share := Significance
			if i > 0 {
				share /= 2
			}
			if at := changed(values[w[0]:w[1]], noise, share, r); at > 0 {
				at += w[0]
				search(from, at)
				found = append(found, at)
				search(at, to)
				return
			}
		}
	}
	search(0, len(values))
	slices.Sort(found)
	return found
}

// changed returns the position of a change in values, or 0. share is the maximum share of random orders that may differ as
// much.
func changed(values []float64, noise, share float64, r *rand.Rand) int {
	if len(values) < 2*leastPart {
		return 0
	}
	rank := ranks(values)
	most, larger := split(rank), 1
	for range permutations {
		r.Shuffle(len(rank), func(i, j int) { rank[i], rank[j] = rank[j], rank[i] })
		if split(rank) >= most {
			if larger++; float64(larger) > share*(permutations+1) {
				return 0
			}
		}
	}
	at, least := 0, math.Inf(1)
	for i := leastPart; i <= len(values)-leastPart; i++ {
		if d := distance(values[:i]) + distance(values[i:]); d < least {
			at, least = i, d
		}
	}
	if math.Abs(Median(values[at:])/Median(values[:at])-1) < noise {
		return 0
	}
	return at
}

// distance returns the sum of the distances of values from their median.
func distance(values []float64) (sum float64) {
	m := Median(values)
	for _, v := range values {
		sum += math.Abs(v - m)
	}
	return sum
}

// split compares the sum of the ranks before a position with its mean over all orders of the ranks. It does so at each position with at
// least leastPart values on both sides. It returns the largest difference, in standard deviations, or 0 if there is no such position.
func split(rank []float64) (most float64) {
	n, sum := float64(len(rank)), 0.0
	for i, v := range rank {
		sum += v
		if k := float64(i + 1); i+1 >= leastPart && len(rank)-i-1 >= leastPart {
			most = max(most, math.Abs(sum-k*(n+1)/2)/math.Sqrt(k*(n-k)*(n+1)/12))
		}
	}
	return most
}
