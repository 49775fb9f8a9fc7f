// Package far wraps a plugin to simulate a remote device: it offers the required interfaces only, and memory that the host
// cannot see. The conformance suite runs on it to detect code of the runtime that relies on more.
package far

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// Wrap returns a plugin that offers the devices of p under another name.
func Wrap(name string, p offload.Plugin) offload.Plugin { return plugin{p, name, nil} }

type plugin struct {
	near offload.Plugin
	name string
	loss *Loss // nil: devices are never lost
}

func (p plugin) Name() string { return p.name }

func (p plugin) Open(ctx context.Context) (offload.Platform, error) {
	near, err := p.near.Open(ctx)
	if err != nil {
		return nil, moved(err)
	}
	far := &platform{near: near}
	for _, d := range near.Devices() {
		info := *d.Info()
		info.Features.Unified, info.Features.HostVisible = false, false
		if p.loss == nil {
			far.devices = append(far.devices, &device{d, &info, nil})
		} else {
			far.devices = append(far.devices, &lossyDevice{&device{d, &info, p.loss}})
		}
	}
	if p.loss != nil {
		return &lossyPlatform{far, p.loss}, nil
	}
	return far, nil
}

// moved clears the device in err, so that the session fills in the wrapper's name.
func moved(err error) error { return offload.Nameless(err) }

type platform struct {
	near    offload.Platform
	devices []offload.Device
}

func (p *platform) Info() offload.PlatformInfo          { return p.near.Info() }
func (p *platform) Devices() []offload.Device           { return p.devices }
func (p *platform) CheckImage(img *offload.Image) error { return moved(p.near.CheckImage(img)) }
func (p *platform) Close() error                        { return moved(p.near.Close()) }

type device struct {
	near offload.Device
	info *offload.DeviceInfo
	loss *Loss
}

func (d *device) Info() *offload.DeviceInfo { return d.info }

func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if err := d.loss.refusal(callAllocate); err != nil {
		return nil, err
	}
	m, err := d.near.Allocate(size, kind)
	if err != nil {
		return nil, moved(err)
	}
	far := &memory{m, d.loss}
	d.loss.made(far, fmt.Sprintf("memory of %d bytes", size))
	return far, nil
}

func (d *device) CheckImage(img *offload.Image) (int, error) {
	fit, err := d.near.CheckImage(img)
	return fit, moved(err)
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if err := d.loss.refusal(callLoad); err != nil {
		return nil, err
	}
	p, err := d.near.Load(ctx, img)
	if err != nil {
		return nil, moved(err)
	}
	far := &program{p, d.loss}
	d.loss.made(far, "program of image "+img.Label)
	return far, nil
}

func (d *device) NewQueue(opts offload.QueueOptions) (offload.Queue, error) {
	if err := d.loss.refusal(callNewQueue); err != nil {
		return nil, err
	}
	q, err := d.near.NewQueue(opts)
	if err != nil {
		return nil, moved(err)
	}
	far := &queue{near: q, loss: d.loss}
	d.loss.add(far)
	d.loss.made(far, "queue "+opts.Label)
	return far, nil
}

type memory struct {
	near offload.Memory
	loss *Loss // nil for memory that belongs to a program
}

func (m *memory) Size() int64              { return m.near.Size() }
func (m *memory) Kind() offload.MemoryKind { return m.near.Kind() }
func (m *memory) Bytes() []byte            { return nil }

func (m *memory) Free() error {
	m.loss.end(m)
	return moved(m.near.Free())
}

// near returns the wrapped memory. It returns memory of other plugins unchanged; the wrapped plugin refuses it.
func near(m offload.Memory) offload.Memory {
	if f, ok := m.(*memory); ok {
		return f.near
	}
	return m
}

func span(s offload.Span) offload.Span {
	s.Memory = near(s.Memory)
	return s
}

type program struct {
	near offload.Program
	loss *Loss
}

