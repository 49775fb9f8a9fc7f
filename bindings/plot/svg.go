package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	svgWidth  = 640 // default width in pixels
	svgHeight = 360
)

var svgSizes = sizes{leastWidth: 160, mostWidth: 10000, leastHeight: 120, mostHeight: 10000}

// colors are the colors of the series, distinguishable for color-blind readers: Okabe and Ito, Color Universal Design, 2008.
var colors = [distinct]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// dashes are the patterns of lines by which series of the same color differ, and by which a line shows the one below it.
var dashes = []string{"", "8 5", "3 4", "12 4 3 4"}

// colorOf and dashOf return the color and the dash pattern of a series.
func colorOf(i int) string { return colors[i%distinct] }
func dashOf(i int) string  { return dashes[i/distinct%len(dashes)] }

// area is the plotting rectangle in pixels.
type area struct{ left, top, right, bottom float64 }

// A drawing accumulates the text of an SVG file.
type drawing struct {
	bytes.Buffer
	c *chart
	area
	beside float64 // the distance in x of the values of adjacent series, so that their error bars do not hide one another
}

// svg returns the chart as an SVG file.
func (c *chart) svg() string {
	d := &drawing{c: c, area: area{left: 12, top: 12, right: float64(c.width) - 16, bottom: float64(c.height) - 28}}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n", c.width, c.height)
	fmt.Fprintf(d, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	if c.title != "" {
		d.top += 22
		d.label(float64(c.width)/2, 22, "middle", c.title, ` font-size="15"`)
	}
	if c.blank {
		d.label(float64(c.width)/2, float64(c.height)/2, "middle", noValues, ` fill="#555"`)
		d.WriteString("</svg>\n")
		return d.String()
	}
	if c.yLabel != "" || len(c.series) > 1 && c.keyed() {
		d.top += legendLine * float64(d.legend(false))
	}
	if c.xLabel != "" {
		d.bottom -= 18
		d.label(float64(c.width)/2, float64(c.height)-8, "middle", c.xLabel, "")
	}
	switch c.kind {
	case bars:
		d.bars()
	case groups, histogram:
		d.upright()
	case box:
		d.boxes()
	case heat:
		d.heat()
	default:
		d.lines()
	}
	d.WriteString("</svg>\n")
	return d.String()
}

// keyed reports whether several series in the chart need a legend of their colors, which bars, boxes and heat maps do not.
func (c *chart) keyed() bool { return c.kind != bars && c.kind != box && c.kind != heat }

// label writes text at a position.
func (d *drawing) label(x, y float64, anchor, text, more string) {
	fmt.Fprintf(d, `<text x="%s" y="%s" text-anchor="%s"%s>`, pixel(x), pixel(y), anchor, more)
	_ = xml.EscapeText(d, []byte(text)) // writes to a buffer cannot fail
	d.WriteString("</text>\n")
}

// pixel formats a coordinate with a resolution of 0.1 pixels.
func pixel(v float64) string {
	return strconv.FormatFloat(math.Round(min(max(v, -1e6), 1e6)*10)/10, 'f', -1, 64)
}

// textWidth estimates the width of a text in pixels.
func textWidth(s string) float64 { return 7 * float64(len([]rune(s))) }

func (d *drawing) lines() {
	c := d.c
	_, labels := c.y.ticks(max(2, c.height/60))
	for _, l := range labels {
		d.left = max(d.left, 14+textWidth(l))
	}
	if values, labels := d.places(); len(values) > 0 { // the outer labels are within the picture
		last := len(values) - 1
		d.left = max(d.left, textWidth(labels[0])/2+4-max(d.x(values[0])-d.left, 0))
		d.right = min(d.right, float64(c.width)-4-textWidth(labels[last])/2+max(d.right-d.x(values[last]), 0))
	}
	d.beside = d.distance()
	for _, v := range c.y.between() {
		d.rule(d.left, d.y(v), d.right, d.y(v), "#f3f3f3")
	}
	for _, v := range c.x.between() {
		d.rule(d.x(v), d.top, d.x(v), d.bottom, "#f3f3f3")
	}
	d.valueAxis()
	values, labels := d.places()
	for i, v := range values {
		if x := d.x(v); x >= d.left-0.5 && x <= d.right+0.5 {
			d.rule(x, d.top, x, d.bottom, "#eee")
			d.label(x, d.bottom+16, "middle", labels[i], "")
		}
	}
	d.rule(d.left, d.bottom, d.right, d.bottom, "#333")
	d.rule(d.left, d.top, d.left, d.bottom, "#333")
	d.legend(true)
	fmt.Fprintf(d, `<clipPath id="area"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`+"\n", pixel(d.left-4), pixel(d.top-4), pixel(d.right-d.left+8), pixel(d.bottom-d.top+8))
	drawn := map[string]bool{}
	for i := range c.series {
		d.errorBars(i)
		if d.joined(i) {
			dash := dashOf(i)
			path := d.path(i)
			if drawn[path] && dash == "" {
				dash = dashes[1] // the line below stays visible
			}
			drawn[path] = true
			d.line(path, colorOf(i), dash)
		}
		d.marks(i)
	}
}

// joined reports whether a line joins the values of a series.
func (d *drawing) joined(i int) bool { return d.c.kind != points || d.c.series[i].joined }

// distance returns the distance of the values of adjacent series, such that all have room between two places: at most three pixels,
// and 0 for a single series or without error bars.
func (d *drawing) distance() float64 {
	n := len(d.c.series)
	if n < 2 || !slices.ContainsFunc(d.c.series, func(s series) bool { return s.low != nil }) {
		return 0
	}
	room := d.right - d.left
	all := d.c.distinct(mostPlaces)
	for i := 1; i < len(all); i++ {
		room = min(room, d.x(all[i])-d.x(all[i-1]))
	}
	if len(all) < 2 {
		return min(3, room/2/float64(n))
	}
	return min(3, room/3/float64(n))
}

// mostPlaces is the maximum number of places along x with which values have marks, and the places labels of their own.
const mostPlaces = 40

// distinct returns the places of the values along x in ascending order, without those of a roof, a joined series in a chart of
// points. It returns nil if there are more than most.
func (c *chart) distinct(most int) (all []float64) {
	for k := range c.series {
		s := &c.series[k]
		if s.joined && c.kind == points {
			continue // a roof
		}
		for i := range s.y {
			v := s.at(i)
			if !isFinite(v) {
				continue
			}
			at, found := slices.BinarySearch(all, v)
			if found {
				continue
			}
			if len(all) == most {
				return nil
			}
			all = slices.Insert(all, at, v)
		}
	}
	return all
}

// places returns the values of the x axis that have labels. These are the places of the data, if they are few, whole numbers or on a
// logarithmic axis, and their labels fit. Otherwise they are round values.
func (d *drawing) places() (values []float64, labels []string) {
	c := d.c
	round, labels := c.x.ticks(max(2, c.width/100))
	values = c.distinct(mostPlaces)
	if len(values) < 2 {
		return round, labels
	}
	own := make([]string, len(values))
	for i, v := range values {
		own[i] = c.x.label(v)
		near := i > 0 && d.x(v)-d.x(values[i-1]) < (textWidth(own[i])+textWidth(own[i-1]))/2+8
		if near || !c.x.log && v != math.Trunc(v) || len(own[i]) > 7 {
			return round, labels
		}
	}
	return values, own
}

// legendLine is the height of a line of the legend in pixels.
const legendLine = 20.0

// The parts of an entry of the legend beside its text.
const (
	lineSample = 24.0
	markSample = 10.0
	sampleGap  = 5.0
)

// legend writes the label of the y axis and the names of several series above the plotting area, if write is set. Each name is behind
// a sample of its series. It returns the number of lines. For a chart that is not keyed, it writes nothing and returns 1.
func (d *drawing) legend(write bool) (lines int) {
	c := d.c
	if !c.keyed() {
		return 1
	}
	const left = 24.0
	x, line := left, 0
	type entry struct {
		text   string
		series int // -1 for the label of the y axis
		x      float64
		line   int
	}
	var list []entry
	add := func(text string, series int, width, gap float64) {
		if x > left && x+width > float64(c.width)-8 {
			x, line = left, line+1
		}
		list = append(list, entry{text, series, x, line})
		x += width + gap
	}
	if c.yLabel != "" {
		add(c.yLabel, -1, textWidth(c.yLabel), 24)
	}
	if len(c.series) > 1 {
		for i, s := range c.series {
			name := s.name
			if twin := c.twin(i); twin >= 0 {
				name += " (= " + c.series[twin].name + ")"
			}
			add(name, i, d.sample(i)+sampleGap+textWidth(name), 16)
		}
	}
	if !write {
		return line + 1
	}
	for _, e := range list {
		y := d.top - 8 - legendLine*float64(line-e.line)
		if e.series < 0 {
			d.label(e.x, y, "start", e.text, ` fill="#555"`)
			continue
		}
		d.drawSample(e.series, e.x, y-4)
		d.label(e.x+d.sample(e.series)+sampleGap, y, "start", e.text, ` fill="#333"`)
	}
	return line + 1
}

// sample returns the width of the sample of a series in the legend.
func (d *drawing) sample(i int) float64 {
	if d.c.kind == line || d.c.kind == points && d.joined(i) {
		return lineSample
	}
	return markSample
}

// drawSample draws how a series looks: a line, a mark, both, or a color.
func (d *drawing) drawSample(i int, x, y float64) {
	width := d.sample(i)
	if d.c.kind != line && d.c.kind != points {
		d.fill(x, y-markSample/2, x+width, y+markSample/2, colorOf(i))
		return
	}
	if d.joined(i) {
		dash := dashOf(i)
		if dash != "" {
			dash = ` stroke-dasharray="` + dash + `"`
		}
		fmt.Fprintf(d, `<path d="M%s %sL%s %s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", pixel(x), pixel(y), pixel(x+width), pixel(y), colorOf(i), dash)
	}
	if d.marked() || !d.joined(i) {
		d.mark(i, x+width/2, y, markRadius)
	}
}

// x returns the x coordinate of a value, in the middle of those of series that are beside one another.
func (d *drawing) x(v float64) float64 {
	inset := d.beside * float64(len(d.c.series)-1) / 2
	return d.left + inset + d.c.x.at(v)*(d.right-d.left-2*inset)
}

// place returns the x coordinate of value j of series i.
func (d *drawing) place(i, j int) float64 {
	return d.x(d.c.series[i].at(j)) + d.beside*(float64(i)-float64(len(d.c.series)-1)/2)
}

func (d *drawing) y(v float64) float64 { return d.bottom - d.c.y.at(v)*(d.bottom-d.top) }

func (d *drawing) rule(x, y, toX, toY float64, color string) {
	fmt.Fprintf(d, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>`+"\n", pixel(x), pixel(y), pixel(toX), pixel(toY), color)
}

// errorCap is half the length of the ends of an error bar in pixels.
const errorCap = 3

// errorBars draws the error bars of a series with their ends.
func (d *drawing) errorBars(k int) {
	s, color := &d.c.series[k], colorOf(k)
	for i, v := range s.low {
		x, low, high := d.place(k, i), d.y(v), d.y(s.high[i])
		if !isFinite(x) || !isFinite(low) || !isFinite(high) {
			continue
		}
		path := "M" + pixel(x) + " " + pixel(low) + "L" + pixel(x) + " " + pixel(high)
		for _, y := range []float64{low, high} {
			path += "M" + pixel(x-errorCap) + " " + pixel(y) + "L" + pixel(x+errorCap) + " " + pixel(y)
		}
		fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" clip-path="url(#area)"/>`+"\n", path, color)
	}
}

// The radii of marks in pixels.
const (
	pointRadius = 2.5 // of a single series
	markRadius  = 3.5
	twinRadius  = 1.6 // of equal series, so that the points below stay visible
)

// marked reports whether all values of lines have marks. Values without neighbors have them always.
func (d *drawing) marked() bool { return d.c.distinct(mostPlaces) != nil }

// marks draws marks at the values of a series that need them. Of values at the same pixel, it draws only the first.
func (d *drawing) marks(k int) {
	s := &d.c.series[k]
	all := !d.joined(k) || d.marked() && !s.joined
	radius := markRadius
	switch {
	case d.c.twin(k) >= 0:
		radius = twinRadius
	case len(d.c.series) == 1:
		radius = pointRadius
	}
	known := func(i int) bool { return i >= 0 && i < len(s.y) && isFinite(s.y[i]) && isFinite(s.at(i)) }
	fmt.Fprintf(d, `<g fill="%s" clip-path="url(#area)">`+"\n", colorOf(k))
	drawn := map[[2]int]bool{}
	for i, v := range s.y {
		if !known(i) || !all && (known(i-1) || known(i+1)) {
			continue
		}
		x, y := d.place(k, i), d.y(v)
		if key := [2]int{dot(x), dot(y)}; !drawn[key] {
			drawn[key] = true
			d.mark(k, x, y, radius)
		}
	}
	d.WriteString("</g>\n")
}

// mark draws the mark of a series. Four shapes, filled or open, tell series apart without their colors, and series of one color.
func (d *drawing) mark(k int, x, y, radius float64) {
	form := (k + k/distinct) % 4
	d.shape(form, x, y, radius, colorOf(k))
	if k/4%2 == 1 {
		d.shape(form, x, y, radius*0.55, "#fff")
	}
}

// shape draws a circle, a square, a triangle or a diamond.
func (d *drawing) shape(form int, x, y, radius float64, color string) {
	corners := func(list ...[2]float64) {
		for i, c := range list {
			fmt.Fprintf(d, "%s%s %s", map[bool]string{true: `<path d="M`, false: "L"}[i == 0], pixel(x+c[0]*radius), pixel(y+c[1]*radius))
		}
		fmt.Fprintf(d, `" fill="%s"/>`+"\n", color)
	}
	switch form {
	case 0:
		fmt.Fprintf(d, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", pixel(x), pixel(y), pixel(radius), color)
	case 1:
		d.fill(x-0.9*radius, y-0.9*radius, x+0.9*radius, y+0.9*radius, color)
	case 2:
		corners([2]float64{0, -1.2}, [2]float64{1.2, 0.8}, [2]float64{-1.2, 0.8})
	case 3:
		corners([2]float64{0, -1.35}, [2]float64{1.35, 0}, [2]float64{0, 1.35}, [2]float64{-1.35, 0})
	}
}

// line draws a line along a path.
func (d *drawing) line(path, color, dash string) {
	if dash != "" {
		dash = ` stroke-dasharray="` + dash + `"`
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"%s clip-path="url(#area)"/>`+"\n", path, color, dash)
}

// path returns the SVG path through the values of a series. To limit the file's size, values in the same half column of pixels
// are reduced to the first, the minimum, the maximum and the last.
func (d *drawing) path(k int) string {
	s := &d.c.series[k]
	var path strings.Builder
	var run struct {
		x                      int
		at                     float64
		first, low, high, last float64
		known                  bool
	}
	command := "M"
	add := func(x, y float64) {
		fmt.Fprintf(&path, "%s%s %s", command, pixel(x), pixel(y))
		command = "L"
	}
	flush := func() {
		if !run.known {
			return
		}
		add(run.at, run.first)
		if run.low < min(run.first, run.last) {
			add(run.at, run.low)
		}
		if run.high > max(run.first, run.last) {
			add(run.at, run.high)
		}
		if run.last != run.first {
			add(run.at, run.last)
		}
		run.known = false
	}
	for i, v := range s.y {
		if !isFinite(v) || !isFinite(s.at(i)) {
			flush()
			command = "M"
			continue
		}
		x, y := d.place(k, i), d.y(v)
		if run.known && run.x == dot(x*2) {
			run.low, run.high, run.last = min(run.low, y), max(run.high, y), y
			continue
		}
		flush()
		run.x, run.at, run.first, run.low, run.high, run.last, run.known = dot(x*2), x, y, y, y, y, true
	}
	flush()
	return path.String()
}

// bars draws one bar per series, which starts at zero, or at the nearer edge if zero is out of range. On a logarithmic axis it starts
// at the left edge.
func (d *drawing) bars() {
	c := d.c
	names, values := 0.0, 0.0
	for _, s := range c.series {
		names, values = max(names, textWidth(s.name)), max(values, textWidth(short(s.y[0])))
	}
	d.left = min(14+names, float64(c.width)/2)
	d.right = max(d.right-values-8, d.left+20)
	if c.yLabel != "" {
		d.label(d.left, d.top-8, "start", c.yLabel, ` fill="#555"`)
	}
	d.bottom += 16
	zero := d.left
	if !c.y.log && c.y.low < 0 {
		zero = d.x0(0)
	}
	step := (d.bottom - d.top) / float64(len(c.series))
	for i, s := range c.series {
		y, end := d.top+float64(i)*step, zero
		if isFinite(s.y[0]) {
			end = d.x0(s.y[0])
		}
		fmt.Fprintf(d, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", pixel(min(zero, end)), pixel(y+step*0.1), pixel(math.Abs(end-zero)), pixel(step*0.8), colors[0])
		if s.low != nil && isFinite(s.low[0]) && isFinite(s.high[0]) {
			low, high, middle := d.x0(s.low[0]), d.x0(s.high[0]), y+step/2
			d.rule(low, middle, high, middle, "#333")
			d.rule(low, middle-errorCap, low, middle+errorCap, "#333")
			d.rule(high, middle-errorCap, high, middle+errorCap, "#333")
			end = max(end, high)
		}
		d.label(d.left-6, y+step/2+4, "end", s.name, "")
		d.label(max(zero, end)+6, y+step/2+4, "start", short(s.y[0]), "")
	}
	d.rule(zero, d.top, zero, d.bottom, "#333")
}

// x0 returns the x coordinate of a value of the y axis in a chart whose bars or boxes lie along x. It is within the plotting
// area.
func (d *drawing) x0(v float64) float64 {
	return d.left + min(max(d.c.y.at(v), 0), 1)*(d.right-d.left)
}
