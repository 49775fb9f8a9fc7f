package record

import (
	"math"
	"slices"
	"testing"
)

// named returns a run of a script with results of these names and medians. A negative median is that of a result that failed.
func named(list ...any) *Run {
	f := File{Name: "a.js"}
	for i := 0; i < len(list); i += 2 {
		name, median := list[i].(string), list[i+1].(float64)
		r := result(name, median)
		if median < 0 {
			nan := Number(math.NaN())
			r = Result{Name: name, Clock: "host", Median: nan, Low: nan, High: nan, Least: nan, Most: nan, Deviation: nan, Times: []float64{}, Checks: Checks{Failed: "no memory"}}
		}
		f.Results = append(f.Results, r)
	}
	return &Run{Version: Version, Files: []File{f}}
}

// TestMerge compares a slow run with runs of which one has a failed result, one a wrong result and one another order.
func TestMerge(t *testing.T) {
	wrong := named("sum", 90.0, "copy", 1.0)
	wrong.Files[0].Results[0].Wrong = "verify returned false"
	olds := []*Run{
		named("sum", -1.0, "copy", 1.0), named("sum", 1.0, "copy", 1.01), wrong, named("new", 7.0, "sum", 1.01, "copy", 1.0),
		named("copy", 1.01, "sum", 1.02), named("sum", 1.0, "copy", 1.0),
	}
	whole := Merge(olds)
	for i, want := range []struct{ samples, medians int }{{120, 4}, {180, 6}} {
		r := &whole.Files[0].Results[i]
		if r.Samples != want.samples || len(r.Times) != want.samples || len(r.medians) != want.medians || !r.Counts() || !(r.Median > 0.99 && r.Median < 1.03) {
			t.Errorf("%s has %d samples of %d runs, the median %v and failed %q", r.Name, r.Samples, len(r.medians), r.Median, r.Failed)
		}
	}
	c := Compare(whole, named("sum", 3.0, "copy", 1.0), 0.01)
	if len(c.Changes) != 2 || c.Changes[0].Verdict() != "+197.8 %" || c.Changes[1].Different {
		t.Errorf("%+v", c.Changes)
	}
	if r := Merge([]*Run{olds[0], olds[0]}).Files[0].Results[0]; r.Counts() || r.Failed != "no memory" {
		t.Errorf("%+v", r)
	}
}

// TestMergeTurns expects that what fails in one of the runs of a program fails in all of them together.
func TestMergeTurns(t *testing.T) {
	runs := func(change func(run *Run)) (list []*Run) {
		for range 10 {
			list = append(list, named("sum", 1.0, "copy", 1.0))
		}
		change(list[4])
		return list
	}
	right := runs(func(*Run) {})
	for _, c := range []struct {
		change  func(run *Run)
		failed  string
		wrong   string
		error   string
		compare int // the number of rows that are compared
	}{
		{func(*Run) {}, "", "", "", 2},
		{func(r *Run) { *r = *named("sum", -1.0, "copy", 1.0) }, "no memory", "", "", 1},
		{func(r *Run) { r.Files[0].Results[0].Wrong = "verify returned false" }, "", "verify returned false", "", 1},
		{func(r *Run) { r.Files[0].Results = r.Files[0].Results[1:] }, "1 of 10 runs have no such result", "", "", 1},
		{func(r *Run) { r.Files[0].Error = "boo" }, "", "", "boo", 2},
	} {
		_, now, comparison := CompareRuns(right, runs(c.change), 0.01)
		if r, f := &now.Files[0].Results[0], &now.Files[0]; r.Failed != c.failed || r.Wrong != c.wrong || f.Error != c.error || len(comparison.Changes) != c.compare {
			t.Errorf("failed %q, wrong %q, error %q, %d rows are compared, not %+v", r.Failed, r.Wrong, f.Error, len(comparison.Changes), c)
		}
		if _, _, other := CompareRuns(runs(c.change), right, 0.01); len(other.Changes) != c.compare {
			t.Errorf("%d rows are compared, not %d", len(other.Changes), c.compare)
		}
	}
}

// TestFilesTwice compares runs of a script that both ran twice: its first results with the first ones, and its second with the second.
func TestFilesTwice(t *testing.T) {
	run := func(first, second float64) *Run {
		return &Run{Files: []File{named("sum", first).Files[0], named("sum", second).Files[0]}}
	}
	var medians []float64
	c := Compare(run(1, 10), run(2, 40), 0.01)
	for _, ch := range c.Changes {
		medians = append(medians, math.Round(float64(ch.Old.Median)), math.Round(float64(ch.New.Median)))
	}
	if !slices.Equal(medians, []float64{1, 2, 10, 40}) {
		t.Errorf("compared %v", medians)
	}
}
