package remote

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/remote/lease"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// device is a device of the server.
type device struct {
	client     *client
	number     uint32
	name       string
	platform   offload.PlatformInfo
	info       atomic.Pointer[offload.DeviceInfo] // replaced as a whole, never modified
	properties []offload.Property
	leases     lease.Blocks
}

func (d *device) Info() *offload.DeviceInfo { return d.info.Load() }

// withdraw clears Features.Exact if inexact is set: the server's device has then found its arithmetic to be inexact.
func (d *device) withdraw(inexact bool) {
	if info := *d.info.Load(); inexact && info.Features.Exact {
		info.Features.Exact = false
		d.info.Store(&info)
	}
}

// id returns the device's id in this process.
func (d *device) id() string { return d.client.name + ":" + d.name }

// Named implements [offload.Named].
func (d *device) Named() string { return d.name }

// Platform implements [offload.Placed].
func (d *device) Platform() offload.PlatformInfo { return d.platform }

// Describe implements [offload.Describer].
func (d *device) Describe() []offload.Property { return d.properties }

// CanExchange implements [offload.PeerCopier]: servers of one cluster that reach each other exchange memory.
func (d *device) CanExchange(with offload.Device) bool {
	o, ok := with.(*device)
	return ok && d.client != o.client && d.client.cluster != nil && d.client.cluster == o.client.cluster && d.client.address != "" && o.client.address != ""
}

// Lost implements [offload.Losable].
func (d *device) Lost() <-chan struct{} { return d.client.lost }

// LostError implements [offload.Losable].
func (d *device) LostError() error { return d.client.LostError() }

func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	var m *memory
	var err error
	if lease.Takes(size, kind) {
		m, err = d.lease(size)
	} else {
		m, err = d.allocate(size, kind)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// lease returns a piece of memory of the server.
func (d *device) lease(size int64) (*memory, error) {
	if err := d.client.usable("allocate"); err != nil {
		return nil, err
	}
	b, id, offset, err := d.leases.Take(size, func(size int64) (uint64, error) {
		m, err := d.allocate(size, offload.DeviceMemory)
		if err != nil {
			return 0, err
		}
		return m.id, nil
	})
	return &memory{device: d, id: id, base: offset, size: size, kind: offload.DeviceMemory, block: b}, err
}

// allocate requests memory of the server.
func (d *device) allocate(size int64, kind offload.MemoryKind) (*memory, error) {
	c := d.client
	number, id := c.serial.Add(1), c.serial.Add(1)
	if _, err := c.request("allocate", number, &protocol.Allocate{Request: number, Device: d.number, Memory: id, Size: size, Kind: kind}); err != nil {
		return nil, err
	}
	return &memory{device: d, id: id, size: size, kind: kind}, nil
}

func (d *device) CheckImage(img *offload.Image) (int, error) { return d.client.check(d.number, img) }

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if img.Unusable != nil {
		return nil, img.Unusable
	}
	c := d.client
	number, id := c.serial.Add(1), c.serial.Add(1)
	r, err := c.requestImage(ctx, "load", number, img, func(ref protocol.ImageRef) protocol.Message {
		return &protocol.Load{Request: number, Device: d.number, Program: id, Image: ref}
	})
	if err != nil {
		return nil, err
	}
	d.withdraw(r.Inexact)
	return &program{device: d, id: id, symbols: r.Symbols}, nil
}

func (d *device) NewQueue(opts offload.QueueOptions) (offload.Queue, error) {
	c := d.client
	number, id := c.serial.Add(1), c.serial.Add(1)
	l := newLane(d, id)
	l.queue = queue.NewOnLane(l, queue.Options{Label: opts.Label, Clock: c.clock, Deferred: opts.Deferred})
	c.mu.Lock()
	if !c.gone {
		c.lanes[id] = l
		activity.Current().Queues.Add(1)
		activity.Devices(d.id())
	}
	c.mu.Unlock()
	if _, err := c.request("create queue", number, &protocol.NewQueue{Request: number, Device: d.number, Queue: id, Label: opts.Label}); err != nil {
		c.forget(id)
		return nil, err
	}
	return l.queue, nil
}

// forget removes a queue from those of the connection.
func (c *client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lanes[id] != nil {
		delete(c.lanes, id)
		activity.Current().Queues.Add(-1)
	}
}

// memory is memory of a server's device.
type memory struct {
	device *device
	id     uint64       // number of the server's memory
	base   int64        // offset of the first byte in that memory
	block  *lease.Block // block of the piece; nil if it is not a piece
	size   int64
	kind   offload.MemoryKind
	global bool // belongs to a program
	freed  atomic.Bool
}

