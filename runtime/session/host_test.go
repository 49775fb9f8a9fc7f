package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/session"
)

// hostPlugin drives "devices" that are this process: real queues, memory on the Go heap, and kernels that are Go
// functions. An image's bytes are kernel IR's magic; its kernels are the plugin's.
type hostPlugin struct {
	name    string
	count   int
	names   []string // names of devices, instead of count
	class   int
	err     error
	limit   int64 // bytes of all memory of a device; 0: none
	hidden  bool  // the host does not see the memory
	kernels map[string]hostKernel
	opened  atomic.Int32
	made    atomic.Int32 // memories
	freed   atomic.Int32
	filled  atomic.Int64  // bytes, by fills
	log     func(string)  // receives lines of hooks
	refuse  atomic.Bool   // launches
	tells   bool          // queues have their optional interfaces
	apart   bool          // queues refuse events of other queues
	asked   *atomic.Int32 // if not nil, counts how often events were asked whether they are reached
}

type hostKernel struct {
	info  offload.KernelInfo
	brief bool // the launch runs on its caller's goroutine
	run   func(args []offload.Arg, stop *queue.Stop) error
}

func (p *hostPlugin) Name() string  { return p.name }
func (p *hostPlugin) MaxClass() int { return p.class }

func (p *hostPlugin) Open(context.Context) (offload.Platform, error) {
	p.opened.Add(1)
	if p.err != nil {
		return nil, p.err
	}
	pl := &hostPlatform{plugin: p}
	for range max(p.count, len(p.names)) {
		d := &hostDevice{plugin: p, clock: queue.NewClock()}
		d.info = offload.DeviceInfo{Name: p.name, Type: offload.CPU, Class: p.class, MemoryBytes: 1 << 30, Features: offload.Features{Unified: !p.hidden, HostVisible: true},
			Limits: offload.Limits{AllocationBytes: 1 << 30, GroupItems: 1024, GroupSize: [3]int{1024, 1024, 64}, Groups: [3]int{1 << 20, 1 << 16, 1 << 16}}}
		if p.class >= offload.ClassGPU {
			d.info.Type = offload.GPU
		}
		if n := len(pl.devices); n < len(p.names) {
			pl.devices = append(pl.devices, &namedDevice{d, p.names[n]})
			continue
		}
		pl.devices = append(pl.devices, d)
	}
	return pl, nil
}

type hostPlatform struct {
	plugin  *hostPlugin
	devices []offload.Device
}

func (p *hostPlatform) Info() offload.PlatformInfo          { return offload.PlatformInfo{Name: p.plugin.name} }
func (p *hostPlatform) Devices() []offload.Device           { return p.devices }
func (p *hostPlatform) CheckImage(img *offload.Image) error { return nil }
func (p *hostPlatform) Close() error                        { return nil }

func (p *hostPlatform) RegisterLibrary(_ context.Context, lib *offload.Library) error {
	if p.plugin.log != nil {
		p.plugin.log("register " + lib.Label)
	}
	return nil
}

func (p *hostPlatform) UnregisterLibrary(_ context.Context, lib *offload.Library) error {
	if p.plugin.log != nil {
		p.plugin.log("unregister " + lib.Label)
	}
	return nil
}

// namedDevice implements [offload.Named].
type namedDevice struct {
	*hostDevice
	name string
}

func (d *namedDevice) Named() string { return d.name }

type hostDevice struct {
	plugin *hostPlugin
	info   offload.DeviceInfo
	clock  queue.Clock
	used   atomic.Int64
}

func (d *hostDevice) Info() *offload.DeviceInfo { return &d.info }

func (d *hostDevice) CheckImage(img *offload.Image) (int, error) { return 1, nil }

func (d *hostDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if d.plugin.limit > 0 && d.used.Add(size) > d.plugin.limit {
		d.used.Add(-size)
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes", size)
	}
	data := make([]byte, size)
	data[0] = 0xAA
	for n := 1; n < len(data); n *= 2 {
		copy(data[n:], data[:n]) // not zero
	}
	d.plugin.made.Add(1)
	return &hostMemory{device: d, kind: kind, data: data}, nil
}

func (d *hostDevice) NewQueue(opts offload.QueueOptions) (offload.Queue, error) {
	q := queue.New(d, queue.Options{Label: opts.Label, Clock: d.clock})
	if d.plugin.apart {
		return apartQueue{q}, nil
	}
	if d.plugin.tells {
		return q, nil
	}
	if d.plugin.asked != nil {
		return countedQueue{q, d.plugin.asked}, nil
	}
	return struct{ offload.Queue }{q}, nil // without its optional interfaces, whose defaults are tested here
}

// countedQueue is a queue whose events count how often they are asked.
type countedQueue struct {
	offload.Queue
	asked *atomic.Int32
}

func (q countedQueue) Record() (offload.Event, error) {
	ev, err := q.Queue.Record()
	return countedEvent{ev, q.asked}, err
}

type countedEvent struct {
	offload.Event
	asked *atomic.Int32
}

func (e countedEvent) Done() bool {
	e.asked.Add(1)
	return e.Event.Done()
}

// apartQueue is a queue whose driver cannot wait for events of other queues.
type apartQueue struct{ offload.Queue }

func (q apartQueue) Wait(offload.Event) error {
	return offload.Errorf(offload.Unsupported, "wait", "the event is of another context")
}

func (d *hostDevice) Load(context.Context, *offload.Image) (offload.Program, error) {
	return &hostProgram{device: d}, nil
}

