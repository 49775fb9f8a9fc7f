// Package garbage collects unreachable objects that keep memory outside of the heap, such as buffers of devices.
//
// # Design
//
// Go collects garbage when its heap has grown. The memory of buffers is outside of the heap. Without a meter, a loop that makes buffers
// and frees none takes all memory before a collection. A [Meter] counts these bytes and starts collections as they grow, as Go does
// for the bytes of the heap. One is due after a growth by the largest of what the last one left, the size of the heap and minGrowth.
// Collections thus take a bounded time for each byte that is allocated. If one frees nothing, since the program frees buffers itself,
// minGrowth doubles.
//
// A collection runs beside the program, which may allocate faster than it is collected. [Meter.KeepPace] waits for the collection.
package garbage

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	minGrowth    = 64 << 20 // bytes
	maxDoublings = 4        // of minGrowth, one for each collection in a row that frees nothing
	patience     = 10 * time.Second
	pacedBytes   = 64 << 10               // bytes of the smallest allocation that waits in KeepPace
	paceTime     = 250 * time.Millisecond // maximum wait of KeepPace
	pause        = 500 * time.Microsecond
	maxPauses    = 20
)

// Meter counts bytes of objects outside of the heap. Its zero value is ready. Its methods may be called from any goroutine.
type Meter struct {
	bytes     atomic.Int64
	base      atomic.Int64 // bytes that the last collection left, at most bytes
	freed     atomic.Int64 // bytes that cleanups have freed since the last collection began
	doublings atomic.Int32
	running   atomic.Pointer[collection] // that the meter has started; nil if none runs
}

// collection is a collection that a meter has started.
type collection struct {
	ended chan struct{} // closed at its end
	late  atomic.Bool   // KeepPace has waited for it in vain
}

// Add adds n bytes, which may be negative, and returns the sum. It may start a collection, and does not wait for it.
func (m *Meter) Add(n int64) int64 {
	sum := m.bytes.Add(n)
	if n < 0 {
		m.lower(sum)
		return sum
	}
	if m.running.Load() == nil && m.grown(sum) {
		if c := (&collection{ended: make(chan struct{})}); m.running.CompareAndSwap(nil, c) {
			go m.collect(c)
		}
	}
	return sum
}

// KeepPace waits before an allocation until a collection that the meter has started ends, so that a loop does not allocate much
// meanwhile. It waits at most paceTime, or until ctx ends. After a wait in vain it does not wait for that collection again. bytes
// is the size of the allocation, which does not wait if that is below pacedBytes.
func (m *Meter) KeepPace(ctx context.Context, bytes int64) {
	c := m.running.Load()
	if c == nil || bytes < pacedBytes || c.late.Load() {
		return
	}
	timer := time.NewTimer(paceTime)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		c.late.Store(true)
	case <-ctx.Done():
	}
}

// Load returns the number of bytes.
func (m *Meter) Load() int64 { return m.bytes.Load() }

// Freed tells the meter that a cleanup has freed an object of n bytes. It does not replace Add.
func (m *Meter) Freed(n int64) { m.freed.Add(n) }

// grown reports whether a collection is due.
func (m *Meter) grown(sum int64) bool {
	base := m.base.Load()
	growth := sum - base
	return growth > minGrowth<<m.doublings.Load() && growth > base && growth > heap()
}

// heap returns the bytes of reachable objects of the heap, as of the last collection.
func heap() int64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

// collect runs a collection. The base becomes the bytes at its start less those that it frees, since it does not find objects that
// become unreachable meanwhile.
func (m *Meter) collect(c *collection) {
	defer close(c.ended)
	defer m.running.Store(nil)
	m.freed.Store(0)
	before := m.bytes.Load()
	Collect(context.Background())
	for range maxPauses { // the other cleanups follow
		freed := m.freed.Load()
		if time.Sleep(pause); m.freed.Load() == freed {
			break
		}
	}
	freed := m.freed.Load()
	if freed > 0 {
		m.doublings.Store(0)
	} else if n := m.doublings.Load(); n < maxDoublings {
		m.doublings.Store(n + 1)
	}
	m.base.Store(max(before-freed, 0))
	m.lower(m.bytes.Load()) // the program may have freed objects meanwhile
}

// lower makes base at most sum.
func (m *Meter) lower(sum int64) {
	for base := m.base.Load(); base > sum && !m.base.CompareAndSwap(base, sum); base = m.base.Load() {
	}
}

// Collect collects garbage, and waits until cleanups have begun to run, ctx ends, or ten seconds have passed. Cleanups run in no
// order, so that some may follow.
func Collect(ctx context.Context) {
	begun := make(chan struct{})
	runtime.AddCleanup(new([16]int), func(begun chan struct{}) { close(begun) }, begun)
	runtime.GC()
	late := time.NewTimer(patience)
	defer late.Stop()
	select { // cleanups run on separate goroutines, which may be delayed
	case <-begun:
	case <-late.C:
	case <-ctx.Done():
	}
}
