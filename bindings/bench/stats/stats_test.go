package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// noise is a distribution of times around a center whose median is 1.
type noise struct {
	name string
	draw func(r *rand.Rand) func() float64
}

var noises = []noise{
	{"normal", func(r *rand.Rand) func() float64 { return func() float64 { return 1 + 0.02*r.NormFloat64() } }},
	{"log-normal", func(r *rand.Rand) func() float64 { return func() float64 { return math.Exp(0.1 * r.NormFloat64()) } }},
	{"exponential", func(r *rand.Rand) func() float64 { return func() float64 { return 1 + 0.1*(r.ExpFloat64()-math.Ln2) } }},
	{"uniform", func(r *rand.Rand) func() float64 { return func() float64 { return 0.95 + 0.1*r.Float64() } }},
	{"preempted", func(r *rand.Rand) func() float64 { // by other programs, in 3 of 10 samples
		return func() float64 {
			v := 1 + 0.01*r.NormFloat64()
			if r.IntN(10) < 3 {
				v *= 1 + 5*r.ExpFloat64()
			}
			return v
		}
	}},
	{"drifting", func(r *rand.Rand) func() float64 { // autoregressive, as on a machine whose load changes slowly
		state := r.NormFloat64()
		return func() float64 {
			state = 0.5*state + math.Sqrt(1-0.25)*r.NormFloat64()
			return math.Exp(0.03 * state)
		}
	}},
}

func draw(next func() float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = next()
	}
	return out
}

// trials is the number of simulated measurements per distribution.
func trials() int {
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		return 2000
	}
	return 200
}

// TestCoverage checks that the interval of the median covers the true median as often as it claims.
func TestCoverage(t *testing.T) {
	for _, d := range noises {
		r := rand.New(rand.NewPCG(1, 2))
		covered := 0
		for range trials() {
			low, high := Interval(draw(d.draw(r), 30))
			if low <= 1 && 1 <= high {
				covered++
			}
		}
		// 18 of 20 is the least that a benchmark promises. A bound for fewer trials leaves two standard errors.
		least := 0.90 - 2*math.Sqrt(0.09/float64(trials()))
		if d.name == "preempted" { // its median is not 1
			continue
		}
		if share := float64(covered) / float64(trials()); share < least || share > 0.99 {
			t.Errorf("%s: the interval covers the median in %.1f %%", d.name, 100*share)
		}
	}
}

// compare compares two runs of one row on a quiet machine.
func compare(a, b []float64, noise float64) Comparison {
	return CompareRows([]Row{{Old: a, New: b}}, noise, Shares{})[0]
}

// TestFalseAlarms compares equal distributions. One in 20 is the promise.
func TestFalseAlarms(t *testing.T) {
	for _, d := range noises {
		r := rand.New(rand.NewPCG(3, 4))
		pairs, sets := 0, 0
		for range trials() {
			next := d.draw(r)
			a, b := make([]float64, 90), make([]float64, 90)
			for i := range a {
				a[i], b[i] = next(), next()
			}
			if ComparePairs(a, b, 0).Different {
				pairs++
			}
			if compare(draw(d.draw(r), 30), draw(d.draw(r), 30), 0).Different {
				sets++
			}
		}
		if share := float64(pairs) / float64(trials()); share > 0.03 {
			t.Errorf("%s: %.1f %% of equal pairs are called different", d.name, 100*share)
		}
		if share := float64(sets) / float64(trials()); share > 0.05 {
			t.Errorf("%s: %.1f %% of equal sets are called different", d.name, 100*share)
		}
	}
}

// TestSlowDown checks that a slow-down of 5 % is found in samples measured in turn, with noise that exceeds it.
func TestSlowDown(t *testing.T) {
	for _, d := range noises {
		r := rand.New(rand.NewPCG(5, 6))
		found, slower := 0, 0
		for range trials() {
			// All pairs share a drift, and each sample has noise of its own.
			next, drift := d.draw(r), 1.0
			a, b := make([]float64, 90), make([]float64, 90)
			for i := range a {
				drift *= math.Exp(0.02 * r.NormFloat64())
				a[i], b[i] = drift*math.Pow(next(), 0.3), 1.05*drift*math.Pow(next(), 0.3)
			}
			c := ComparePairs(a, b, 0.01)
			if c.Different {
				found++
			}
			if c.Verdict() == "slower" {
				slower++
			}
		}
		if share := float64(found) / float64(trials()); share < 0.9 || slower != found {
			t.Errorf("%s: found in %.1f %%, %d of %d as slower", d.name, 100*share, slower, found)
		}
	}
}

// TestBusyMachine compares runs on an idle machine with runs of which a busy one made most samples longer, and with a slower
// program.
func TestBusyMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	alarms, found := 0, 0
	for range trials() {
		a, busy, slow := make([]float64, 30), make([]float64, 30), make([]float64, 30)
		for i := range a {
			a[i], busy[i], slow[i] = 1+0.02*r.NormFloat64(), 1+0.02*r.NormFloat64(), 1.05*(1+0.02*r.NormFloat64())
			if r.IntN(10) < 7 {
				busy[i] *= 1 + 2*r.ExpFloat64()
			}
		}
		if compare(a, busy, 0.01).Different {
			alarms++
		}
		if compare(a, slow, 0.01).Verdict() == "slower" {
			found++
		}
	}
	if share := float64(alarms) / float64(trials()); share > 0.05 {
		t.Errorf("%.1f %% of runs on a busy machine are called different", 100*share)
	}
	if share := float64(found) / float64(trials()); share < 0.9 {
		t.Errorf("a slow-down of 5 %% is found in %.1f %%", 100*share)
	}
}

