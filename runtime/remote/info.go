package remote

import (
	"math"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

func platformInfo(c *wire.Coder, p *offload.PlatformInfo) {
	wire.Text(c, &p.Name)
	wire.Text(c, &p.Vendor)
	wire.Text(c, &p.Version)
	wire.Text(c, &p.Library)
}

func deviceInfo(c *wire.Coder, d *offload.DeviceInfo) {
	wire.Text(c, &d.Name)
	wire.Text(c, &d.Vendor)
	wire.Num(c, &d.Type, 1)
	wire.Text(c, &d.Arch)
	wire.Text(c, &d.UID)
	wire.Text(c, &d.DriverVersion)
	for _, p := range []*int{&d.Class, &d.ComputeUnits, &d.ClockMHz, &d.VectorBits} {
		wire.Num(c, p, 8)
	}
	wire.Num(c, &d.MemoryBytes, 8)
	l := &d.Limits
	wire.Num(c, &l.AllocationBytes, 8)
	wire.Num(c, &l.SharedBytes, 8)
	wire.Num(c, &l.GroupItems, 8)
	wire.Three(c, &l.GroupSize, 8)
	wire.Three(c, &l.Groups, 8)
	wire.List(c, &l.SubgroupSizes, func(c *wire.Coder, p *int) { wire.Num(c, p, 8) })
	f := &d.Features
	for _, p := range []*bool{&f.Exact, &f.F16, &f.F64, &f.Atomics64, &f.FloatAtomic, &f.Unified, &f.HostVisible, &f.Subgroups, &f.Cancel,
		&f.Calls, &f.Prints, &f.Clock} {
		c.Flag(p)
	}
}

func param(c *wire.Coder, p *offload.Param) {
	wire.Text(c, &p.Name)
	c.Flag(&p.Buffer)
	wire.Num(c, &p.Type, 1)
	wire.Within(c, &p.Elem, 0, math.MaxInt)
	wire.Within(c, &p.Rank, 0, 3)
	c.Flag(&p.Reads)
	c.Flag(&p.Writes)
	aggregate := p.Fields != nil
	c.Flag(&aggregate)
	wire.List(c, &p.Fields, func(c *wire.Coder, f *offload.Field) { wire.Num(c, &f.Type, 1); wire.Num(c, &f.Offset, 8) })
	if aggregate && p.Fields == nil {
		p.Fields = []offload.Field{}
	}
}

func kernelInfo(c *wire.Coder, k *offload.KernelInfo) {
	wire.Text(c, &k.Name)
	known := k.Params != nil
	c.Flag(&known)
	wire.List(c, &k.Params, param)
	if known && k.Params == nil {
		k.Params = []offload.Param{}
	}
	wire.Num(c, &k.Convention, 1)
	c.Flag(&k.ObservesGroup)
	wire.Within(c, &k.SharedBytes, 0, math.MaxInt)
	wire.Within(c, &k.GroupItems, 0, math.MaxInt)
	wire.Within(c, &k.Registers, 0, math.MaxInt)
	c.Flag(&k.DynamicShared)
	c.Flag(&k.Cooperative)
	wire.List(c, &k.Services, wire.Text[string])
	c.Flag(&k.AnyService)
	c.Flag(&k.Prints)
}

func symbol(c *wire.Coder, s *offload.Symbol) {
	wire.Text(c, &s.Name)
	c.Flag(&s.Kernel)
	wire.Within(c, &s.Size, 0, math.MaxInt64)
}

func signature(c *wire.Coder, s *offload.Signature) {
	wire.List(c, &s.Params, param)
	wire.Num(c, &s.Convention, 1)
	wire.Num(c, &s.Axes, 8)
	c.Position(&s.Pos)
}

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

func message(c *wire.Coder, m *offload.Message) {
	wire.Text(c, &m.Kernel)
	wire.Three(c, &m.Item, 8)
	c.Position(&m.Pos)
	wire.Text(c, &m.Text)
}

func scalar(c *wire.Coder, s *offload.Scalar) {
	wire.Num(c, &s.Type, 1)
	wire.Num(c, &s.Bits, 8)
}
