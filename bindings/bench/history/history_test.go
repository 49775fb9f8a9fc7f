package history_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
)

// run returns a run with a benchmark of a median, and one that never changes.
func run(i int, median float64) *record.Run {
	result := func(name string, m float64) record.Result {
		r := record.Result{Name: name, Median: record.Number(m), Low: record.Number(m), High: record.Number(m), Clock: "host"}
		for k := range 10 {
			r.Times = append(r.Times, m*(1+0.001*float64(k)))
		}
		return r
	}
	return &record.Run{Version: record.Version, Date: time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC), Commit: fmt.Sprintf("%040d", i), Arguments: []string{},
		Files: []record.File{{Name: "a.js", Results: []record.Result{result("sum", median), result("steady", 1)}}}}
}

// TestTrends keeps runs of which a benchmark becomes slower and then faster, and expects both changes at their runs.
func TestTrends(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [folder]*")
	if _, err := history.Load(dir); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 30 {
		level := 2.0
		if i >= 12 {
			level = 2.2
		}
		if i >= 22 {
			level = 1.5
		}
		if err := history.Keep(dir, run(i, level*math.Exp(0.01*r.NormFloat64()))); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Load(dir)
	if err != nil || len(h.Runs) != 30 {
		t.Fatalf("%v %d", err, len(h.Runs))
	}
	trends := h.Trends(0.01)
	if len(trends) != 2 || len(trends[0].Changes) != 2 || len(trends[1].Changes) != 0 {
		t.Fatalf("%+v", trends)
	}
	for i, want := range []history.Change{{Index: 12, Change: 0.1}, {Index: 22, Change: -0.318}} {
		if c := trends[0].Changes[i]; c.Index != want.Index || math.Abs(c.Change-want.Change) > 0.02 {
			t.Errorf("%+v, not %+v", c, want)
		}
	}
	text := h.Table(0.01)
	for _, want := range []string{" since 2026-01-13 12:00 (0000000000)", " since 2026-01-23 12:00", "▁▁▁", "steady    30 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	base := h.Baseline().Results()[0]
	if len(base.Times) != 100 || math.Abs(float64(base.Median)-1.5) > 0.5 {
		t.Errorf("the baseline has %d samples with the median %v", len(base.Times), base.Median)
	}
	wrong := run(35, 1.5)
	wrong.Files[0].Results[0].Median, wrong.Files[0].Results[0].Times = record.Number(math.NaN()), nil
	if err := history.Keep(dir, wrong); err != nil {
		t.Fatal(err)
	}
	if h, err = history.Load(dir); err != nil || !strings.Contains(h.Table(0.01), "sum       30           -  ") || !strings.Contains(h.Table(0.01), "steady    31        1 ms  ") {
		t.Errorf("%v\n%s", err, h.Table(0.01))
	}
	other := run(40, 9)
	other.Machine.Processor = "another"
	if err := history.Keep(dir, other); err != nil {
		t.Fatal(err)
	}
	if h, err := history.Load(dir); err != nil || len(h.Runs) != 1 || h.Unlike != 31 || !strings.Contains(h.Table(0.01), "31 runs of unlike machines") {
		t.Errorf("%v %+v", err, h)
	}
	if err := os.WriteFile(filepath.Join(dir, "20270101.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Load(dir); err == nil || !strings.Contains(err.Error(), "20270101.json") {
		t.Errorf("%v", err)
	}
}

// TestNames keeps runs of two scripts with a benchmark of one name, which are wrong in one run. Each has a course of its own.
func TestNames(t *testing.T) {
	h := &history.History{}
	for i := range 5 {
		a, b := run(i, 1), run(i, 8)
		b.Files[0].Name = "b.js"
		a.Files = append(a.Files, b.Files...)
		if i == 2 {
			b.Files[0].Results[0].Wrong = "verify returned false"
		}
		h.Runs = append(h.Runs, a)
	}
	for i, want := range [][]float64{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {8, 8, 8, 8}, {1, 1, 1, 1, 1}} {
		if got := h.Trends(0.01)[i].Medians; !slices.Equal(got, want) {
			t.Errorf("the trend %d has the medians %v, not %v", i, got, want)
		}
	}
}

// TestMost checks that a folder keeps the newest runs only.
func TestMost(t *testing.T) {
	dir := t.TempDir()
	for i := range history.Most + 3 {
		if err := history.Keep(dir, run(i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Load(dir)
	if err != nil || len(h.Runs) != history.Most || !h.Runs[0].Date.Equal(run(3, 1).Date) {
		t.Errorf("%v, %d runs", err, len(h.Runs))
	}
}
