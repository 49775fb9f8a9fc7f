package lowered_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/lower/leaf"
	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// toy is a plugin of one device that shares only packages lane and lowered with other plugins. Its driver runs commands on a goroutine for each queue, and kernels in the interpreter of leaves.
type toy struct{}

func (toy) Name() string                                   { return "toy" }
func (toy) Open(context.Context) (offload.Platform, error) { return newPlatform() }
func (p *platform) Info() offload.PlatformInfo {
	return offload.PlatformInfo{Name: "toy", Vendor: "orepl", Version: "1"}
}
func (p *platform) Devices() []offload.Device           { return []offload.Device{p.device} }
func (p *platform) CheckImage(img *offload.Image) error { return nil }
func (p *platform) Close() error                        { return nil }
func (d *device) CheckImage(img *offload.Image) (int, error) {
	if img.Kind != offload.ImageIR {
		return 0, offload.Errorf(offload.Unsupported, "load", "this is not portable kernel IR").On("toy:0", img.Label)
	}
	if !ir.IsBinary(img.Data) {
		return 0, offload.Errorf(offload.InvalidBinary, "load", "this is not portable kernel IR").On("toy:0", img.Label)
	}
	return 1, nil
}

type platform struct{ device *device }

type device struct {
	lowered.Device
	target *lower.Target
	clock  queue.Clock
}

func newPlatform() (*platform, error) {
	target, err := lower.NewTarget("toy", "everything")
	if err != nil {
		return nil, err
	}
	d := &device{Device: lowered.Device{ID: "toy:0", Dialect: &dialect}, target: target, clock: queue.NewClock()}
	const most = 256
	d.Properties.Store(&offload.DeviceInfo{Name: "toy", Vendor: "orepl", Type: offload.Accelerator, Arch: "toy", Class: offload.ClassEmulated, ComputeUnits: 1, MemoryBytes: 1 << 30,
		Limits: offload.Limits{AllocationBytes: 1 << 30, SharedBytes: 64 << 10, GroupItems: most, GroupSize: [3]int{most, most, most},
			Groups: [3]int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, SubgroupSizes: []int{lowered.SubgroupSize}},
		Features: offload.Features{Exact: true, F64: true, Atomics64: true, FloatAtomic: true, Subgroups: true, Prints: true, Clock: true, Cancel: true, Calls: true}})
	return &platform{d}, nil
}

// block is memory of the device.
type block struct {
	device *device
	data   []uint64
	size   int64
	kind   offload.MemoryKind
	freed  atomic.Bool
}

func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if size <= 0 {
		return nil, offload.Errorf(offload.InvalidSize, "allocate", "%d bytes", size)
	}
	if size > 1<<30 {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes are too many", size)
	}
	return &block{device: d, data: make([]uint64, (size+7)/8), size: size, kind: kind}, nil
}

func (b *block) Size() int64              { return b.size }
func (b *block) Kind() offload.MemoryKind { return b.kind }
func (b *block) Bytes() []byte            { return nil }

func (b *block) Free() error {
	if b.freed.Swap(true) {
		return offload.Errorf(offload.Closed, "free", "the memory was freed before")
	}
	return nil
}

// bytes returns a part of the block.
func (b *block) bytes(from, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.data))), b.size)[from:][:n:n]
}

func (d *device) check(m offload.Memory) *offload.Error {
	b, ok := m.(*block)
	return queue.CheckMemory(ok && b.device == d, ok && b.freed.Load())
}

var dialect = lowered.Dialect{Format: "leaves", Language: "leaves", Device: "a toy device"}

// kernel is a kernel with the two variants with and without checks.
type kernel struct {
	lowered.Kernel
	device   *device
	variants lowered.Variants[bool, struct{}]
}

func (d *device) newKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) *kernel {
	return &kernel{Kernel: d.NewKernel(m, k, info), device: d}
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	return lowered.Load(ctx, img, d, &d.Device, d.newKernel)
}

func (k *kernel) lock(unchecked bool) (*lowered.Variant[struct{}], error) {
	return k.variants.Lock(&k.Kernel, unchecked, func(v *lowered.Variant[struct{}], unchecked bool) (err error) {
		v.Most = k.device.Info().Limits.GroupItems
		v.Lowered, err = lower.Lower(k.IR, k.device.target, lower.Options{SubgroupSize: lowered.SubgroupSize, MaxGroup: v.Most, Unchecked: unchecked, Observes: k.Info().ObservesGroup})
		if err != nil {
			return k.Unsupported(err)
		}
		return nil
	})
}

func (k *kernel) Prepare() error {
	v, err := k.lock(false)
	if err == nil {
		v.Unlock()
	}
	return err
}

func (k *kernel) Source() (string, error) { return "leaves", k.Prepare() }
func (k *kernel) Engine() (string, error) { return "the interpreter of leaves", k.Prepare() }
func (k *kernel) Unload()                 { k.variants.Unload(&k.Kernel, func(struct{}) {}) }

// records are memory of the process.
type records []uint32

func (r records) Words() []uint32             { return r }
func (records) Fetch(int, int) *offload.Error { return nil }
func (records) Stoppable() bool               { return true }
func (records) Free()                         {}

// launch implements [queue.LaneLaunch].
type launch struct {
	lowered.Launch
	device *device
	kernel *kernel
	args   []leaf.Arg
}

