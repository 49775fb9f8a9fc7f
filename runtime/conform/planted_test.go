package conform_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
)

// defect is the CPU's plugin with a planted defect.
type defect struct {
	offload.Plugin
	name string
}

func (p defect) Open(ctx context.Context) (offload.Platform, error) {
	inner, err := p.Plugin.Open(ctx)
	if err != nil {
		return nil, err
	}
	pl := &defectPlatform{Platform: inner}
	for _, d := range inner.Devices() {
		pl.devices = append(pl.devices, &defectDevice{Device: d, name: p.name})
	}
	return pl, nil
}

type defectPlatform struct {
	offload.Platform
	devices []offload.Device
}

func (p *defectPlatform) Devices() []offload.Device { return p.devices }

type defectDevice struct {
	offload.Device
	name string
	mu   sync.Mutex
	kept []offload.Services
}

func (d *defectDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	m, err := d.Device.Allocate(size, kind)
	if err != nil {
		return nil, err
	}
	return &defectMemory{Memory: m, device: d}, nil
}

func (d *defectDevice) NewQueue(opts offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(opts)
	if err != nil {
		return nil, err
	}
	return &defectQueue{q, d}, nil
}

type defectMemory struct {
	offload.Memory
	device *defectDevice
	freed  bool
}

func (m *defectMemory) Free() error {
	switch {
	case m.device.name == "keeps memory" && !m.freed:
		m.freed = true
		return nil
	case m.device.name == "keeps memory":
		return offload.Errorf(offload.Closed, "free", "freed before")
	case m.device.name == "uses freed memory" && !m.freed:
		m.freed = true
		return nil
	case m.device.name == "uses freed memory":
		return offload.Errorf(offload.Closed, "free", "freed before")
	}
	return m.Memory.Free()
}

type defectQueue struct {
	offload.Queue
	device *defectDevice
}

// span returns a span of the inner memory. A sound plugin refuses freed memory and that of another device.
func (q *defectQueue) span(s offload.Span) (offload.Span, error) {
	m, ok := s.Memory.(*defectMemory)
	if !ok {
		return s, nil
	}
	if m.freed && q.device.name != "uses freed memory" {
		return s, offload.Errorf(offload.Closed, "access", "the memory was freed")
	}
	s.Memory = m.Memory
	if m.device != q.device && q.device.name == "takes a sibling's memory" {
		own, err := q.device.Device.Allocate(m.Size(), offload.DeviceMemory) // a copy that the device can use
		if err != nil {
			return s, err
		}
		s.Memory = own
	}
	return s, nil
}

func (q *defectQueue) Submit(dst offload.Span, src []byte) error {
	dst, err := q.span(dst)
	if err != nil {
		return err
	}
	return q.Queue.Submit(dst, src)
}

func (q *defectQueue) Retrieve(dst []byte, src offload.Span) error {
	src, err := q.span(src)
	if err != nil {
		return err
	}
	return q.Queue.Retrieve(dst, src)
}

func (q *defectQueue) Fill(dst offload.Span, pattern []byte) error {
	dst, err := q.span(dst)
	if err != nil {
		return err
	}
	return q.Queue.Fill(dst, pattern)
}

func (q *defectQueue) Exchange(dst, src offload.Span) error {
	dst, err := q.span(dst)
	if err != nil {
		return err
	}
	if src, err = q.span(src); err != nil {
		return err
	}
	return q.Queue.Exchange(dst, src)
}

func (q *defectQueue) Launch(l *offload.Launch) error {
	inner := *l
	inner.Prepared = nil
	inner.Args = slices.Clone(l.Args)
	for i := range inner.Args {
		s, err := q.span(offload.Span{Memory: inner.Args[i].Memory})
		if err != nil {
			return err
		}
		inner.Args[i].Memory = s.Memory
	}
	if q.device.name == "clears nothing" && l.Services != nil {
		q.device.mu.Lock()
		q.device.kept = append(q.device.kept, l.Services)
		q.device.mu.Unlock()
	}
	return q.Queue.Launch(&inner)
}

// Sync of a device that does not stop waits for its commands, however long.
func (q *defectQueue) Sync(ctx context.Context) error {
	if q.device.name == "never stops" {
		ctx = context.WithoutCancel(ctx)
	}
	return q.Queue.Sync(ctx)
}

// TestPlanted plants defects in a plugin, and checks that the case for each fails, and the others of its kind do not.
func TestPlanted(t *testing.T) {
	for name, want := range map[string]string{
		"none": "", "keeps memory": "contract/memory-returns", "uses freed memory": "contract/used-after-free",
		"takes a sibling's memory": "contract/sibling", "clears nothing": "contract/references",
	} {
		t.Run(name, func(t *testing.T) {
			plugin := defect{cpu.New(cpu.Options{Devices: 2}), name}
			match := func(name string) bool { return strings.HasPrefix(name, "contract/") }
			results, err := conform.Run(t.Context(), plugin, "cpu", conform.Options{Match: match})
			if err != nil {
				t.Fatal(err)
			}
			found := want == ""
			for _, r := range results {
				switch {
				case r.Name == want && r.Status == conform.Failed:
					found = true
				case r.Name == want || r.Status != conform.Passed && r.Name != "leaks" && want != "keeps memory" && want != "contract/used-after-free":
					t.Errorf("%s: %s %q", r.Name, r.Status, r.Output)
				}
			}
			if !found {
				t.Errorf("%s did not fail", want)
			}
		})
	}
}

// TestHang checks that a case which does not end is named, in bounded time.
func TestHang(t *testing.T) {
	plugin := defect{cpu.New(cpu.Options{}), "never stops"}
	match := func(name string) bool { return name == "fault/cancel" || name == "fault/timeout" }
	results, err := conform.Run(t.Context(), plugin, "cpu", conform.Options{Match: match, Timeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "case fault/cancel did not end") {
		t.Errorf("%v", err)
	}
	if len(results) != 1 || results[0].Status != conform.Failed || len(results[0].Output) != 1 || !strings.Contains(results[0].Output[0], "did not end within its time limit of 1s") {
		t.Errorf("%+v", results)
	}
}
