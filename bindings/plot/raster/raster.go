// Package raster draws the subset of SVG that charts consist of as an image: rectangles, lines, circles, texts, and paths of straight
// lines.
package raster

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/orepl/orepl/lang/later"
)

// attributes are those of an element and of the elements around it.
type attributes map[string]string

// number returns a numeric attribute, or a default.
func (a attributes) number(name string, missing float64) float64 {
	v, err := strconv.ParseFloat(a[name], 64)
	if err != nil {
		return missing
	}
	return v
}

// canvas is an image that is being drawn. Coordinates of elements are multiplied by scale.
type canvas struct {
	*image.RGBA
	scale float64
	clips map[string]image.Rectangle
}

// Draw draws an SVG file whose pixels become scale×scale pixels. Errors: text that is no SVG file, a picture that
// is too large, and what the subset lacks.
func Draw(svg string, scale int) (*image.RGBA, error) {
	d := xml.NewDecoder(strings.NewReader(svg))
	c := &canvas{scale: float64(scale), clips: map[string]image.Rectangle{}}
	stack := []attributes{{}}
	clip := ""
	var text strings.Builder
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			if c.RGBA == nil {
				return nil, errors.New("the text is no SVG file")
			}
			return c.RGBA, nil
		case err != nil:
			return nil, fmt.Errorf("reading the SVG file: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			a := attributes{}
			for name, v := range stack[len(stack)-1] {
				if inherited.Get()[name] {
					a[name] = v
				}
			}
			for _, attr := range token.Attr {
				a[attr.Name.Local] = attr.Value
			}
			stack = append(stack, a)
			text.Reset()
			switch name := token.Name.Local; {
			case name == "clipPath":
				clip = a["id"]
			case clip != "":
				c.clips["url(#"+clip+")"] = c.rectangle(a)
			default:
				if err := c.element(name, a); err != nil {
					return nil, err
				}
			}
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			a := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch token.Name.Local {
			case "clipPath":
				clip = ""
			case "text":
				if err := c.text(a, text.String()); err != nil {
					return nil, err
				}
			}
		}
	}
}

// inherited are the attributes that an element has from those around it.
var inherited = later.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"fill": true, "stroke": true, "font-size": true, "clip-path": true}
}}

// element draws an element other than a text.
func (c *canvas) element(name string, a attributes) error {
	switch name {
	case "svg":
		w, h := a.number("width", 0), a.number("height", 0)
		if w < 1 || h < 1 || w*h*c.scale*c.scale > 1<<29 {
			return fmt.Errorf("a picture of %g by %g pixels cannot be drawn", w, h)
		}
		c.RGBA = image.NewRGBA(image.Rect(0, 0, int(w*c.scale), int(h*c.scale)))
	case "g", "text":
	case "rect":
		r := c.rectangle(a)
		if a["width"] == "100%" {
			r = c.Bounds()
		}
		return c.fill(a, "fill", polygon{{float64(r.Min.X), float64(r.Min.Y)}, {float64(r.Max.X), float64(r.Min.Y)}, {float64(r.Max.X), float64(r.Max.Y)}, {float64(r.Min.X), float64(r.Max.Y)}})
	case "circle":
		return c.fill(a, "fill", disc(point{a.number("cx", 0) * c.scale, a.number("cy", 0) * c.scale}, a.number("r", 0)*c.scale))
	case "line":
		return c.stroke(a, [][]point{{{a.number("x1", 0), a.number("y1", 0)}, {a.number("x2", 0), a.number("y2", 0)}}})
	case "path":
		lines, err := path(a["d"])
		if err != nil {
			return err
		}
		if a["stroke"] == "" {
			return c.fill(a, "fill", c.polygons(lines)...)
		}
		return c.stroke(a, dashed(lines, a["stroke-dasharray"]))
	default:
		return fmt.Errorf("the element %q cannot be drawn", name)
	}
	return nil
}

// rectangle returns the pixels of a rectangle.
func (c *canvas) rectangle(a attributes) image.Rectangle {
	at := func(v float64) int { return int(math.Round(v * c.scale)) }
	x, y := a.number("x", 0), a.number("y", 0)
	return image.Rect(at(x), at(y), at(x+a.number("width", 0)), at(y+a.number("height", 0)))
}

type point struct{ x, y float64 }

// polygon is a closed line, clockwise on the screen, so that overlapping ones add up.
type polygon []point

// polygons returns lines, scaled to pixels of the image, as polygons.
func (c *canvas) polygons(lines [][]point) (list []polygon) {
	for _, line := range lines {
		var p polygon
		for _, at := range line {
			p = append(p, point{at.x * c.scale, at.y * c.scale})
		}
		list = append(list, p)
	}
	return list
}

// disc returns a circle as a polygon.
func disc(at point, r float64) polygon {
	const corners = 16
	p := make(polygon, corners)
	for i := range p {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		p[i] = point{at.x + r*cos, at.y + r*sin}
	}
	return p
}

