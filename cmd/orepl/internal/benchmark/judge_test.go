package benchmark

import (
	"slices"
	"testing"

	"github.com/orepl/orepl/bindings/bench/record"
)

// TestJudge judges results of one name in two scripts, of which one meets a condition.
func TestJudge(t *testing.T) {
	file := func(name string, median record.Number) record.File {
		return record.File{Name: name, Results: []record.Result{{Name: "copy", Median: median, Samples: 1, Times: []float64{float64(median)}}}}
	}
	run := &record.Run{Version: record.Version, Files: []record.File{file("a.js", 1), file("b.js", 5)}}
	o := &Options{FailIf: list{"median > 2ms"}}
	lines, err := o.judge(run, nil, "")
	if err != nil || !slices.Equal(lines, []string{"copy: median is 5 ms, which meets median > 2ms"}) {
		t.Errorf("%q, %v", lines, err)
	}
	if fast, slow := run.Files[0].Results[0].Met, run.Files[1].Results[0].Met; len(fast) != 0 || len(slow) != 1 {
		t.Errorf("the fast one meets %q, the slow one %q", fast, slow)
	}
}
