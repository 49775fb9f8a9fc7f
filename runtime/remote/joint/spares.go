package joint

import (
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Spares are memories for operands, and queues, that a device keeps from one operation to the next.
type Spares struct {
	mu     sync.Mutex
	list   []offload.Memory // the oldest first
	queues []offload.Queue
}

const (
	mostSpares = 8        // maximum number of memories that are kept
	mostQueues = 4        // maximum number of queues that are kept
	spareBytes = 32 << 20 // maximum size of a memory that is kept
)

// takeQueue returns a queue without commands: a kept one, or a new one of d.
func (s *Spares) takeQueue(d offload.Device) (offload.Queue, error) {
	s.mu.Lock()
	if last := len(s.queues) - 1; last >= 0 {
		q := s.queues[last]
		s.queues = s.queues[:last]
		s.mu.Unlock()
		return q, nil
	}
	s.mu.Unlock()
	return d.NewQueue(offload.QueueOptions{Label: "reduce"})
}

// putQueue keeps a queue of takeQueue whose commands have ended. It closes the queue after a failure, or if mostQueues are kept.
func (s *Spares) putQueue(q offload.Queue, failure error) {
	s.mu.Lock()
	keep := failure == nil && len(s.queues) < mostQueues
	if keep {
		s.queues = append(s.queues, q)
	}
	s.mu.Unlock()
	if !keep {
		_ = q.Close() // the operation reports the failure
	}
}

// take returns memory of at least size bytes: a kept one of similar size, or new memory of d.
func (s *Spares) take(d offload.Device, size int64) (offload.Memory, error) {
	s.mu.Lock()
	for i, m := range s.list {
		if m.Size() >= size && m.Size() <= 4*size+4096 {
			s.list = slices.Delete(s.list, i, i+1)
			s.mu.Unlock()
			return m, nil
		}
	}
	s.mu.Unlock()
	return d.Allocate(size, offload.DeviceMemory)
}

// put keeps memory of take for further operations, or frees it if it is large. If mostSpares are kept, it frees the oldest.
func (s *Spares) put(m offload.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Size() > spareBytes {
		_ = m.Free()
		return
	}
	if len(s.list) >= mostSpares { // the oldest goes, since its size was of no use for long
		_ = s.list[0].Free()
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, m)
}

// Free frees the memories and closes the queues.
func (s *Spares) Free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		_ = m.Free()
	}
	for _, q := range s.queues {
		_ = q.Close() // it has no commands
	}
	s.list, s.queues = nil, nil
}
