package orepl

import (
	"image"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	contract "github.com/orepl/orepl/runtime/offload"
)

// picture is a gray picture as two-dimensional data, rows first.
type picture struct{ *image.Gray }

// isWhole reports whether the picture has all bytes required by its bounds and stride.
func (p picture) isWhole() bool {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	return w >= 0 && h >= 0 && (w == 0 || h == 0 || p.Stride >= w && len(p.Pix) >= w && (len(p.Pix)-w)/p.Stride >= h-1)
}

func (p picture) input(in *pipelines.Input) {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	pix := p.Pix
	if p.Stride != w { // a part of another picture
		pix = make([]byte, 0, w*h)
		for y := range h {
			pix = append(pix, p.Pix[y*p.Stride:][:w]...)
		}
	}
	in.Type, in.Data, in.Dims = contract.U8, pix[:w*h], []int{h, w}
}

func (p picture) output(out *pipelines.Output) {
	out.Type = contract.U8
	out.Store = func(dims []int) ([]byte, error) {
		if p.Gray == nil {
			return nil, errNilPointer
		}
		if len(dims) != 2 {
			return nil, contract.Errorf(contract.InvalidSize, "run", "the output %q has %d dimensions, a picture has two", out.Name, len(dims))
		}
		if p.Rect.Dx() != dims[1] || p.Rect.Dy() != dims[0] || p.Stride != dims[1] || !p.isWhole() {
			pix := p.Pix
			if p.Stride != p.Rect.Dx() {
				pix = nil // a part of another picture, whose pixels must not be replaced
			}
			*p.Gray = image.Gray{Pix: resized(pix, dims), Stride: dims[1], Rect: image.Rect(0, 0, dims[1], dims[0])}
		}
		return p.Pix[:dims[0]*dims[1]], nil
	}
}
