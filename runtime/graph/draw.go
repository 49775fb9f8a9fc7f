package graph

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// mostLines is the maximum number of nodes that the text shows.
const mostLines = 200

// String returns the graph as text, with one line for each of the first mostLines commands: its number, its name, its operands,
// the commands that it depends on, and its queue if there are several.
func (g *Graph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph of %s", spelling.Count(len(g.nodes), "command"))
	if list := g.devices(); len(list) > 0 {
		b.WriteString(" on " + strings.Join(list, ", "))
	}
	b.WriteByte('\n')
	wide, long := 0, 0
	shown := g.nodes[:min(len(g.nodes), mostLines)]
	for _, n := range shown {
		wide, long = max(wide, len([]rune(n.label()))), max(long, len([]rune(n.Operands())))
	}
	for i, n := range shown {
		line := fmt.Sprintf("%4d  %-*s  %-*s", i, wide, n.label(), long, n.Operands())
		if len(n.After) > 0 {
			list := make([]string, len(n.After))
			for k, j := range n.After {
				list[k] = strconv.Itoa(j)
			}
			line += "  after " + strings.Join(list, ", ")
		}
		if len(g.queues) > 1 {
			line += fmt.Sprintf("  (%s, %s)", n.Queue.Device().ID(), printable.Line(n.Queue.Label()))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if left := len(g.nodes) - len(shown); left > 0 {
		fmt.Fprintf(&b, "      and %s more\n", spelling.Count(left, "command"))
	}
	return b.String()
}

// devices returns the ids of the devices in the order of their first command.
func (g *Graph) devices() (ids []string) {
	for _, q := range g.queues {
		if id := q.Device().ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (n *Node) label() string { return printable.Line(n.Name) }

// Operands describes the size, the arguments and the buffers of the command.
func (n *Node) Operands() string {
	switch n.Kind {
	case session.LaunchCommand:
		return n.launched()
	case session.WaitCommand:
		return "for " + printable.Line(n.Behind.Label())
	case session.CopyCommand:
		return fmt.Sprintf("%s → %s", printable.Line(n.Src.Label()), printable.Line(n.Dst.Label()))
	case session.WriteCommand:
		return fmt.Sprintf("%s → %s", spelling.Count(len(n.Data), "byte"), printable.Line(n.Dst.Label()))
	}
	return printable.Line(n.Dst.Label())
}

// launched describes the size and the arguments of a launch.
func (n *Node) launched() string {
	l := n.Call.Command()
	size := fmt.Sprint(l.Size[0])
	for axis := 1; axis < 3 && l.Size[1]*l.Size[2] > 1 && (axis == 1 || l.Size[2] > 1); axis++ {
		size += fmt.Sprintf("×%d", l.Size[axis])
	}
	list := []string{size}
	for i, a := range n.Call.Args() {
		name := n.Call.Param(i)
		text := Value(a)
		if name != "" && name != text {
			text = name + " = " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// Value returns an argument as text: the label of a buffer, the value of a scalar, or the size of a struct.
func Value(a session.Arg) string {
	t, bits := a.Scalar()
	switch {
	case a.Buffer() != nil:
		return printable.Line(a.Buffer().Label())
	case a.Data() != nil:
		return fmt.Sprintf("a struct of %d bytes", len(a.Data()))
	}
	switch t {
	case offload.Bool:
		return strconv.FormatBool(bits != 0)
	case offload.F32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	case offload.F64:
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
	case offload.I8, offload.I16, offload.I32, offload.I64:
		shift := 64 - 8*t.Size()
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	case offload.U8, offload.U16, offload.U32, offload.U64:
		return strconv.FormatUint(bits, 10)
	}
	return fmt.Sprintf("%#x", bits)
}

// levels returns, for each node, the number of dependencies on the longest path to it: 0 for a node without any.
func (g *Graph) levels() []int {
	levels := make([]int, len(g.nodes))
	for i, n := range g.nodes {
		for _, j := range n.After {
			levels[i] = max(levels[i], levels[j]+1)
		}
	}
	return levels
}

// DOT returns the graph in the language of Graphviz.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph pipeline {\n\tnode [shape=box]\n")
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "\tn%d [label=%s]\n", i, strconv.Quote(n.label()+"\n"+n.Operands()))
		for _, j := range n.After {
			fmt.Fprintf(&b, "\tn%d -> n%d\n", j, i)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// Measures of a drawing in pixels.
const (
	boxHeight  = 44
	levelPitch = 84
	boxGap     = 20
	margin     = 16
	charWidth  = 6.6 // of a character of 11 pixels
	mostChars  = 44  // of a line in a box
)

// MostDrawn is the maximum number of nodes that SVG draws.
const MostDrawn = 2000

// colors are the fills of boxes by queue, light tints that black text is readable on.
var colors = []string{"#d6e8f5", "#fbe3cf", "#d3efe4", "#f4dcea", "#fdf0cc", "#e3e3e3"}

// SVG returns a drawing: a box for each command, below those that it depends on, and an arrow for each dependency. Boxes of one queue
// have one colour. More than [MostDrawn] commands are an InvalidSize error.
func (g *Graph) SVG() (string, error) {
	if len(g.nodes) > MostDrawn {
		return "", offload.Errorf(offload.InvalidSize, "graph", "a drawing has at most %d commands, not %d", MostDrawn, len(g.nodes)).
			WithHint("print the graph, or capture one repetition")
	}
	boxes, width, height := g.place()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif">`+"\n", width, height)
	b.WriteString(`<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	for i, n := range g.nodes {
		for k, j := range n.After {
			from, to := boxes[j], boxes[i]
			x1, y1 := from.x+from.width/2, from.y+boxHeight
			x2, y2 := to.x+to.width*(float64(k)+1)/(float64(len(n.After))+1), to.y
			bend := (y2 - y1) / 2
			fmt.Fprintf(&b, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#444" marker-end="url(#end)"/>`+"\n", x1, y1, x1, y1+bend, x2, y2-bend, x2, y2)
		}
	}
	for i, n := range g.nodes {
		x := boxes[i]
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="4" fill="%s" stroke="#444"/>`+"\n", x.x, x.y, x.width, boxHeight, colors[slices.Index(g.queues, n.Queue)%len(colors)])
		for k, line := range n.lines() {
			weight := [2]string{"bold", "normal"}[k]
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="11" font-weight="%s" text-anchor="middle" fill="#000">`, x.x+x.width/2, x.y+18+15*float64(k), weight)
			_ = xml.EscapeText(&b, []byte(line)) // writes to a buffer cannot fail
			b.WriteString("</text>\n")
		}
	}
	if len(g.queues) > 1 {
		for i, q := range g.queues {
			y := float64(height) - margin - 18*float64(len(g.queues)-1-i)
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="12" height="12" fill="%s" stroke="#444"/><text x="%d" y="%.1f" font-size="11" fill="#000">`, margin, y-10, colors[i%len(colors)], margin+18, y)
			_ = xml.EscapeText(&b, []byte(q.Device().ID()+", "+printable.Line(q.Label())))
			b.WriteString("</text>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// lines returns the two lines of text in a node's box.
func (n *Node) lines() [2]string {
	cut := func(text string) string {
		if r := []rune(text); len(r) > mostChars {
			return string(r[:mostChars-1]) + "…"
		}
		return text
	}
	return [2]string{cut(n.label()), cut(n.Operands())}
}

// box is the place of a node in a drawing.
type box struct{ x, y, width float64 }

// place arranges the nodes in rows by level, each row centred, and returns the size of the drawing.
func (g *Graph) place() (boxes []box, width, height int) {
	levels := g.levels()
	rows := map[int][]int{}
	boxes = make([]box, len(g.nodes))
	widths := map[int]float64{}
	widest, deepest := 0.0, 0
	for i, n := range g.nodes {
		lines := n.lines()
		boxes[i].width = charWidth*float64(max(len([]rune(lines[0])), len([]rune(lines[1])), 8)) + 20
		l := levels[i]
		rows[l] = append(rows[l], i)
		widths[l] += boxes[i].width + boxGap
		widest, deepest = max(widest, widths[l]-boxGap), max(deepest, l)
	}
	for l, row := range rows {
		x := margin + (widest-widths[l]+boxGap)/2
		for _, i := range row {
			boxes[i].x, boxes[i].y = x, float64(margin+levelPitch*l)
			x += boxes[i].width + boxGap
		}
	}
	height = 2*margin + levelPitch*deepest + boxHeight
	if len(g.queues) > 1 {
		height += 18*len(g.queues) + 8
		for _, q := range g.queues {
			widest = max(widest, 18+charWidth*float64(len([]rune(q.Device().ID()+q.Label()))+2))
		}
	}
	return boxes, int(math.Ceil(widest)) + 2*margin, height
}
