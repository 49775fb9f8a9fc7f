//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
)

// block implements [offload.Memory].
type block struct {
	device  *device
	at      driver.Pointer
	host    unsafe.Pointer // address for the host; nil if the host has no access
	size    int64
	kind    offload.MemoryKind
	pooled  bool
	managed bool
	owned   bool // owned by a program
	freed   atomic.Bool
}

// Allocate allocates device memory, from a pool if the driver has one, and host memory pinned and mapped. Shared memory is managed
// if the host may access managed memory while kernels run, and otherwise like host memory.
func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if size <= 0 {
		return nil, offload.Errorf(offload.InvalidSize, "allocate", "%d bytes", size).On(d.ID, "")
	}
	if most := d.Info().Limits.AllocationBytes; size > most && kind == offload.DeviceMemory {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes are more than the %d of the device's memory", size, most).On(d.ID, "")
	}
	b := &block{device: d, size: size, kind: kind}
	err := d.in(func() (err error) {
		switch {
		case kind == offload.SharedMemory && d.managed:
			b.managed = true
			b.at, err = d.driver.AllocateManaged(size)
			b.host = pointerOf(b.at)
		case kind != offload.DeviceMemory:
			b.host, b.at, err = d.driver.AllocateHost(size)
		case d.pool != 0:
			b.pooled = true
			if b.at, err = d.driver.AllocateFrom(d.pool, size, d.aux); err == nil {
				err = d.driver.SyncStream(d.aux) // lets other streams use the memory
			}
		default:
			b.at, err = d.driver.Allocate(size)
		}
		return err
	})
	if err != nil {
		return nil, d.failure("allocate", "", err)
	}
	return b, nil
}

// pointerOf returns the host pointer to managed memory.
func pointerOf(p driver.Pointer) unsafe.Pointer {
	at := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}

// overlaps reports whether two blocks share memory, such as blocks of one global variable.
func (b *block) overlaps(o *block) bool {
	return int64(b.at) < int64(o.at)+o.size && int64(o.at) < int64(b.at)+b.size
}

func (b *block) Size() int64              { return b.size }
func (b *block) Kind() offload.MemoryKind { return b.kind }

func (b *block) Bytes() []byte {
	if b.host == nil || b.freed.Load() {
		return nil
	}
	return unsafe.Slice((*byte)(b.host), b.size)
}

// Address implements [offload.Addresser].
func (b *block) Address() (uint64, error) {
	if b.freed.Load() {
		return 0, offload.Errorf(offload.Closed, "address", "the memory was freed").On(b.device.ID, "")
	}
	return uint64(b.at), nil
}

func (b *block) Free() error {
	if b.owned {
		return offload.Errorf(offload.InvalidArgument, "free", "the memory belongs to a program").On(b.device.ID, "")
	}
	if b.freed.Swap(true) {
		return offload.Errorf(offload.Closed, "free", "the memory was freed before").On(b.device.ID, "")
	}
	d := b.device
	if d.isLost.Load() {
		return nil
	}
	err := d.in(func() error {
		switch {
		case b.pooled:
			return d.driver.FreeBehind(b.at, d.aux)
		case b.host != nil && !b.managed:
			return d.driver.FreeHost(b.host)
		}
		return d.driver.Free(b.at)
	})
	if err != nil && !d.isLost.Load() {
		return d.failure("free", "", err)
	}
	return nil
}

// pinnedPool caches blocks of pinned memory by size, for transfers and records.
type pinnedPool struct {
	device *device
	mu     sync.Mutex
	idle   map[int64][]*pinned
}

// pinned is a block of pinned memory.
type pinned struct {
	data []byte
	at   driver.Pointer // address for the device
}

// get returns a block of at least size bytes. The context is current.
func (p *pinnedPool) get(size int64) (*pinned, error) {
	class := int64(4 << 10)
	for class < size {
		class *= 2
	}
	p.mu.Lock()
	if list := p.idle[class]; len(list) > 0 {
		b := list[len(list)-1]
		p.idle[class] = list[:len(list)-1]
		p.mu.Unlock()
		return b, nil
	}
	p.mu.Unlock()
	host, at, err := p.device.driver.AllocateHost(class)
	if err != nil {
		return nil, err
	}
	return &pinned{unsafe.Slice((*byte)(host), class), at}, nil
}

// put returns a block to the pool.
func (p *pinnedPool) put(b *pinned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = map[int64][]*pinned{}
	}
	class := int64(len(b.data))
	p.idle[class] = append(p.idle[class], b)
}

// free frees the idle blocks. The context is current.
func (p *pinnedPool) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.idle {
		for _, b := range list {
			_ = p.device.driver.FreeHost(unsafe.Pointer(unsafe.SliceData(b.data)))
		}
	}
	p.idle = nil
}
