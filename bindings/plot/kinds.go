package plot

import (
	"math"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/plot/forms"
	"github.com/orepl/orepl/lang/spelling"
)

// mostLabels is the maximum number of labels.
const mostLabels = 1000

// texts parses the option labels.
func (r *reader) texts() {
	v := r.option("labels")
	if v == nil {
		return
	}
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		r.Fail("options", "must have an array of texts as labels, not %s", convert.Describe(v))
		return
	}
	for i := range length(o) {
		if i == mostLabels {
			r.Fail("options", "have more than %d labels", mostLabels)
			return
		}
		r.c.labels = append(r.c.labels, oneLine(element(o, i).String()))
	}
}

func length(o *goja.Object) int { return int(min(o.Get("length").ToInteger(), math.MaxInt32)) }

func element(o *goja.Object, i int) goja.Value {
	if v := o.Get(strconv.Itoa(i)); v != nil {
		return v
	}
	return goja.Undefined()
}

// matrix parses an array of lists as the rows of a heat map. It reports false for other values, and if the chart is of another
// kind.
func (r *reader) matrix(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" || r.c.kind != "" && r.c.kind != heat || length(o) == 0 {
		return false
	}
	if _, list := element(o, 0).(*goja.Object); !list {
		return false
	}
	for i := range length(o) {
		row, _, ok := r.values(element(o, i))
		if r.Err() != nil {
			return true
		}
		if !ok {
			return false
		}
		r.c.series = append(r.c.series, series{y: row})
	}
	r.c.kind = heat
	r.rows()
	return true
}

// rows joins the series to the matrix of a heat map, whose rows have their names.
func (r *reader) rows() {
	c := r.c
	c.rows, c.columns = len(c.series), len(c.series[0].y)
	var all []float64
	for _, s := range c.series {
		if len(s.y) != c.columns {
			r.Fail("data", "has a row of %s and one of %d", spelling.Count(c.columns, "number"), len(s.y))
			return
		}
		all = append(all, s.y...)
		c.names = append(c.names, s.name)
	}
	c.series = []series{{y: all}}
}

// labelled checks that the labels match the columns of a heat map or the values of bars.
func (r *reader) labelled() {
	c := r.c
	if c.labels == nil {
		return
	}
	want := -1
	switch {
	case c.kind == heat:
		want = c.columns
	case c.kind == groups, c.kind == bars && c.series[0].name == "":
		want = len(c.series[0].y)
	}
	switch {
	case want < 0:
		r.Fail("options", "have labels, which this chart has no use for: they name the columns of 'heat' and the values of 'bars'")
	case want != len(c.labels):
		r.Fail("options", "have %s for %s", spelling.Count(len(c.labels), "label"), spelling.Count(want, "value"))
	}
}

// point parses an object with x and y as a series, and reports whether it is one.
func (r *reader) point(v goja.Value) (x, y []float64, ok bool) {
	o, is := v.(*goja.Object)
	if !is || o.ClassName() != "Object" || o.Get("x") == nil || o.Get("y") == nil {
		return nil, nil, false
	}
	x, _, okX := r.values(o.Get("x"))
	y, _, okY := r.values(o.Get("y"))
	if r.Err() != nil || !okX || !okY {
		return nil, nil, false
	}
	if len(x) != len(y) {
		r.Fail("data", "has %s as x and %d as y", spelling.Count(len(x), "number"), len(y))
	}
	return x, y, true
}

// finite returns the finite values of a list.
func finite(list []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(list), func(v float64) bool { return !isFinite(v) })
}

