package wire

import (
	"math"

	"github.com/orepl/orepl/runtime/offload"
)

// PlatformInfo codes the description of a platform.
func PlatformInfo(c *Coder, p *offload.PlatformInfo) {
	Text(c, &p.Name)
	Text(c, &p.Vendor)
	Text(c, &p.Version)
	Text(c, &p.Library)
}

// DeviceInfo codes the description of a device, without the field Notice.
func DeviceInfo(c *Coder, d *offload.DeviceInfo) {
	Text(c, &d.Name)
	Text(c, &d.Vendor)
	Num(c, &d.Type, 1)
	Text(c, &d.Arch)
	Text(c, &d.UID)
	Text(c, &d.DriverVersion)
	for _, p := range []*int{&d.Class, &d.ComputeUnits, &d.ClockMHz, &d.VectorBits} {
		Num(c, p, 8)
	}
	Num(c, &d.MemoryBytes, 8)
	l := &d.Limits
	Num(c, &l.AllocationBytes, 8)
	Num(c, &l.SharedBytes, 8)
	Num(c, &l.GroupItems, 8)
	Three(c, &l.GroupSize, 8)
	Three(c, &l.Groups, 8)
	List(c, &l.SubgroupSizes, func(c *Coder, p *int) { Num(c, p, 8) })
	f := &d.Features
	for _, p := range []*bool{&f.Exact, &f.F16, &f.F64, &f.Atomics64, &f.FloatAtomic, &f.Unified, &f.HostVisible, &f.Subgroups, &f.Cancel,
		&f.Calls, &f.Prints, &f.Clock} {
		c.Flag(p)
	}
}

// Param codes a parameter of a kernel.
func Param(c *Coder, p *offload.Param) {
	Text(c, &p.Name)
	c.Flag(&p.Buffer)
	Num(c, &p.Type, 1)
	Within(c, &p.Elem, 0, math.MaxInt)
	Within(c, &p.Rank, 0, 3)
	c.Flag(&p.Reads)
	c.Flag(&p.Writes)
	aggregate := p.Fields != nil
	c.Flag(&aggregate)
	List(c, &p.Fields, func(c *Coder, f *offload.Field) { Num(c, &f.Type, 1); Num(c, &f.Offset, 8) })
	if aggregate && p.Fields == nil {
		p.Fields = []offload.Field{}
	}
}

// KernelInfo codes the description of a kernel.
func KernelInfo(c *Coder, k *offload.KernelInfo) {
	Text(c, &k.Name)
	known := k.Params != nil
	c.Flag(&known)
	List(c, &k.Params, Param)
	if known && k.Params == nil {
		k.Params = []offload.Param{}
	}
	Num(c, &k.Convention, 1)
	c.Flag(&k.ObservesGroup)
	Within(c, &k.SharedBytes, 0, math.MaxInt)
	Within(c, &k.GroupItems, 0, math.MaxInt)
	Within(c, &k.Registers, 0, math.MaxInt)
	c.Flag(&k.DynamicShared)
	c.Flag(&k.Cooperative)
	List(c, &k.Services, Text[string])
	c.Flag(&k.AnyService)
	c.Flag(&k.Prints)
}

// Symbol codes a symbol of a program.
func Symbol(c *Coder, s *offload.Symbol) {
	Text(c, &s.Name)
	c.Flag(&s.Kernel)
	Within(c, &s.Size, 0, math.MaxInt64)
}

// Signature codes the signature of a kernel.
func Signature(c *Coder, s *offload.Signature) {
	List(c, &s.Params, Param)
	Num(c, &s.Convention, 1)
	Num(c, &s.Axes, 8)
	c.Position(&s.Pos)
}

// Message codes a line that device code prints, without the field Device.
func Message(c *Coder, m *offload.Message) {
	Text(c, &m.Kernel)
	Three(c, &m.Item, 8)
	c.Position(&m.Pos)
	Text(c, &m.Text)
}

// Scalar codes a scalar.
func Scalar(c *Coder, s *offload.Scalar) {
	Num(c, &s.Type, 1)
	Num(c, &s.Bits, 8)
}
