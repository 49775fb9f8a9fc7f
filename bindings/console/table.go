package console

import (
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/inspect"
)

// maxRows is the maximum number of rows of a table.
const maxRows = 1000

// A grid is a table under construction: rows of cells, and columns in order of first use.
type grid struct {
	columns []string
	known   map[string]bool
	rows    []map[string]string
	names   []string // labels of the rows
}

const (
	indexColumn = "(index)"
	valueColumn = "Values"
)

func (c *console) table(call goja.FunctionCall) (goja.Value, error) {
	data, ok := call.Argument(0).(*goja.Object)
	if !ok || isCollection(data) {
		return nil, c.print(c.Options().Stdout, c.Format(call.Arguments[:min(len(call.Arguments), 1)]))
	}
	g := &grid{known: map[string]bool{}}
	values := false
	for _, key := range data.Keys() {
		if len(g.rows) == maxRows {
			break
		}
		row := map[string]string{}
		if o, ok := data.Get(key).(*goja.Object); ok {
			for _, cell := range c.HostRow(o) {
				g.column(cell[0])
				row[cell[0]] = cell[1]
			}
			for _, column := range o.Keys() {
				g.column(column)
				row[column] = c.cell(o.Get(column))
			}
		} else {
			row[valueColumn] = c.cell(data.Get(key))
			values = true
		}
		g.names = append(g.names, key)
		g.rows = append(g.rows, row)
	}
	if only, ok := call.Argument(1).(*goja.Object); ok {
		g.columns, g.known = nil, map[string]bool{}
		for _, key := range only.Keys() {
			g.column(only.Get(key).String())
		}
	}
	if values {
		g.column(valueColumn)
	}
	return nil, c.print(c.Options().Stdout, g.String())
}

// isCollection reports whether an object is a map or a set, which have no keys.
func isCollection(o *goja.Object) bool {
	t := o.ExportType()
	return o.ClassName() == "Object" && (t == reflect.TypeFor[[][2]any]() || t == reflect.TypeFor[[]any]())
}

func (c *console) cell(v goja.Value) string {
	return strings.ReplaceAll(c.InspectValue(v, inspect.Options{Depth: 1, Items: 6, Width: 1 << 20}), "\n", " ")
}

func (g *grid) column(name string) {
	if !g.known[name] {
		g.known[name] = true
		g.columns = append(g.columns, name)
	}
}

func (g *grid) String() string {
	heads := append([]string{indexColumn}, g.columns...)
	widths := make([]int, len(heads))
	cell := func(row, column int) string {
		switch {
		case row < 0:
			return heads[column]
		case column == 0:
			return g.names[row]
		}
		return g.rows[row][heads[column]]
	}
	for column := range heads {
		for row := -1; row < len(g.rows); row++ {
			widths[column] = max(widths[column], columns.Of(cell(row, column)))
		}
	}
	rule := func(left, middle, right string) string {
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = strings.Repeat("─", w+2)
		}
		return left + strings.Join(parts, middle) + right
	}
	var b strings.Builder
	b.WriteString(rule("┌", "┬", "┐"))
	for row := -1; row < len(g.rows); row++ {
		b.WriteString("\n│")
		for column, w := range widths {
			text := cell(row, column)
			b.WriteString(" " + columns.Pad(text, w) + " │")
		}
		if row < 0 {
			b.WriteString("\n" + rule("├", "┼", "┤"))
		}
	}
	b.WriteString("\n" + rule("└", "┴", "┘"))
	return b.String()
}
