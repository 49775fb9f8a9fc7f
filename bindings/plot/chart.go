package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/plot/forms"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/session"
)

// A kind is a type of chart.
type kind string

const (
	line   kind = "line"
	points kind = "points"
	bars   kind = "bars"
	heat   kind = "heat"
	groups kind = "groups" // bars beside one another, of several lists; scripts write 'bars'

	histogram kind = "histogram"
	box       kind = "box"
)

// noValues is the text in a blank chart, such as that of benchmarks that a filter left out.
const noValues = "no finite values"

const (
	distinct = 8   // series with symbols and colors of their own; further ones have letters and dashes
	mostBars = 200 // maximum number of bars, each of which takes a row
)

// A chart holds the validated data and options of a drawing.
type chart struct {
	kind           kind
	title          string
	xLabel, yLabel string
	x, y           axis // ranges of the values
	width, height  int  // size in columns and rows of text, or in pixels
	series         []series
	rows, columns  int          // shape of the matrix of a heat map
	blank          bool         // there is no finite value
	names, labels  []string     // of the rows and columns of a matrix; labels are also those of groups
	edges          []float64    // of the bins of a histogram
	boxes          []*forms.Box // of the series; nil for one without finite values
}

// A series is a named list of values. If x is nil, the positions are 0, 1, 2 ….
type series struct {
	name      string
	x, y      []float64
	low, high []float64 // ends of the error bars; nil: none
	joined    bool      // a line, also among points
}

// at returns the position of value i along x.
func (s *series) at(i int) float64 {
	if s.x == nil {
		return float64(i)
	}
	return s.x[i]
}

// drawn reports whether the series has a value i that a chart can show.
func (s *series) drawn(i int) bool { return i < len(s.y) && isFinite(s.y[i]) && isFinite(s.at(i)) }

// sizes holds the limits and defaults of width and height.
type sizes struct {
	leastWidth, mostWidth, leastHeight, mostHeight int
	width, height                                  int
}

func (s sizes) sized(width, height int) sizes {
	s.width, s.height = width, height
	return s
}

// A reader parses the arguments of one call.
type reader struct {
	*lang.Args
	e *lang.Engine
	c *chart
	o *goja.Object // the options; may be nil
}

// read parses and validates the arguments (data, options).
func read(e *lang.Engine, a *lang.Args, size sizes) (*chart, error) {
	r := &reader{Args: a, e: e, c: &chart{}}
	if a.Has(1) {
		if _, _, numbers := r.values(r.Value(1)); numbers {
			r.Fail("options", "is a second list of numbers: write { a, b } in place of a, b for two curves, or { x: positions } behind the values")
			return r.c, a.Err()
		}
		r.o = a.Options(1, "options", "title", "x", "kind", "log", "low", "high", "error", "xLabel", "yLabel", "width", "height", "labels", "bins", "roof")
	}
	r.c.title, r.c.xLabel, r.c.yLabel = r.line("title"), r.line("xLabel"), r.line("yLabel")
	r.c.width = r.size("width", size.width, size.leastWidth, size.mostWidth)
	r.c.height = r.size("height", size.height, size.leastHeight, size.mostHeight)
	r.c.kind = kind(r.choice("kind", "", string(line), string(points), string(bars), string(histogram), string(box), string(heat)))
	log := r.choice("log", "", "x", "y", "xy")
	r.c.x.log, r.c.y.log = strings.Contains(log, "x"), strings.Contains(log, "y")
	for _, step := range []func(){r.texts, r.data, r.errors, r.labelled, r.places, r.roofline, r.reduce, r.ranges} {
		if step(); a.Err() != nil {
			break
		}
	}
	return r.c, a.Err()
}

// option returns an option, or nil if it is missing or undefined.
func (r *reader) option(name string) goja.Value {
	if r.o == nil {
		return nil
	}
	if v := r.o.Get(name); v != nil && !goja.IsUndefined(v) {
		return v
	}
	return nil
}

// line returns a string option as one line, with control characters such as line breaks replaced by spaces. It returns ""
// without the option, and after an error if it is no string.
func (r *reader) line(name string) string {
	v := r.option(name)
	if v == nil {
		return ""
	}
	s, ok := v.(goja.String)
	if !ok {
		r.Fail("options", "must have a text as %s, not %s", name, convert.Describe(v))
		return ""
	}
	return oneLine(s.String())
}

