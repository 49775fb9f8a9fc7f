// Package lease divides blocks of a server's memory into pieces, which saves a round trip per allocation. Messages refer to a piece by its
// block and its offset.
package lease

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	// MostPieces is the maximum number of pieces in a block.
	MostPieces = 256

	leastPiece = 256      // bytes of the smallest piece, and the alignment of all
	mostPiece  = 64 << 10 // bytes of the largest piece
	mostBlock  = 1 << 20  // maximum size of a block in bytes
)

// Blocks holds the blocks of a device.
type Blocks struct {
	mu   sync.Mutex
	list map[int64][]*Block // by piece size in bytes
}

// Block is an allocation of the server, divided into pieces of one size.
type Block struct {
	id      uint64
	piece   int64     // size of a piece in bytes
	free    []int64   // offsets of free pieces
	retired []retired // in the order in which they were freed
	used    int       // number of allocated pieces
}

// retired is a freed piece that outstanding commands may still access.
type retired struct {
	offset int64
	after  []Mark
}

// Mark is a command of a queue: it is outstanding until Reached is at least its number.
type Mark struct {
	Reached *atomic.Uint64
	Number  uint64
}

// Runs reports whether the command is outstanding.
func (m Mark) Runs() bool { return m.Reached.Load() < m.Number }

// Takes reports whether memory of this size in bytes and this kind is allocated as a piece.
func Takes(size int64, kind offload.MemoryKind) bool {
	return kind == offload.DeviceMemory && size > 0 && size <= mostPiece
}

// Take returns a piece of at least size bytes: its block, the number of the server's memory, and the offset in it. The function
// allocate returns the number of new device memory of the server. If a new block cannot be allocated, Take allocates memory of
// size bytes alone, unless the device is lost, and b is nil.
func (s *Blocks) Take(size int64, allocate func(size int64) (id uint64, err error)) (b *Block, id uint64, offset int64, err error) {
	piece := max(leastPiece, int64(1)<<bits.Len64(uint64(size-1)))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.list[piece] {
		if offset, ok := b.take(); ok {
			return b, b.id, offset, nil
		}
	}
	count := min(MostPieces, mostBlock/piece)
	id, err = allocate(count * piece)
	if err != nil {
		if offload.CodeOf(err) != offload.DeviceLost {
			id, err = allocate(size)
		}
		return nil, id, 0, err
	}
	b = &Block{id: id, piece: piece, used: 1}
	for offset := (count - 1) * piece; offset > 0; offset -= piece {
		b.free = append(b.free, offset)
	}
	if s.list == nil {
		s.list = map[int64][]*Block{}
	}
	s.list[piece] = append(s.list[piece], b)
	return b, id, 0, nil
}

// take returns the offset of a free piece, in bytes, or false if none is free. Retired pieces become free when the commands
// that may access them have ended.
func (b *Block) take() (offset int64, ok bool) {
	if len(b.free) == 0 {
		b.retired = slices.DeleteFunc(b.retired, func(r retired) bool {
			if slices.ContainsFunc(r.after, Mark.Runs) {
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

// End frees a piece that outstanding commands may still access. after lists them. End reports whether the caller is to free the
// block: none of its pieces is allocated, and another block has the same piece size.
func (s *Blocks) End(b *Block, offset int64, after []Mark) (unused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.used--
	if len(after) == 0 {
		b.free = append(b.free, offset)
	} else {
		b.retired = append(b.retired, retired{offset, after})
	}
	if b.used > 0 || len(s.list[b.piece]) == 1 {
		return false
	}
	s.list[b.piece] = slices.DeleteFunc(s.list[b.piece], func(o *Block) bool { return o == b })
	return true
}
