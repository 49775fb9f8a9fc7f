package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/lang/columns"
)

// The size of charts in units of their view boxes.
const (
	chartWidth, chartHeight                    = 720.0, 340.0
	leftMargin, rightMargin, topMargin, bottom = 64.0, 30.0, 12.0, 44.0
	legendLine                                 = 18.0
	legendColumns                              = 3          // at most
	legendMark                                 = 46.0       // the width of an entry of the legend beside its text
	leastZoom, mostZoom                        = 0.89, 1.33 // pixels for each unit, between which texts are readable
	palette                                    = 8          // colours, which differ for all common kinds of colour vision
)

// A scale maps values from low to high to coordinates from from to to, linearly or, if log is set, by their logarithms.
type scale struct {
	low, high float64
	log       bool
	from, to  float64
}

func (s *scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return (s.from + s.to) / 2
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// ticks returns round values within the scale. On a logarithmic scale these are powers of ten, or of two if binary, if at least two
// are within. Else they are equally spaced, by 1, 2 or 5 times a power of ten. A scale of a single value has only this value.
func (s *scale) ticks(binary bool) []float64 {
	var list []float64
	if s.log {
		base := 10.0
		if binary {
			base = 2
		}
		first := math.Ceil(math.Log(s.low)/math.Log(base) - 1e-9)
		last := math.Floor(math.Log(s.high)/math.Log(base) + 1e-9)
		step := max(1, math.Ceil((last-first+1)/9))
		for e := first; e <= last; e += step {
			list = append(list, math.Pow(base, e))
		}
		if len(list) >= 2 {
			return list
		}
		list = nil
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(m*step) <= 6 {
			step *= m
			break
		}
	}
	if !(step > 0) || math.IsInf(step, 0) {
		return []float64{s.low}
	}
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high*(1+1e-9); i++ {
		list = append(list, i*step+0) // no negative zero
	}
	return list
}

// short formats the number of a tick. If binary, multiples of 1024 have the prefixes Ki, Mi and Gi.
func short(v float64, binary bool) string {
	if binary && v >= 1024 && v == math.Trunc(v) {
		for i, unit := range []string{"Gi", "Mi", "Ki"} {
			if size := float64(int64(1) << (30 - 10*i)); v >= size && math.Mod(v, size) == 0 {
				return fmt.Sprintf("%g %s", v/size, unit)
			}
		}
	}
	return fmt.Sprintf("%.4g", v)
}

// point is a measured value with its interval, or the place of a result without one.
type point struct {
	x, y, low, high float64
	title           string
	missing         bool // there is no value, for the reason in the title
}

// series is a line of a chart.
type series struct {
	name   string
	points []point
}

// mainAxis returns the numeric parameter with the most values, over which a chart is drawn, or "" if none has two values. Of several
// it is the first by name.
func mainAxis(results []*record.Result) string {
	values := map[string]map[float64]bool{}
	for _, r := range results {
		for _, p := range r.Params {
			if n, ok := p.Value.(float64); ok {
				if values[p.Name] == nil {
					values[p.Name] = map[float64]bool{}
				}
				values[p.Name][n] = true
			}
		}
	}
	best := ""
	for name, set := range values {
		if len(set) >= 2 && (best == "" || len(set) > len(values[best]) || len(set) == len(values[best]) && name < best) {
			best = name
		}
	}
	return best
}

// measure is the quantity that a chart shows of each result.
type measure struct {
	label string
	value func(*record.Result) (v, low, high float64)
}

// measureOf returns the rate that the first result with a value has, else the time. It reports false if there is no such result.
func measureOf(results []*record.Result) (m measure, ok bool) {
	scaled := func(r *record.Result, rate float64) (v, low, high float64) {
		return rate, rate * float64(r.Median/r.High), rate * float64(r.Median/r.Low)
	}
	first := slices.IndexFunc(results, func(r *record.Result) bool { return shown(float64(r.Median)) })
	if first < 0 {
		return m, false
	}
	switch r := results[first]; {
	case r.GigabytesPerSecond > 0:
		return measure{"GB/s", func(r *record.Result) (v, low, high float64) { return scaled(r, r.GigabytesPerSecond) }}, true
	case r.Gigaflops > 0:
		return measure{"GFLOP/s", func(r *record.Result) (v, low, high float64) { return scaled(r, r.Gigaflops) }}, true
	}
	return measure{"ms", func(r *record.Result) (v, low, high float64) {
		return float64(r.Median), float64(r.Low), float64(r.High)
	}}, true
}

// shown reports whether a chart can show a value: it must be positive and finite.
func shown(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// curves returns a chart for each group of results with a numeric axis and at least one value.
func curves(all []record.Result) []chart {
	var groups []string
	by := map[string][]*record.Result{}
	for i := range all {
		r := &all[i]
		if r.Group == "" {
			continue
		}
		if by[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		by[r.Group] = append(by[r.Group], r)
	}
	var charts []chart
	for _, g := range groups {
		axis := mainAxis(by[g])
		m, ok := measureOf(by[g])
		if axis == "" || !ok {
			continue
		}
		charts = append(charts, chart{fmt.Sprintf("%s: %s over %s", g, m.label, axis), lines(seriesOf(by[g], axis, m), axis, m.label)})
	}
	return charts
}

// seriesOf returns a series for each combination of the other parameters and the variant.
func seriesOf(results []*record.Result, axis string, m measure) []series {
	var list []series
	index := map[string]int{}
	for _, r := range results {
		x, ok := r.Params.Get(axis).(float64)
		if !ok {
			continue
		}
		var parts []string
		for _, p := range r.Params {
			if p.Name != axis {
				parts = append(parts, fmt.Sprintf("%s=%v", p.Name, p.Value))
			}
		}
		slices.Sort(parts)
		if r.Variant != "" {
			parts = append(parts, r.Variant)
		}
		name := strings.Join(parts, ", ")
		if name == "" {
			name = r.Group
		}
		at, ok := index[name]
		if !ok {
			at = len(list)
			index[name] = at
			list = append(list, series{name: name})
		}
		p := point{x: x, title: r.Name + ": " + cmp.Or(r.Bad(), "no value"), missing: true}
		if v, low, high := m.value(r); shown(v) {
			p = point{x: x, y: v, low: low, high: high, title: fmt.Sprintf("%s: %.4g %s, 95 %% in %.4g … %.4g", r.Name, v, m.label, low, high)}
		}
		list[at].points = append(list[at].points, p)
	}
	for _, s := range list {
		slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return list
}

// ranges returns the scales of a chart for its series. The result binary reports whether all values of the x axis are
// powers of two.
func ranges(list []series, height float64) (x, y scale, binary bool) {
	x = scale{low: math.Inf(1), high: math.Inf(-1), from: leftMargin, to: chartWidth - rightMargin}
	y = scale{low: math.Inf(1), high: math.Inf(-1), from: height - bottom, to: topMargin}
	binary = true
	for _, s := range list {
		for _, p := range s.points {
			x.low, x.high = min(x.low, p.x), max(x.high, p.x)
			if !p.missing {
				y.low, y.high = min(y.low, p.y), max(y.high, p.y)
			}
			exponent := math.Log2(p.x)
			binary = binary && p.x > 0 && exponent == math.Trunc(exponent)
		}
	}
	x.log = x.low > 0 && x.high/x.low > 30 || binary
	y.log = y.low > 0 && y.high/y.low > 30
	if !y.log {
		y.low, y.high = 0, y.high*1.08
	} else {
		y.low, y.high = y.low/1.2, y.high*1.2
	}
	return x, y, binary
}

// places returns the values of the x axis that have labels: those of all results, if there are several and there is room. Else they are
// those of every second result, third and so on if the axis is logarithmic, and else round values.
func places(list []series, x *scale, binary bool) []float64 {
	const gap = 8.0
	var all []float64
	for _, s := range list {
		for _, p := range s.points {
			all = append(all, p.x)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for step := 1; step <= len(all)/2; step++ {
		var chosen []float64
		room := true
		for i := 0; i < len(all); i += step {
			if n := len(chosen); n > 0 {
				need := (textWidth(short(all[i], binary)) + textWidth(short(chosen[n-1], binary))) / 2
				room = room && x.at(all[i])-x.at(chosen[n-1]) >= need+gap
			}
			chosen = append(chosen, all[i])
		}
		if room {
			return chosen
		}
		if !x.log {
			break
		}
	}
	return x.ticks(binary)
}

// lines draws series with intervals as SVG. Colours, dashes and marks differ, so that equal curves and the loss of colour leave
// series apart. A mark's title is shown where a pointer rests. A result without a value has a cross above the axis.
func lines(list []series, xLabel, yLabel string) template.HTML {
	across, room := legendOf(list)
	rows := (len(list) + across - 1) / across
	height := chartHeight + legendLine*float64(rows)
	x, y, binary := ranges(list, chartHeight)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s over %s">`, chartWidth, height, html.EscapeString(yLabel), html.EscapeString(xLabel))
	for _, t := range y.ticks(false) {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`,
			x.from, x.to, y.at(t), y.at(t), x.from-6, y.at(t)+4, short(t, false))
	}
	for _, t := range places(list, &x, binary) {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
			x.at(t), x.at(t), y.from, y.to, x.at(t), y.from+16, short(t, binary))
	}
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, (x.from+x.to)/2, y.from+34, html.EscapeString(xLabel))
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" transform="translate(16 %.1f) rotate(-90)">%s</text>`, (y.from+y.to)/2, html.EscapeString(yLabel))
	crosses := map[float64]int{}
	for i, s := range list {
		fmt.Fprintf(&b, `<g class="series c%d d%d" data-series="%d">`, i%palette, i%4, i)
		s.draw(&b, &x, &y, i)
		for _, p := range s.points {
			if p.missing {
				fmt.Fprintf(&b, `<g><title>%s</title>%s</g>`, html.EscapeString(p.title), cross(x.at(p.x), max(y.from-6-crossHeight*float64(crosses[p.x]), y.to)))
				crosses[p.x]++
			}
		}
		b.WriteString(`</g>`)
	}
	for i, s := range list {
		lx := leftMargin + float64(i%across)*(room+legendMark)
		ly := chartHeight + legendLine*(float64(i/across)+0.5)
		fmt.Fprintf(&b, `<g class="legend c%d d%d" data-series="%d"><line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>%s<text x="%.1f" y="%.1f">%s</text></g>`,
			i%palette, i%4, i, lx, lx+28, ly, ly, mark(i, lx+14, ly), lx+34, ly+4, html.EscapeString(fit(s.name, room)))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// legendOf returns the number of columns in which the names of series fit, and the width of a name in units of the view box.
func legendOf(list []series) (across int, room float64) {
	for across = legendColumns; ; across-- {
		room = (chartWidth-leftMargin)/float64(across) - legendMark
		if across == 1 || !slices.ContainsFunc(list, func(s series) bool { return textWidth(s.name) > room }) {
			return across, room
		}
	}
}

// draw writes the bands of intervals, the lines and the marks of a series. A line ends where a result has no value, so that it joins
// measured neighbors only.
func (s *series) draw(b *strings.Builder, x, y *scale, i int) {
	for run := range s.runs() {
		var line, band []string
		for _, p := range run {
			line = append(line, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(p.y)))
			band = append(band, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(clamp(p.high, y))))
		}
		for _, p := range slices.Backward(run) {
			band = append(band, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(clamp(p.low, y))))
		}
		if len(run) == 1 { // a band without a width
			p := run[0]
			fmt.Fprintf(b, `<line class="interval" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x.at(p.x), x.at(p.x), y.at(clamp(p.low, y)), y.at(clamp(p.high, y)))
		} else {
			fmt.Fprintf(b, `<polygon class="band" points="%s"/><polyline points="%s"/>`, strings.Join(band, " "), strings.Join(line, " "))
		}
		for _, p := range run {
			fmt.Fprintf(b, `<g><title>%s</title>%s</g>`, html.EscapeString(p.title), mark(i, x.at(p.x), y.at(p.y)))
		}
	}
}

// runs yields the points between those without values, in order and as parts that are not empty.
func (s *series) runs() iter.Seq[[]point] {
	return func(yield func([]point) bool) {
		for rest := s.points; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(p point) bool { return p.missing })
			if n < 0 {
				n = len(rest)
			}
			if n > 0 && !yield(rest[:n]) {
				return
			}
			rest = rest[min(n+1, len(rest)):]
		}
	}
}

// crossHeight is the vertical distance of crosses that would overlap, in units of the view box.
const crossHeight = 9.0

// cross returns the mark of a result without a value.
func cross(x, y float64) string {
	return fmt.Sprintf(`<path class="cross" d="M%.1f %.1fl7 7m0 -7l-7 7"/>`, x-3.5, y-3.5)
}

func clamp(v float64, s *scale) float64 { return min(max(v, s.low), s.high) }

// mark returns the mark of a series at a place. Four shapes, filled or not, tell series apart without colours.
func mark(i int, x, y float64) string {
	class := "mark"
	if i/4%2 == 1 {
		class = "mark open"
	}
	switch i % 4 {
	case 1:
		return fmt.Sprintf(`<rect class="%s" x="%.1f" y="%.1f" width="7" height="7"/>`, class, x-3.5, y-3.5)
	case 2:
		return fmt.Sprintf(`<path class="%s" d="M%.1f %.1fl4.5 8h-9z"/>`, class, x, y-5)
	case 3:
		return fmt.Sprintf(`<path class="%s" d="M%.1f %.1fl4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>`, class, x, y-4.5)
	}
	return fmt.Sprintf(`<circle class="%s" cx="%.1f" cy="%.1f" r="3.8"/>`, class, x, y)
}

// fit shortens a text in its middle to a width.
func fit(text string, width float64) string {
	r := []rune(text)
	for n := len(r) - 1; n >= 2 && textWidth(text) > width; n-- {
		text = string(r[:n/2]) + "…" + string(r[len(r)-n+n/2:])
	}
	return text
}

// textWidth returns the width of a text in units of the view box, as wide fonts of browsers have it.
func textWidth(text string) (width float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlI.,:;'|!()[]/ tfr", r):
			width += 4.4
		case strings.ContainsRune("mwMW=+<>~%@…", r):
			width += 10
		case r >= 'A' && r <= 'Z':
			width += 7.8
		default:
			width += 7 * float64(columns.Of(string(r)))
		}
	}
	return width
}