func (s *launch) Set(o *offload.Launch) error {
	k, ok := o.Kernel.(*kernel)
	if !ok {
		return s.Launch.Set(o, nil, false, &s.device.Device, s.device.check)
	}
	s.kernel = k
	if err := s.Launch.Set(o, &k.Kernel, k.device == s.device, &s.device.Device, s.device.check); err != nil {
		return err
	}
	if s.Group == [3]int{} {
		s.Group = offload.DefaultGroupSize(o.Size)
	}
	s.args = s.args[:0]
	for i := range o.Args {
		a := leaf.Arg{Bits: o.Args[i].Bits}
		if b, ok := o.Args[i].Memory.(*block); ok {
			a.Data, a.Dims = b.bytes(o.Args[i].Offset, b.size-o.Args[i].Offset), slices.Clone(o.Args[i].Dims[:])
		}
		s.args = append(s.args, a)
	}
	return nil
}

func (s *launch) Clear() {
	s.Launch.Clear()
	*s = launch{Launch: s.Launch, device: s.device}
}

// command is the stream's part of a command in flight.
type command struct {
	ended  chan struct{}
	failed error
	time   int64
}

// stream implements [lane.Stream].
type stream struct {
	device  *device
	records *lowered.Pool[records]
	work    chan func()
	ended   sync.WaitGroup
}

func (d *device) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	s := &stream{device: d, records: lowered.NewPool(func(n int) (records, error) { return make(records, n), nil }), work: make(chan func(), 64)}
	s.ended.Go(func() {
		for f := range s.work {
			f()
		}
	})
	return queue.NewOnLane(lane.New[command](s, lane.Options{Window: 32, Looks: 4, Device: "toy:0"}), queue.Options{Label: o.Label, Device: "toy:0", Clock: d.clock, Deferred: o.Deferred}), nil
}

func (s *stream) Check(m offload.Memory) *offload.Error { return s.device.check(m) }
func (s *stream) NewLaunch() queue.LaneLaunch           { return &launch{device: s.device} }
func (*stream) Flush()                                  {}
func (*stream) Blocks(*queue.Command) bool              { return false }
func (*stream) Retire(*lane.Flight[command])            {}

func (s *stream) Close() {
	close(s.work)
	s.ended.Wait()
	s.records.Free()
}

// part returns a row of an operand.
func part(p *queue.Place, at, n int64) []byte {
	if b, ok := p.Memory.(*block); ok {
		return b.bytes(p.Offset+at, n)
	}
	return p.Host[at:][:n]
}

// action returns the work of a command.
func (s *stream) action(f *lane.Flight[command]) (do func() error, err error) {
	c := f.Command
	switch c.Kind {
	case queue.CopyBytes:
		dst, src := part(&c.Dst, 0, c.Size), part(&c.Src, 0, c.Size)
		return func() error { copy(dst, src); return nil }, nil
	case queue.CopyBox:
		to, from, e := c.Dst, c.Src, c.Extent
		return func() error {
			for z := range e[2] {
				for y := range e[1] {
					if e[0] > 0 {
						copy(part(&to, z*to.SlicePitch+y*to.RowPitch, e[0]), part(&from, z*from.SlicePitch+y*from.RowPitch, e[0]))
					}
				}
			}
			return nil
		}, nil
	case queue.FillBytes:
		dst, pattern := part(&c.Dst, 0, c.Size), slices.Clone(c.Pattern)
		return func() error { copy(dst, bytes.Repeat(pattern, len(dst)/len(pattern)+1)); return nil }, nil
	case queue.LaunchKernel:
		l := c.Launch.(*launch)
		if l.Empty() {
			return func() error { return nil }, nil
		}
		v, err := l.kernel.lock(l.Unchecked)
		if err != nil {
			return nil, err
		}
		defer v.Unlock()
		if err := l.CheckGroup(v.Most); err != nil {
			return nil, err
		}
		run, err := s.records.Start(&l.Launch, v.Lowered, nil)
		if err != nil {
			return nil, err
		}
		f.Launch = run
		k, r := v.Lowered, &leaf.Launch{Size: l.Size, GroupSize: l.Group, Args: slices.Clone(l.args), Records: run.Records()}
		return func() error { return leaf.Run(k, s.device.target, r) }, nil
	}
	return func() error { return nil }, nil
}

func (s *stream) Enqueue(f *lane.Flight[command]) error {
	do, err := s.action(f)
	if err != nil {
		return err
	}
	c := &f.State
	c.ended = make(chan struct{})
	s.work <- func() {
		c.failed = do()
		c.time = s.device.clock.Now()
		close(c.ended)
	}
	return nil
}

func (s *stream) Query(f *lane.Flight[command]) (bool, error) {
	select {
	case <-f.State.ended:
		return true, f.State.failed
	default:
		return false, nil
	}
}

// Wait implements [lane.Waiter].
func (s *stream) Wait(f *lane.Flight[command]) { <-f.State.ended }

func (s *stream) Failure(_ *lane.Flight[command], failed error) error {
	e := offload.Errorf(offload.BackendFailure, "run", "a kernel broke a rule of leaves").On("toy:0", "")
	e.Err = failed
	return e
}

func (s *stream) Stamp(f *lane.Flight[command]) any { return f.State.time }

func (s *stream) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(int64)
	b, ok2 := earlier.(int64)
	return a - b, ok1 && ok2
}

// TestConformance runs the suite on the toy, without the cases that take the interpreter of leaves too long. With -short it runs
// cancellations and services only.
func TestConformance(t *testing.T) {
	slow := []string{"copy/256-mib", "fault/large", "queue/order", "queue/outstanding"}
	match := func(name string) bool {
		if testing.Short() {
			return strings.HasPrefix(name, "fault/cancel") || strings.HasPrefix(name, "launch/call")
		}
		return !slices.Contains(slow, name)
	}
	_, err := conform.Run(t.Context(), toy{}, "toy:0", conform.Options{Match: match, Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			text := strings.Join(r.Output, "\n")
			switch r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
			t.Log(r.Elapsed)
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
}
