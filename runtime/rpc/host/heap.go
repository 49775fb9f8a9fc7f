package host

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

const (
	smallestClass = 4  // log2 of the bytes of the smallest block
	largestClass  = 15 // log2 of the bytes of the largest pooled block; larger ones are allocated individually
	chunkBytes    = 1 << 20
)

// heap is memory that device code allocates, up to a limit.
type heap struct {
	allocate func(size int) (Memory, error)
	limit    int

	mu     sync.Mutex
	used   int                           // bytes of all blocks in use
	held   int                           // bytes of all chunks and large blocks
	free   [largestClass + 1][]freeBlock // by class
	chunks []*chunk
	empty  int                    // chunks without a block in use
	blocks map[uintptr]*heapBlock // in use
}

// chunk is memory that is divided into blocks of one class.
type chunk struct {
	Memory
	used int // number of blocks in use
}

type freeBlock struct {
	address uintptr
	in      *chunk
}

// heapBlock is an allocation in use.
type heapBlock struct {
	size   int
	class  int
	in     *chunk // nil of a large block
	own    Memory // memory of a large block
	kernel string // kernel of the launch that allocated it
}

// get returns the address of size bytes, aligned to 16, or 0 if memory is exhausted.
func (h *heap) get(size uint64, kernel string) uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	size = max(size, 1)
	if size > uint64(h.limit-h.used) {
		return 0
	}
	b := &heapBlock{size: int(size), class: max(bits.Len64(size-1), smallestClass), kernel: kernel}
	var address uintptr
	if b.class > largestClass {
		if h.held+b.size > h.limit {
			h.trim()
		}
		if h.held+b.size > h.limit {
			return 0
		}
		m, err := h.allocate(b.size)
		if err != nil {
			return 0
		}
		b.own, address = m, uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
		h.held += b.size
	} else {
		if len(h.free[b.class]) == 0 && !h.refill(b.class) {
			return 0
		}
		list := h.free[b.class]
		address, b.in = list[len(list)-1].address, list[len(list)-1].in
		if b.in.used++; b.in.used == 1 {
			h.empty--
		}
		h.free[b.class] = list[:len(list)-1]
	}
	if h.blocks == nil {
		h.blocks = map[uintptr]*heapBlock{}
	}
	h.blocks[address] = b
	h.used += b.size
	return address
}

// refill divides a new chunk into blocks of a class. Allocation takes them from the end of the list. It returns false if the limit or
// the device leaves no memory for a block.
func (h *heap) refill(class int) bool {
	if h.held+chunkBytes > h.limit {
		h.trim()
	}
	size := min(chunkBytes, max(h.limit-h.held, 0)) >> class << class
	if size == 0 {
		return false
	}
	m, err := h.allocate(size)
	if err != nil {
		return false
	}
	h.held += size
	c := &chunk{Memory: m}
	h.empty++
	h.chunks = append(h.chunks, c)
	base := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))
	for at := size - 1<<class; at >= 0; at -= 1 << class {
		h.free[class] = append(h.free[class], freeBlock{base + uintptr(at), c})
	}
	return true
}

// trim frees the chunks that have no block in use.
func (h *heap) trim() {
	if h.empty == 0 {
		return
	}
	h.empty = 0
	for class := range h.free {
		h.free[class] = slices.DeleteFunc(h.free[class], func(b freeBlock) bool { return b.in.used == 0 })
	}
	h.chunks = slices.DeleteFunc(h.chunks, func(c *chunk) bool {
		if c.used == 0 {
			h.held -= len(c.Bytes)
			c.Free()
		}
		return c.used == 0
	})
}

// put frees a block and reports whether there was one at the address.
func (h *heap) put(address uintptr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.blocks[address]
	if b == nil {
		return false
	}
	delete(h.blocks, address)
	h.used -= b.size
	if b.in == nil {
		h.held -= b.size
		b.own.Free()
	} else {
		if b.in.used--; b.in.used == 0 {
			h.empty++
		}
		h.free[b.class] = append(h.free[b.class], freeBlock{address, b.in})
	}
	return true
}

// close frees all memory and returns a warning about blocks in use, or "".
func (h *heap) close() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	leaks := map[string]int{}
	count := len(h.blocks)
	for _, b := range h.blocks {
		leaks[b.kernel]++
		if b.in == nil {
			b.own.Free()
		}
	}
	for _, m := range h.chunks {
		m.Free()
	}
	used := h.used
	h.blocks, h.chunks, h.free, h.used, h.held, h.limit = nil, nil, [largestClass + 1][]freeBlock{}, 0, 0, 0
	if count == 0 {
		return ""
	}
	var list []string
	for kernel, n := range leaks {
		list = append(list, fmt.Sprintf("%d of kernel %s", n, kernel))
	}
	slices.Sort(list)
	text := fmt.Sprintf("%d blocks of the device heap with %d bytes were not freed", count, used)
	if count == 1 {
		text = fmt.Sprintf("a block of the device heap with %d bytes was not freed", used)
	}
	return fmt.Sprintf("%s: %s", text, joined(list))
}

// joined joins the first five entries of a list, and adds the number of the others if there are any.
func joined(list []string) string {
	const most = 5
	text := ""
	for i, s := range list[:min(len(list), most)] {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	if len(list) > most {
		text += fmt.Sprintf(" and %d more kernels", len(list)-most)
	}
	return text
}
