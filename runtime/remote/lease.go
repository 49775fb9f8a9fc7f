package remote

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// The client suballocates small memory from blocks that the server allocated, which saves a round trip per allocation. Messages
// refer to a piece by its block and its offset.

const (
	leastPiece = 256      // bytes of the smallest piece, and the alignment of all
	mostPiece  = 64 << 10 // bytes of the largest piece
	mostPieces = 256      // maximum number of pieces in a block
	mostBlock  = 1 << 20  // maximum size of a block in bytes
)

// leases holds the blocks of a device.
type leases struct {
	mu     sync.Mutex
	blocks map[int64][]*block // by piece size in bytes
}

// block is an allocation of the server, divided into pieces of one size.
type block struct {
	device  *device
	id      uint64
	piece   int64
	free    []int64   // offsets of free pieces
	retired []retired // in the order in which they were freed
	used    int       // number of allocated pieces
}

// retired is a freed piece that outstanding commands may still access.
type retired struct {
	offset int64
	after  []mark
}

// mark is the newest command of a lane when a piece was freed.
type mark struct {
	lane   *lane
	number uint64
}

// takes reports whether memory of a size and kind is suballocated.
func (*leases) takes(size int64, kind offload.MemoryKind) bool {
	return kind == offload.DeviceMemory && size > 0 && size <= mostPiece
}

// allocate returns suballocated memory. If the device has no room for a new block, the server allocates the size alone.
func (s *leases) allocate(d *device, size int64) (*memory, error) {
	if err := d.client.usable("allocate"); err != nil {
		return nil, err
	}
	piece := max(leastPiece, int64(1)<<bits.Len64(uint64(size-1)))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.blocks[piece] {
		if offset, ok := b.take(); ok {
			return b.memory(offset, size), nil
		}
	}
	count := min(mostPieces, mostBlock/piece)
	whole, err := d.allocate(count*piece, offload.DeviceMemory)
	if err != nil {
		if offload.CodeOf(err) == offload.DeviceLost {
			return nil, err
		}
		return d.allocate(size, offload.DeviceMemory)
	}
	b := &block{device: d, id: whole.id, piece: piece}
	for offset := (count - 1) * piece; offset > 0; offset -= piece {
		b.free = append(b.free, offset)
	}
	b.used = 1
	if s.blocks == nil {
		s.blocks = map[int64][]*block{}
	}
	s.blocks[piece] = append(s.blocks[piece], b)
	return b.memory(0, size), nil
}

func (b *block) memory(offset, size int64) *memory {
	return &memory{device: b.device, id: b.id, base: offset, size: size, kind: offload.DeviceMemory, block: b}
}

// take returns the offset of a free piece. Retired pieces become free when the commands that may access them have ended.
func (b *block) take() (offset int64, ok bool) {
	if len(b.free) == 0 {
		b.retired = slices.DeleteFunc(b.retired, func(r retired) bool {
			if slices.ContainsFunc(r.after, mark.runs) {
				return false
			}
			b.free = append(b.free, r.offset)
			return true
		})
	}
	if len(b.free) == 0 {
		return 0, false
	}
	offset = b.free[len(b.free)-1]
	b.free = b.free[:len(b.free)-1]
	b.used++
	return offset, true
}

// runs reports whether the command is outstanding.
func (m mark) runs() bool { return m.lane.reached.Load() < m.number }

// end frees a piece. A block without allocated pieces is freed if another block has the same piece size.
func (s *leases) end(b *block, offset int64) {
	c := b.device.client
	var after []mark
	c.mu.Lock()
	lanes := make([]*lane, 0, len(c.lanes))
	for _, l := range c.lanes {
		lanes = append(lanes, l)
	}
	c.mu.Unlock()
	for _, l := range lanes {
		l.mu.Lock()
		if m := (mark{l, l.newest}); m.runs() {
			after = append(after, m)
		}
		l.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.used--
	if len(after) == 0 {
		b.free = append(b.free, offset)
	} else {
		b.retired = append(b.retired, retired{offset, after})
	}
	if b.used == 0 && len(s.blocks[b.piece]) > 1 {
		s.blocks[b.piece] = slices.DeleteFunc(s.blocks[b.piece], func(o *block) bool { return o == b })
		c.link.send(&release{memoryObject, b.id})
	}
}
