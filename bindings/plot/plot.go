// Package plot implements the module 'plot', which draws charts as text and pictures for a terminal, as SVG and as PNG.
//
// # Design
//
// The module draws by itself, since libraries of charts for terminals import whole user interfaces. It prints escape sequences
// only for pictures, at terminals that show them, so its output can be kept in a file.
package plot

import (
	"bytes"
	"fmt"
	"image/png"

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
  /** The kind of chart. Default: 'bars' for one number per name, 'heat' for rows and a buffer of two dimensions, else 'line'. 'points' is a scatter plot. Lists by name are drawn by 'bars' beside one another, and by 'heat' as rows. 'histogram' counts the values of each list, and 'box' shows its quartiles, its extremes within 1.5 interquartile ranges of them, and the values beyond. */
  kind?: 'line' | 'points' | 'bars' | 'histogram' | 'box' | 'heat'
  /** The names of the columns of a heat map, or of the values of bars. */
  labels?: readonly string[]
  /** The number of bins of a histogram. Default: by the rule of Freedman and Diaconis, at most 60. */
  bins?: number
  /** Draw the greatest rate that a device can reach at each intensity, as roofline of the module 'suites' returns it. The values are GFLOP/s, x is FLOP/byte; both axes are logarithmic unless there is a kind. If both rates are NaN, nothing is drawn. */
  roof?: { gigabytesPerSecond: number; gigaflops: number }
  /** The axes with a logarithmic scale, on which values that are not positive are an error. */
  log?: 'x' | 'y' | 'xy'
  /** The limits of the value axis. Default: the extremes of the values or round numbers near them; bars on a linear axis also include 0. */
  low?: number; high?: number
  /** The uncertainty of the values, drawn as error bars: a number for each value is the length up and down; low and high are the ends. Several series have an object with one of these for each name. Text shows it for bars only. */
  error?: PlotError | Record<string, PlotError | number>
  /** The labels of the axes. */
  xLabel?: string; yLabel?: string
  /** The size: columns and rows of text, or pixels of an SVG. In text, each bar and box has one row. */
  width?: number; height?: number
}
type PlotError = PlotValues | { low: PlotValues; high: PlotValues }
/** The data of a chart: values, rows of them, or by name: values, points with their own x coordinates, or one number each. */
type PlotData = PlotValues | readonly PlotValues[] | Record<string, PlotValues | { x: PlotValues; y: PlotValues }> | Record<string, number>`

// Module returns the module 'plot'.
func Module() bindings.Module {
	const signature = "(data: PlotData, options?: PlotOptions): "
	return bindings.Module{
		Module:  lang.Module{Name: "plot", PromptGlobals: []string{"plot"}, Instantiate: instantiate},
		Help:    "Charts of numbers, as text for the terminal, as SVG or as PNG: lines, points, bars, histograms, box plots, heat maps and rooflines, with error bars and logarithmic axes.",
		Types:   types,
		Default: "plot",
		Entries: func() []bindings.Entry {
			return []bindings.Entry{
				bindings.NewFunction("plot", "Prints a chart of an array, a typed array or a buffer, or of an object with several of them by name. An object with one number per name is drawn as bars. An array of rows or a buffer of two dimensions is drawn as a heat map. Values that are not finite leave gaps. A terminal with the graphics of Kitty, iTerm2 or Sixel shows a picture. The environment variable OREPL_GRAPHICS=text shows text instead, and a name such as sixel selects the graphics.",
					"import { plot } from 'plot'\nplot(Array.from({ length: 200 }, (_, i) => Math.sin(i / 20)), { title: 'sine', height: 8 })\nplot({ cpu: 12.5, 'opencl:0': 31 })",
					signature+"void"),
				bindings.NewFunction("text", "Returns the chart as text. The default size is 80 columns by 14 lines.",
					"import { text } from 'plot'\nconsole.log(text({ a: [1, 4, 9, 16], b: [16, 9, 4, 1] }, { width: 40, height: 6 }))",
					signature+"string"),
				bindings.NewFunction("svg", "Returns a chart as the text of an SVG file. The default size is 640 by 360 pixels.",
					"import { svg } from 'plot'\nconst times = svg({ old: [1, 2, 2, 3], fresh: [1, 1, 2, 9] }, { kind: 'box', yLabel: 'ms' })\nconst copies = svg([[0, 12], [11, 0]], { labels: ['cpu', 'far'] })\nconst picture = svg([1, 10, 100, 1000], { log: 'y', yLabel: 'items' })\nconsole.log(picture) // or, with fs: await writeText('growth.svg', picture)",
					signature+"string"),
				bindings.NewFunction("png", "Returns a chart as the bytes of a PNG file. It shows the picture of svg with twice as many pixels in each direction.",
					"import { png } from 'plot'\nconst picture = png({ a: [1, 4, 9], b: [2, 3, 5] }, { x: [1, 10, 100], log: 'x', error: { a: [0.5, 1, 2] } })\nconsole.log(picture.length > 1000) // with fs: await writeBytes('growth.png', picture)",
					signature+"Uint8Array<ArrayBuffer>"),
			}
		},
	}
}

// pngScale is the number of pixels of a PNG for each pixel of the SVG, along each axis.
const pngScale = 2

func instantiate(e *lang.Engine) (*goja.Object, error) {
	x := bindings.NewExports(e)
	x.Add("plot", func(call goja.FunctionCall) (goja.Value, error) { return show(e, call) })
	x.Add("text", func(call goja.FunctionCall) (goja.Value, error) {
		c, err := read(e, e.Args("plot.text", call), textSizes.sized(textColumns, textRows))
		if err != nil {
			return nil, err
		}
		return e.VM().ToValue(c.text()), nil
	})
	picture := func(name string, call goja.FunctionCall) (string, error) {
		c, err := read(e, e.Args(name, call), svgSizes.sized(svgWidth, svgHeight))
		if err != nil {
			return "", err
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
