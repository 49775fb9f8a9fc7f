// Package picture converts decoded pictures to bytes of gray or of red, green, blue and alpha.
//
// Colours stay as the file has them, also where they are transparent: nothing passes through premultiplied colour. Channels of
// 16 bits keep their upper 8.
package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// Pixels are the bytes of a picture, row by row.
type Pixels struct {
	Width, Height int
	Channels      int // 1 or 4
	Data          []byte
}

// Flatten returns the pixels of a picture with 1 or 4 channels. For channels = 0 a gray picture has 1 and others 4.
func Flatten(p image.Image, channels int) Pixels {
	size := p.Bounds().Size()
	out := Pixels{Width: size.X, Height: size.Y, Channels: channels}
	if gray := grayOf(p); gray != nil {
		if out.Channels == 0 {
			out.Channels = 1
		}
		if out.Data = gray; out.Channels == 4 {
			out.Data = spread(gray)
		}
		return out
	}
	out.Channels, out.Data = 4, colours(p)
	if channels == 1 {
		out.Channels, out.Data = 1, luma(out.Data)
	}
	return out
}

// grayOf returns the bytes of a picture of a gray colour model, or nil.
func grayOf(p image.Image) []byte {
	n := p.Bounds().Dx()
	switch p := p.(type) {
	case *image.Gray:
		return rows(p, p.Pix, p.Stride, n, 1)
	case *image.Gray16:
		return rows(p, p.Pix, p.Stride, n, 2)
	}
	return nil
}

// rows returns the channels of a picture, n in each row. size is 2 for channels of 16 bits, of which it returns the upper bytes.
func rows(p image.Image, pix []byte, stride, n, size int) []byte {
	height := p.Bounds().Dy()
	out := make([]byte, 0, n*height)
	for y := range height {
		row := pix[y*stride : y*stride+n*size]
		if size == 1 {
			out = append(out, row...)
			continue
		}
		for i := range n {
			out = append(out, row[size*i])
		}
	}
	return out
}

// spread returns gray pixels as opaque pixels of four channels.
func spread(gray []byte) []byte {
	out := make([]byte, 0, 4*len(gray))
	for _, y := range gray {
		out = append(out, y, y, y, 255)
	}
	return out
}

// luma returns the brightness of colours, by the weights of BT.601, whatever their alpha.
func luma(data []byte) []byte {
	out := make([]byte, len(data)/4)
	for i := range out {
		r, g, b := uint32(data[4*i]), uint32(data[4*i+1]), uint32(data[4*i+2])
		out[i] = byte((19595*r + 38470*g + 7471*b + 1<<15) >> 16)
	}
	return out
}

// colours returns red, green, blue and alpha, not premultiplied.
func colours(p image.Image) []byte {
	b := p.Bounds()
	n := 4 * b.Dx()
	switch p := p.(type) {
	case *image.NRGBA:
		return rows(p, p.Pix, p.Stride, n, 1)
	case *image.NRGBA64:
		return rows(p, p.Pix, p.Stride, n, 2)
	case *image.RGBA: // the decoders return it for opaque pictures only
		if p.Opaque() {
			return rows(p, p.Pix, p.Stride, n, 1)
		}
	case *image.RGBA64:
		if p.Opaque() {
			return rows(p, p.Pix, p.Stride, n, 2)
		}
	case *image.Paletted:
		return indexed(p)
	}
	to := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(to, to.Rect, p, b.Min, draw.Src)
	return to.Pix
}

// indexed returns the colours of a picture with a palette.
func indexed(p *image.Paletted) []byte {
	var palette [256][4]byte
	for i, c := range p.Palette {
		if exact, ok := c.(color.NRGBA); ok {
			palette[i] = [4]byte{exact.R, exact.G, exact.B, exact.A}
			continue
		}
		v := color.NRGBAModel.Convert(c).(color.NRGBA) // of an opaque colour
		palette[i] = [4]byte{v.R, v.G, v.B, v.A}
	}
	indices := rows(p, p.Pix, p.Stride, p.Rect.Dx(), 1)
	out := make([]byte, 0, 4*len(indices))
	for _, i := range indices {
		out = append(out, palette[i][:]...)
	}
	return out
}
