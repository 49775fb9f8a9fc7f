// Package graphics shows pictures at terminals by the protocols of Kitty, iTerm2 and DEC's Sixel, and finds out which of them a
// terminal has.
package graphics

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// Protocol is how a terminal shows pictures.
type Protocol string

const (
	Text   Protocol = "text" // not at all
	Kitty  Protocol = "kitty"
	ITerm2 Protocol = "iterm2"
	Sixel  Protocol = "sixel"
)

// Protocols lists all protocols, Text last.
var Protocols = []Protocol{Kitty, ITerm2, Sixel, Text}

// Encode returns the bytes that show a picture at the cursor, and move the cursor to the line below. p must not be [Text].
func Encode(p Protocol, img *image.RGBA) ([]byte, error) {
	if p == Sixel {
		return append(sixel(img), '\n'), nil
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		return nil, err
	}
	text := base64.StdEncoding.EncodeToString(file.Bytes())
	var out bytes.Buffer
	if p == ITerm2 {
		size := img.Bounds().Size()
		fmt.Fprintf(&out, "\x1b]1337;File=inline=1;size=%d;width=%dpx;height=%dpx:%s\a\n", file.Len(), size.X, size.Y, text)
		return out.Bytes(), nil
	}
	const chunk = 4096 // the protocol's limit; q=2 asks for no answer, which would be read as keys
	keys := "a=T,f=100,q=2,"
	for len(text) > 0 {
		n := min(chunk, len(text))
		more := 0
		if n < len(text) {
			more = 1
		}
		fmt.Fprintf(&out, "\x1b_G%sm=%d;%s\x1b\\", keys, more, text[:n])
		keys, text = "", text[n:]
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// mostColors is the maximum number of colors of a Sixel picture, as many as all terminals support.
const mostColors = 256

// steps are the distances of the levels of a channel in percent. The levels of each distance include black and white; the
// last distance has 216 colors.
var steps = []int{1, 2, 4, 5, 10, 20}

// palette returns the colors of a picture, and the distance of the levels to which it rounds channels for at most mostColors.
func palette(img *image.RGBA) (list []color.RGBA, step int) {
	size := img.Bounds().Size()
	for _, step = range steps {
		used := map[color.RGBA]bool{}
		for y := range size.Y {
			for x := range size.X {
				used[at(img, x, y, step)] = true
			}
		}
		if len(used) <= mostColors {
			list = slices.Collect(maps.Keys(used))
			break
		}
	}
	number := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(list, func(a, b color.RGBA) int { return number(a) - number(b) })
	return list, step
}

// at returns the color of a pixel with channels in percent, as Sixel has them, rounded to levels at the distance step.
func at(img *image.RGBA, x, y, step int) color.RGBA {
	c := img.RGBAAt(img.Rect.Min.X+x, img.Rect.Min.Y+y)
	percent := func(v uint8) uint8 {
		levels := 100 / step
		return uint8((int(v)*levels + 127) / 255 * step)
	}
	return color.RGBA{percent(c.R), percent(c.G), percent(c.B), 100}
}

// sixel returns a picture in DEC's Sixel format: bands of six rows, each color of a band by itself, with repeated columns counted.
func sixel(img *image.RGBA) []byte {
	size := img.Bounds().Size()
	colors, step := palette(img)
	index := map[color.RGBA]int{}
	for i, c := range colors {
		index[c] = i
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "\x1bP0;1;0q\"1;1;%d;%d", size.X, size.Y)
	for i, c := range colors {
		fmt.Fprintf(&out, "#%d;2;%d;%d;%d", i, c.R, c.G, c.B)
	}
	for top := 0; top < size.Y; top += 6 {
		rows := map[int][]byte{} // the bits of each column, by color
		for y := top; y < min(top+6, size.Y); y++ {
			for x := range size.X {
				i := index[at(img, x, y, step)]
				if rows[i] == nil {
					rows[i] = make([]byte, size.X)
				}
				rows[i][x] |= 1 << (y - top)
			}
		}
		first := true
		for i := range colors {
			row, used := rows[i]
			if !used {
				continue
			}
			if !first {
				out.WriteByte('$')
			}
			first = false
			fmt.Fprintf(&out, "#%d", i)
			writeRow(&out, row)
		}
		out.WriteByte('-')
	}
	out.WriteString("\x1b\\")
	return out.Bytes()
}

// writeRow writes the columns of one color.
func writeRow(out *bytes.Buffer, row []byte) {
	row = bytes.TrimRight(row, "\x00")
	for len(row) > 0 {
		n := 1
		for n < len(row) && row[n] == row[0] {
			n++
		}
		switch c := '?' + row[0]; {
		case n > 3:
			fmt.Fprintf(out, "!%d%c", n, c)
		default:
			out.Write(bytes.Repeat([]byte{c}, n))
		}
		row = row[n:]
	}
}
