package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/stats"
)

// The sizes of charts with a row per benchmark.
const (
	rowHeight   = 18.0
	nameWidth   = 250.0
	rowMargin   = 26.0 // for the axis below
	mostBoxes   = 200  // rows of a chart
	nameLetters = 38
)

// frame writes the beginning of a chart with rows: its size, a relative axis, and the names.
func frame(b *strings.Builder, label string, names []string, x *scale) {
	height := rowHeight*float64(len(names)) + rowMargin + 4
	fmt.Fprintf(b, `<svg class="chart rows" viewBox="0 0 %g %g" role="img" aria-label="%s">`, chartWidth, height, html.EscapeString(label))
	for _, t := range x.ticks(false) {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="2" y2="%.1f"/><text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
			x.at(t), x.at(t), height-rowMargin+2, x.at(t), height-8, strings.TrimPrefix(fmt.Sprintf("%+.4g %%", 100*t), map[bool]string{true: "+"}[t == 0]))
	}
	if x.low <= 0 && x.high >= 0 {
		fmt.Fprintf(b, `<line class="zero" x1="%.1f" x2="%.1f" y1="2" y2="%.1f"/>`, x.at(0), x.at(0), height-rowMargin+2)
	}
	for i, name := range names {
		fmt.Fprintf(b, `<text class="name" text-anchor="end" x="%.1f" y="%.1f"><title>%s</title>%s</text>`, nameWidth-8, rowHeight*(float64(i)+0.5)+6,
			html.EscapeString(name), html.EscapeString(clip(name, nameLetters)))
	}
}

// boxes draws the samples of each result relative to their median: quartiles, whiskers to 1.5 interquartile ranges, and outliers.
// An arrow stands for samples beyond the chart.
func boxes(results []record.Result) template.HTML {
	var shown []*record.Result
	for i := range results {
		if len(results[i].Times) >= 2 && results[i].Median > 0 && len(shown) < mostBoxes {
			shown = append(shown, &results[i])
		}
	}
	if len(shown) == 0 {
		return ""
	}
	x := scale{low: -0.1, high: 0.1, from: nameWidth, to: chartWidth - rightMargin}
	var names []string
	var all [][]float64
	for _, r := range shown {
		names = append(names, r.Name)
		relative := make([]float64, len(r.Times))
		for i, t := range r.Times {
			relative[i] = t/float64(r.Median) - 1
		}
		slices.Sort(relative)
		all = append(all, relative)
		x.low = min(x.low, relative[0])
		x.high = max(x.high, min(stats.Quantile(relative, 0.9)*1.2, 2))
	}
	var b strings.Builder
	frame(&b, "samples relative to their median", names, &x)
	for i, relative := range all {
		y := rowHeight*(float64(i)+0.5) + 2
		q1, q2, q3 := stats.Quantile(relative, 0.25), stats.Quantile(relative, 0.5), stats.Quantile(relative, 0.75)
		width := q3 - q1
		low, high := whiskers(relative, q1-1.5*width, q3+1.5*width)
		at := func(v float64) float64 { return x.at(clamp(v, &x)) }
		fmt.Fprintf(&b, `<g class="box c0"><title>%s</title><line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><rect x="%.1f" y="%.1f" width="%.1f" height="10"/><line class="median" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`,
			html.EscapeString(fmt.Sprintf("%s: quartiles %+.1f %% and %+.1f %%, %d samples", names[i], 100*q1, 100*q3, len(relative))),
			at(low), at(high), y, y, at(q1), y-5, max(at(q3)-at(q1), 0.8), at(q2), at(q2), y-6, y+6)
		beyond := 0
		for _, v := range relative {
			switch {
			case v > x.high:
				beyond++
			case v < low || v > high:
				fmt.Fprintf(&b, `<circle class="mark open" cx="%.1f" cy="%.1f" r="2.2"/>`, x.at(v), y)
			}
		}
		if beyond > 0 {
			fmt.Fprintf(&b, `<path class="mark" d="M%.1f %.1fl6 4l-6 4z"><title>%d samples up to %+.0f %%</title></path>`, x.to+2, y-4, beyond, 100*relative[len(relative)-1])
		}
		b.WriteString(`</g>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// whiskers returns the extreme values within limits.
func whiskers(sorted []float64, from, to float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range sorted {
		if v >= from && v <= to {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// forest draws the changes against the baseline with their intervals.
func forest(changes []record.Change) template.HTML {
	if len(changes) == 0 {
		return ""
	}
	changes = changes[:min(len(changes), mostBoxes)]
	x := scale{low: -0.05, high: 0.05, from: nameWidth, to: chartWidth - rightMargin}
	var names []string
	for _, c := range changes {
		names = append(names, c.Name)
		x.low, x.high = min(x.low, max(1.1*c.Low, -1)), max(x.high, min(1.1*c.High, 2), min(1.1*c.Change, 2))
	}
	var b strings.Builder
	frame(&b, "change against the baseline", names, &x)
	for i, c := range changes {
		y := rowHeight*(float64(i)+0.5) + 2
		class := map[string]string{"slower": "slower", "faster": "faster", "~": "same"}[c.Comparison.Verdict()]
		at := func(v float64) float64 { return x.at(clamp(v, &x)) }
		shape := map[string]int{"slower": 2, "faster": 3, "same": 0}[class]
		fmt.Fprintf(&b, `<g class="change %s"><title>%s</title><line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>%s</g>`, class,
			html.EscapeString(fmt.Sprintf("%s: %s, 95 %% in %s … %s, p %.3f", c.Name, c.Verdict(), record.Percent(c.Low), record.Percent(c.High), c.P)),
			at(c.Low), at(c.High), y, y, mark(shape, at(c.Change), y))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}
