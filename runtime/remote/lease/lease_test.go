package lease

import (
	"io"
	"sync/atomic"
	"testing"
)

// TestBlocks takes pieces of several blocks and ends all but one. The other blocks are unused then.
func TestBlocks(t *testing.T) {
	var s Blocks
	allocated := uint64(0)
	allocate := func(size int64) (uint64, error) {
		if size != MostPieces*1024 {
			t.Errorf("a block has %d bytes", size)
		}
		allocated++
		return allocated, nil
	}
	type piece struct {
		b      *Block
		id     uint64
		offset int64
	}
	seen := map[piece]bool{}
	var list []piece
	for range 2*MostPieces + 1 {
		b, id, offset, err := s.Take(1000, allocate)
		p := piece{b, id, offset}
		if err != nil || seen[p] || id != b.id || offset%1024 != 0 || offset >= MostPieces*1024 {
			t.Fatalf("piece %+v, %v", p, err)
		}
		seen[p] = true
		list = append(list, p)
	}
	unused := 0
	for _, p := range list[1:] {
		if s.End(p.b, p.offset, nil) {
			unused++
		}
	}
	if allocated != 3 || unused != 2 {
		t.Errorf("%d of %d blocks are unused", unused, allocated)
	}
	tries := 0
	if _, _, _, err := s.Take(5000, func(size int64) (uint64, error) { tries++; return 0, io.EOF }); err != io.EOF || tries != 2 {
		t.Errorf("%d tries to allocate without room: %v", tries, err)
	}
}

// TestOrder frees pieces that two queues use. Pieces of the queue that has ended are reused while the other one runs.
func TestOrder(t *testing.T) {
	var long, short atomic.Uint64
	b := &Block{piece: leastPiece, retired: []retired{{0, []Mark{{&long, 1}}}, {256, []Mark{{&short, 1}}}, {512, []Mark{{&long, 1}, {&short, 1}}}}}
	if offset, ok := b.take(); ok {
		t.Fatalf("piece %d is given out while commands use it", offset)
	}
	short.Store(1)
	if offset, ok := b.take(); !ok || offset != 256 {
		t.Errorf("took %d, %v, want 256", offset, ok)
	}
	if offset, ok := b.take(); ok {
		t.Errorf("piece %d is given out while a command uses it", offset)
	}
	long.Store(1)
	for range 2 {
		if _, ok := b.take(); !ok {
			t.Error("a piece is lost")
		}
	}
}
