package memory

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	pageSize = 4 << 10
	hugePage = 2 << 20

	// smallest is the size of the smallest class in bytes. Classes are powers of two with three steps between them, which are
	// at least a page apart. From four pages on, less than a fifth of a block is unused.
	smallest = pageSize
	steps    = 4

	// skewFrom is the minimum size in bytes of blocks that begin at different offsets in their first page. Arrays that one loop
	// traverses together would otherwise compete for cache sets, at a cost of up to nine tenths of the bandwidth.
	skewFrom = 64 << 10
)

// skews are the offsets of successive blocks in their first page, ordered so that a few blocks are far apart.
var skews = [...]int64{0, 2048, 1024, 3072, 512, 2560, 1536, 3584}

// Options are the options of a pool.
type Options struct {
	Limit     int64 // maximum bytes in use and kept; 0: the available memory at NewPool, less a reserve
	HighWater int64 // maximum bytes kept for reuse; 0: a quarter of the limit
}

// Pool allocates blocks of memory outside of the Go heap, and keeps freed blocks for reuse up to a limit. Its methods may be called
// concurrently.
type Pool struct {
	limit     int64
	highWater int64

	mu    sync.Mutex
	free  map[int64][]*Block // by capacity, most recently freed last
	used  int64              // capacity of the blocks in use
	kept  int64              // capacity of the blocks in free
	stats Stats
	ended bool
}

// Stats are counters of a pool.
type Stats struct {
	Limit     int64
	Used      int64 // bytes of blocks in use, rounded up to their classes
	Kept      int64 // bytes of blocks kept for reuse
	Peak      int64 // maximum of Used
	Mapped    int64 // number of mapped blocks
	Reused    int64 // number of reused blocks
	Unmapped  int64 // number of unmapped blocks
	Trimmings int64 // number of times that blocks were unmapped to free memory
}

// Block is a block of memory outside the Go heap.
type Block struct {
	pool   *Pool
	all    []byte // the mapping
	usable []byte // the aligned part of all
	data   []byte
	freed  bool // under pool.mu
}

// NewPool returns an empty pool.
func NewPool(opts Options) *Pool {
	p := &Pool{limit: opts.Limit, highWater: opts.HighWater, free: make(map[int64][]*Block)}
	if p.limit <= 0 {
		p.limit = defaultLimit()
	}
	if p.highWater <= 0 {
		p.highWater = p.limit / 4
	}
	return p
}

// defaultLimit returns the available memory less a reserve for other processes: a sixteenth, or 256 MiB if that is more. The
// limit is at least 64 MiB.
func defaultLimit() int64 {
	n := Available()
	return max(n-max(n/16, 256<<20), 64<<20)
}

// Capacity returns the size of the smallest class that holds size bytes.
func Capacity(size int64) int64 {
	if size <= smallest {
		return smallest
	}
	top := int64(1) << (bits.Len64(uint64(size-1)) - 1) // largest power of two below size
	step := max(top/steps, pageSize)
	return (size + step - 1) / step * step
}

// Get returns a block of size bytes, aligned to a cache line. It is cleared if zero is set; otherwise its contents are
// unspecified. Errors: OutOfResources if the limit or the system's memory is exhausted, InvalidSize for a size that is not in 1
// to 2^62, Closed after Close.
func (p *Pool) Get(size int64, zero bool) (*Block, error) {
	const op = "allocate"
	if size <= 0 || size > 1<<62 {
		return nil, offload.Errorf(offload.InvalidSize, op, "%d bytes cannot be allocated", size)
	}
	n := Capacity(size)
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return nil, offload.Errorf(offload.Closed, op, "the pool has been closed")
	}
	if list := p.free[n]; len(list) > 0 {
		b := list[len(list)-1]
		list[len(list)-1] = nil
		p.free[n] = list[:len(list)-1]
		p.kept -= n
		p.take(n)
		p.stats.Reused++
		p.mu.Unlock()
		b.data, b.freed = b.usable[:size:size], false
		if zero {
			clearAll(b.data)
		}
		return b, nil
	}
	if p.used+n > p.limit {
		used := p.used
		p.mu.Unlock()
		return nil, offload.Errorf(offload.OutOfResources, op, "%d bytes are not to be had: %d of %d are in use", size, used, p.limit).
			WithHint("free buffers, or use smaller ones")
	}
	if p.used+p.kept+n > p.limit {
		p.trim(p.limit - p.used - n)
	}
	p.take(n)
	skew := int64(0)
	if n >= skewFrom {
		skew = skews[p.stats.Mapped%int64(len(skews))]
	}
	p.stats.Mapped++
	p.mu.Unlock()

	all, usable, err := mapPages(skew + n)
	if err != nil {
		p.Trim()
		all, usable, err = mapPages(skew + n)
	}
	if err != nil {
		p.mu.Lock()
		p.used -= n
		p.stats.Mapped--
		p.mu.Unlock()
		return nil, &offload.Error{Code: offload.OutOfResources, Op: op, Detail: fmt.Sprintf("the operating system cannot allocate %d bytes", n), Err: err}
	}
	usable = usable[skew : skew+n]
	return &Block{pool: p, all: all, usable: usable, data: usable[:size:size]}, nil
}

func (p *Pool) take(n int64) {
	p.used += n
	p.stats.Peak = max(p.stats.Peak, p.used)
}

// Bytes returns the block's memory, which must not be used after Free.
func (b *Block) Bytes() []byte { return b.data }

// Free returns the block to its pool, which keeps or unmaps it. A second call is a Closed error.
func (b *Block) Free() error {
	p := b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.freed {
		return offload.Errorf(offload.Closed, "free", "the memory was freed before")
	}
	n := int64(len(b.usable))
	b.freed = true
	b.data = nil
	p.used -= n
	if p.ended || n > p.highWater {
		return p.unmap(b)
	}
	// The pool keeps a new Block, so that a stale pointer to b cannot free the memory again.
	p.free[n] = append(p.free[n], &Block{pool: p, all: b.all, usable: b.usable, freed: true})
	b.all, b.usable = nil, nil
	p.kept += n
	if p.kept > p.highWater {
		p.trim(p.highWater / 2)
	}
	return nil
}

// trim unmaps kept blocks, the largest first, until the pool keeps no more than most bytes.
func (p *Pool) trim(most int64) {
	p.stats.Trimmings++
	for p.kept > most {
		var largest int64
		for n, list := range p.free {
			if len(list) > 0 {
				largest = max(largest, n)
			}
		}
		if largest == 0 {
			return
		}
		list := p.free[largest]
		b := list[0] // the least recently used block
		p.free[largest] = append(list[:0], list[1:]...)
		p.kept -= largest
		_ = p.unmap(b) // cannot fail for a mapping of this package
	}
}

func (p *Pool) unmap(b *Block) error {
	p.stats.Unmapped++
	data := b.all
	b.all, b.usable = nil, nil
	return unmapPages(data)
}

// Trim unmaps all kept blocks.
func (p *Pool) Trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim(0)
	clear(p.free)
}

// Stats returns the pool's counters.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Limit, s.Used, s.Kept = p.limit, p.used, p.kept
	return s
}

// Close unmaps all kept blocks; blocks in use are unmapped when they are freed.
func (p *Pool) Close() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.Trim()
}
