// Package tuning finds the group sizes with which the launches of a recording are fastest on a device.
//
// # Design
//
// Only launches are tuned whose results do not depend on the group size, and each candidate must leave the recorded bits in all
// buffers. All candidates are measured in turn. The fastest one of each launch then competes with the recorded one for new samples,
// since the least of several noisy medians is too small.
package tuning

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/bench/stats"
	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/runtime/recording"
)

const (
	rounds = 9                // samples of each candidate
	finals = 16 * stats.Tries // samples of the fastest candidate and of the recorded size, between decisions
	turns  = 4                // decisions at most
	noise  = 0.02             // the least relative change of a time that counts
)

// Launch is the tuned form of equal launches. Times are in milliseconds.
type Launch struct {
	Kernel    string            `json:"kernel"`
	Size      []int             `json:"size"`
	Launches  int               `json:"launches"`            // number in the recording
	Recorded  []int             `json:"recorded,omitempty"`  // the recorded group size; absent: the device's choice
	GroupSize []int             `json:"groupSize,omitempty"` // the fastest; absent: the device's choice
	Tuned     bool              `json:"tuned"`               // the fastest size is another one than the recorded
	Before    float64           `json:"before"`
	After     float64           `json:"after"`
	Against   *stats.Comparison `json:"against,omitempty"` // the fastest against the recorded size, if they differ
	Refused   [][]int           `json:"refused,omitempty"` // sizes with which the results differ

	shapes     []recording.Shape
	candidates [][]int
	best       []int // the candidate with the least median
}

// Result has the fastest sizes for the launches of a recording.
type Result struct {
	Devices  []string  `json:"devices"`
	Launches []*Launch `json:"launches"`
	Checked  int       `json:"buffers"` // number of buffers that were compared
}

// Run tunes the launches of a replay. It fails with the differences if the recorded sizes do not leave the recorded bits.
func Run(ctx context.Context, r *recording.Replay) (*Result, error) {
	t := &tuner{ctx: ctx, replay: r, result: &Result{Devices: r.Devices(), Launches: group(r.Shapes())}}
	if err := t.check(); err != nil {
		return nil, err
	}
	most := 0
	for _, l := range t.result.Launches {
		l.candidates = Candidates(l.Size, l.shapes[0].Most, l.Recorded)
		most = max(most, len(l.candidates))
		t.all = append(t.all, l.shapes...)
	}
	slices.SortFunc(t.all, recording.Shape.Compare)
	if len(t.result.Launches) == 0 {
		return t.result, nil
	}
	if err := t.refuse(most); err != nil {
		return nil, err
	}
	if err := t.choose(most); err != nil {
		return nil, err
	}
	if err := t.decide(); err != nil {
		return nil, err
	}
	return t.result, t.check()
}

// group makes one entry for all launches with the same kernel, size and group size.
func group(shapes []recording.Shape) (list []*Launch) {
	known := map[string]*Launch{}
	for _, s := range shapes {
		key := fmt.Sprint(s.Kernel, s.Size, s.Group)
		l := known[key]
		if l == nil {
			l = &Launch{Kernel: s.Kernel, Size: trim(s.Size), Recorded: s.Group, GroupSize: s.Group}
			known[key], list = l, append(list, l)
		}
		l.shapes = append(l.shapes, s)
		l.Launches++
	}
	return list
}

// trim returns a size without trailing axes of one work-item. It keeps the first axis.
func trim(size [3]int) []int {
	n := 3
	for n > 1 && size[n-1] == 1 {
		n--
	}
	return slices.Clone(size[:n])
}

