// Package allocs counts allocations for tests.
package allocs

import "testing"

// PerRun returns the minimum of up to five calls of [testing.AllocsPerRun]; it ends at the first 0. Other goroutines and
// cleanups of earlier tests also allocate, but not during every call.
func PerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for try := 1; try < 5 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
