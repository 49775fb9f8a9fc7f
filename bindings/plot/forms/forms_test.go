package forms

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEdges(t *testing.T) {
	for _, c := range []struct {
		values []float64
		bins   int
		log    bool
		want   []float64
	}{
		{[]float64{0, 4, 1}, 4, false, []float64{0, 1, 2, 3, 4}},
		{[]float64{1, 1000}, 3, true, []float64{1, 10, 100, 1000}},
		{[]float64{5, 5}, 0, false, []float64{4.5, 5.5}},
		{[]float64{-2}, 2, false, []float64{-2.5, -2, -1.5}},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 2, false, []float64{-math.MaxFloat64, 0, math.MaxFloat64}},
	} {
		got := Edges(c.values, c.bins, c.log)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
			t.Errorf("%v: %v, not %v", c.values, got, c.want)
		}
	}
	// 1000 normal values have an interquartile range of 1.35 and so bins of 0.27.
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 1000)
	for i := range values {
		values[i] = r.NormFloat64()
	}
	edges := Edges(values, 0, false)
	if width := edges[1] - edges[0]; width < 0.2 || width > 0.3 {
		t.Errorf("bins of %v", width)
	}
	counts, sum := Counts(values, edges), 0.0
	for i, n := range counts {
		sum += n
		want := 0.0
		for _, v := range values {
			if v >= edges[i] && (v < edges[i+1] || i == len(counts)-1) {
				want++
			}
		}
		if n != want {
			t.Errorf("bin %d has %v of %v values", i, n, want)
		}
	}
	if sum != 1000 {
		t.Errorf("%v values are in bins", sum)
	}
	if n := len(Edges([]float64{0, 0, 0, 0, 0, 0, 0, 0, 9}, 0, false)) - 1; n != 3 {
		t.Errorf("%d bins for equal quartiles", n)
	}
}

func TestBox(t *testing.T) {
	b := NewBox([]float64{5, 1, 2, 3, 4, 100, -50})
	if b.First != 1.5 || b.Median != 3 || b.Third != 4.5 || b.Low != 1 || b.High != 5 || !slices.Equal(b.Outliers, []float64{-50, 100}) {
		t.Errorf("%+v", b)
	}
	if b := NewBox([]float64{7}); b.Low != 7 || b.Median != 7 || b.High != 7 || b.Outliers != nil {
		t.Errorf("%+v", b)
	}
}

// TestColor checks that the scale becomes lighter from end to end.
func TestColor(t *testing.T) {
	last := -1.0
	for i := range 101 {
		r, g, b := Color(float64(i) / 100)
		light := 0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)
		if light <= last {
			t.Errorf("at %d %% the lightness is %v after %v", i, light, last)
		}
		last = light
	}
	if r, g, b := Color(-1); r != 68 || g != 1 || b != 84 {
		t.Error(r, g, b)
	}
	if r, g, b := Color(2); r != 253 || g != 231 || b != 37 {
		t.Error(r, g, b)
	}
}