func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 || c >= 0x7f && c < 0xa0 {
			return ' '
		}
		return c
	}, s)
}

func (r *reader) size(name string, usual, least, most int) int {
	v := r.option(name)
	if v == nil {
		return usual
	}
	n, ok := number(v)
	if !ok || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		r.Fail("options", "must have a whole number from %d to %d as %s, not %s", least, most, name, v)
		return usual
	}
	return int(n)
}

func (r *reader) choice(name, usual string, known ...string) string {
	v := r.option(name)
	if v == nil {
		return usual
	}
	if s := v.String(); slices.Contains(known, s) {
		return s
	}
	hint := ""
	if near := spelling.Nearest(v.String(), known); near != "" {
		hint = fmt.Sprintf("; did you mean '%s'?", near)
	}
	if own := map[string]string{"scatter": "points", "dots": "points", "bar": "bars", "hist": "histogram", "boxplot": "box", "violin": "box", "roofline": "points", "image": "heat", "heatmap": "heat", "imshow": "heat", "matrix": "heat"}[v.String()]; own != "" {
		hint = fmt.Sprintf("; did you mean '%s'?", own)
	}
	r.Fail("options", "must have one of '%s' as %s, not %s%s", strings.Join(known, "', '"), name, convert.Describe(v), hint)
	return usual
}

func number(v goja.Value) (float64, bool) {
	if !goja.IsNumber(v) {
		return 0, false
	}
	return v.ToFloat(), true
}

// buffer is the interface of the script's device buffers that plotting needs.
type buffer interface {
	DeviceBuffer() *session.Buffer
	Dims() []int
}

// values returns the numbers of an array, a typed array or a buffer, and the shape of a buffer with two dimensions. It
// returns false for other values and after an error.
func (r *reader) values(v goja.Value) (list []float64, shape []int, ok bool) {
	if r.Err() != nil {
		return nil, nil, false
	}
	if host, _ := r.e.HostValue(v); host != nil {
		b, is := host.(buffer)
		if !is {
			return nil, nil, false
		}
		object := v.(*goja.Object)
		read, is := goja.AssertFunction(object.Get("readSync"))
		if !is {
			return nil, nil, false
		}
		data, err := read(object)
		if err != nil {
			r.Reject(err)
			return nil, nil, false
		}
		list, ok = convert.Numbers(data)
		if ok && len(b.Dims()) == 2 {
			shape = b.Dims()
		}
		return list, shape, ok
	}
	list, ok = convert.Numbers(v)
	return list, nil, ok
}

const expected = "must be numbers: an array, a typed array or a buffer, or an object with one of these, { x, y } or one number for each name; rows of numbers are a heat map"

// data parses the first argument into series.
func (r *reader) data() {
	v, c := r.Value(0), r.c
	if goja.IsUndefined(v) || goja.IsNull(v) {
		r.Fail("data", expected)
		return
	}
	list, shape, ok := r.values(v)
	if r.Err() != nil {
		return
	}
	switch {
	case ok && c.kind == "" && shape != nil, ok && c.kind == heat:
		if shape == nil {
			r.Fail("data", "must be a buffer of 2 dimensions or an array of rows for 'heat'")
			return
		}
		c.kind, c.rows, c.columns = heat, shape[0], shape[1]
		c.series = []series{{y: list}}
	case ok:
		c.series = []series{{y: list}}
	case r.matrix(v):
	default:
		r.named(v)
	}
	if c.kind == "" && r.option("roof") != nil {
		c.kind = points
		c.x.log, c.y.log = true, true
	}
	if c.kind == "" {
		c.kind = line
	}
	if r.Err() != nil {
		return
	}
	n := 0
	for _, s := range c.series {
		n += len(s.y)
	}
	if n == 0 {
		r.Fail("data", "has no values")
	}
}

