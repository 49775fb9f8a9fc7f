package inspect

import (
	"cmp"
	"strings"

	"github.com/orepl/orepl/lang/columns"
)

// Matrix formats cells with one line per row, right-aligned in columns. If a line exceeds the width, columns in the middle are
// omitted. cutRow and cutColumn are the row and column before which the caller omitted others, or -1. A width of 0 selects the
// default. Matrix changes cells, which must not be empty.
func Matrix(cells [][]string, cutRow, cutColumn, width int) string {
	widths := make([]int, len(cells[0]))
	total := 1
	for i := range widths {
		for _, line := range cells {
			widths[i] = max(widths[i], columns.Of(line[i]))
		}
		total += widths[i] + 1
	}
	for left := cmp.Or(width, defaultWidth); total+2 > left && len(widths) > 2; { // omit columns in the middle
		if cutColumn < 0 {
			cutColumn = (len(widths) + 1) / 2
		}
		at := cutColumn
		if cutColumn > len(widths)-cutColumn {
			cutColumn--
			at = cutColumn
		}
		total -= widths[at] + 1
		widths = append(widths[:at:at], widths[at+1:]...)
		for i, line := range cells {
			cells[i] = append(line[:at:at], line[at+1:]...)
		}
	}
	var text []string
	for i, line := range cells {
		if i == cutRow {
			text = append(text, "  ⋮")
		}
		var row strings.Builder
		for j, cell := range line {
			if j == cutColumn {
				row.WriteString(" …")
			}
			row.WriteString(" " + strings.Repeat(" ", widths[j]-columns.Of(cell)) + cell)
		}
		text = append(text, " "+row.String())
	}
	return strings.Join(text, "\n")
}

// List formats cells as "{ a, b }" after head, on several lines if head and list exceed the width. A width of 0 selects the
// default.
func List(head string, cells []string, width int) string {
	width = cmp.Or(width, defaultWidth)
	line := head + "{ " + strings.Join(cells, ", ") + " }"
	if columns.Of(line) <= width {
		return line
	}
	var b strings.Builder
	b.WriteString(head + "{")
	at := width
	for i, cell := range cells {
		if i < len(cells)-1 {
			cell += ","
		}
		n := columns.Of(cell) + 1
		if at+n > width {
			b.WriteString("\n ")
			at = 1
		}
		b.WriteString(" " + cell)
		at += n
	}
	return b.String() + "\n}"
}
