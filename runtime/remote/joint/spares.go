package joint

import (
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Spares are memories for operands that a device keeps from one operation to the next.
type Spares struct {
	mu   sync.Mutex
	list []offload.Memory
}

const (
	mostSpares = 8
	spareBytes = 32 << 20 // of the largest memory that is kept
)

// take returns memory of at least size bytes.
func (s *Spares) take(d offload.Device, size int64) (offload.Memory, error) {
	s.mu.Lock()
	for i, m := range s.list {
		if m.Size() >= size && m.Size() <= 4*size+4096 {
			last := len(s.list) - 1
			s.list[i], s.list = s.list[last], s.list[:last]
			s.mu.Unlock()
			return m, nil
		}
	}
	s.mu.Unlock()
	return d.Allocate(size, offload.DeviceMemory)
}

// put keeps or frees memory of take.
func (s *Spares) put(m offload.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= mostSpares { // the oldest goes, since its size was of no use for long
		_ = s.list[0].Free()
		s.list = append(s.list[:0], s.list[1:]...)
	}
	if m.Size() <= spareBytes {
		s.list = append(s.list, m)
	} else {
		_ = m.Free()
	}
}

// Free frees the memories.
func (s *Spares) Free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		_ = m.Free()
	}
	s.list = nil
}
