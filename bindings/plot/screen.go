package plot

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/plot/graphics"
	"github.com/orepl/orepl/bindings/plot/raster"
	"github.com/orepl/orepl/lang"
)

// columned is a terminal that reports its width in columns, 0 if it is unknown.
type columned interface{ Columns() int }

// pictured is a terminal that may show pictures. quiet forbids to ask it.
type pictured interface {
	Screen(quiet bool) (graphics.Screen, error)
}

const (
	pictureRows = 20 // default height of a chart as a picture, in lines of text
	unitWidth   = 8  // width of a character in pixels of an SVG
)

// show implements plot: it prints a chart as a picture, if the output is a terminal that shows them, else as text.
func show(e *lang.Engine, call goja.FunctionCall) (goja.Value, error) {
	columns, rows := textColumns, textRows
	screen := graphics.Screen{Protocol: graphics.Text}
	out := e.Terminal()
	if t, ok := out.(columned); ok {
		if n := t.Columns(); n > 0 {
			columns = min(max(n-1, textSizes.leastWidth), textColumns)
		}
	}
	if t, ok := out.(pictured); ok {
		var err error
		if screen, err = t.Screen(false); err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
	}
	if screen.Protocol != graphics.Text {
		rows = pictureRows
	}
	c, err := read(e, e.Args("plot.plot", call), textSizes.sized(columns, rows))
	if err != nil {
		return nil, err
	}
	text := []byte(c.text())
	if screen.Protocol != graphics.Text {
		if text, err = c.picture(screen); err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
	}
	if _, err := e.Options().Stdout.Write(text); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	return nil, nil
}

// picture returns the bytes that show a chart of columns and rows of text as a picture.
func (c *chart) picture(s graphics.Screen) ([]byte, error) {
	scale := max((s.CellWidth+unitWidth/2)/unitWidth, 1)
	drawn := *c
	drawn.width = min(max(c.width*s.CellWidth/scale, svgSizes.leastWidth), svgSizes.mostWidth)
	drawn.height = min(max(c.height*s.CellHeight/scale, svgSizes.leastHeight), svgSizes.mostHeight)
	img, err := raster.Draw(drawn.svg(), scale)
	if err != nil {
		return nil, err
	}
	return graphics.Encode(s.Protocol, img)
}