func (d *hostDevice) Bytes(m offload.Memory) ([]byte, error) {
	mem, ok := m.(*hostMemory)
	switch {
	case !ok || mem.device != d:
		return nil, offload.Errorf(offload.InvalidDevice, "access", "memory of another device")
	case mem.gone.Load():
		return nil, offload.Errorf(offload.Closed, "access", "freed memory")
	}
	return mem.data, nil
}

func (d *hostDevice) Copy(dst, src []byte, _ *queue.Stop) { copy(dst, src) }

func (d *hostDevice) Fill(dst, pattern []byte, _ *queue.Stop) {
	d.plugin.filled.Add(int64(len(dst)))
	for len(dst) > 0 {
		dst = dst[copy(dst, pattern):]
	}
}

func (d *hostDevice) NewLaunch() queue.Launch { return &hostLaunch{plugin: d.plugin} }

type hostMemory struct {
	device *hostDevice
	kind   offload.MemoryKind
	data   []byte
	gone   atomic.Bool
}

func (m *hostMemory) Size() int64              { return int64(len(m.data)) }
func (m *hostMemory) Kind() offload.MemoryKind { return m.kind }

func (m *hostMemory) Bytes() []byte {
	if m.device.plugin.hidden && m.kind != offload.HostMemory {
		return nil
	}
	return m.data
}

func (m *hostMemory) Free() error {
	if m.gone.Swap(true) {
		return errors.New("freed twice")
	}
	m.device.used.Add(-int64(len(m.data)))
	m.device.plugin.freed.Add(1)
	return nil
}

type hostProgram struct {
	device *hostDevice
	global hostMemory
}

func (p *hostProgram) Symbols() []offload.Symbol {
	list := []offload.Symbol{{Name: "table", Size: 64}}
	for name := range p.device.plugin.kernels {
		list = append(list, offload.Symbol{Name: name, Kernel: true})
	}
	return list
}

func (p *hostProgram) Kernel(name string) (offload.Kernel, error) {
	if name == "table" {
		return nil, offload.Errorf(offload.SymbolKind, "find kernel", "a variable")
	}
	k, ok := p.device.plugin.kernels[name]
	if !ok {
		return nil, offload.Errorf(offload.NotFound, "find kernel", "there is no kernel %q", name)
	}
	return &k, nil
}

func (p *hostProgram) Global(name string) (offload.Memory, error) {
	if name != "table" {
		return nil, offload.Errorf(offload.NotFound, "find global", "there is no variable %q", name)
	}
	if p.global.data == nil {
		p.global.device, p.global.data = p.device, make([]byte, 64)
	}
	return &p.global, nil
}

func (p *hostProgram) Unload() error {
	if p.device.plugin.log != nil {
		p.device.plugin.log("unload")
	}
	return nil
}

func (k *hostKernel) Info() *offload.KernelInfo { return &k.info }

type hostLaunch struct {
	kernel *hostKernel
	args   []offload.Arg
	plugin *hostPlugin
}

// Prepare implements [offload.Preparer] and returns the arguments. Kernels called "unready" return nil.
func (d *hostDevice) Prepare(l *offload.Launch, again offload.Prepared) (offload.Prepared, error) {
	if l.Kernel.Info().Name == "unready" {
		return nil, errors.New("not ready")
	}
	list, _ := again.([]offload.Arg)
	return append(list[:0], l.Args...), nil
}

func (l *hostLaunch) Set(o *offload.Launch) error {
	if l.plugin.refuse.Load() {
		return offload.Errorf(offload.BackendFailure, "launch", "as asked")
	}
	args, ok := o.Prepared.([]offload.Arg)
	if !ok {
		args = o.Args
	}
	l.kernel, l.args = o.Kernel.(*hostKernel), append(l.args[:0], args...)
	return nil
}
func (l *hostLaunch) Detach()                     {}
func (l *hostLaunch) Cost() (time.Duration, bool) { return time.Microsecond, false }
func (l *hostLaunch) RunAtOnce(o *offload.Launch) (bool, error) {
	if k := o.Kernel.(*hostKernel); k.brief {
		return true, k.run(o.Args, nil)
	}
	return false, nil
}
func (l *hostLaunch) Run(stop *queue.Stop) error {
	for i := range l.args {
		if m, ok := l.args[i].Memory.(*hostMemory); ok && m.gone.Load() {
			return errors.New("the kernel uses freed memory")
		}
	}
	return l.kernel.run(l.args, stop)
}
func (l *hostLaunch) Clear() { l.kernel = nil; clear(l.args) }

// ints returns the memory of an i32 buffer argument.
func ints(a offload.Arg) []byte { return a.Memory.(*hostMemory).data[a.Offset:] }

func i32Buffer(name string, writes bool) offload.Param {
	return offload.Param{Name: name, Buffer: true, Type: offload.I32, Elem: 4, Rank: 1, Reads: true, Writes: writes}
}

var irImage = []byte("\x8foreplir and nothing that the test plugin looks at")

func open(t testing.TB, plugins ...*hostPlugin) *session.Session {
	t.Helper()
	var opts session.Options
	for _, p := range plugins {
		opts.Plugins = append(opts.Plugins, p)
	}
	s := session.Open(opts)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil && offload.CodeOf(err) != offload.Closed {
			t.Errorf("close: %v", err)
		}
		if left := s.Live(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	return s
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code offload.Code) *offload.Error {
	t.Helper()
	var e *offload.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got error %v, want code %q", err, code)
	}
	return e
}