// Candidates returns the group sizes to try for a size: the recorded one first, then the device's choice, then powers of two.
// The powers of two are limited: an axis has less than twice the work-items of the size, and a group at most most. For 0, most
// is 1024.
func Candidates(size []int, most int, recorded []int) [][]int {
	if most == 0 {
		most = 1024
	}
	list := [][]int{recorded}
	add := func(g []int) {
		if !slices.ContainsFunc(list, func(o []int) bool { return same(o, g) }) {
			list = append(list, g)
		}
	}
	add(nil)
	shapes := [][]int{{16}, {32}, {64}, {128}, {256}, {512}, {1024}}
	if len(size) == 2 {
		shapes = [][]int{{8, 8}, {16, 16}, {32, 8}, {64, 4}, {32, 32}, {64, 1}, {256, 1}, {1024, 1}}
	} else if len(size) == 3 {
		shapes = [][]int{{8, 8, 4}, {4, 4, 4}, {16, 4, 4}, {32, 8, 1}, {64, 1, 1}, {256, 1, 1}}
	}
	for _, g := range shapes {
		items, fits := 1, true
		for axis, n := range g {
			items *= n
			fits = fits && (n == 1 || n < 2*size[axis])
		}
		if fits && items <= most {
			add(g)
		}
	}
	return list
}

type tuner struct {
	ctx    context.Context
	replay *recording.Replay
	result *Result
	all    []recording.Shape // of all launches, in order
}

// run runs the commands from the recorded contents on and returns the time of each launch by its position in all.
func (t *tuner) run() ([]time.Duration, error) {
	if err := t.replay.Restore(t.ctx); err != nil {
		return nil, err
	}
	return t.replay.Time(t.ctx, t.all)
}

// check runs the commands and compares the buffers. It returns a [Differs] if they do not have the recorded bits.
func (t *tuner) check() error {
	if _, err := t.run(); err != nil {
		return err
	}
	n, differ, err := t.replay.Verify(t.ctx)
	if err == nil && len(differ) > 0 {
		err = &Differs{differ}
	}
	t.result.Checked = n
	return err
}

// Differs is the error of a recording that does not leave the recorded bits on the device.
type Differs struct{ List []recording.Difference }

func (d *Differs) Error() string {
	return fmt.Sprintf("the results differ from the recorded ones, so that nothing can be tuned: %v", d.List[0])
}

// set makes a launch use a group size. ok is false if the device refuses it.
func (t *tuner) set(l *Launch, g []int) (ok bool) {
	for _, s := range l.shapes {
		if t.replay.SetGroup(s, g) != nil { // the launch is as before
			return false
		}
	}
	return true
}

// refuse drops the candidates that the device refuses, and those with which the results differ.
func (t *tuner) refuse(most int) error {
	for _, l := range t.result.Launches {
		l.candidates = slices.DeleteFunc(l.candidates, func(g []int) bool { return !t.set(l, g) })
		t.set(l, l.Recorded)
	}
	for i := 1; i < most; i++ { // one candidate of each launch at a time
		t.use(i)
		err := t.check()
		if err == nil {
			continue
		}
		if _, wrong := err.(*Differs); !wrong {
			return err
		}
		for _, l := range t.result.Launches { // which of them
			if i >= len(l.candidates) || l.candidates[i] == nil && l.Recorded == nil {
				continue
			}
			t.use(0)
			t.set(l, l.candidates[i])
			if _, wrong := t.check().(*Differs); wrong {
				l.Refused = append(l.Refused, l.candidates[i])
				l.candidates[i] = l.Recorded
			}
		}
	}
	return nil
}

// use makes each launch use its candidate i, or the recorded size if it has fewer candidates.
func (t *tuner) use(i int) {
	for _, l := range t.result.Launches {
		g := l.Recorded
		if i < len(l.candidates) {
			g = l.candidates[i]
		}
		t.set(l, g)
	}
}

// times runs the commands and adds a sample for each entry of the result: the mean time of its launches in milliseconds.
func (t *tuner) times(samples map[*Launch][]float64) error {
	times, err := t.run()
	if err != nil {
		return err
	}
	for _, l := range t.result.Launches {
		sum := 0.0
		for _, s := range l.shapes {
			i, _ := slices.BinarySearchFunc(t.all, s, recording.Shape.Compare)
			sum += float64(times[i]) / 1e6
		}
		samples[l] = append(samples[l], sum/float64(len(l.shapes)))
	}
	return nil
}

