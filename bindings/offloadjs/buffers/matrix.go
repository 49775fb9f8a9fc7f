package buffers

import (
	"context"
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/inspect"
)

// The numbers of rows, columns and planes printed at each end of a buffer that does not fit.
const (
	shownRows    = 5
	shownColumns = 12
	planeRows    = 3 // rows at each end of a plane
	shownPlanes  = 2
)

// matrix formats the rows of a two-dimensional buffer, or of a plane that begins at an element. It omits rows beyond most at
// each end, and columns that do not fit.
func (m *Module) matrix(ctx context.Context, b *Buffer, start int64, rows, across, most, width int) (string, error) {
	var cells [][]string
	cutRow, cutColumn := -1, -1
	for row := 0; row < rows; row++ {
		if rows > 2*most && row == most {
			row, cutRow = rows-most, most
		}
		at := start + int64(row)*int64(across)
		line, err := m.peek(ctx, b, at, int64(min(across, 2*shownColumns)))
		if err != nil {
			return "", err
		}
		if across > 2*shownColumns {
			tail, err := m.peek(ctx, b, at+int64(across-shownColumns), shownColumns)
			if err != nil {
				return "", err
			}
			line, cutColumn = append(line[:shownColumns:shownColumns], tail...), shownColumns
		}
		cells = append(cells, line)
	}
	return inspect.Matrix(cells, cutRow, cutColumn, width), nil
}

// planes formats a three-dimensional buffer as the matrices of its outermost dimension, each below its index. Of many it omits
// those in the middle.
func (m *Module) planes(ctx context.Context, b *Buffer, dims []int, width int) (string, error) {
	var text []string
	for i := 0; i < dims[0]; i++ {
		if dims[0] > 2*shownPlanes && i == shownPlanes {
			i = dims[0] - shownPlanes
			text = append(text, "  ⋮")
		}
		rows, err := m.matrix(ctx, b, int64(i)*int64(dims[1])*int64(dims[2]), dims[1], dims[2], planeRows, width)
		if err != nil {
			return "", err
		}
		text = append(text, fmt.Sprintf("[%d]", i), rows)
	}
	return strings.Join(text, "\n"), nil
}
