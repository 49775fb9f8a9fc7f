package protocol

import (
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// ImageRef refers to the content of an image by its digest, and holds the other fields of [offload.Image].
type ImageRef struct {
	Kind                                  offload.ImageKind
	Target, Arch, Label, Producers, Other string // Other: the conflict of the container with the bytes
	Meta                                  map[string]string
	Digest                                Digest
	Size                                  uint64
}

// Digest is the SHA-256 of an image's bytes.
type Digest [32]byte

func (r *ImageRef) Code(c *wire.Coder) {
	wire.Text(c, &r.Kind)
	for _, p := range []*string{&r.Target, &r.Arch, &r.Label, &r.Producers, &r.Other} {
		wire.Text(c, p)
	}
	c.Strings(&r.Meta)
	c.Array(r.Digest[:])
	wire.Num(c, &r.Size, 8)
}

// RefOf returns a reference to an image.
func RefOf(img *offload.Image) ImageRef {
	return ImageRef{img.Kind, img.Target, img.Arch, img.Label, img.Producers, img.Conflict, img.Meta, img.Digest(), uint64(len(img.Data))}
}

// Image returns the image to which r refers, with data as its content.
func (r *ImageRef) Image(data []byte) *offload.Image {
	return &offload.Image{Kind: r.Kind, Target: r.Target, Arch: r.Arch, Label: r.Label, Producers: r.Producers, Conflict: r.Other, Meta: r.Meta, Data: data}
}
