package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/plot/forms"
	"github.com/orepl/orepl/lang/columns"
)

// fill draws a filled rectangle.
func (d *drawing) fill(x, y, toX, toY float64, color string) {
	fmt.Fprintf(d, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", pixel(min(x, toX)), pixel(min(y, toY)), pixel(math.Abs(toX-x)), pixel(math.Abs(toY-y)), color)
}

// valueAxis draws the labels and lines of the y axis.
func (d *drawing) valueAxis() {
	values, labels := d.c.y.ticks(max(2, d.c.height/60))
	for _, l := range labels {
		d.left = max(d.left, 14+textWidth(l))
	}
	for i, v := range values {
		if y := d.y(v); y >= d.top-0.5 && y <= d.bottom+0.5 {
			d.rule(d.left, y, d.right, y, "#ddd")
			d.label(d.left-6, y+4, "end", labels[i], "")
		}
	}
}

// upright draws the bars of groups and histograms, side by side.
func (d *drawing) upright() {
	c := d.c
	d.valueAxis()
	d.legend(true)
	n := len(c.series[0].y)
	ends := func(j int) (left, right float64) { // of a group
		if c.edges != nil {
			return d.x(c.edges[j]), d.x(c.edges[j+1])
		}
		step := (d.right - d.left) / float64(n)
		return d.left + (float64(j)+0.1)*step, d.left + (float64(j)+0.9)*step
	}
	base := d.bottom
	if !c.y.log {
		base = min(d.y(math.Max(c.y.low, 0)), d.bottom)
	}
	for j := range n {
		left, right := ends(j)
		width := (right - left) / float64(len(c.series))
		for k, s := range c.series {
			v := s.y[j]
			if !isFinite(v) || c.y.log && v <= 0 {
				continue
			}
			x, gap := left+float64(k)*width, min(1, width/8)
			d.fill(x+gap/2, base, x+width-gap/2, min(max(d.y(v), d.top), d.bottom), colorOf(k))
			if s.low != nil && isFinite(s.low[j]) && isFinite(s.high[j]) {
				low, high, middle := d.y(s.low[j]), d.y(s.high[j]), x+width/2
				for _, l := range [][4]float64{{middle, low, middle, high}, {middle - errorCap, low, middle + errorCap, low}, {middle - errorCap, high, middle + errorCap, high}} {
					d.rule(l[0], l[1], l[2], l[3], "#333")
				}
			}
		}
	}
	d.rule(d.left, base, d.right, base, "#333")
	d.rule(d.left, d.top, d.left, d.bottom, "#333")
	if c.edges != nil {
		values, labels := c.x.ticks(max(2, c.width/100))
		for i, v := range values {
			d.rule(d.x(v), d.bottom, d.x(v), d.bottom+4, "#333")
			d.label(d.x(v), d.bottom+17, "middle", labels[i], "")
		}
		return
	}
	every := 1 // labels that fit
	for j := range n {
		every = max(every, int(math.Ceil((textWidth(c.column(j))+6)*float64(n)/(d.right-d.left))))
	}
	for j := 0; j < n; j += every {
		left, right := ends(j)
		d.label((left+right)/2, d.bottom+16, "middle", c.column(j), "")
	}
}

// boxes draws a box for each series from left to right along the value axis.
func (d *drawing) boxes() {
	c := d.c
	for _, s := range c.series {
		d.left = max(d.left, min(14+textWidth(s.name), float64(c.width)/2))
	}
	if c.yLabel != "" {
		d.label(d.left, d.top-8, "start", c.yLabel, ` fill="#555"`)
	}
	values, labels := c.y.ticks(max(2, c.width/100))
	for i, v := range values {
		d.rule(d.x0(v), d.top, d.x0(v), d.bottom, "#eee")
		d.label(d.x0(v), d.bottom+16, "middle", labels[i], "")
	}
	step := (d.bottom - d.top) / float64(len(c.series))
	for i, b := range c.boxes {
		middle, half := d.top+(float64(i)+0.5)*step, min(step*0.35, 24)
		d.label(d.left-6, middle+4, "end", c.series[i].name, "")
		if b == nil {
			d.label(d.left+6, middle+4, "start", noValues, ` fill="#555"`)
			continue
		}
		d.rule(d.x0(b.Low), middle, d.x0(b.First), middle, "#333")
		d.rule(d.x0(b.Third), middle, d.x0(b.High), middle, "#333")
		for _, end := range []float64{b.Low, b.High} {
			d.rule(d.x0(end), middle-half/2, d.x0(end), middle+half/2, "#333")
		}
		d.fill(d.x0(b.First), middle-half, max(d.x0(b.Third), d.x0(b.First)+1), middle+half, colors[5])
		d.fill(d.x0(b.Median)-1, middle-half, d.x0(b.Median)+1, middle+half, "#000000")
		for _, v := range b.Outliers {
			if at := c.y.at(v); at >= 0 && at <= 1 {
				fmt.Fprintf(d, `<circle cx="%s" cy="%s" r="2" fill="%s"/>`+"\n", pixel(d.x0(v)), pixel(middle), colors[1])
			}
		}
	}
	d.rule(d.left, d.bottom, d.right, d.bottom, "#333")
}

// textBoxes draws a box for each series as a line of text.
func (c *chart) textBoxes(b *strings.Builder) {
	names := 0
	for _, s := range c.series {
		names = max(names, columns.Of(s.name))
	}
	names = min(names, c.width/2)
	room := max(c.width-names-2, 8)
	at := func(v float64) int { return int(math.Round(min(max(c.y.at(v), 0), 1) * float64(room-1))) }
	for i, one := range c.boxes {
		row := []rune(strings.Repeat(" ", room))
		draw := func(from, to float64, r rune) {
			for x := at(from); x <= at(to); x++ {
				row[x] = r
			}
		}
		if one == nil {
			row = []rune("(" + noValues + ")")
		} else {
			for _, v := range one.Outliers {
				row[at(v)] = '·'
			}
			draw(one.Low, one.High, '─')
			row[at(one.Low)], row[at(one.High)] = '├', '┤'
			draw(one.First, one.Third, '▒')
			row[at(one.Median)] = '█'
		}
		b.WriteString(strings.TrimRight(pad(cut(c.series[i].name, names), names)+" "+string(row), " ") + "\n")
	}
	low, high := short(c.y.low), short(c.y.high)
	label := c.yLabel
	gap := room - len(low) - len(high)
	if columns.Of(label)+2 > gap {
		label = ""
	}
	left := max((gap-columns.Of(label))/2, 0)
	b.WriteString(strings.Repeat(" ", names+1) + low + strings.Repeat(" ", left) + label + strings.Repeat(" ", max(gap-left-columns.Of(label), 1)) + high + "\n")
}

const (
	mostCells = 200 // maximum number of rows and of columns of cells in a heat map; cells of a larger matrix show means
	overlap   = 0.6 // the part of a cell below the next one in pixels, without which gaps show
	legendBar = 14  // the width of the scale of colors in pixels
)

// heat draws a matrix as colored cells with a scale of the colors.
func (d *drawing) heat() {
	c := d.c
	for _, name := range c.names {
		d.left = max(d.left, min(14+textWidth(name), float64(c.width)/2))
	}
	if c.yLabel != "" {
		d.label(d.left, d.top-8, "start", c.yLabel, ` fill="#555"`)
	}
	low, high := short(c.y.low), short(c.y.high)
	d.right -= legendBar + 14 + max(textWidth(low), textWidth(high))
	if c.labels == nil {
		d.bottom += 14
	}
	rows, columns := min(c.rows, mostCells), min(c.columns, mostCells)
	wide, tall := (d.right-d.left)/float64(columns), (d.bottom-d.top)/float64(rows)
	for i := range rows {
		for j := range columns {
			v, ok := c.mean(i*c.rows/rows, (i+1)*c.rows/rows, j*c.columns/columns, (j+1)*c.columns/columns)
			x, y := d.left+float64(j)*wide, d.top+float64(i)*tall
			if !ok {
				continue
			}
			r, g, b := forms.Color(c.y.at(v))
			d.fill(x, y, min(x+wide+overlap, d.right), min(y+tall+overlap, d.bottom), fmt.Sprintf("#%02x%02x%02x", r, g, b))
			if text := figure(v); rows == c.rows && columns == c.columns && wide > textWidth(text)+4 && tall >= 16 && rows*columns <= 400 {
				ink := "#ffffff"
				if c.y.at(v) > 0.5 {
					ink = "#000000"
				}
				d.label(x+wide/2, y+tall/2+4, "middle", text, ` fill="`+ink+`"`)
			}
		}
		if c.names != nil && rows == c.rows && tall >= 9 {
			d.label(d.left-6, d.top+(float64(i)+0.5)*tall+4, "end", c.names[i], "")
		}
	}
	every := 1
	for j := range c.labels {
		every = max(every, int(math.Ceil((textWidth(c.labels[j])+6)/wide)))
	}
	for j := 0; j < len(c.labels) && columns == c.columns; j += every {
		d.label(d.left+(float64(j)+0.5)*wide, d.bottom+16, "middle", c.labels[j], "")
	}
	const steps = 64
	x, step := d.right+10, (d.bottom-d.top)/steps
	for i := range steps {
		r, g, b := forms.Color((float64(i) + 0.5) / steps)
		d.fill(x, d.bottom-float64(i+1)*step, x+legendBar, min(d.bottom-float64(i)*step+overlap, d.bottom), fmt.Sprintf("#%02x%02x%02x", r, g, b))
	}
	d.label(x+legendBar+4, d.top+10, "start", high, "")
	d.label(x+legendBar+4, d.bottom, "start", low, "")
}

// figure formats a value with three significant digits.
func figure(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if a := math.Abs(rounded); err == nil && a >= 1000 && a < 1e6 {
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return tidy(strconv.FormatFloat(v, 'g', 3, 64))
}

// textNamed draws a matrix whose rows have names, or whose columns have labels, with a row of text for each row.
func (c *chart) textNamed(b *strings.Builder) {
	names := 0
	for _, name := range c.names {
		names = max(names, columns.Of(name))
	}
	names = min(names, c.width/2)
	wide := min(max((c.width-names-1)/c.columns, 1), 9)
	if c.labels != nil && wide > 1 { // else there is room for none
		line := strings.Repeat(" ", names+1)
		for _, label := range c.labels {
			label = cut(label, wide-1)
			line += label + strings.Repeat(" ", max(wide-columns.Of(label), 0))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for i := range c.rows {
		name := ""
		if c.names != nil {
			name = cut(c.names[i], names)
		}
		line := pad(name, names) + " "
		for j := range c.columns {
			shade, text := '?', ""
			if v := c.series[0].y[i*c.columns+j]; isFinite(v) {
				n := float64(len(shades))
				shade, text = shades[int(min(max(c.y.at(v)*n, 0), n-1))], figure(v)
			}
			if len(text)+2 > wide {
				text = ""
			}
			line += text + strings.Repeat(string(shade), wide-len(text)-min(1, wide-1)) + strings.Repeat(" ", min(1, wide-1))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString(short(c.y.low) + " " + string(shades[1:]) + " " + short(c.y.high) + "\n")
}
