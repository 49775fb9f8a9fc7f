// Package report writes a run of benchmarks as one HTML file without references to others. It has tables that can be sorted, charts
// as SVG, the comparison with a baseline, and the machine. The page needs no script to be read.
package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/lang/later"
)

//go:embed page.html
var page string

//go:embed page.css
var style string

//go:embed page.js
var script string

var parsed = later.Value[*template.Template]{Make: func() *template.Template { return template.Must(template.New("page").Parse(page)) }}

// content is the data of the page.
type content struct {
	Title   string
	Style   template.CSS
	Script  template.JS
	Date    string
	Summary string
	Bad     []badRow
	Charts  []chart
	Files   []*fileTable
	Changes []changeRow
	Forest  template.HTML
	Largest string // which changes the chart has, if it leaves some out
	Rule    string
	Trends  []trendRow
	Added   []string
	Gone    []string
	Uneven  []string
	Without []string
	Facts   [][2]string
}

type badRow struct{ Name, Reason string }

type chart struct {
	Title string
	SVG   template.HTML
}

type fileTable struct {
	Name  string
	Error string
	Rows  []row
	Boxes template.HTML
	First string // which samples the chart has, if it leaves some out
}

// The methods below report whether a table has an optional column: whether a row has a value in it.

func (t *fileTable) Bandwidths() bool { return t.any(func(r *row) string { return r.Bandwidth }) }
func (t *fileTable) Rates() bool      { return t.any(func(r *row) string { return r.Rate }) }
func (t *fileTable) Rooflines() bool  { return t.any(func(r *row) string { return r.Roofline }) }
func (t *fileTable) Compared() bool   { return t.any(func(r *row) string { return r.Against }) }
func (t *fileTable) Noises() bool     { return t.any(func(r *row) string { return r.Noise }) }

func (t *fileTable) any(cell func(*row) string) bool {
	return slices.ContainsFunc(t.Rows, func(r row) bool { return cell(&r) != "" })
}

// A row is a result. The numbers beside texts are keys for sorting.
type row struct {
	Name         string
	Median       string
	MedianKey    float64
	Interval     string
	Deviation    string
	DeviationKey float64
	Bandwidth    string
	Rate         string
	Roofline     string
	Against      string
	AgainstKey   float64
	Samples      string
	Noise        string
	Status       string
	OK           bool
}

type changeRow struct {
	Name, Before, Now, Change, Interval, P string
	BeforeKey, NowKey, ChangeKey           float64
	Class                                  string
}

// Write writes the report of a run. The comparison c and the history h may be nil. noise is the least relative change that
// counts in the history.
func Write(w io.Writer, run *record.Run, c *record.Comparison, h *history.History, noise float64) error {
	data := content{Title: title(run), Style: template.CSS(style), Script: template.JS(script), Date: run.Date.Format("2006-01-02 15:04 MST"), Facts: facts(run)}
	results := run.Results()
	for i := range results {
		if bad := results[i].Bad(); bad != "" {
			data.Bad = append(data.Bad, badRow{results[i].Name, bad})
		}
	}
	data.Summary = fmt.Sprintf("%d benchmarks, %d of which do not pass", len(results), len(data.Bad))
	data.Charts = curves(results)
	for _, f := range run.Files {
		t := &fileTable{Name: f.Name, Error: f.Error}
		t.Boxes, t.First = boxes(f.Results)
		for i := range f.Results {
			t.Rows = append(t.Rows, rowOf(&f.Results[i]))
		}
		data.Files = append(data.Files, t)
	}
	if c != nil {
		data.Added, data.Gone, data.Uneven, data.Without = c.Added, c.Gone, c.Uneven, c.Without
		for i := range c.Changes {
			data.Changes = append(data.Changes, changeOf(&c.Changes[i]))
		}
		data.Forest, data.Largest = forest(c.Changes)
		data.Rule = strings.TrimSpace(c.Rule())
	}
	if h != nil {
		for _, t := range h.Trends(noise) {
			data.Trends = append(data.Trends, trendOf(&t))
		}
	}
	return parsed.Get().Execute(w, data)
}

