package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Room is the usual argument of [Pace], in bytes.
const Room = 64 << 20

const (
	minPercent = 100
	maxPercent = 400
	smallest   = 4 << 20 // bytes of the smallest heap that Go collects at minPercent
)

// pace is the state of Pace.
var pace struct {
	room    atomic.Int64
	percent atomic.Int64 // as set
	begin   sync.Once
}

// Pace makes collections rare while the heap is small. The heap grows by room bytes between collections, but at most to five times
// of what the last one left, and at least to twice of it. A further call replaces the room. If the environment sets GOGC, Pace does
// nothing. It sets the pace of the process, so that only programs call it, and no libraries.
func Pace(room int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	pace.room.Store(room)
	adapt()
	pace.begin.Do(afterCollection)
}

// afterCollection adapts the pace after each collection.
func afterCollection() {
	runtime.AddCleanup(new([16]int), func(struct{}) {
		adapt()
		afterCollection()
	}, struct{}{})
}

// adapt sets the percentage for the bytes that the last collection left, unless it is almost set.
func adapt() {
	percent := min(max(100*pace.room.Load()/max(heap(), smallest), minPercent), maxPercent)
	if old := pace.percent.Load(); percent > old+old/8 || percent < old-old/8 || old != percent && percent == minPercent {
		pace.percent.Store(percent)
		debug.SetGCPercent(int(percent))
	}
}
