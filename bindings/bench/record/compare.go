package record

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/bench/stats"
	"github.com/orepl/orepl/lang/later"
)

// Change compares a result with that of the same name in another run.
type Change struct {
	Name     string
	Old, New *Result
	stats.Comparison
}

// Comparison holds the changes between two runs, in the order of the new one.
type Comparison struct {
	Changes []Change
	Others  stats.Shares // of the processors' time that other programs used during the runs
	Added   []string     // names in the new run only
	Gone    []string     // names in the old run only
	Uneven  []string     // names that a file has in both runs, but not equally often
	Without []string     // names in both, of which a result failed, is wrong or has no samples
}

// Doubtful returns the names of the results whose samples differ, though the runs may be the cause. most is the largest of
// their changes by magnitude, or 0.
func (c *Comparison) Doubtful() (names []string, most float64) {
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Doubtful {
			names = append(names, ch.Name)
			if math.Abs(ch.Change) > math.Abs(most) {
				most = ch.Change
			}
		}
	}
	return names, most
}

// key identifies a result within a run: its name, if that is unique in both runs. Else it is the nth of the results of that name in a
// file, which both runs must have equally often.
type key struct {
	name, file string
	nth, of    int
}

// Repeated returns the names that several results of the file have.
func (f *File) Repeated() (names []string) {
	count := f.count()
	for _, r := range f.Results {
		if count[r.Name] > 1 && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// count returns the number of results of each name.
func (f *File) count() map[string]int {
	count := map[string]int{}
	for _, r := range f.Results {
		count[r.Name]++
	}
	return count
}

// count returns the number of results of each name in all files.
func (r *Run) count() map[string]int {
	count := map[string]int{}
	for i := range r.Files {
		for name, n := range r.Files[i].count() {
			count[name] += n
		}
	}
	return count
}

// index returns the keys of a run's results, in order, and the results by key. unique reports whether a name suffices.
func (r *Run) index(unique func(name string) bool) (keys []key, by map[key]*Result) {
	by = map[key]*Result{}
	count, seen := map[key]int{}, map[key]int{} // by file and name, since a script may run several times
	for i := range r.Files {
		for name, n := range r.Files[i].count() {
			count[key{name: name, file: r.Files[i].Name}] += n
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		for j := range f.Results {
			k := key{name: f.Results[j].Name}
			if !unique(k.name) {
				k.file = f.Name
				of := k
				k.nth, k.of = seen[of], count[of]
				seen[of]++
			}
			keys, by[k] = append(keys, k), &f.Results[j]
		}
	}
	return keys, by
}

// Compare compares the samples of two runs. It leaves out results that have no samples, failed or are wrong. noise is the least
// relative change that counts as a difference.
func Compare(old, fresh *Run, noise float64) Comparison {
	c := pair(old, fresh)
	rows := make([]stats.Row, len(c.Changes))
	for i, ch := range c.Changes {
		rows[i] = stats.Row{Old: ch.Old.Times, New: ch.New.Times, Medians: ch.Old.medians}
		if ch.Old.Others != nil && ch.New.Others != nil {
			rows[i].Shares = &stats.Shares{Old: *ch.Old.Others, New: *ch.New.Others}
		}
	}
	c.Others = stats.Shares{Old: old.Machine.Others, New: fresh.Machine.Others}
	c.take(stats.CompareRows(rows, noise, c.Others))
	return c
}

// CompareRuns compares runs of two programs that ran in turn, olds[i] beside fresh[i], by the medians of their results. The
// runs that it returns have the samples of all runs.
func CompareRuns(olds, fresh []*Run, noise float64) (old, now *Run, c Comparison) {
	old, now = mergeTurns(olds), mergeTurns(fresh)
	c = pair(old, now)
	rows := make([]stats.Row, len(c.Changes))
	for i, ch := range c.Changes {
		rows[i] = stats.Row{Old: ch.Old.medians, New: ch.New.medians}
	}
	c.take(stats.CompareTurns(rows, noise))
	return old, now, c
}

// take stores rows as the comparisons of the changes, in the same order.
func (c *Comparison) take(rows []stats.Comparison) {
	for i, row := range rows {
		c.Changes[i].Comparison = row
	}
}

// Counts reports whether the result has samples of a function that neither failed nor computed a wrong result.
func (r *Result) Counts() bool { return len(r.Times) > 0 && r.Failed == "" && r.Wrong == "" }

// pair pairs the results of two runs by their names.
func pair(old, fresh *Run) Comparison {
	var c Comparison
	before, after := old.count(), fresh.count()
	unique := func(name string) bool { return before[name] < 2 && after[name] < 2 }
	oldKeys, olds := old.index(unique)
	newKeys, news := fresh.index(unique)
	for _, k := range newKeys {
		o, n := olds[k], news[k]
		switch {
		case o == nil && inFile(oldKeys, k):
			if !slices.Contains(c.Uneven, k.name) {
				c.Uneven = append(c.Uneven, k.name)
			}
		case o == nil:
			c.Added = append(c.Added, k.name)
		case o.Counts() && n.Counts():
			c.Changes = append(c.Changes, Change{Name: k.name, Old: o, New: n})
		default:
			c.Without = append(c.Without, k.name)
		}
	}
	for _, k := range oldKeys {
		switch {
		case news[k] != nil:
		case !inFile(newKeys, k):
			c.Gone = append(c.Gone, k.name)
		case !slices.Contains(c.Uneven, k.name):
			c.Uneven = append(c.Uneven, k.name)
		}
	}
	return c
}

// inFile reports whether one of the keys has the name and the file of the key of.
func inFile(keys []key, of key) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return k.name == of.name && k.file == of.file })
}