// title returns the names of the scripts.
func title(run *record.Run) string {
	var names []string
	for _, f := range run.Files {
		names = append(names, f.Name)
	}
	return "Benchmarks: " + strings.Join(names, ", ")
}

func rowOf(r *record.Result) row {
	out := row{
		Name: r.Name, Median: record.Time(float64(r.Median)), MedianKey: key(float64(r.Median)), Samples: fmt.Sprintf("%d × %d", r.Samples, r.Batch),
		Status: cmp.Or(r.Bad(), "ok"), OK: r.Bad() == "",
	}
	if r.Samples > 0 {
		out.Interval = record.Time(float64(r.Low)) + " … " + record.Time(float64(r.High))
		out.DeviationKey = float64(r.Deviation / r.Median)
		out.Deviation = fmt.Sprintf("%.1f %%", 100*out.DeviationKey)
	}
	if r.GigabytesPerSecond > 0 {
		out.Bandwidth = fmt.Sprintf("%.2f", r.GigabytesPerSecond)
	}
	if r.Gigaflops > 0 {
		out.Rate = fmt.Sprintf("%.2f", r.Gigaflops)
	}
	if r.Roofline > 0 {
		out.Roofline = fmt.Sprintf("%.0f %%", 100*r.Roofline)
	}
	if a := r.Against; a != nil {
		out.Against, out.AgainstKey = "~", a.Change
		if a.Different {
			out.Against = record.Percent(a.Change)
		}
	}
	var noise []string
	if r.Noisy {
		noise = append(noise, "noisy")
	}
	if len(r.Modes) == 2 {
		noise = append(noise, fmt.Sprintf("two modes, %s and %s", record.Time(r.Modes[0]), record.Time(r.Modes[1])))
	}
	if r.Interference > 0 {
		noise = append(noise, "disturbed")
	}
	out.Noise = strings.Join(noise, ", ")
	return out
}

// key returns a number for sorting, which puts results without a time last.
func key(v float64) float64 {
	if v >= 0 {
		return v
	}
	return 1e300
}

func changeOf(c *record.Change) changeRow {
	r := changeRow{
		Name: c.Name, Before: record.Time(float64(c.Old.Median)), Now: record.Time(float64(c.New.Median)), Change: c.Verdict(),
		Interval: record.Percent(c.Low) + " … " + record.Percent(c.High), P: record.Probability(c.P),
		BeforeKey: float64(c.Old.Median), NowKey: float64(c.New.Median), ChangeKey: c.Change,
	}
	r.Class = map[string]string{"slower": "slower", "faster": "faster", "~": "same"}[c.Comparison.Verdict()]
	return r
}

// facts returns the lines of the description of the machine and the run.
func facts(run *record.Run) [][2]string {
	m := &run.Machine
	list := [][2]string{
		{"processor", fmt.Sprintf("%s, %d logical processors", cmp.Or(m.Processor, "unknown"), m.Processors)},
		{"vector extensions", strings.Join(m.Features, " ")},
		{"system", m.OS + "/" + m.Arch},
		{"clock policy", m.Governor},
		{"load before the run", strconv.FormatFloat(m.Load, 'f', 2, 64)},
		{"other programs", share(m.Others)},
		{"orepl", m.Tool},
		{"commit", run.Commit},
		{"arguments", strings.Join(run.Arguments, " ")},
	}
	for _, d := range m.Devices {
		list = append(list, [2]string{"device " + d.ID, fmt.Sprintf("%s, %s, %s, %d compute units, %.1f GiB", d.Name, d.Arch, d.Platform, d.ComputeUnits, float64(d.MemoryBytes)/(1<<30))})
	}
	return slices.DeleteFunc(list, func(f [2]string) bool { return f[1] == "" })
}

// share describes the share of the processors' time that other programs used. It returns "" if that is not known, or none.
func share(others float64) string {
	if others <= 0 {
		return "" // unknown, or none
	}
	return fmt.Sprintf("used %.0f %% of the processors' time during the run", 100*others)
}
