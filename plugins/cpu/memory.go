package cpu

import (
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// block implements [offload.Memory].
type block struct {
	device *device
	kind   offload.MemoryKind
	data   []byte // of size bytes
	freed  atomic.Bool
}

// Allocate gives memory of the host. All kinds are the same here.
func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	const op = "allocate"
	if size <= 0 {
		return nil, offload.Errorf(offload.InvalidSize, op, "%d bytes cannot be allocated", size).On(Name, "")
	}
	if limit := d.info.Limits.AllocationBytes; limit > 0 && size > limit {
		return nil, offload.Errorf(offload.OutOfResources, op, "%d bytes are more than the %d that this machine has", size, limit).On(Name, "")
	}
	data, err := allocate(size)
	if err != nil {
		e := offload.Errorf(offload.OutOfResources, op, "%d bytes", size).On(Name, "")
		e.Err = err
		return nil, e
	}
	return &block{device: d, kind: kind, data: data}, nil
}

func (b *block) Size() int64              { return int64(len(b.data)) }
func (b *block) Kind() offload.MemoryKind { return b.kind }

func (b *block) Bytes() []byte {
	if b.freed.Load() {
		return nil
	}
	return b.data
}

func (b *block) Free() error {
	if b.freed.Swap(true) {
		return offload.Errorf(offload.Closed, "free", "the memory was freed before").On(Name, "")
	}
	return release(b.data)
}

// Bytes implements [queue.Device].
func (d *device) Bytes(m offload.Memory) ([]byte, error) {
	b, ok := m.(*block)
	if !ok || b.device != d {
		return nil, offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").On(Name, "").
			WithHint("copy it through the host, or exchange it where the devices can")
	}
	data := b.Bytes()
	if data == nil {
		return nil, offload.Errorf(offload.Closed, "access", "the memory was freed").On(Name, "")
	}
	return data, nil
}
