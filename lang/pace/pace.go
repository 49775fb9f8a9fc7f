// Package pace sets how often a process collects garbage. It is for programs: a library must leave that to its user.
package pace

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

const (
	minPercent = 100 // that of Go
	maxPercent = 400
	mostRoom   = 64 << 20 // bytes
	smallest   = 4 << 20  // bytes of the smallest heap that Go collects at minPercent
)

var (
	room  atomic.Int64 // bytes by which the heap grows between collections
	set   atomic.Int64 // percentage that was set last
	begin sync.Once
)

// Relax makes collections rare while the heap is small. Between collections the heap grows by 64 MiB, or by a quarter of limit if that
// is less. It grows by at least once and at most four times the size that the last collection left. The limit is the memory that the
// program may use in bytes; 0 means no limit. A further call replaces it. If the environment sets GOGC, Relax does nothing.
func Relax(limit uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	n := uint64(mostRoom)
	if limit > 0 {
		n = min(n, limit/4)
	}
	room.Store(int64(n))
	adapt()
	begin.Do(afterCollection)
}

// afterCollection adapts the percentage after each collection.
func afterCollection() {
	runtime.AddCleanup(new([16]int), func(struct{}) {
		adapt()
		afterCollection()
	}, struct{}{})
}

// adapt sets the percentage for the bytes that the last collection left, unless almost the same is set.
func adapt() {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample[:])
	live := max(int64(sample[0].Value.Uint64()), smallest)
	percent := min(max(100*room.Load()/live, minPercent), maxPercent)
	if old := set.Load(); percent > old+old/8 || percent < old-old/8 || old != percent && percent == minPercent {
		set.Store(percent)
		debug.SetGCPercent(int(percent))
	}
}
