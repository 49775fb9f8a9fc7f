package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/stats"
)

// The sizes of charts with a row per benchmark.
const (
	rowHeight  = 18.0
	rowsWidth  = 440.0 // without the names
	rowMargin  = 26.0  // for the axis below
	mostRows   = 200
	nameMargin = 14.0  // beside the names, for arrows
	mostName   = 480.0 // the width to which longer names are shortened
)

// tick is a labelled value of an axis.
type tick struct {
	value float64
	label string
}

// span returns the range of the coordinates of values in a chart with rows. The names are to the left of it.
func span(names []string) (from, to float64) {
	widest := 0.0
	for _, name := range names {
		widest = max(widest, textWidth(name))
	}
	from = min(widest, mostName) + nameMargin
	return from, from + rowsWidth
}

// frame writes the beginning of a chart with rows: its size, the axis, a line at the value of no change, and the names.
func frame(b *strings.Builder, label string, names []string, x *scale, none float64, ticks []tick) {
	height, width := rowHeight*float64(len(names))+rowMargin+4, x.to+rightMargin
	fmt.Fprintf(b, `<svg class="chart rows" viewBox="0 0 %.0f %g" style="min-width:%.0fpx;max-width:%.0fpx" role="img" aria-label="%s">`,
		width, height, width*leastZoom, width*mostZoom, html.EscapeString(label))
	for _, t := range ticks {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="2" y2="%.1f"/><text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
			x.at(t.value), x.at(t.value), height-rowMargin+2, x.at(t.value), height-8, t.label)
	}
	if x.low <= none && x.high >= none {
		fmt.Fprintf(b, `<line class="zero" x1="%.1f" x2="%.1f" y1="2" y2="%.1f"/>`, x.at(none), x.at(none), height-rowMargin+2)
	}
	for i, name := range names {
		fmt.Fprintf(b, `<text class="name" text-anchor="end" x="%.1f" y="%.1f"><title>%s</title>%s</text>`, x.from-nameMargin, rowHeight*(float64(i)+0.5)+6,
			html.EscapeString(name), html.EscapeString(fit(name, mostName)))
	}
}

// relative returns a relative change as a percentage with its sign, such as "+5 %" for 0.05.
func relative(change float64) string {
	text := strconv.FormatFloat(math.Round(1e5*change)/1e3, 'f', -1, 64) + " %"
	if change > 0 {
		return "+" + text
	}
	return text
}

// boxes draws the samples of each result relative to their median: quartiles, whiskers to 1.5 interquartile ranges, and
// outliers. An arrow stands for samples beyond the chart. The note says that further results are left out, or is "".
// Without results of two or more samples, both are "".
func boxes(results []record.Result) (svg template.HTML, note string) {
	var shown []*record.Result
	for i := range results {
		if len(results[i].Times) >= 2 && results[i].Median > 0 {
			shown = append(shown, &results[i])
		}
	}
	if len(shown) == 0 {
		return "", ""
	}
	if n := len(shown); n > mostRows {
		shown, note = shown[:mostRows], fmt.Sprintf("the first %d of %d benchmarks", mostRows, n)
	}
	x := scale{low: -0.1, high: 0.1}
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
	x.from, x.to = span(names)
	var ticks []tick
	for _, v := range x.ticks(false) {
		ticks = append(ticks, tick{v, relative(v)})
	}
	var b strings.Builder
	frame(&b, "samples relative to their median", names, &x, 0, ticks)
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
	return template.HTML(b.String()), note
}