// reduce computes the bins of histograms and the boxes of box charts.
func (r *reader) reduce() {
	c := r.c
	bins := r.size("bins", 0, 1, mostBars)
	if r.option("bins") != nil && c.kind != histogram {
		r.Fail("options", "have bins, which only a 'histogram' has")
	}
	if r.Err() != nil {
		return
	}
	switch c.kind {
	case box:
		for _, s := range c.series {
			var b *forms.Box
			if list := finite(s.y); len(list) > 0 {
				made := forms.NewBox(list)
				b = &made
			}
			c.boxes = append(c.boxes, b)
		}
	case histogram:
		var all []float64
		for _, s := range c.series {
			all = append(all, finite(s.y)...)
		}
		if len(all) == 0 {
			c.blank = true
			return
		}
		for _, v := range all {
			if r.extend(&c.x, "x", v); r.Err() != nil {
				return
			}
		}
		c.edges = forms.Edges(all, bins, c.x.log)
		for i := range c.series {
			c.series[i].y = forms.Counts(finite(c.series[i].y), c.edges)
		}
		c.x.low, c.x.high = c.edges[0], c.edges[len(c.edges)-1]
	}
}

// roofline parses the option roof, and adds the line of the greatest rate for each intensity. There is no line if neither rate was
// measured.
func (r *reader) roofline() {
	v, c := r.option("roof"), r.c
	if v == nil {
		return
	}
	o, ok := v.(*goja.Object)
	var bandwidth, peak float64
	if ok {
		bandwidth, _ = number(property(o, "gigabytesPerSecond"))
		peak, _ = number(property(o, "gigaflops"))
	}
	switch {
	case ok && math.IsNaN(bandwidth) && math.IsNaN(peak):
		return
	case !(bandwidth > 0) || !(peak > 0) || !isFinite(bandwidth) || !isFinite(peak):
		r.Fail("options", "must have { gigabytesPerSecond, gigaflops } as roof, as roofline of the module 'suites' returns, not %s", convert.Describe(v))
		return
	case c.kind != points && c.kind != line:
		r.Fail("options", "have a roof, which '%s' has no use for", c.kind)
		return
	}
	ridge := peak / bandwidth
	low, high := ridge/8, ridge*8
	for _, s := range c.series {
		for i := range s.y {
			if x := s.at(i); isFinite(x) && x > 0 {
				low, high = min(low, x/2), max(high, x*2)
			}
		}
	}
	c.series = append(c.series, series{name: short(math.Round(bandwidth*100)/100) + " GB/s, " + short(math.Round(peak*100)/100) + " GFLOP/s",
		x: []float64{low, ridge, high}, y: []float64{bandwidth * low, peak, peak}, joined: true})
	r.extend(&c.y, "y", 1.3*peak)
	if c.xLabel == "" {
		c.xLabel = "FLOP/byte"
	}
	if c.yLabel == "" {
		c.yLabel = "GFLOP/s"
	}
}

// property returns a property, or undefined.
func property(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

// flat returns a chart of bars with the values of groups or of a histogram, in the order of the groups.
func (c *chart) flat() *chart {
	out := *c
	out.kind, out.series = bars, nil
	for j := range c.series[0].y {
		for _, s := range c.series {
			b := series{name: c.column(j), y: s.y[j : j+1]}
			if s.name != "" {
				b.name += " " + s.name
			}
			if s.low != nil {
				b.low, b.high = s.low[j:j+1], s.high[j:j+1]
			}
			out.series = append(out.series, b)
		}
	}
	return &out
}

// column returns the label of a column of groups, of a histogram, or of a heat map. It returns "" for other charts.
func (c *chart) column(j int) string {
	switch {
	case c.edges != nil:
		return c.edge(j) + " … " + c.edge(j+1)
	case c.labels != nil:
		return c.labels[j]
	case c.kind == groups:
		return short(c.series[0].at(j))
	}
	return ""
}

// edge formats an edge of the bins with the digits that tell it from the next one.
func (c *chart) edge(j int) string {
	if c.x.log {
		return figure(c.edges[j])
	}
	return stepped(c.edges[j], roundStep((c.edges[1]-c.edges[0])/10), max(math.Abs(c.x.low), math.Abs(c.x.high)))
}
