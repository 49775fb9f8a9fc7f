// Package plot implements the module 'plot', which draws charts as text for a terminal, as SVG and as PNG.
//
// # Design
//
// The module draws by itself, since libraries for terminals import a user interface. It prints no escape sequences, so its
// output can be kept in a file.
package plot

import (
	"bytes"
	"fmt"
	"image/png"
	"io"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/plot/raster"
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
  /** The uncertainty of the values, drawn as error bars: a number for each value is the length up and down; low and high are the ends. Several series have an object with one of these for each name. Text shows it for bars only. */
  error?: PlotError | Record<string, PlotError | number>
  /** The labels of the axes. */
  xLabel?: string; yLabel?: string
  /** The size: columns and rows of text, or pixels of an SVG. */
  width?: number; height?: number
}
type PlotError = PlotValues | { low: PlotValues; high: PlotValues }`

// Module returns the module 'plot'.
func Module() bindings.Module {
	const signature = "(data: PlotValues | Record<string, PlotValues> | Record<string, number>, options?: PlotOptions): "
	return bindings.Module{
		Module:  lang.Module{Name: "plot", PromptGlobals: []string{"plot"}, Instantiate: instantiate},
		Help:    "Charts of numbers, as text for the terminal, as SVG or as PNG: lines, points, bars and heat maps, with error bars.",
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
			bindings.NewFunction("png", "Returns a chart as the bytes of a PNG file. Its picture is that of svg, with 2 by 2 pixels for each of it.",
				"import { png } from 'plot'\nconst picture = png({ a: [1, 4, 9], b: [2, 3, 5] }, { x: [1, 10, 100], log: 'x', error: { a: [0.5, 1, 2] } })\nconsole.log(picture.length > 1000) // with fs: await writeBytes('growth.png', picture)",
				signature+"Uint8Array<ArrayBuffer>"),
		},
	}
}

// pngScale is the number of pixels of a PNG for each pixel of the SVG, along each axis.
const pngScale = 2

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
	picture := func(name string, call goja.FunctionCall) (string, error) {
		a := e.Args(name, call)
		c, err := read(e, a, svgSizes.sized(svgWidth, svgHeight))
		if err != nil {
			return "", err
		}
		if c.kind == heat {
			a.Fail("data", "is a matrix, which is no SVG: fs.writeImage writes pictures")
			return "", a.Err()
		}
		return c.svg(), nil
	}
	x.Add("svg", func(call goja.FunctionCall) (goja.Value, error) {
		text, err := picture("plot.svg", call)
		return e.VM().ToValue(text), err
	})
	x.Add("png", func(call goja.FunctionCall) (goja.Value, error) {
		text, err := picture("plot.png", call)
		if err != nil {
			return nil, err
		}
		img, err := raster.Draw(text, pngScale)
		if err != nil {
			return nil, fmt.Errorf("plot.png: %w", err)
		}
		var out bytes.Buffer
		if err := png.Encode(&out, img); err != nil {
			return nil, fmt.Errorf("plot.png: %w", err)
		}
		return lang.TypedArray(e, out.Bytes())
	})
	return x.Done()
}
