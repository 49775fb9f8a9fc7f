// Package plot implements the module 'plot', which draws charts as text for a terminal and as SVG.
//
// # Design
//
// The module draws by itself: libraries for terminals import a user interface, and those for pictures bring fonts. It prints
// no escape sequences, so its output can be kept in a file.
package plot

import (
	"fmt"
	"io"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
)

const types = `/** The numbers to draw. Reading a buffer blocks the script. */
type PlotValues = ArrayLike<number> | ArrayLike<bigint> | import('offload').Buffer<any, any>
interface PlotOptions {
  title?: string
  /** The x coordinate of each value. Default: 0, 1, 2 … */
  x?: PlotValues
  /** The kind of chart. Default: 'bars' for one number per name, 'heat' for a buffer of two dimensions, else 'line'. */
  kind?: 'line' | 'points' | 'bars' | 'heat'
  /** The axes with a logarithmic scale. */
  log?: 'x' | 'y' | 'xy'
  /** The limits of the value axis. Default: the extremes of the values. */
  low?: number; high?: number
  /** The labels of the axes. */
  xLabel?: string; yLabel?: string
  /** The size: columns and rows of text, or pixels of an SVG. */
  width?: number; height?: number
}`

// Module returns the module 'plot'.
func Module() bindings.Module {
	const signature = "(data: PlotValues | Record<string, PlotValues> | Record<string, number>, options?: PlotOptions): "
	return bindings.Module{
		Module:  lang.Module{Name: "plot", PromptGlobals: []string{"plot"}, Instantiate: instantiate},
		Help:    "Charts of numbers, as text for the terminal or as SVG: lines, points, bars and heat maps.",
		Types:   types,
		Default: "plot",
		Entries: []bindings.Entry{
			bindings.NewFunction("plot", "Prints a chart of an array, a typed array or a buffer, or of an object with several of them by name. An object with one number per name is drawn as bars, and a buffer of two dimensions as a heat map. Values that are not finite leave gaps.",
				"import { plot } from 'plot'\nplot(Array.from({ length: 200 }, (_, i) => Math.sin(i / 20)), { title: 'sine', height: 8 })\nplot({ cpu: 12.5, 'opencl:0': 31 })",
				signature+"void"),
			bindings.NewFunction("text", "Returns the chart that plot prints. The default width is 80 columns.",
				"import { text } from 'plot'\nconsole.log(text({ a: [1, 4, 9, 16], b: [16, 9, 4, 1] }, { width: 40, height: 6 }))",
				signature+"string"),
			bindings.NewFunction("svg", "Returns a chart as the text of an SVG file. The default size is 640 by 360 pixels.",
				"import { svg } from 'plot'\nconst picture = svg([1, 10, 100, 1000], { log: 'y', yLabel: 'items' })\nconsole.log(picture) // or, with fs: await writeText('growth.svg', picture)",
				signature+"string"),
		},
	}
}

// columned is a terminal that reports its width in columns.
type columned interface{ Columns() int }

func instantiate(e *lang.Engine) (*goja.Object, error) {
	x := bindings.NewExports(e)
	x.Add("plot", func(call goja.FunctionCall) (goja.Value, error) {
		columns := textColumns
		if t, ok := e.Terminal().(columned); ok {
			columns = min(max(t.Columns()-1, textSizes.leastWidth), textColumns)
		}
		c, err := read(e, e.Args("plot.plot", call), textSizes.sized(columns, textRows))
		if err != nil {
			return nil, err
		}
		_, err = io.WriteString(e.Options().Stdout, c.text())
		if err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
		return nil, nil
	})
	x.Add("text", func(call goja.FunctionCall) (goja.Value, error) {
		c, err := read(e, e.Args("plot.text", call), textSizes.sized(textColumns, textRows))
		if err != nil {
			return nil, err
		}
		return e.VM().ToValue(c.text()), nil
	})
	x.Add("svg", func(call goja.FunctionCall) (goja.Value, error) {
		a := e.Args("plot.svg", call)
		c, err := read(e, a, svgSizes.sized(svgWidth, svgHeight))
		if err != nil {
			return nil, err
		}
		if c.kind == heat {
			a.Fail("data", "is a matrix, which is no SVG: fs.writeImage writes pictures")
			return nil, a.Err()
		}
		return e.VM().ToValue(c.svg()), nil
	})
	return x.Done()
}
