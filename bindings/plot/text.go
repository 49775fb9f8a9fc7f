package plot

import (
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/columns"
)

const (
	textColumns = 80 // default width in characters
	textRows    = 14 // default height in lines
)

var textSizes = sizes{leastWidth: 20, mostWidth: 1000, leastHeight: 2, mostHeight: 1000}

// symbols are the markers of a chart with several series; letters follow them.
var symbols = [distinct]rune{'●', '○', '▲', '△', '■', '□', '◆', '◇'}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	several = '╳' // marks a cell with values of several series
)

// symbolOf returns the marker of a series.
func symbolOf(i int) rune {
	if i < distinct {
		return symbols[i]
	}
	return rune(letters[(i-distinct)%len(letters)])
}

// text returns the chart as lines of text, each with a line break.
func (c *chart) text() string {
	var b strings.Builder
	if c.title != "" {
		b.WriteString(c.title + "\n")
	}
	if c.blank {
		b.WriteString("(" + noValues + ")\n")
		return b.String()
	}
	switch c.kind {
	case bars:
		c.textBars(&b)
	case groups, histogram:
		c.flat().textBars(&b)
	case box:
		c.textBoxes(&b)
	case heat:
		if (c.names != nil || c.labels != nil) && c.columns <= c.width/2 {
			c.textNamed(&b)
		} else {
			c.textHeat(&b)
		}
	default:
		c.textLines(&b)
	}
	return b.String()
}

