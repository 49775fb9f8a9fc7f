package trace

import (
	"slices"
	"time"
)

// mostIntervals is the maximum number of intervals that a row keeps.
const mostIntervals = 1 << 12

// row is the state of a track: the times that its slices take.
type row struct {
	process, thread string
	taken           []interval    // of slices, in order, without overlaps
	before          time.Duration // slices that begin earlier may overlap forgotten ones
	ended           time.Duration // the end of the last command
}

type interval struct{ start, end time.Duration }

// take reserves a time for a slice if no other slice takes it. It returns false if the time is taken, or may be. A slice without
// duration takes its beginning.
func (r *row) take(start, end time.Duration) bool {
	if len(r.taken) > 0 && start < r.before {
		return false
	}
	at := len(r.taken) // most slices are the last
	for at > 0 && r.taken[at-1].start > start {
		at--
	}
	if at > 0 && r.taken[at-1].end > start || at > 0 && r.taken[at-1].start == start || at < len(r.taken) && r.taken[at].start < end {
		return false
	}
	r.taken = slices.Insert(r.taken, at, interval{start, end})
	if len(r.taken) > mostIntervals {
		half := mostIntervals / 2
		r.before = r.taken[half-1].end
		r.taken = slices.Delete(r.taken, 0, half)
	}
	return true
}
