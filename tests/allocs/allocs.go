// Package allocs counts allocations for tests.
package allocs

import "testing"

// PerRun returns the least that five tries of [testing.AllocsPerRun] count: the process's other goroutines, and cleanups of
// what earlier tests left behind, allocate too, but not during every try.
func PerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for try := 1; try < 5 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
