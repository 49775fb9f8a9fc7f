package host

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// TestHeap allocates and frees at random: blocks do not overlap, the bound holds, and all memory is returned.
func TestHeap(t *testing.T) {
	live := map[*byte]int{}
	const limit = 8 << 20
	h := heap{limit: limit, allocate: func(size int) (Memory, error) {
		m := make([]byte, size+16)
		m = m[-uintptr(unsafe.Pointer(&m[0]))&15:][:size]
		live[&m[0]] = size
		return Memory{m, func() { delete(live, &m[0]) }}, nil
	}}
	random := rand.New(rand.NewPCG(1, 2))
	type block struct {
		at   uintptr
		data []byte
		mark byte
	}
	var blocks []block
	refused, mark := 0, byte(0)
	for range 20000 {
		if len(blocks) > 0 && random.IntN(100) < 45 {
			i := random.IntN(len(blocks))
			b := blocks[i]
			for _, v := range b.data {
				if v != b.mark {
					t.Fatal("two blocks overlap")
				}
			}
			if !h.put(b.at) || h.put(b.at) {
				t.Fatal("a block is not freed once")
			}
			blocks[i] = blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			continue
		}
		size := 1<<random.IntN(17) + random.IntN(20)
		at := h.get(uint64(size), "k")
		if at == 0 {
			refused++
			continue
		}
		if at%16 != 0 {
			t.Fatalf("address %#x", at)
		}
		mark++
		b := block{at, unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size), mark}
		for i := range b.data {
			b.data[i] = mark
		}
		blocks = append(blocks, b)
		held := 0
		for _, n := range live {
			held += n
		}
		if held > limit {
			t.Fatalf("%d bytes are held, over the limit", held)
		}
	}
	if refused == 0 || refused > 10000 || len(blocks) == 0 {
		t.Errorf("%d refused, %d blocks: the test does not reach the bound", refused, len(blocks))
	}
	for _, b := range blocks[1:] {
		h.put(b.at)
	}
	if h.get(limit-4<<20, "k") == 0 {
		t.Error("memory of small blocks does not come back")
	}
	if h.get(1<<63, "k") != 0 || h.put(5) {
		t.Error("an absurd size or address was taken")
	}
	if text := h.close(); !strings.Contains(text, "of kernel k") {
		t.Errorf("the report is %q", text)
	}
	if len(live) != 0 {
		t.Errorf("%d chunks are not freed", len(live))
	}
}
