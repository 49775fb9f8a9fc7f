package conform

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// contractCases make requests that a session never makes, or look at what a session does not see.
var contractCases = []testCase{
	{"contract/used-after-free", contractFreed},
	{"contract/sibling", contractSibling},
	{"contract/memory-returns", contractMemoryReturns},
	{"contract/references", contractReferences},
}

// raw is a device with a queue and a kernel, without a session.
type raw struct {
	device  offload.Device
	queue   offload.Queue
	program offload.Program
	ids     offload.Kernel
}

// raw returns the device's contract with a program, a kernel and a queue. close ends these.
func (t *T) raw() (r *raw, close func()) {
	r = &raw{device: t.device.Contract()}
	images, err := image.Split("conform", kernelImage)
	t.check(err)
	r.program, err = r.device.Load(t.ctx, images[0])
	t.check(err)
	r.ids, err = r.program.Kernel("ids")
	t.check(err)
	r.queue, err = r.device.NewQueue(offload.QueueOptions{Label: "contract"})
	t.check(err)
	return r, func() {
		t.check(r.queue.Sync(t.ctx))
		t.check(r.queue.Close())
		t.check(r.program.Unload())
	}
}

// misuses issues commands on a block of at least 64 bytes. It returns the error of each by the command's name, nil where it was
// accepted. If it cannot allocate a block of its own, it issues none and returns only that error.
func (r *raw) misuses(m offload.Memory) map[string]error {
	span := offload.Span{Memory: m, Size: 64}
	own, err := r.device.Allocate(64, offload.DeviceMemory)
	if err != nil {
		return map[string]error{"allocate": err}
	}
	defer own.Free() // no command that uses it was accepted, or the case fails
	mine := offload.Span{Memory: own, Size: 64}
	errs := map[string]error{
		"submit": r.queue.Submit(span, make([]byte, 64)), "retrieve": r.queue.Retrieve(make([]byte, 64), span),
		"fill": r.queue.Fill(span, []byte{1}),
		"launch": r.queue.Launch(&offload.Launch{Kernel: r.ids, Size: [3]int{16, 1, 1},
			Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{16}}}}),
	}
	errs["exchange from"], errs["exchange to"] = r.queue.Exchange(mine, span), r.queue.Exchange(span, mine)
	return errs
}

func contractFreed(t *T) {
	r, end := t.raw()
	defer end()
	m, err := r.device.Allocate(256, offload.DeviceMemory)
	t.check(err)
	t.check(r.queue.Fill(offload.Span{Memory: m, Size: 256}, []byte{7}))
	t.check(r.queue.Sync(t.ctx))
	t.check(m.Free())
	t.refused("a second free", m.Free(), offload.Closed)
	for what, err := range r.misuses(m) {
		t.refused(what+" with freed memory", err, offload.Closed, offload.InvalidArgument, offload.InvalidDevice)
	}
}

// contractSibling uses memory of another device of the plugin.
func contractSibling(t *T) {
	var other offload.Device
	for _, d := range t.session.Devices(t.ctx) {
		if d.ID() != t.device.ID() && d.Platform() == t.device.Platform() && d.Contract() != t.device.Contract() && samePlugin(d.ID(), t.device.ID()) {
			other = d.Contract()
			break
		}
	}
	if other == nil {
		t.skipf("the plugin has one device")
	}
	r, end := t.raw()
	defer end()
	m, err := other.Allocate(256, offload.DeviceMemory)
	t.check(err)
	for what, err := range r.misuses(m) {
		if p, ok := r.device.(offload.PeerCopier); ok && p.CanExchange(other) && what != "launch" && what != "fill" && err == nil {
			continue
		}
		t.refused(what+" with memory of another device", err, offload.InvalidDevice, offload.InvalidArgument)
	}
	t.check(r.queue.Sync(t.ctx))
	t.check(m.Free())
}

// samePlugin reports whether two device ids begin with the same plugin's name.
func samePlugin(a, b string) bool {
	name := func(id string) string {
		for i := range id {
			if id[i] == ':' {
				return id[:i]
			}
		}
		return id
	}
	return name(a) == name(b)
}

// contractMemoryReturns allocates, fills and frees blocks, and checks that the memory of this process does not grow by more than
// half of their bytes. It does not see the memory of other processes or of a card.
func contractMemoryReturns(t *T) {
	const (
		block  = 64 << 20 // beyond the blocks that the C library keeps for drivers
		rounds = 10
		most   = rounds / 2 * block
	)
	r, end := t.raw()
	defer end()
	resident := func() int64 {
		data, err := os.ReadFile("/proc/self/smaps_rollup")
		if err != nil {
			t.skipf("the memory of this process cannot be read here: %v", err)
		}
		for line := range bytes.Lines(data) {
			if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "Rss:" {
				n := int64(0)
				for _, c := range f[1] {
					n = 10*n + int64(c-'0')
				}
				return n << 10
			}
		}
		t.skipf("the memory of this process cannot be read here")
		return 0
	}
	round := func() {
		m, err := r.device.Allocate(block, offload.DeviceMemory)
		t.check(err)
		t.check(r.queue.Fill(offload.Span{Memory: m, Size: block}, []byte{1}))
		t.check(r.queue.Sync(t.ctx))
		t.check(m.Free())
	}
	round()
	before := resident()
	for range rounds {
		round()
	}
	if grown := resident() - before; grown > most {
		t.Errorf("%d blocks of %d MiB were made and freed one after the other, and the memory of this process grew by %d MiB", rounds, block>>20, grown>>20)
	}
}

// contractReferences checks that a queue drops what a launch referred to when the launch has ended.
func contractReferences(t *T) {
	r, end := t.raw()
	defer end()
	m, err := r.device.Allocate(64, offload.DeviceMemory)
	t.check(err)
	const launches = 4
	var dropped atomic.Int32
	for range launches {
		t.check(r.launchWith(m, &dropped))
	}
	t.check(r.queue.Sync(t.ctx))
	t.check(r.queue.Fill(offload.Span{Memory: m, Size: 64}, []byte{1})) // the queue goes on, so that it ends earlier commands
	t.check(r.queue.Sync(t.ctx))
	for range 50 {
		runtime.GC()
		if dropped.Load() == launches {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := dropped.Load(); n != launches {
		t.Errorf("the queue still refers to the services of %d of %d launches that have ended", launches-n, launches)
	}
	t.check(m.Free())
}

// launchWith launches a kernel with services, and adds 1 to dropped when nothing refers to these any more.
//
//go:noinline
func (r *raw) launchWith(m offload.Memory, dropped *atomic.Int32) error {
	s := &noServices{}
	runtime.AddCleanup(s, func(n *atomic.Int32) { n.Add(1) }, dropped)
	return r.queue.Launch(&offload.Launch{Kernel: r.ids, Size: [3]int{16, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{16}}}, Services: s})
}

// noServices are services that kernels without requests never use.
type noServices struct{ _ [64]byte }

func (*noServices) Print(*offload.Message) {}

func (*noServices) Call(context.Context, *offload.Request) (uint64, error) {
	return 0, offload.Errorf(offload.NotFound, "call", "there are no services")
}
