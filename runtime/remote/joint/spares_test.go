package joint

import (
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// kept is memory that Spares keeps.
type kept struct {
	offload.Memory
	size  int64
	freed bool
}

func (m *kept) Size() int64 { return m.size }
func (m *kept) Free() error { m.freed = true; return nil }

// TestSparesOldest puts one memory more than Spares keeps, after one was taken: the oldest is freed. Memory that is too large to be
// kept displaces none.
func TestSparesOldest(t *testing.T) {
	var s Spares
	list := make([]*kept, mostSpares+2)
	for i := range list {
		list[i] = &kept{size: 10_000 << i}
	}
	put := func(list []*kept) {
		for _, m := range list {
			s.put(m)
		}
	}
	put(list[:mostSpares])
	if m, err := s.take(nil, list[0].size); err != nil || m != offload.Memory(list[0]) {
		t.Fatalf("%v, %v", m, err)
	}
	put(list[mostSpares : mostSpares+1])
	large := &kept{size: spareBytes + 1}
	s.put(large)
	if !large.freed || list[1].freed {
		t.Errorf("large memory: freed %v; the oldest: freed %v", large.freed, list[1].freed)
	}
	put(list[mostSpares+1:])
	for i, m := range list {
		if m.freed != (i == 1) {
			t.Errorf("memory %d: freed %v", i, m.freed)
		}
	}
}