// textLines draws lines or points with axes.
func (c *chart) textLines(b *strings.Builder) {
	values, labels := c.y.ticks(max(1, min(c.height-1, max(4, c.height/4))))
	margin := 0
	for _, l := range labels {
		margin = max(margin, len(l))
	}
	room := c.width - margin - 2
	if room < 8 {
		margin, room, values = 0, c.width-2, nil
	}
	at := map[int]string{} // labels by row
	for i, v := range values {
		if y := c.y.at(v); y >= 0 && y <= 1 {
			at[int(math.Round((1-y)*float64(c.height-1)))] = labels[i]
		}
	}
	rows, overlap := c.draw(room, c.height)
	c.legend(b, margin, overlap)
	for i, row := range rows {
		edge := "│"
		if at[i] != "" {
			edge = "┤"
		}
		b.WriteString(strings.TrimRight(pad(at[i], margin)+" "+edge+row, " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", margin+1) + "└" + strings.Repeat("─", room) + "\n")
	b.WriteString(strings.TrimRight(strings.Repeat(" ", margin+2)+c.under(room), " ") + "\n")
}

// legend writes the label of the y axis and the names of the series, on as many lines as they need. A series that equals an
// earlier one says so; overlap states that a cell shows several series.
func (c *chart) legend(b *strings.Builder, margin int, overlap bool) {
	var names []string
	if c.yLabel != "" {
		names = append(names, c.yLabel)
	}
	for i, s := range c.series {
		switch {
		case len(c.series) > 1:
			name := string(symbolOf(i)) + " " + s.name
			if twin := c.twin(i); twin >= 0 {
				name += " (= " + c.series[twin].name + ")"
			}
			names = append(names, name)
		case s.name != "":
			names = append(names, s.name)
		}
	}
	if overlap {
		names = append(names, string(several)+" several")
	}
	if len(names) == 0 {
		return
	}
	line := ""
	flush := func() { b.WriteString(strings.Repeat(" ", margin+2) + line + "\n") }
	for _, name := range names {
		switch {
		case line == "":
			line = name
		case margin+2+columns.Of(line)+3+columns.Of(name) > c.width:
			flush()
			line = name
		default:
			line += "   " + name
		}
	}
	flush()
}

// twin returns the first series with the points of series i, or -1 if that is i itself.
func (c *chart) twin(i int) int {
	for j := range i {
		if same(c.series[i].x, c.series[j].x) && same(c.series[i].y, c.series[j].y) {
			return j
		}
	}
	return -1
}

// same reports whether two lists have the same numbers; NaNs are equal.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// under returns the line below the x axis: the ends of the range and the label, or what of these has room.
func (c *chart) under(room int) string {
	low, high := c.x.label(c.x.low), c.x.label(c.x.high)
	gap := room - len(low) - len(high)
	if gap < 1 {
		return low
	}
	label := c.xLabel
	if columns.Of(label)+2 > gap {
		label = ""
	}
	left := (gap - columns.Of(label)) / 2
	return low + strings.Repeat(" ", left) + label + strings.Repeat(" ", gap-left-columns.Of(label)) + high
}

// draw returns the rows of the plotting area, and whether a cell shows several series.
func (c *chart) draw(columns, rows int) (lines []string, overlap bool) {
	g := &grid{columns: columns, rows: rows, cells: make([]rune, columns*rows)}
	if len(c.series) == 1 {
		g.across, g.down = 2, 4 // dots of Braille
	} else {
		g.across, g.down = 1, 1
		g.owners = make([]int, columns*rows)
	}
	w, h := float64(g.columns*g.across-1), float64(g.rows*g.down-1)
	for k := range c.series {
		s := &c.series[k]
		g.symbol, g.series = symbolOf(k), k+1
		lastX, lastY, linked := 0, 0, false
		for i, v := range s.y {
			if !s.drawn(i) {
				linked = false
				continue
			}
			x, y := dot(c.x.at(s.at(i))*w), dot((1-c.y.at(v))*h)
			switch {
			case linked && (c.kind == line || s.joined):
				g.line(lastX, lastY, x, y)
			case c.kind == line && !s.drawn(i+1):
				g.spot(x, y)
			default:
				g.set(x, y)
			}
			lastX, lastY, linked = x, y, true
		}
	}
	return g.lines(), g.overlap
}

// dot returns the dot nearest to a coordinate, clamped to ±outside.
func dot(v float64) int { return int(math.Round(min(max(v, -outside), outside))) }

// outside is the maximum distance of a dot from the grid's origin, which bounds the time to draw a line.
const outside = 1 << 14

// A grid is an array of cells. A cell shows one symbol, or a Braille pattern of across × down dots.
type grid struct {
	columns, rows int
	across, down  int
	symbol        rune
	series        int // the series that is drawn, from 1
	cells         []rune
	owners        []int // with one dot per cell, the series that the cell shows
	overlap       bool  // a cell has values of several series
}

// braille holds the bit of each dot in a cell, by row and column, relative to U+2800.
var braille = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// set draws a dot. It ignores dots outside the grid.
func (g *grid) set(x, y int) {
	if x < 0 || y < 0 || x >= g.columns*g.across || y >= g.rows*g.down {
		return
	}
	i := y/g.down*g.columns + x/g.across
	cell := &g.cells[i]
	switch {
	case g.across == 1 && g.owners[i] != 0 && g.owners[i] != g.series:
		*cell, g.overlap = several, true
	case g.across == 1:
		*cell, g.owners[i] = g.symbol, g.series
	default:
		*cell |= 0x2800 | braille[y%4][x%2]
	}
}

// spot draws a dot for a value that no line reaches: with Braille it fills half a cell.
func (g *grid) spot(x, y int) {
	g.set(x, y)
	if g.across > 1 {
		g.set(x^1, y)
		g.set(x, y^1)
		g.set(x^1, y^1)
	}
}

// line draws a line with Bresenham's algorithm.
func (g *grid) line(x, y, toX, toY int) {
	dx, dy := abs(toX-x), -abs(toY-y)
	stepX, stepY := 1, 1
	if toX < x {
		stepX = -1
	}
	if toY < y {
		stepY = -1
	}
	for off := dx + dy; ; {
		g.set(x, y)
		if x == toX && y == toY {
			return
		}
		if e := 2 * off; e >= dy {
			off += dy
			x += stepX
			if e <= dx {
				off += dx
				y += stepY
			}
		} else {
			off += dx
			y += stepY
		}
	}
}

func abs(n int) int { return max(n, -n) }

func (g *grid) lines() []string {
	list := make([]string, g.rows)
	for i := range list {
		row := g.cells[i*g.columns : (i+1)*g.columns]
		for j, cell := range row {
			if cell == 0 {
				row[j] = ' '
			}
		}
		list[i] = string(row)
	}
	return list
}

// value returns the value of a bar with its error as text.
func (s *series) value() string {
	text := short(s.y[0])
	if s.low == nil || !isFinite(s.low[0]) || !isFinite(s.high[0]) {
		return text
	}
	if up, down := s.high[0]-s.y[0], s.y[0]-s.low[0]; math.Abs(up-down) <= 1e-9*math.Abs(up) {
		return text + " ± " + short(up)
	}
	return text + " (" + short(s.low[0]) + " … " + short(s.high[0]) + ")"
}

// textBars draws one bar per series, which starts at zero, or at the nearer end if zero is out of range. On a logarithmic axis it
// starts at the low end.
func (c *chart) textBars(b *strings.Builder) {
	names, values := 0, 0
	for _, s := range c.series {
		names, values = max(names, columns.Of(s.name)), max(values, columns.Of(s.value()))
	}
	names = min(names, c.width/2)
	if c.yLabel != "" {
		b.WriteString(strings.Repeat(" ", names+1) + c.yLabel + "\n")
	}
	room := max(c.width-names-values-2, 4)
	zero := 0
	if !c.y.log && c.y.low < 0 {
		zero = int(math.Round(min(c.y.at(0), 1) * float64(room)))
	}
	for _, s := range c.series {
		bar := strings.Repeat(" ", room)
		if v := s.y[0]; isFinite(v) {
			halves := int(math.Round(min(max(c.y.at(v), 0), 1) * float64(2*room)))
			if end := (halves + 1) / 2; v < 0 && end <= zero {
				end = halves / 2
				bar = strings.Repeat(" ", end) + strings.Repeat("█", zero-end)
			} else {
				bar = strings.Repeat(" ", zero) + strings.Repeat("█", max(halves/2-zero, 0))
				if halves%2 == 1 && halves/2 >= zero {
					bar += "▌"
				}
			}
		}
		b.WriteString(pad(cut(s.name, names), names) + " " + bar + " " + s.value() + "\n")
	}
}

// cut truncates a text to a number of columns.
func cut(s string, most int) string {
	if columns.Of(s) <= most {
		return s
	}
	for columns.Of(s) > most-1 {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s + "…"
}

// pad prepends spaces to a text up to a number of columns.
func pad(s string, to int) string { return strings.Repeat(" ", max(to-columns.Of(s), 0)) + s }

// shades are the characters of a heat map, from low to high.
var shades = []rune(" ░▒▓█")

// textHeat draws a matrix. Each cell shows the mean of a part of the matrix as a shade, or ? for a part without finite values. It
// assumes cells twice as high as wide.
func (c *chart) textHeat(b *strings.Builder) {
	width := min(c.width, 2*c.columns)
	height := max(1, min(c.height*2, int(math.Round(float64(c.rows)/float64(c.columns)*float64(width)/2))))
	for i := range height {
		row := make([]rune, width)
		for j := range row {
			row[j] = '?' // no finite value
			if v, ok := c.mean(i*c.rows/height, (i+1)*c.rows/height, j*c.columns/width, (j+1)*c.columns/width); ok {
				n := float64(len(shades))
				row[j] = shades[int(min(max(c.y.at(v)*n, 0), n-1))]
			}
		}
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	b.WriteString(short(c.y.low) + " " + string(shades[1:]) + " " + short(c.y.high) + "\n")
}

// mean returns the mean of the finite values in a part of the matrix. It reports false if there are none.
func (c *chart) mean(top, bottom, left, right int) (mean float64, ok bool) {
	n := 0.0
	for i := top; i < max(bottom, top+1); i++ {
		for j := left; j < max(right, left+1); j++ {
			if v := c.series[0].y[i*c.columns+j]; isFinite(v) {
				n++
				mean += (v - mean) / n
			}
		}
	}
	return mean, n > 0
}
