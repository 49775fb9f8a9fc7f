package record

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orepl/orepl/bindings/bench/stats"
)

// Partners returns, for each result of r in order, the result of another run that [Compare] would compare it with, or nil.
func (r *Run) Partners(other *Run) []*Result {
	mine, theirs := r.count(), other.count()
	unique := func(name string) bool { return mine[name] < 2 && theirs[name] < 2 }
	keys, _ := r.index(unique)
	_, by := other.index(unique)
	partners := make([]*Result, len(keys))
	for i, k := range keys {
		partners[i] = by[k]
	}
	return partners
}

// Merge returns a copy of the first of several runs, with the samples of all of them. Results of a benchmark that failed or are
// wrong are left out, unless all are. There must be a run. The copy's share of other programs is the largest of the shares.
func Merge(runs []*Run) *Run {
	return merge(runs, func(parts []*Result) Result {
		right := slices.DeleteFunc(slices.Clone(parts), func(part *Result) bool { return part == nil || !part.Counts() })
		if len(right) == 0 {
			return *parts[0]
		}
		return joined(right)
	})
}

// mergeTurns is like [Merge] for runs that all must pass. If a benchmark failed or is wrong in some runs, its result is that of the
// first of them. If a run has no samples of it, the result has failed. The error of a script is that of the first run with one.
func mergeTurns(runs []*Run) *Run {
	whole := merge(runs, func(parts []*Result) Result {
		bad := slices.IndexFunc(parts, func(part *Result) bool { return part != nil && (part.Failed != "" || part.Wrong != "") })
		if bad >= 0 {
			return *parts[bad]
		}
		right := slices.DeleteFunc(slices.Clone(parts), func(part *Result) bool { return part == nil || !part.Counts() })
		if len(right) < len(parts) {
			r := *parts[0]
			r.Failed = fmt.Sprintf("%d of %d runs have no such result", len(parts)-len(right), len(parts))
			return r
		}
		return joined(right)
	})
	for i := range whole.Files {
		for _, run := range runs {
			if i < len(run.Files) {
				whole.Files[i].Error = cmp.Or(whole.Files[i].Error, run.Files[i].Error)
			}
		}
	}
	return whole
}

// merge returns a copy of the first of several runs with results that join makes, one for each result of that run. parts has the
// partners of the result, in the order of the runs, or nil where a run has none.
func merge(runs []*Run, join func(parts []*Result) Result) *Run {
	whole := *runs[0]
	whole.Files = slices.Clone(whole.Files)
	partners := make([][]*Result, len(runs))
	for i, run := range runs {
		whole.Machine.Others = max(whole.Machine.Others, run.Machine.Others)
		partners[i] = runs[0].Partners(run)
	}
	at := 0
	for f := range whole.Files {
		file := &whole.Files[f]
		file.Results = slices.Clone(file.Results)
		for i := range file.Results {
			parts := make([]*Result, len(runs))
			for k := range runs {
				parts[k] = partners[k][at]
			}
			file.Results[i] = join(parts)
			at++
		}
	}
	return &whole
}

// joined returns a copy of the first of some results with the samples of all, which count. There must be one.
func joined(parts []*Result) Result {
	r := *parts[0]
	r.Times, r.medians = nil, nil
	for _, part := range parts {
		r.Times = append(r.Times, part.Times...)
		r.medians = append(r.medians, float64(part.Median))
	}
	r.summarize()
	return r
}

// summarize computes the times of a result from its samples, and scales its rates to the new median.
func (r *Result) summarize() {
	s := stats.Summarize(r.Times)
	if r.GigabytesPerSecond > 0 {
		r.GigabytesPerSecond *= float64(r.Median) / s.Median
	}
	if r.Gigaflops > 0 {
		r.Gigaflops *= float64(r.Median) / s.Median
	}
	r.Median, r.Low, r.High, r.Least, r.Most = Number(s.Median), Number(s.Low), Number(s.High), Number(s.Least), Number(s.Most)
	r.Deviation, r.Outliers, r.Modes, r.Samples = Number(s.Deviation), s.Outliers, s.Modes, len(r.Times)
}
