// Package history keeps the results of runs of benchmarks in a folder, and finds the runs at which the time of a benchmark
// changed.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/stats"
)

// Most is the maximum number of runs that a folder keeps.
const Most = 200

// name is the layout of the times that name files. The names sort by time.
const name = "20060102T150405.000000000Z"

// Keep adds a run to a folder, which it makes if it is missing, and removes the oldest runs beyond [Most].
func Keep(dir string, run *record.Run) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %v", dir, errors.Unwrap(err))
	}
	var b bytes.Buffer
	if err := run.Write(&b); err != nil {
		return err
	}
	path := filepath.Join(dir, time.Now().UTC().Format(name)+".json")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("%s cannot be written: %v", path, errors.Unwrap(err))
	}
	files, err := list(dir)
	if err != nil {
		return err
	}
	for _, old := range files[:max(len(files)-Most, 0)] {
		if err := os.Remove(old); err != nil {
			return fmt.Errorf("%s cannot be removed: %v", old, errors.Unwrap(err))
		}
	}
	return nil
}

// list returns the JSON files of a folder, the oldest first.
func list(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(escape(dir), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be read", dir)
	}
	slices.Sort(files)
	return files, nil
}

// escape returns a path as a pattern that matches it only.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// History holds runs of like machines, the oldest first.
type History struct {
	Runs   []*record.Run
	Unlike int // number of runs of other machines, which are left out
}

// Load reads the runs of a folder whose machines are like that of the newest one. It returns [fs.ErrNotExist] if there are none.
func Load(dir string) (*History, error) {
	files, err := list(dir)
	if err != nil {
		return nil, err
	}
	h := &History{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %v", path, errors.Unwrap(err))
		}
		run, err := record.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		h.Runs = append(h.Runs, run)
	}
	if len(h.Runs) == 0 {
		return nil, fs.ErrNotExist
	}
	newest := h.Runs[len(h.Runs)-1]
	like := slices.DeleteFunc(slices.Clone(h.Runs), func(r *record.Run) bool { return len(newest.Machine.Unlike(&r.Machine)) > 0 })
	h.Unlike, h.Runs = len(h.Runs)-len(like), like
	return h, nil
}

// baselineRuns is the maximum number of runs that a baseline joins.
const baselineRuns = 10

// Baseline returns the newest run with the samples of the newest runs, at most [baselineRuns] of them.
func (h *History) Baseline() *record.Run {
	runs := slices.Clone(h.Runs[max(len(h.Runs)-baselineRuns, 0):])
	slices.Reverse(runs)
	return record.Merge(runs)
}

// Trend has the medians of a benchmark in the order of the runs, and where they changed.
type Trend struct {
	Name    string
	Medians []float64     // in milliseconds
	Runs    []*record.Run // the run of each median
	Newest  float64       // median of the newest run; NaN if its result does not count
	Changes []Change
}

// Change is a change of a benchmark's time, which later runs keep.
type Change struct {
	Index  int     // index in Medians of the first run with the new time
	Change float64 // of the median, relative to the runs before: 0.1 is 10 % more
}

// Trends returns the course of each benchmark of the newest run, without those that no run has a median of. noise is the least
// relative change that counts.
func (h *History) Trends(noise float64) (trends []Trend) {
	newest := h.Runs[len(h.Runs)-1]
	partners := make([][]*record.Result, len(h.Runs))
	for i, run := range h.Runs {
		partners[i] = newest.Partners(run)
	}
	for at, r := range newest.Results() {
		t := Trend{Name: r.Name, Newest: math.NaN()}
		for i, run := range h.Runs {
			other := partners[i][at]
			if other == nil || !other.Counts() {
				continue
			}
			if m := float64(other.Median); m > 0 && !math.IsInf(m, 0) {
				t.Medians, t.Runs = append(t.Medians, m), append(t.Runs, run)
			}
		}
		points := stats.ChangePoints(t.Medians, noise)
		for i, at := range points {
			from, to := 0, len(t.Medians)
			if i > 0 {
				from = points[i-1]
			}
			if i+1 < len(points) {
				to = points[i+1]
			}
			t.Changes = append(t.Changes, Change{at, stats.Median(t.Medians[at:to])/stats.Median(t.Medians[from:at]) - 1})
		}
		if last := len(t.Medians) - 1; last >= 0 {
			if t.Runs[last] == newest {
				t.Newest = t.Medians[last]
			}
			trends = append(trends, t)
		}
	}
	return trends
}

// steps are the characters of a line, from the least median to the largest.
var steps = []rune("▁▂▃▄▅▆▇█")

// mostSteps is the maximum number of runs that a line shows.
const mostSteps = 40

// line returns a character for each of the newest medians, at most [mostSteps].
func (t *Trend) line() string {
	values := t.Medians[max(len(t.Medians)-mostSteps, 0):]
	low, high := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		step := 0
		if high > low*1.001 {
			step = min(int((v-low)/(high-low)*float64(len(steps))), len(steps)-1)
		}
		b.WriteRune(steps[step])
	}
	return b.String()
}

// Describe returns a change as text, with the date and the commit of the first run that has it.
func (t *Trend) Describe(c Change) string {
	run := t.Runs[c.Index]
	text := record.Percent(c.Change) + " since " + run.Date.Format("2006-01-02 15:04")
	if run.Commit != "" {
		text += fmt.Sprintf(" (%.10s)", run.Commit)
	}
	return text
}

// Table returns a line for each of the [History.Trends]. It has the number of runs, the median of the newest one, the course, and the
// changes, each with the first run that has it. A last line counts the runs of other machines, if there are any.
func (h *History) Table(noise float64) string {
	trends := h.Trends(noise)
	wide := len("name")
	for _, t := range trends {
		wide = max(wide, len([]rune(t.Name)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %4s  %10s  %s\n", wide, "name", "runs", "median", "history")
	for _, t := range trends {
		fmt.Fprintf(&b, "%-*s  %4d  %10s  %s", wide, t.Name, len(t.Medians), record.Time(t.Newest), t.line())
		for _, c := range t.Changes {
			b.WriteString("  " + t.Describe(c))
		}
		b.WriteString("\n")
	}
	if h.Unlike > 0 {
		fmt.Fprintf(&b, "%d runs of unlike machines are left out\n", h.Unlike)
	}
	return b.String()
}