// named parses an object that maps names to series or numbers.
func (r *reader) named(v goja.Value) {
	o, ok := v.(*goja.Object)
	if ok {
		_, function := goja.AssertFunction(o)
		host, _ := r.e.HostValue(v)
		ok = !function && host == nil && o.ClassName() == "Object"
	}
	if !ok || len(o.Keys()) == 0 {
		r.Fail("data", expected)
		return
	}
	keys := o.Keys()
	if _, single := number(o.Get(keys[0])); single {
		if r.c.kind != "" && r.c.kind != bars {
			r.Fail("data", "has one number for each name, which are drawn as 'bars', not as '%s'", r.c.kind)
			return
		}
		r.c.kind = bars
		for _, key := range keys {
			n, ok := number(o.Get(key))
			if !ok {
				r.Fail("data", "has a number for %q, but %s for %q", keys[0], convert.Describe(o.Get(key)), key)
				return
			}
			r.c.series = append(r.c.series, series{name: oneLine(key), y: []float64{n}})
		}
		return
	}
	for _, key := range keys {
		if x, y, ok := r.point(o.Get(key)); ok {
			r.c.series = append(r.c.series, series{name: oneLine(key), x: x, y: y})
			continue
		}
		list, _, ok := r.values(o.Get(key))
		if r.Err() != nil {
			return
		}
		if !ok {
			r.Fail("data", "has %s for %q, which are no numbers", convert.Describe(o.Get(key)), key)
			return
		}
		r.c.series = append(r.c.series, series{name: oneLine(key), y: list})
	}
	placed := r.option("x") != nil || slices.ContainsFunc(r.c.series, func(s series) bool { return s.x != nil })
	if len(keys) == 2 && slices.Contains(keys, "x") && slices.Contains(keys, "y") && r.c.kind == "" && !placed {
		r.e.Warn("data has x and y, which are drawn as two curves over their indices", "write plot(y, { x }) for y over x")
	}
	switch r.c.kind {
	case bars:
		r.c.kind = groups
		for _, s := range r.c.series {
			if n := len(r.c.series[0].y); len(s.y) != n || n == 0 {
				r.Fail("data", "has %s for %q and %d for %q, which are no groups of bars", spelling.Count(n, "number"), r.c.series[0].name, len(s.y), s.name)
				return
			}
		}
	case heat:
		r.rows()
	}
}

// places parses the option x. It turns the values of bars into bars that are named by their places or labels.
func (r *reader) places() {
	v, c := r.option("x"), r.c
	single := len(c.series) > 0 && len(c.series[0].y) == 1 && c.kind == bars && c.series[0].name != ""
	if v != nil {
		list, _, ok := r.values(v)
		switch {
		case !ok:
			r.Fail("options", "must have numbers as x, not %s", convert.Describe(v))
			return
		case c.kind == heat || c.kind == histogram || c.kind == box || single:
			r.Fail("options", "have x, which this chart has no use for")
			return
		}
		for i := range c.series {
			s := &c.series[i]
			if s.x != nil {
				r.Fail("options", "have x, and so has %q", s.name)
				return
			}
			if len(s.y) != len(list) {
				r.Fail("options", "have %s as x for %s", spelling.Count(len(list), "number"), spelling.Count(len(s.y), "value"))
				return
			}
			s.x = list
		}
	}
	if c.kind == groups {
		if n := len(c.series) * len(c.series[0].y); n > mostBars {
			r.Fail("data", "has %d bars; a chart shows at most %d: draw lines", n, mostBars)
		}
		return
	}
	if c.kind != bars || single {
		if len(c.series) > mostBars && c.kind != line && c.kind != points {
			r.Fail("data", "has %d bars; a chart shows at most %d", len(c.series), mostBars)
		}
		return
	}
	s := c.series[0] // turn each value into a bar named by its position
	if len(s.y) > mostBars {
		r.Fail("data", "has %d bars; a chart shows at most %d: draw a 'line'", len(s.y), mostBars)
		return
	}
	c.series = nil
	for i, y := range s.y {
		bar := series{name: short(s.at(i)), y: []float64{y}}
		if c.labels != nil {
			bar.name = c.labels[i]
		}
		if s.low != nil {
			bar.low, bar.high = s.low[i:i+1], s.high[i:i+1]
		}
		c.series = append(c.series, bar)
	}
}

// errors parses the option error.
func (r *reader) errors() {
	v, c := r.option("error"), r.c
	if v == nil {
		return
	}
	if c.kind == heat || c.kind == histogram || c.kind == box {
		r.Fail("options", "have error, which '%s' has no use for", c.kind)
		return
	}
	if len(c.series) == 1 && c.series[0].name == "" {
		r.errorOf(&c.series[0], v)
		return
	}
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Object" {
		r.Fail("options", "must have an object as error, with numbers for each name, not %s", convert.Describe(v))
		return
	}
	var names []string
	for i := range c.series {
		names = append(names, c.series[i].name)
	}
	for _, key := range o.Keys() {
		i := slices.Index(names, oneLine(key))
		if i < 0 {
			r.Fail("options", "have an error of %q; the names are %s", key, strings.Join(names, ", "))
			return
		}
		if r.errorOf(&c.series[i], o.Get(key)); r.Err() != nil {
			return
		}
	}
}

