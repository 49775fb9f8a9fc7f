package editor

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/orepl/orepl/lang/columns"
)

// tabWidth is the number of blanks that show a tab; the text keeps the tab.
const tabWidth = 2

// clusterWidth returns the columns of a grapheme cluster.
func clusterWidth(cluster string) int {
	if cluster == "\t" {
		return tabWidth
	}
	if len(cluster) == 1 {
		return 1
	}
	return min(columns.Of(cluster), 2)
}

// shownWidth returns the columns of a text without line ends.
func shownWidth(text string) int {
	n := 0
	for it := graphemes.FromString(text); it.Next(); {
		n += clusterWidth(it.Value())
	}
	return n
}

// row is one row of the screen: a part of one line of the text.
type row struct {
	prompt   string
	from, to int  // of the text
	soft     bool // it goes on from the row above, which is full
	width    int
}

// layout splits a text into rows. The prompts stand before its first and its other lines.
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
		if r.width == columns { // the cursor behind it is on a row of its own
			rows = append(rows, row{from: end, to: end, soft: true})
		}
		if end == len(text) {
			return rows
		}
		at, prompt = end+1, next
	}
}

// cursorRow returns the row that shows a place of the text.
func cursorRow(rows []row, at int) int {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].from <= at {
			return i
		}
	}
	return 0
}

// picture is the text that the editor has drawn.
type picture struct {
	rows   int // drawn
	cursor int // the row of the cursor among them
	top    int // the first row of the text that is drawn
}

// draw returns what replaces an old picture by the text, and the new picture. Rows that do not fit the screen are left out:
// those around the cursor are drawn.
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
	// The part of the row before the cursor is drawn again: so the terminal's own widths decide where the cursor stands.
	r := shown[p.cursor]
	out.WriteString(r.prompt)
	colors.write(&out, text, r.from, at)
	return out.String(), p
}

// erase returns what removes a picture from the screen. The cursor is then where the picture began.
func erase(p picture) string {
	up := ""
	if p.cursor > 0 {
		up = fmt.Sprintf("\x1b[%dA", p.cursor)
	}
	return up + "\r\x1b[J"
}

// below returns what moves the cursor from its place in a picture to the row below it.
func below(p picture) string {
	return strings.Repeat("\n", max(p.rows-p.cursor, 1)) + "\r"
}