// TestExact compares p values with those of published tables and of enumeration.
func TestExact(t *testing.T) {
	a, b := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}
	if p := mannWhitney(a, b); math.Abs(p-2.0/70) > 1e-12 { // 2 of the 70 arrangements
		t.Errorf("p of separate sets: %v", p)
	}
	if p := mannWhitney([]float64{1, 3, 5, 7}, []float64{2, 4, 6, 8}); math.Abs(p-0.6857142857142857) > 1e-12 {
		t.Errorf("p of alternating sets: %v", p)
	}
	if p := signedRank([]float64{1, 2, 3, 4, 5}); math.Abs(p-2.0/32) > 1e-12 {
		t.Errorf("p of five positive differences: %v", p)
	}
	if p := signedRank([]float64{0, 0}); p != 1 {
		t.Errorf("p without differences: %v", p)
	}
	// The normal approximation is close to the exact value where both apply.
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		x, y := draw(r.NormFloat64, 18), draw(r.NormFloat64, 18)
		sum := 0.0
		for _, v := range ranks(append(slices.Clone(x), y...))[:18] {
			sum += v
		}
		exact := exactU(18, 18, sum-18*19/2)
		if near := twoSided(math.Abs(sum-18*19/2-162), 18*18.0/12*37); math.Abs(near-exact) > 0.02 {
			t.Errorf("approximately %v, exactly %v", near, exact)
		}
	}
}

// TestModes checks which distributions are called bimodal.
func TestModes(t *testing.T) {
	for _, d := range noises {
		if d.name == "preempted" { // in two modes, of a kind
			continue
		}
		r := rand.New(rand.NewPCG(9, 10))
		alarms := 0
		for range trials() {
			if len(Summarize(draw(d.draw(r), 30)).Modes) > 0 {
				alarms++
			}
		}
		if share := float64(alarms) / float64(trials()); share > 0.05 {
			t.Errorf("%s: %.1f %% are called bimodal", d.name, 100*share)
		}
	}
	r := rand.New(rand.NewPCG(11, 12))
	found := 0
	for range trials() {
		samples := make([]float64, 30)
		for i := range samples {
			samples[i] = 1 + 0.02*r.NormFloat64()
			if r.IntN(3) == 0 {
				samples[i] += 0.3
			}
		}
		if m := Summarize(samples).Modes; len(m) == 2 && math.Abs(m[0]-1) < 0.05 && math.Abs(m[1]-1.3) < 0.1 {
			found++
		}
	}
	if share := float64(found) / float64(trials()); share < 0.9 {
		t.Errorf("two modes are found in %.1f %%", 100*share)
	}
}

func TestOutliers(t *testing.T) {
	samples := []float64{10, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.03, 9.97, 10, 9.5, 9.8, 10.2, 20}
	o := Summarize(samples).Outliers
	if o != (Outliers{LowSevere: 1, LowMild: 0, HighMild: 0, HighSevere: 1}) && o != (Outliers{LowSevere: 1, LowMild: 1, HighMild: 1, HighSevere: 1}) {
		t.Errorf("%+v", o)
	}
	if o := Summarize([]float64{1, 1, 1, 1}).Outliers; o != (Outliers{}) {
		t.Errorf("equal samples have outliers: %+v", o)
	}
}

func TestFewSamples(t *testing.T) {
	s := Summarize([]float64{3, 1, 2})
	if s.Median != 2 || s.Low != 1 || s.High != 3 || s.Least != 1 || s.Most != 3 {
		t.Errorf("%+v", s)
	}
	if s := Summarize(nil); !math.IsNaN(s.Median) || !math.IsNaN(s.Low) {
		t.Errorf("%+v", s)
	}
	if c := ComparePairs([]float64{1}, []float64{2}, 0); c.Different || c.Verdict() != "~" {
		t.Errorf("one pair decides: %+v", c)
	}
	if c := compare([]float64{1, 1, 1, 1, 1, 1}, []float64{1, 1, 1, 1, 1, 1}, 0); c.Different || c.P != 1 {
		t.Errorf("equal samples differ: %+v", c)
	}
	if a, b := Summarize([]float64{3, 1, 2, 8, 5, 4, 9}), Summarize([]float64{3, 1, 2, 8, 5, 4, 9}); a.Low != b.Low || a.High != b.High {
		t.Error("the interval depends on more than the samples")
	}
}

// TestChangePoints checks that changes of level are found where they are, and that series without one have none in most cases.
func TestChangePoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	series := func(levels ...float64) (list []float64) {
		for _, l := range levels {
			list = append(list, l*math.Exp(0.01*r.NormFloat64()))
		}
		return list
	}
	repeat := func(n int, level float64) []float64 { return slices.Repeat([]float64{level}, n) }
	for i, c := range []struct {
		levels []float64
		want   []int
	}{
		{slices.Concat(repeat(10, 1), repeat(10, 1.1)), []int{10}},
		{slices.Concat(repeat(12, 1), repeat(12, 1.2), repeat(12, 1)), []int{12, 24}},
		{slices.Concat(repeat(30, 1), repeat(5, 0.9)), []int{30}},
		{repeat(5, 1), nil}, {nil, nil}, {repeat(1, 1), nil},
	} {
		if got := ChangePoints(series(c.levels...), 0.01); !slices.Equal(got, c.want) {
			t.Errorf("case %d: %v, not %v", i, got, c.want)
		}
	}
	alarms := 0
	for range 100 {
		alarms += len(ChangePoints(series(repeat(30, 1)...), 0))
	}
	if alarms > 4 {
		t.Errorf("100 series without a change have %d", alarms)
	}
}