// errorOf parses the error of a series: half the length of each bar, or an object with their ends low and high.
func (r *reader) errorOf(s *series, v goja.Value) {
	list := func(v goja.Value) []float64 {
		if n, single := number(v); single && len(s.y) == 1 {
			return []float64{n}
		}
		values, _, ok := r.values(v)
		switch {
		case r.Err() != nil:
		case !ok:
			r.Fail("options", "must have numbers as error, or an object with low and high, not %s", convert.Describe(v))
		case len(values) != len(s.y):
			r.Fail("options", "have %s as error for %s", spelling.Count(len(values), "number"), spelling.Count(len(s.y), "value"))
		}
		return values
	}
	o, ok := v.(*goja.Object)
	if ok && o.ClassName() == "Object" && o.Get("low") != nil && o.Get("high") != nil {
		s.low, s.high = list(o.Get("low")), list(o.Get("high"))
	} else if half := list(v); r.Err() == nil {
		for i, y := range s.y {
			s.low, s.high = append(s.low, y-half[i]), append(s.high, y+half[i])
		}
	}
	if r.Err() != nil {
		return
	}
	for i := range s.y {
		if r.c.y.log && s.low[i] <= 0 {
			s.low[i] = s.y[i] // a logarithmic axis has no end there
		}
	}
}

// ranges computes the ranges of the axes.
func (r *reader) ranges() {
	c := r.c
	if c.blank {
		return
	}
	for i := range c.series {
		s := &c.series[i]
		for j, y := range s.y {
			if s.low != nil && isFinite(y) {
				r.extend(&c.y, "y", s.low[j])
				r.extend(&c.y, "y", s.high[j])
			}
			if c.kind != line && c.kind != points {
				if c.kind != histogram || !c.y.log || y > 0 { // an empty bin has no bar
					r.extend(&c.y, "y", y)
				}
			} else if x := s.at(j); isFinite(x) && isFinite(y) {
				r.extend(&c.x, "x", x)
				r.extend(&c.y, "y", y)
			}
			if r.Err() != nil {
				return
			}
		}
	}
	if !c.y.known {
		c.blank = true
		return
	}
	if (c.kind == bars || c.kind == groups || c.kind == histogram) && !c.y.log {
		r.extend(&c.y, "y", 0)
	}
	if c.kind == histogram && c.y.log {
		c.y.low = min(c.y.low, 0.5) // a bar of one value is visible
	}
	if c.y.low < c.y.high && c.kind != bars && c.kind != heat {
		c.y = c.y.rounded()
	}
	for _, end := range []struct {
		name string
		at   *float64
	}{{"low", &c.y.low}, {"high", &c.y.high}} {
		v := r.option(end.name)
		if v == nil {
			continue
		}
		n, ok := number(v)
		switch {
		case !ok || !isFinite(n):
			r.Fail("options", "must have a finite number as %s, not %s", end.name, convert.Describe(v))
		case c.y.log && n <= 0:
			r.Fail("options", "have %s %s, which a logarithmic axis cannot show", end.name, short(n))
		}
		*end.at = n
	}
	if c.y.low > c.y.high {
		r.Fail("options", "leave no values between low %s and high %s", short(c.y.low), short(c.y.high))
	}
	c.x.widen()
	c.y.widen()
	if c.kind == line || c.kind == points {
		c.x.binary = c.powersOfTwo()
	}
}

// powersOfTwo reports whether all places along a logarithmic x axis are powers of two, as sizes of benchmarks are. They must span a
// factor of at least four.
func (c *chart) powersOfTwo() bool {
	if !c.x.log {
		return false
	}
	for _, s := range c.series {
		for i := range s.y {
			if fraction, _ := math.Frexp(s.at(i)); isFinite(s.at(i)) && fraction != 0.5 {
				return false
			}
		}
	}
	return c.x.high >= 4*c.x.low
}

func (r *reader) extend(a *axis, name string, v float64) {
	if !isFinite(v) {
		return
	}
	if a.log && v <= 0 {
		r.Fail("data", "has %s along %s, which a logarithmic axis cannot show", short(v), name)
		return
	}
	a.extend(v)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