// path parses the commands M and L of a path.
func path(d string) (lines [][]point, err error) {
	for part := range strings.SplitSeq(d, "M") {
		if part == "" {
			continue
		}
		var line []point
		for at := range strings.SplitSeq(part, "L") {
			var p point
			if _, err := fmt.Sscanf(at, "%g %g", &p.x, &p.y); err != nil {
				return nil, fmt.Errorf("the path %.20q cannot be drawn", d)
			}
			line = append(line, p)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// dashed cuts lines into the dashes of a pattern, which has lengths of dashes and gaps by turns between spaces. Without a
// length it returns the lines.
func dashed(lines [][]point, pattern string) (dashes [][]point) {
	var lengths []float64
	for _, f := range strings.Fields(pattern) {
		if v, err := strconv.ParseFloat(f, 64); err == nil && v > 0 {
			lengths = append(lengths, v)
		}
	}
	if len(lengths) == 0 {
		return lines
	}
	for _, line := range lines {
		i, left := 0, lengths[0]
		dash := []point{line[0]}
		for k := 1; k < len(line); k++ {
			from, to := line[k-1], line[k]
			length := math.Hypot(to.x-from.x, to.y-from.y)
			for done := 0.0; done < length; {
				step := min(left, length-done)
				done += step
				p := point{from.x + (to.x-from.x)*done/length, from.y + (to.y-from.y)*done/length}
				if dash = append(dash, p); left > step {
					left -= step
					continue
				}
				if i%2 == 0 {
					dashes = append(dashes, dash)
				}
				i++
				left, dash = lengths[i%len(lengths)], []point{p}
			}
		}
		if i%2 == 0 {
			dashes = append(dashes, dash)
		}
	}
	return dashes
}

// stroke draws lines, with round ends and joins if stroke-linecap is round.
func (c *canvas) stroke(a attributes, lines [][]point) error {
	r := a.number("stroke-width", 1) * c.scale / 2
	var list []polygon
	for _, line := range lines {
		for i, p := range line {
			p = point{p.x * c.scale, p.y * c.scale}
			if a["stroke-linecap"] == "round" {
				list = append(list, disc(p, r))
			}
			if i == 0 {
				continue
			}
			from := point{line[i-1].x * c.scale, line[i-1].y * c.scale}
			length := math.Hypot(p.x-from.x, p.y-from.y)
			if length == 0 {
				continue
			}
			nx, ny := r*(p.y-from.y)/length, -r*(p.x-from.x)/length
			list = append(list, polygon{{from.x + nx, from.y + ny}, {p.x + nx, p.y + ny}, {p.x - nx, p.y - ny}, {from.x - nx, from.y - ny}})
		}
	}
	return c.fill(a, "stroke", list...)
}

// fill fills polygons with the color of an attribute.
func (c *canvas) fill(a attributes, attribute string, list ...polygon) error {
	ink, err := colorOf(a[attribute])
	if err != nil || len(list) == 0 {
		return err
	}
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range list {
		for _, v := range p {
			low, high = point{min(low.x, v.x), min(low.y, v.y)}, point{max(high.x, v.x), max(high.y, v.y)}
		}
	}
	limit := func(v float64) int { return int(min(max(v, -1e4), 1e5)) }
	area := image.Rect(limit(math.Floor(low.x)), limit(math.Floor(low.y)), limit(math.Ceil(high.x))+1, limit(math.Ceil(high.y))+1)
	bounds := c.Bounds()
	if clip, ok := c.clips[a["clip-path"]]; ok {
		bounds = bounds.Intersect(clip)
	}
	visible := area.Intersect(bounds)
	if visible.Empty() {
		return nil
	}
	v := vector.NewRasterizer(visible.Dx(), visible.Dy())
	v.DrawOp = draw.Over
	for _, p := range list {
		for i, at := range p {
			x, y := float32(at.x-float64(visible.Min.X)), float32(at.y-float64(visible.Min.Y))
			if i == 0 {
				v.MoveTo(x, y)
			} else {
				v.LineTo(x, y)
			}
		}
		v.ClosePath()
	}
	v.Draw(c.RGBA, visible, image.NewUniform(ink), image.Point{})
	return nil
}

// colorOf returns the color of a text such as #0072b2 or #ddd, and black for "".
func colorOf(text string) (color.RGBA, error) {
	hex := strings.TrimPrefix(text, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	if text == "" {
		hex = "000000"
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 {
		return color.RGBA{}, fmt.Errorf("the color %q cannot be drawn", text)
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, nil
}

// fonts parses the fonts once.
var fonts = sync.OnceValues(func() ([2]*opentype.Font, error) {
	plain, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return [2]*opentype.Font{}, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	return [2]*opentype.Font{plain, bold}, err
})

// replacements are characters that the fonts lack.
var replacements = strings.NewReplacer("┄", "- -", "●", "•")

// text draws a text.
func (c *canvas) text(a attributes, text string) error {
	ink, err := colorOf(a["fill"])
	if err != nil {
		return err
	}
	both, err := fonts()
	if err != nil {
		return err
	}
	of := both[0]
	if a["font-weight"] == "bold" {
		of = both[1]
	}
	face, err := opentype.NewFace(of, &opentype.FaceOptions{Size: a.number("font-size", 12) * c.scale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return err
	}
	defer face.Close()
	text = replacements.Replace(text)
	x := a.number("x", 0) * c.scale
	width := float64(font.MeasureString(face, text)) / 64
	switch a["text-anchor"] {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	at := func(v float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(v * 64)) }
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: face, Dot: fixed.Point26_6{X: at(x), Y: at(a.number("y", 0) * c.scale)}}
	d.DrawString(text)
	return nil
}
