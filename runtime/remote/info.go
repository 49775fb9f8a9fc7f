package remote

import (
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// imageRef names the content of an image and holds its known facts.
type imageRef struct {
	Kind                                  offload.ImageKind
	Target, Arch, Label, Producers, Other string // Other: the conflict of the container with the bytes
	Meta                                  map[string]string
	Digest                                digest
	Size                                  uint64
}

type digest [32]byte

func (r *imageRef) code(c *wire.Coder) {
	wire.Text(c, &r.Kind)
	for _, p := range []*string{&r.Target, &r.Arch, &r.Label, &r.Producers, &r.Other} {
		wire.Text(c, p)
	}
	c.Strings(&r.Meta)
	c.Array(r.Digest[:])
	wire.Num(c, &r.Size, 8)
}

func refOf(img *offload.Image) imageRef {
	return imageRef{img.Kind, img.Target, img.Arch, img.Label, img.Producers, img.Conflict, img.Meta, img.Digest(), uint64(len(img.Data))}
}

func (r *imageRef) image(data []byte) *offload.Image {
	return &offload.Image{Kind: r.Kind, Target: r.Target, Arch: r.Arch, Label: r.Label, Producers: r.Producers, Conflict: r.Other, Meta: r.Meta, Data: data}
}
