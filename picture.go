package orepl

import (
	"image"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	contract "github.com/orepl/orepl/runtime/offload"
)

// picture is a gray or colour picture as bytes, rows first.
type picture struct {
	pix      *[]uint8 // nil for a nil pointer to a picture
	stride   *int
	rect     *image.Rectangle
	channels int // 1 or 4
}

// pictureOf returns the picture that a pointer to one of package image points to, or false for other values.
func pictureOf(x any) (picture, bool) {
	switch p := x.(type) {
	case *image.Gray:
		if p == nil {
			return picture{channels: 1}, true
		}
		return picture{&p.Pix, &p.Stride, &p.Rect, 1}, true
	case *image.NRGBA:
		if p == nil {
			return picture{channels: 4}, true
		}
		return picture{&p.Pix, &p.Stride, &p.Rect, 4}, true
	case *image.RGBA:
		if p == nil {
			return picture{channels: 4}, true
		}
		return picture{&p.Pix, &p.Stride, &p.Rect, 4}, true
	}
	return picture{}, false
}

// isWhole reports whether the picture has all bytes required by its bounds and stride.
func (p picture) isWhole() bool {
	row, h := p.rect.Dx()*p.channels, p.rect.Dy()
	return row >= 0 && h >= 0 && (row == 0 || h == 0 || *p.stride >= row && len(*p.pix) >= row && (len(*p.pix)-row)/(*p.stride) >= h-1)
}

// check returns an error for a nil pointer, and for a picture with too few bytes for its bounds. name is the input's.
func (p picture) check(name string) error {
	if p.pix == nil {
		return contract.Errorf(contract.InvalidArgument, "run", "the input %q is no picture: the pointer is nil", name)
	}
	if !p.isWhole() {
		return contract.Errorf(contract.InvalidSize, "run", "the picture %q has %d bytes, too few for its bounds %v and stride %d", name, len(*p.pix), *p.rect, *p.stride)
	}
	return nil
}

// dims returns the shape of a picture of a width and height.
func (p picture) dims(w, h int) []int {
	if p.channels == 1 {
		return []int{h, w}
	}
	return []int{h, w, p.channels}
}

func (p picture) input(in *pipelines.Input) {
	w, h := p.rect.Dx(), p.rect.Dy()
	row, pix := w*p.channels, *p.pix
	if *p.stride != row { // a part of another picture
		pix = make([]byte, 0, row*h)
		for y := range h {
			pix = append(pix, (*p.pix)[y**p.stride:][:row]...)
		}
	}
	in.Type, in.Data, in.Dims = contract.U8, pix[:row*h], p.dims(w, h)
}

func (p picture) output(out *pipelines.Output) {
	out.Type = contract.U8
	out.Store = func(dims []int) ([]byte, error) {
		if p.pix == nil {
			return nil, errNilPointer
		}
		if p.channels == 1 && len(dims) != 2 {
			return nil, contract.Errorf(contract.InvalidSize, "run", "the output %q has %d dimensions, a picture has two", out.Name, len(dims))
		}
		if p.channels == 4 && (len(dims) != 3 || dims[2] != 4) {
			return nil, contract.Errorf(contract.InvalidSize, "run", "the output %q has the shape %v, a colour picture has [height, width, 4]", out.Name, dims)
		}
		row := dims[1] * p.channels
		if p.rect.Dx() != dims[1] || p.rect.Dy() != dims[0] || *p.stride != row || !p.isWhole() {
			pix := *p.pix
			if *p.stride != p.rect.Dx()*p.channels {
				pix = nil // a part of another picture, whose pixels must not be replaced
			}
			*p.pix, *p.stride, *p.rect = resized(pix, dims), row, image.Rect(0, 0, dims[1], dims[0])
		}
		return (*p.pix)[:dims[0]*row], nil
	}
}
