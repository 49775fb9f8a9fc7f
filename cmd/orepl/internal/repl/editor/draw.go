package editor

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/orepl/orepl/lang/columns"
)

// tabWidth is the displayed width of a tab in columns; the text keeps the tab.
const tabWidth = 2

// clusterWidth returns the number of columns of a grapheme cluster.
func clusterWidth(cluster string) int {
	if cluster == "\t" {
		return tabWidth
	}
	if len(cluster) == 1 {
		return 1
	}
	return min(columns.Of(cluster), 2)
}

// shownWidth returns the number of columns of a text without line ends.
func shownWidth(text string) int {
	n := 0
	for it := graphemes.FromString(text); it.Next(); {
		n += clusterWidth(it.Value())
	}
	return n
}

// row is a row of the screen, a part of one line of the text.
type row struct {
	prompt   string
	from, to int  // range of the text
	soft     bool // the row continues the one above, which is full
	width    int
}

// layout splits a text into rows. The prompt first precedes its first line, next the others.
func layout(text, first, next string, columns int) []row {
	var rows []row
	at, prompt := 0, first
	for {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		r := row{prompt: prompt, from: at, to: at, width: shownWidth(prompt)}
		for it := graphemes.FromString(text[at:end]); it.Next(); {
			n := clusterWidth(it.Value())
			if r.width+n > columns && r.width > 0 {
				rows = append(rows, r)
				r = row{from: r.to, to: r.to, soft: true}
			}
			r.to += len(it.Value())
			r.width += n
		}
		rows = append(rows, r)
		if r.width == columns { // the cursor after a full row needs another row
			rows = append(rows, row{from: end, to: end, soft: true})
		}
		if end == len(text) {
			return rows
		}
		at, prompt = end+1, next
	}
}

// cursorRow returns the index of the row for a cursor at an offset of the text: the last row that begins there or before.
func cursorRow(rows []row, at int) int {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].from <= at {
			return i
		}
	}
	return 0
}

// picture describes the rows that the editor has drawn.
type picture struct {
	rows   int // number of drawn rows
	cursor int // index of the cursor's row among them
	top    int // index of the first drawn row in the text
}

// draw returns the output that replaces an old picture by the text, and the new picture. If the text exceeds the screen, it
// draws the rows around the cursor.
func draw(old picture, text string, at int, first, next string, width, height int, paint painter) (string, picture) {
	rows := layout(text, first, next, width)
	cursor := cursorRow(rows, at)
	height = max(height-1, 1)
	p := picture{top: min(old.top, max(len(rows)-height, 0))}
	p.top = max(min(p.top, cursor), cursor-height+1)
	shown := rows[p.top:min(p.top+height, len(rows))]
	p.rows, p.cursor = len(shown), cursor-p.top

	var out strings.Builder
	out.WriteString(erase(old))
	colors := paint.spans(text)
	for i, r := range shown {
		if i > 0 && (!r.soft || r.from == r.to) {
			out.WriteString("\n")
		}
		out.WriteString(r.prompt)
		colors.write(&out, text, r.from, r.to)
	}
	if n := p.rows - 1 - p.cursor; n > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", n)
	}
	out.WriteString("\r")
	// The row is redrawn up to the cursor, so that the terminal's own character widths position the cursor.
	r := shown[p.cursor]
	out.WriteString(r.prompt)
	colors.write(&out, text, r.from, at)
	return out.String(), p
}

// erase returns the output that removes a picture and moves the cursor to its start.
func erase(p picture) string {
	up := ""
	if p.cursor > 0 {
		up = fmt.Sprintf("\x1b[%dA", p.cursor)
	}
	return up + "\r\x1b[J"
}

// below returns the output that moves the cursor from its place in a picture to the row below the picture.
func below(p picture) string {
	return strings.Repeat("\n", max(p.rows-p.cursor, 1)) + "\r"
}