// whiskers returns the least and the greatest of the values between from and to, or +Inf and −Inf if there is none.
func whiskers(sorted []float64, from, to float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range sorted {
		if v >= from && v <= to {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// A chart of changes shows no ratios of the new median to the baseline's below leastRatio or above mostRatio.
const leastRatio, mostRatio = 0.001, 1000

// forest draws the changes against the baseline with their intervals, from the greatest one down, on a scale with equal
// distances for equal ratios. An arrow stands for values beyond the chart. The note says that further changes are left out,
// or is "". Both are "" if there are no changes.
func forest(changes []record.Change) (svg template.HTML, note string) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c record.Change) bool { return math.IsNaN(c.Change) })
	if n := len(changes); n > mostRows {
		slices.SortStableFunc(changes, func(a, b record.Change) int { return cmp.Compare(weight(b), weight(a)) })
		changes, note = changes[:mostRows], fmt.Sprintf("the %d largest changes of %d", mostRows, n)
	}
	if len(changes) == 0 {
		return "", ""
	}
	slices.SortStableFunc(changes, func(a, b record.Change) int { return cmp.Compare(b.Change, a.Change) })
	x := changeScale(changes)
	var names []string
	for _, c := range changes {
		names = append(names, c.Name)
	}
	x.from, x.to = span(names)
	var b strings.Builder
	frame(&b, "change against the baseline", names, &x, 1, changeTicks(&x))
	for i, c := range changes {
		y := rowHeight*(float64(i)+0.5) + 2
		class := map[string]string{"slower": "slower", "faster": "faster", "~": "same"}[c.Comparison.Verdict()]
		at := func(change float64) float64 { return x.at(clamp(1+change, &x)) }
		shape := mark(map[string]int{"slower": 2, "faster": 3, "same": 0}[class], at(c.Change), y)
		ends := ""
		switch {
		case 1+c.Change > x.high:
			shape = arrow(x.to, y, 9)
		case 1+c.Change < x.low:
			shape = arrow(x.from, y, -9)
		}
		if 1+c.High > x.high && 1+c.Change <= x.high {
			ends += arrow(x.to, y, 5)
		}
		if 1+c.Low < x.low && 1+c.Change >= x.low {
			ends += arrow(x.from, y, -5)
		}
		fmt.Fprintf(&b, `<g class="change %s"><title>%s</title><line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>%s%s</g>`, class,
			html.EscapeString(fmt.Sprintf("%s: %s, change of the median %s, 95 %% in %s … %s, p %s", c.Name, c.Verdict(), record.Percent(c.Change), record.Percent(c.Low), record.Percent(c.High), record.Probability(c.P))),
			at(c.Low), at(c.High), y, y, ends, shape)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()), note
}

// weight returns a key by which changes are sorted: differences come first, then changes that are far from no change.
func weight(c record.Change) float64 {
	w := math.Abs(math.Log(min(max(1+c.Change, leastRatio), mostRatio)))
	if c.Different {
		w += 2 * math.Log(mostRatio)
	}
	return w
}

// changeScale returns the scale of the ratios of changes. It holds all changes within [leastRatio, mostRatio]. It holds their
// intervals down to half of the least ratio and up to twice the greatest one.
func changeScale(changes []record.Change) scale {
	x := scale{low: 0.95, high: 1.05, log: true}
	low, high := 1.0, 1.0
	for _, c := range changes {
		low, high = min(low, 1+c.Change), max(high, 1+c.Change)
	}
	for _, c := range changes {
		x.low, x.high = min(x.low, (1+c.Change)/1.1, max((1+c.Low)/1.05, low/2)), max(x.high, (1+c.Change)*1.1, min((1+c.High)*1.05, high*2))
	}
	x.low, x.high = max(x.low, leastRatio), min(x.high, mostRatio)
	return x
}

// changeTicks returns labels of round changes: within a factor of 3 at equal differences, else at 1, 2 and 5 times powers of ten.
func changeTicks(x *scale) (ticks []tick) {
	const apart = 58.0 // pixels between labels
	add := func(ratio float64) {
		for _, t := range ticks {
			if math.Abs(x.at(t.value)-x.at(ratio)) < apart {
				return
			}
		}
		if ratio >= x.low && ratio <= x.high {
			ticks = append(ticks, tick{ratio, relative(ratio - 1)})
		}
	}
	add(1)
	if x.high < 3*x.low {
		changes := scale{low: x.low - 1, high: x.high - 1}
		for _, v := range changes.ticks(false) {
			add(1 + v)
		}
		return ticks
	}
	for _, factor := range []float64{1, 2, 5} {
		for e := -3; e <= 3; e++ {
			add(factor * math.Pow10(e))
		}
	}
	return ticks
}

// arrow returns an arrow's head at the edge of a chart, which points to the right or, with a negative length, to the left.
func arrow(x, y, length float64) string {
	half := math.Abs(length) * 0.7
	return fmt.Sprintf(`<path class="mark arrow" d="M%.1f %.1fl%.1f %.1fl%.1f %.1fz"/>`, x, y-half, length, half, -length, half)
}
