package app

import (
	"runtime/debug"
	"testing"
)

// TestCollectLess checks that collections of a worker are rare unless GOGC is set.
func TestCollectLess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "50")
	collectLess()
	if p := debug.SetGCPercent(100); p != 100 {
		t.Errorf("GOGC is set, and the worker takes %d", p)
	}
	t.Setenv("GOGC", "")
	collectLess()
	if p := debug.SetGCPercent(100); p != workerGC {
		t.Errorf("a worker collects at %d percent", p)
	}
}
