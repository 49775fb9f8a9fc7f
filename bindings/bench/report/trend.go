package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
)

// A trendRow is the course of a benchmark over the runs of a history.
type trendRow struct {
	Name      string
	Runs      int
	Median    string
	MedianKey float64
	Course    template.HTML
	Changes   string
}

// The size of a course in units of its view box.
const courseWidth, courseHeight = 240.0, 36.0

func trendOf(t *history.Trend) trendRow {
	r := trendRow{Name: t.Name, Runs: len(t.Medians), Median: record.Time(t.Newest), MedianKey: key(t.Newest), Course: course(t)}
	var changes []string
	for _, c := range t.Changes {
		changes = append(changes, t.Describe(c))
	}
	r.Changes = strings.Join(changes, "; ")
	return r
}

// course draws the medians over the runs as a line from zero on. Runs that begin a change, and the newest one if it has a median, have
// dots.
func course(t *history.Trend) template.HTML {
	most := slices.Max(t.Medians)
	x := scale{low: 0, high: float64(max(len(t.Medians)-1, 1)), from: 4, to: courseWidth - 4}
	y := scale{low: 0, high: max(most, 1e-12), from: courseHeight - 2, to: 4}
	var line, dots strings.Builder
	dot := func(i int, class string) {
		fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3" class="%s"><title>%s</title></circle>`, x.at(float64(i)), y.at(t.Medians[i]), class,
			template.HTMLEscapeString(record.Time(t.Medians[i])+", "+t.Runs[i].Date.Format("2006-01-02 15:04")+" "+t.Runs[i].Commit))
	}
	for i, m := range t.Medians {
		fmt.Fprintf(&line, "%.1f,%.1f ", x.at(float64(i)), y.at(m))
	}
	for _, c := range t.Changes {
		dot(c.Index, map[bool]string{true: "slower", false: "faster"}[c.Change > 0])
	}
	if !math.IsNaN(t.Newest) {
		dot(len(t.Medians)-1, "newest")
	}
	return template.HTML(fmt.Sprintf(`<svg class="course" viewBox="0 0 %g %g" width="%[1]g" height="%[2]g" role="img"><polyline points="%s"/>%s</svg>`, courseWidth, courseHeight, strings.TrimSpace(line.String()), dots.String()))
}
