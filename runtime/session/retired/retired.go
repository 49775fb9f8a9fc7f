// Package retired keeps memory that a program has freed while commands use it.
package retired

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Fence is reached when commands of a queue have run.
type Fence[F any] interface {
	Reached() bool
	Await(ctx context.Context) error // waits until the fence is reached; reports no failure of commands
	Precedes(other F) bool           // reports whether other is a fence of the same queue that is not reached before this one
}

const (
	aheadBytes = 16 << 20              // bytes in use above which KeepPace waits
	pacedBytes = 64 << 10              // bytes of the smallest allocation that waits
	paceTime   = 50 * time.Millisecond // maximum wait, since commands may need what the caller does next
)

// List is a list of memory that may be in use. Its zero value is empty. Its methods may be called from any goroutine.
type List[F Fence[F]] struct {
	length atomic.Int64 // of entries

	mu      sync.Mutex
	entries []entry[F] // the oldest first
	bytes   int64      // of entries
	stalled bool       // KeepPace has waited in vain since memory was freed last
}

type entry[F Fence[F]] struct {
	pending []F
	bytes   int64
	free    func()
}

// Add calls free when the fences are reached: at once if they are, else in a later call of Reap, ReapAll or KeepPace.
func (l *List[F]) Add(pending []F, bytes int64, free func()) {
	pending = slices.DeleteFunc(pending, func(f F) bool { return f.Reached() })
	if len(pending) == 0 {
		free()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry[F]{pending, bytes, free})
	l.bytes += bytes
	l.length.Add(1)
}

// Empty reports whether all memory has been freed. Memory that is no longer in use counts until Reap frees it.
func (l *List[F]) Empty() bool { return l.length.Load() == 0 }

// Reap frees memory that is no longer in use, and reports whether it freed any.
func (l *List[F]) Reap() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, first := len(l.entries), make([]F, 0, 4) // the first fence of each queue that is not reached
	l.entries = slices.DeleteFunc(l.entries, func(e entry[F]) bool {
		for _, f := range e.pending {
			if slices.ContainsFunc(first, func(earlier F) bool { return earlier.Precedes(f) }) {
				return false
			} else if !f.Reached() {
				first = append(first, f)
				return false
			}
		}
		e.free()
		l.bytes -= e.bytes
		l.stalled = false
		return true
	})
	l.length.Store(int64(len(l.entries)))
	return len(l.entries) < n
}

// ReapAll waits until none of the memory that was added before is in use, and frees it. If ctx ends first, it returns the error
// of the fence and frees nothing.
func (l *List[F]) ReapAll(ctx context.Context) error {
	l.mu.Lock()
	var pending []F
	for _, e := range l.entries {
		pending = append(pending, e.pending...)
	}
	l.mu.Unlock()
	for _, f := range pending {
		if err := f.Await(ctx); err != nil {
			return err
		}
	}
	l.Reap()
	return nil
}

// KeepPace waits before an allocation while much memory is in use, so that a program does not run far ahead of its device. It
// frees the oldest memory first, and waits at most paceTime. After a wait in vain it does not wait again before any memory was
// freed. bytes is the size of the allocation, which does not wait if that is below pacedBytes.
func (l *List[F]) KeepPace(ctx context.Context, bytes int64) {
	if bytes < pacedBytes || l.Empty() {
		return
	}
	var cancel func()
	for {
		l.mu.Lock()
		var oldest []F
		if l.bytes+bytes > aheadBytes && len(l.entries) > 0 && !l.stalled {
			oldest = l.entries[0].pending
		}
		l.mu.Unlock()
		if oldest == nil {
			return
		}
		if cancel == nil {
			ctx, cancel = context.WithTimeout(ctx, paceTime)
			defer cancel()
		}
		for _, f := range oldest {
			if f.Await(ctx) != nil {
				l.mu.Lock()
				l.stalled = true
				l.mu.Unlock()
				return
			}
		}
		l.Reap()
	}
}