func (p *program) Symbols() []offload.Symbol { return p.near.Symbols() }

func (p *program) Unload() error {
	p.loss.end(p)
	return moved(p.near.Unload())
}

func (p *program) Kernel(name string) (offload.Kernel, error) {
	k, err := p.near.Kernel(name)
	if err != nil {
		return nil, moved(err)
	}
	return &kernel{k}, nil
}

func (p *program) Global(name string) (offload.Memory, error) {
	m, err := p.near.Global(name)
	if err != nil {
		return nil, moved(err)
	}
	return &memory{m, nil}, nil
}

type kernel struct{ near offload.Kernel }

func (k *kernel) Info() *offload.KernelInfo { return k.near.Info() }

type queue struct {
	near offload.Queue
	loss *Loss
	cut  atomic.Bool // lost commands have not been reported by Sync
}

// issue counts a command and runs it, unless the device is lost or the command fails.
func (q *queue) issue(run func() error) error {
	late, err := q.loss.step(callCommand)
	if err == nil || late {
		if failed := q.loss.delay(q); failed != nil {
			return q.loss.settled(failed)
		}
	}
	switch {
	case late:
		return moved(q.near.Host(func() error { return err }))
	case err != nil:
		return err
	}
	return q.loss.settled(moved(run()))
}

func (q *queue) Submit(dst offload.Span, src []byte) error {
	return q.issue(func() error { return q.near.Submit(span(dst), src) })
}

func (q *queue) Retrieve(dst []byte, src offload.Span) error {
	return q.issue(func() error { return q.near.Retrieve(dst, span(src)) })
}

func (q *queue) Exchange(dst, src offload.Span) error {
	return q.issue(func() error { return q.near.Exchange(span(dst), span(src)) })
}

func (q *queue) Fill(dst offload.Span, pattern []byte) error {
	return q.issue(func() error { return q.near.Fill(span(dst), pattern) })
}

func (q *queue) Launch(l *offload.Launch) error {
	c := *l
	if k, ok := l.Kernel.(*kernel); ok {
		c.Kernel = k.near
	}
	c.Prepared = nil
	c.Args = append([]offload.Arg(nil), l.Args...)
	for i := range c.Args {
		if c.Args[i].Memory != nil {
			c.Args[i].Memory = near(c.Args[i].Memory)
		}
	}
	return q.issue(func() error { return q.near.Launch(&c) })
}

func (q *queue) Host(fn func() error) error {
	return q.issue(func() error { return q.near.Host(fn) })
}

func (q *queue) Record() (offload.Event, error) {
	if err := q.loss.refusal(callRecord); err != nil && offload.CodeOf(err) != offload.DeviceLost {
		return nil, err
	}
	ev, err := q.near.Record()
	if err != nil {
		return nil, moved(err)
	}
	return &event{ev, q.loss}, nil
}

func (q *queue) Wait(ev offload.Event) error {
	if f, ok := ev.(*event); ok {
		ev = f.near
	}
	return moved(q.near.Wait(ev))
}

func (q *queue) Idle() bool { return q.near.Idle() }
func (q *queue) Sync(ctx context.Context) error {
	err := q.loss.settled(moved(q.near.Sync(ctx)))
	if q.cut.Swap(false) && err == nil {
		return lostError()
	}
	return err
}

func (q *queue) Close() error {
	q.loss.end(q)
	return q.loss.succeeded(moved(q.near.Close()))
}

type event struct {
	near offload.Event
	loss *Loss
}

func (e *event) Done() bool                       { return e.near.Done() }
func (e *event) Sync(ctx context.Context) error   { return e.loss.settled(moved(e.near.Sync(ctx))) }
func (e *event) Settle(ctx context.Context) error { return moved(e.near.Settle(ctx)) }

func (e *event) Since(earlier offload.Event) (ns int64, ok bool) {
	if f, same := earlier.(*event); same {
		return e.near.Since(f.near)
	}
	return 0, false
}
