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

// Room is the usual argument of [Relax], in bytes.
const Room = 64 << 20

const (
	minPercent = 100 // that of Go
	maxPercent = 400
	smallest   = 4 << 20 // bytes of the smallest heap that Go collects at minPercent
)

var (
	roomy atomic.Int64 // argument of Relax
	set   atomic.Int64 // percentage that was set last
	begin sync.Once
)

// Relax makes collections rare while the heap is small. Between collections the heap grows by room bytes, but by at least once and at
// most four times the size that the last one left. A further call replaces the room. If the environment sets GOGC, Relax does
// nothing.
func Relax(room int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	roomy.Store(room)
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
	percent := min(max(100*roomy.Load()/live, minPercent), maxPercent)
	if old := set.Load(); percent > old+old/8 || percent < old-old/8 || old != percent && percent == minPercent {
		set.Store(percent)
		debug.SetGCPercent(int(percent))
	}
}
