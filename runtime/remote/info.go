package remote

import (
	"math"

	"github.com/orepl/orepl/runtime/offload"
)

func platformInfo(c *coder, p *offload.PlatformInfo) {
	text(c, &p.Name)
	text(c, &p.Vendor)
	text(c, &p.Version)
	text(c, &p.Library)
}

func deviceInfo(c *coder, d *offload.DeviceInfo) {
	text(c, &d.Name)
	text(c, &d.Vendor)
	num(c, &d.Type, 1)
	text(c, &d.Arch)
	text(c, &d.UID)
	text(c, &d.DriverVersion)
	for _, p := range []*int{&d.Class, &d.ComputeUnits, &d.ClockMHz, &d.VectorBits} {
		num(c, p, 8)
	}
	num(c, &d.MemoryBytes, 8)
	l := &d.Limits
	num(c, &l.AllocationBytes, 8)
	num(c, &l.SharedBytes, 8)
	num(c, &l.GroupItems, 8)
	three(c, &l.GroupSize, 8)
	three(c, &l.Groups, 8)
	list(c, &l.SubgroupSizes, func(c *coder, p *int) { num(c, p, 8) })
	f := &d.Features
	for _, p := range []*bool{&f.Exact, &f.F16, &f.F64, &f.Atomics64, &f.FloatAtomic, &f.Unified, &f.HostVisible, &f.Subgroups, &f.Cancel,
		&f.Calls, &f.Prints, &f.Clock} {
		c.flag(p)
	}
}

func param(c *coder, p *offload.Param) {
	text(c, &p.Name)
	c.flag(&p.Buffer)
	num(c, &p.Type, 1)
	within(c, &p.Elem, 0, math.MaxInt)
	within(c, &p.Rank, 0, 3)
	c.flag(&p.Reads)
	c.flag(&p.Writes)
	aggregate := p.Fields != nil
	c.flag(&aggregate)
	list(c, &p.Fields, func(c *coder, f *offload.Field) { num(c, &f.Type, 1); num(c, &f.Offset, 8) })
	if aggregate && p.Fields == nil {
		p.Fields = []offload.Field{}
	}
}

func kernelInfo(c *coder, k *offload.KernelInfo) {
	text(c, &k.Name)
	known := k.Params != nil
	c.flag(&known)
	list(c, &k.Params, param)
	if known && k.Params == nil {
		k.Params = []offload.Param{}
	}
	num(c, &k.Convention, 1)
	c.flag(&k.ObservesGroup)
	within(c, &k.SharedBytes, 0, math.MaxInt)
	within(c, &k.GroupItems, 0, math.MaxInt)
	within(c, &k.Registers, 0, math.MaxInt)
	c.flag(&k.DynamicShared)
	c.flag(&k.Cooperative)
	list(c, &k.Services, text[string])
	c.flag(&k.AnyService)
	c.flag(&k.Prints)
}

func symbol(c *coder, s *offload.Symbol) {
	text(c, &s.Name)
	c.flag(&s.Kernel)
	within(c, &s.Size, 0, math.MaxInt64)
}

func signature(c *coder, s *offload.Signature) {
	list(c, &s.Params, param)
	num(c, &s.Convention, 1)
	num(c, &s.Axes, 8)
	c.position(&s.Pos)
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

func (r *imageRef) code(c *coder) {
	text(c, &r.Kind)
	for _, p := range []*string{&r.Target, &r.Arch, &r.Label, &r.Producers, &r.Other} {
		text(c, p)
	}
	c.strings(&r.Meta)
	c.array(r.Digest[:])
	num(c, &r.Size, 8)
}

func refOf(img *offload.Image) imageRef {
	return imageRef{img.Kind, img.Target, img.Arch, img.Label, img.Producers, img.Conflict, img.Meta, img.Digest(), uint64(len(img.Data))}
}

func (r *imageRef) image(data []byte) *offload.Image {
	return &offload.Image{Kind: r.Kind, Target: r.Target, Arch: r.Arch, Label: r.Label, Producers: r.Producers, Conflict: r.Other, Meta: r.Meta, Data: data}
}

func message(c *coder, m *offload.Message) {
	text(c, &m.Kernel)
	three(c, &m.Item, 8)
	c.position(&m.Pos)
	text(c, &m.Text)
}

func scalar(c *coder, s *offload.Scalar) {
	num(c, &s.Type, 1)
	num(c, &s.Bits, 8)
}