func (m *memory) Size() int64              { return m.size }
func (m *memory) Kind() offload.MemoryKind { return m.kind }
func (m *memory) Bytes() []byte            { return nil }

// Address implements [offload.Addresser]. The address is valid in the server's process.
func (m *memory) Address() (uint64, error) {
	if m.freed.Load() {
		return 0, offload.Errorf(offload.Closed, "address", "the memory was freed")
	}
	at, err := m.device.address(&protocol.FindAddress{Memory: m.id})
	return at + uint64(m.base), err
}

// address sends a request for an address, and returns the server's answer.
func (d *device) address(m *protocol.FindAddress) (uint64, error) {
	m.Request = d.client.serial.Add(1)
	r, err := d.client.request("address", m.Request, m)
	if err != nil {
		return 0, err
	}
	return uint64(r.Value), nil
}

func (m *memory) Free() error {
	if m.global {
		return offload.Errorf(offload.InvalidArgument, "free", "the memory belongs to a program")
	}
	if m.freed.Swap(true) {
		return offload.Errorf(offload.Closed, "free", "the memory was freed")
	}
	if m.block != nil {
		if m.device.leases.End(m.block, m.base, m.device.client.outstanding()) {
			m.device.client.link.send(&protocol.Release{Kind: protocol.MemoryObject, Object: m.id})
		}
		return nil
	}
	m.device.client.link.send(&protocol.Release{Kind: protocol.MemoryObject, Object: m.id})
	return nil
}

// program is a program of a server.
type program struct {
	device   *device
	id       uint64
	symbols  []offload.Symbol
	unloaded atomic.Bool
	found    sync.Map // kernels that Kernel has found, by name
}

func (p *program) Symbols() []offload.Symbol { return p.symbols }

func (p *program) Kernel(name string) (offload.Kernel, error) {
	if k, ok := p.found.Load(name); ok && !p.unloaded.Load() {
		return k.(*kernel), nil
	}
	k, err := p.find(name, false, &offload.Signature{})
	if err == nil {
		p.found.Store(name, k)
	}
	return k, err
}

// KernelAs implements [offload.SignedProgram].
func (p *program) KernelAs(name string, sig *offload.Signature) (offload.Kernel, error) {
	return p.find(name, true, sig)
}

func (p *program) find(name string, signed bool, sig *offload.Signature) (offload.Kernel, error) {
	if err := p.closed("kernel", name); err != nil {
		return nil, err
	}
	c := p.device.client
	number, id := c.serial.Add(1), c.serial.Add(1)
	r, err := c.request("kernel", number, &protocol.FindKernel{Request: number, Program: p.id, Kernel: id, Name: name, Signed: signed, Signature: *sig})
	if err != nil {
		return nil, err
	}
	p.device.withdraw(r.Inexact)
	return &kernel{device: p.device, id: id, program: p.id, info: r.Info}, nil
}

func (p *program) Global(name string) (offload.Memory, error) {
	if err := p.closed("global", name); err != nil {
		return nil, err
	}
	c := p.device.client
	number, id := c.serial.Add(1), c.serial.Add(1)
	r, err := c.request("global", number, &protocol.FindGlobal{Request: number, Program: p.id, Memory: id, Name: name})
	if err != nil {
		return nil, err
	}
	return &memory{device: p.device, id: id, size: r.Value, kind: r.Kind, global: true}, nil
}

// SymbolAddress implements [offload.SymbolAddresser].
func (p *program) SymbolAddress(name string) (uint64, error) {
	if err := p.closed("address", name); err != nil {
		return 0, err
	}
	return p.device.address(&protocol.FindAddress{Program: p.id, Name: name})
}

func (p *program) Unload() error {
	if p.unloaded.Swap(true) {
		return offload.Errorf(offload.Closed, "unload", "the program was unloaded")
	}
	c := p.device.client
	c.link.send(&protocol.Release{Kind: protocol.ProgramObject, Object: p.id})
	c.warners.Wait(p.id, c.lost)
	return nil
}

func (p *program) closed(op, label string) error {
	if !p.unloaded.Load() {
		return nil
	}
	return offload.Errorf(offload.Closed, op, "the program was unloaded").On("", label)
}

// kernel is a kernel of a server's program.
type kernel struct {
	device  *device
	id      uint64
	program uint64
	info    offload.KernelInfo
}

func (k *kernel) Info() *offload.KernelInfo { return &k.info }
