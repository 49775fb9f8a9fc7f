package offloadjs

import (
	"cmp"
	"strings"

	"github.com/orepl/orepl/lang/columns"
)

// The numbers of rows and columns printed at each end of a matrix that does not fit.
const (
	shownRows    = 5
	shownColumns = 12
)

// matrix formats a two-dimensional buffer with one line per row. It omits rows and columns in the middle that do not fit.
func (m *instance) matrix(b *bufferObject, rows, across, width int) (string, error) {
	var cells [][]string
	cut := -1 // column before which the ellipsis is, or -1
	for row := 0; row < rows; row++ {
		if rows > 2*shownRows && row == shownRows {
			row = rows - shownRows
		}
		start := int64(row) * int64(across)
		line, err := m.peek(b, start, int64(min(across, 2*shownColumns)))
		if err != nil {
			return "", err
		}
		if across > 2*shownColumns {
			tail, err := m.peek(b, start+int64(across-shownColumns), shownColumns)
			if err != nil {
				return "", err
			}
			line, cut = append(line[:shownColumns:shownColumns], tail...), shownColumns
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(cells[0]))
	total := 1
	for i := range widths {
		for _, line := range cells {
			widths[i] = max(widths[i], columns.Of(line[i]))
		}
		total += widths[i] + 1
	}
	for left := cmp.Or(width, 80); total+2 > left && len(widths) > 2; { // omit columns in the middle
		if cut < 0 {
			cut = (len(widths) + 1) / 2
		}
		at := cut
		if cut > len(widths)-cut {
			cut--
			at = cut
		}
		total -= widths[at] + 1
		widths = append(widths[:at:at], widths[at+1:]...)
		for i, line := range cells {
			cells[i] = append(line[:at:at], line[at+1:]...)
		}
	}
	var text []string
	for i, line := range cells {
		if rows > len(cells) && i == shownRows {
			text = append(text, "  ⋮")
		}
		var row strings.Builder
		for j, cell := range line {
			if j == cut {
				row.WriteString(" …")
			}
			row.WriteString(" " + strings.Repeat(" ", widths[j]-columns.Of(cell)) + cell)
		}
		text = append(text, " "+row.String())
	}
	return strings.Join(text, "\n"), nil
}
