package cpu

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// block implements [offload.Memory].
type block struct {
	device *device
	kind   offload.MemoryKind
	memory *memory.Block // nil for a global variable, whose memory belongs to its program
	data   []byte
	freed  atomic.Bool
}

// Allocate returns host memory; all kinds are equal on this device.
func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	m, err := d.memory.Get(size, false)
	if err != nil {
		return nil, d.named(err)
	}
	return &block{device: d, kind: kind, memory: m, data: m.Bytes()}, nil
}

func (b *block) Size() int64              { return int64(len(b.data)) }
func (b *block) Kind() offload.MemoryKind { return b.kind }

func (b *block) Bytes() []byte {
	if b.freed.Load() {
		return nil
	}
	return b.data
}

// Address implements [offload.Addresser].
func (b *block) Address() (uint64, error) {
	data := b.Bytes()
	if data == nil {
		return 0, offload.Errorf(offload.Closed, "address", "the memory was freed").On(b.device.id, "")
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data)))), nil
}

func (b *block) Free() error {
	if b.memory == nil {
		return offload.Errorf(offload.InvalidArgument, "free", "the memory of a global variable belongs to its program").On(b.device.id, "")
	}
	b.freed.Store(true)
	return b.device.named(b.memory.Free())
}

// named sets the device's name in an error of package offload, and returns the error.
func (d *device) named(err error) error {
	var e *offload.Error
	if errors.As(err, &e) {
		e.Device = d.id
	}
	return err
}

// Bytes implements [queue.Device].
func (d *device) Bytes(m offload.Memory) ([]byte, error) {
	b, ok := m.(*block)
	if !ok || b.device != d {
		return nil, offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").On(d.id, "").
			WithHint("copy it through the host, or exchange it where the devices can")
	}
	data := b.Bytes()
	if data == nil {
		return nil, offload.Errorf(offload.Closed, "access", "the memory was freed").On(d.id, "")
	}
	return data, nil
}