// Condition is a condition under which a run fails, such as "median > 5%".
type Condition struct {
	text     string
	metric   string
	above    bool
	limit    float64
	relative bool
}

// condition matches a metric, a comparison, a number and an optional unit.
var condition = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([A-Za-z]+)\s*([<>])\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(%|ns|us|µs|ms|s|GB/s|GFLOP/s)?\s*$`)
}}

// metrics are the numbers of a result that conditions refer to, with whether they are times.
var metrics = later.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"median": true, "least": true, "low": true, "high": true, "most": true, "gigabytesPerSecond": false, "gigaflops": false}
}}

// milliseconds has the length of each unit of time, in milliseconds.
var milliseconds = later.Value[map[string]float64]{Make: func() map[string]float64 {
	return map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}
}}

// ParseCondition parses a condition: a metric, < or >, and a number with a unit. A number with % is a change against the
// baseline; times have a unit, rates none or their own. A condition on a change that is met without one, such as < 5%, is an error.
func ParseCondition(text string) (Condition, error) {
	m := condition.Get().FindStringSubmatch(text)
	if m == nil {
		return Condition{}, fmt.Errorf("%q is no condition", text)
	}
	time, known := metrics.Get()[m[1]]
	if !known {
		return Condition{}, fmt.Errorf("%q is no metric; metrics are median, least, low, high, most, gigabytesPerSecond and gigaflops", m[1])
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("%q is no number", m[3])
	}
	c := Condition{text: strings.TrimSpace(text), metric: m[1], above: m[2] == ">", limit: limit}
	switch unit := m[4]; {
	case unit == "%":
		c.relative, c.limit = true, limit/100
		if c.above && limit < 0 || !c.above && limit > 0 {
			verb := map[bool]string{true: "rose", false: "fell"}[c.above]
			return Condition{}, fmt.Errorf("%q is met without a change; write %s %s %s%% for one that %s by more than %s %%", c.text, m[1], m[2], number(-limit), verb, number(math.Abs(limit)))
		}
	case time && milliseconds.Get()[unit] == 0:
		return Condition{}, fmt.Errorf("a limit of %s needs a unit: %% against a baseline, or ns, µs, ms or s", m[1])
	case time:
		c.limit *= milliseconds.Get()[unit]
	case unit != "" && unit != map[string]string{"gigabytesPerSecond": "GB/s", "gigaflops": "GFLOP/s"}[m[1]]:
		return Condition{}, fmt.Errorf("%s is no unit of %s", unit, m[1])
	}
	return c, nil
}

// Relative reports whether the condition needs a baseline.
func (c Condition) Relative() bool { return c.relative }

// String returns the text of the condition.
func (c Condition) String() string { return c.text }

// value returns a metric of a result, and whether the result has it.
func value(r *Result, metric string) (float64, bool) {
	switch metric {
	case "median":
		return float64(r.Median), r.Samples > 0
	case "least":
		return float64(r.Least), r.Samples > 0
	case "low":
		return float64(r.Low), r.Samples > 0
	case "high":
		return float64(r.High), r.Samples > 0
	case "most":
		return float64(r.Most), r.Samples > 0
	case "gigabytesPerSecond":
		return r.GigabytesPerSecond, r.GigabytesPerSecond > 0
	}
	return r.Gigaflops, r.Gigaflops > 0
}

// Failure says that a result meets a condition.
type Failure struct {
	Result *Result // of the run
	Text   string
}

// Failures returns the results that meet the condition. A change counts only if the samples differ.
func (c Condition) Failures(run *Run, comparison Comparison) (list []Failure) {
	beyond := func(v float64) bool { return c.above && v > c.limit || !c.above && v < c.limit }
	if c.relative {
		for _, ch := range comparison.Changes {
			now, ok := value(ch.New, c.metric)
			before, had := value(ch.Old, c.metric)
			if !ok || !had || before == 0 || !ch.Different {
				continue
			}
			if v := now/before - 1; beyond(v) {
				list = append(list, Failure{ch.New, fmt.Sprintf("%s changed by %s, which meets %s", c.metric, Percent(v), c.text)})
			}
		}
		return list
	}
	for i := range run.Files {
		for j := range run.Files[i].Results {
			r := &run.Files[i].Results[j]
			if v, ok := value(r, c.metric); ok && beyond(v) {
				list = append(list, Failure{r, fmt.Sprintf("%s is %s, which meets %s", c.metric, amount(v, metrics.Get()[c.metric]), c.text)})
			}
		}
	}
	return list
}

func amount(v float64, time bool) string {
	if time {
		return Time(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Time formats milliseconds with a fitting unit. It returns "-" for a negative number and NaN.
func Time(ms float64) string {
	scale, unit := 1e6, "ns"
	switch {
	case !(ms >= 0):
		return "-"
	case ms >= 1000:
		scale, unit = 1e-3, "s"
	case ms >= 1:
		scale, unit = 1, "ms"
	case ms >= 1e-3:
		scale, unit = 1e3, "µs"
	}
	return fmt.Sprintf("%.4g %s", ms*scale, unit)
}

// Percent formats a relative change.
func Percent(change float64) string { return fmt.Sprintf("%+.1f %%", 100*change) }

// Probability formats a p value with three decimals, or as "< 0.001".
func Probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Verdict returns the change as text: its percentage, or "~" if the samples do not differ.
func (c *Change) Verdict() string {
	if !c.Different {
		return "~"
	}
	return Percent(c.Change)
}

// Table returns the comparison as text for a terminal.
func (c *Comparison) Table() string {
	rows := [][]string{{"name", "before", "now", "change", "95 % interval", "p"}}
	for i := range c.Changes {
		ch := &c.Changes[i]
		rows = append(rows, []string{ch.Name, Time(float64(ch.Old.Median)), Time(float64(ch.New.Median)), ch.Verdict(),
			Percent(ch.Low) + " … " + Percent(ch.High), Probability(ch.P)})
	}
	var b strings.Builder
	writeAligned(&b, rows)
	b.WriteString(c.Rule())
	if len(c.Added) > 0 {
		fmt.Fprintf(&b, "not in the baseline: %s\n", strings.Join(c.Added, ", "))
	}
	if len(c.Gone) > 0 {
		fmt.Fprintf(&b, "only in the baseline: %s\n", strings.Join(c.Gone, ", "))
	}
	if len(c.Uneven) > 0 {
		fmt.Fprintf(&b, "not compared, since the runs have benchmarks of this name unequally often: %s\n", strings.Join(c.Uneven, ", "))
	}
	if len(c.Without) > 0 {
		fmt.Fprintf(&b, "not compared, since the result of one of the runs failed or is wrong: %s\n", strings.Join(c.Without, ", "))
	}
	return b.String()
}

// Rule describes in lines of text when rows differ, and which differences other programs explain. It returns "" without
// changes.
func (c *Comparison) Rule() string {
	if len(c.Changes) == 0 {
		return ""
	}
	text := fmt.Sprintf("~: the samples show no difference (%s, p < 0.05 for %d rows by Holm, interval without 0, more than the noise, and a quarter of the change also in the fast samples)\n",
		c.Changes[0].Test, len(c.Changes))
	if _, busy := c.Busy(); busy {
		text += fmt.Sprintf("other programs used %.0f %% of the processors' time during this run and %.0f %% during the baseline; changes that this explains are no difference\n",
			100*c.Others.New, 100*c.Others.Old)
	}
	return text
}

// Busy returns the larger of the shares that other programs used during the runs, and whether it is worth mentioning: from 5 % on.
func (c *Comparison) Busy() (share float64, busy bool) {
	share = max(c.Others.Old, c.Others.New)
	return share, share >= 0.05
}
