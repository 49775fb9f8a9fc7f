// Package kept keeps freed blocks of a driver's memory for reuse. Drivers allocate each block afresh, and its pages fault again.
package kept

import (
	"errors"
	"sync"
)

// Class describes blocks that can replace one another.
type Class struct {
	Flags uintptr // of the driver
	Size  int64   // in bytes
}

// Pool keeps blocks by class. Its methods may be called concurrently.
type Pool[T any] struct {
	most    int64 // maximum number of bytes that are kept
	release func(T) error

	mu    sync.Mutex
	kept  int64 // bytes of the blocks in free
	free  map[Class][]T
	ended bool
}

// New returns an empty pool that keeps at most most bytes and calls release for the blocks that it does not keep.
func New[T any](most int64, release func(T) error) *Pool[T] {
	return &Pool[T]{most: most, release: release, free: map[Class][]T{}}
}

// Take removes a kept block of a class. ok is false if there is none.
func (p *Pool[T]) Take(c Class) (block T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.free[c]
	if len(list) == 0 {
		return block, false
	}
	block, p.free[c] = list[len(list)-1], list[:len(list)-1]
	p.kept -= c.Size
	return block, true
}

// Keep keeps a block that nothing uses. It releases the block if the pool is full or has ended.
func (p *Pool[T]) Keep(c Class, block T) error {
	p.mu.Lock()
	if !p.ended && c.Size <= p.most-p.kept {
		p.free[c] = append(p.free[c], block)
		p.kept += c.Size
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	return p.release(block)
}

// Trim releases all kept blocks, and returns their number.
func (p *Pool[T]) Trim() (n int, err error) {
	p.mu.Lock()
	free := p.free
	p.free, p.kept = map[Class][]T{}, 0
	p.mu.Unlock()
	var list []error
	for _, blocks := range free {
		n += len(blocks)
		for _, b := range blocks {
			list = append(list, p.release(b))
		}
	}
	return n, errors.Join(list...)
}

// End releases all kept blocks. Keep releases later ones.
func (p *Pool[T]) End() error {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	_, err := p.Trim()
	return err
}
