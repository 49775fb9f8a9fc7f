package pace

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestRelax checks the percentage for heaps of several sizes.
func TestRelax(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "50")
	Relax(0)
	if p := debug.SetGCPercent(100); p != 100 {
		t.Errorf("GOGC is set, and the percentage becomes %d", p)
	}
	t.Setenv("GOGC", "")
	expect := func(what string, least, most int64) {
		t.Helper()
		runtime.GC()
		in := func() bool { p := set.Load(); return p >= least && p <= most }
		for end := time.Now().Add(20 * time.Second); !in() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if !in() {
			t.Errorf("%s: %d percent", what, set.Load())
		}
	}
	Relax(0)
	expect("a small heap", maxPercent, maxPercent)
	held := make([]byte, mostRoom/2)
	expect("half of the room", 150, 250)
	runtime.KeepAlive(held)
	held = make([]byte, 3*mostRoom)
	expect("a large heap", minPercent, minPercent)
	runtime.KeepAlive(held)
	held = nil
	expect("a heap that is small again", maxPercent, maxPercent)
	Relax(smallest)
	expect("no room", minPercent, minPercent)
}