// choose measures the candidates in turn and keeps the one with the least median.
func (t *tuner) choose(most int) error {
	samples := make([]map[*Launch][]float64, most)
	for range rounds {
		for i := range most {
			if samples[i] == nil {
				samples[i] = map[*Launch][]float64{}
			}
			t.use(i)
			if err := t.times(samples[i]); err != nil {
				return err
			}
		}
	}
	for _, l := range t.result.Launches {
		least := 0.0
		for i, g := range l.candidates {
			if m := stats.Median(samples[i][l]); i == 0 || m < least {
				least, l.best = m, g
			}
		}
	}
	return nil
}

// decide measures the fastest candidates and the recorded sizes in turn, until it is known whether each candidate is faster, or
// turns times. It keeps the candidates that are faster, and the recorded sizes otherwise.
func (t *tuner) decide() error {
	before, after := map[*Launch][]float64{}, map[*Launch][]float64{}
	for open := turns; open > 0; open-- {
		if err := t.pairs(before, after); err != nil {
			return err
		}
		known := true
		for _, l := range t.result.Launches {
			if same(l.best, l.Recorded) {
				continue
			}
			c := stats.ComparePairs(before[l], after[l], noise)
			l.Against, l.Tuned = &c, c.Verdict() == "faster"
			known = known && (l.Tuned || c.Low > -noise)
		}
		if known {
			break
		}
	}
	for _, l := range t.result.Launches {
		l.Before = stats.Median(before[l])
		l.After = l.Before
		if l.Tuned {
			l.GroupSize, l.After = l.best, stats.Median(after[l])
		}
		t.set(l, l.GroupSize)
	}
	return nil
}

// same reports whether two group sizes are equal.
func same(a, b []int) bool { return slices.Equal(a, b) && (a == nil) == (b == nil) }

// pairs measures the recorded sizes and the fastest candidates in turn.
func (t *tuner) pairs(before, after map[*Launch][]float64) error {
	for i := range finals {
		for half := range 2 {
			fresh := (i+half)%2 == 1
			samples := before
			if fresh {
				samples = after
			}
			for _, l := range t.result.Launches {
				g := l.Recorded
				if fresh {
					g = l.best
				}
				t.set(l, g)
			}
			if err := t.times(samples); err != nil {
				return err
			}
		}
	}
	return nil
}

// JSON returns the result as indented JSON with a line end.
func (r *Result) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// String returns the result as a table.
func (r *Result) String() string {
	rows := [][]string{{"kernel", "size", "launches", "recorded group", "fastest group", "before", "after", "change"}}
	for _, l := range r.Launches {
		change := "~"
		if l.Tuned {
			change = fmt.Sprintf("%+.1f %%", 100*l.Against.Change)
		}
		rows = append(rows, []string{printable.Line(l.Kernel), sizeText(l.Size), fmt.Sprint(l.Launches), sizeText(l.Recorded), sizeText(l.GroupSize), timeText(l.Before), timeText(l.After), change})
	}
	if len(rows) == 1 {
		return "no launch can be tuned: the results of all may depend on the group size\n"
	}
	text := table(rows)
	for _, l := range r.Launches {
		for _, g := range l.Refused {
			text += fmt.Sprintf("%s: the results differ with groups of %s\n", printable.Line(l.Kernel), sizeText(g))
		}
	}
	return text
}

func sizeText(size []int) string {
	if size == nil {
		return "device's choice"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(size), " ", "×"), "[]")
}

func timeText(ms float64) string {
	return time.Duration(ms * 1e6).Round(10 * time.Nanosecond).String()
}

// table aligns the cells of rows.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], columns.Of(cell))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, cell := range r {
			gap := strings.Repeat(" ", widths[i]-columns.Of(cell))
			switch {
			case i == 0:
				b.WriteString(cell + gap)
			case i == len(r)-1:
				b.WriteString("  " + gap + cell + "\n")
			default:
				b.WriteString("  " + gap + cell)
			}
		}
	}
	return b.String()
}
