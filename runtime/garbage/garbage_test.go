package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// object stands for a buffer of a device.
type object struct{ _ [16]int }

// add returns an object that counts n bytes until it is collected.
func add(m *Meter, n int64) *object {
	o := new(object)
	m.Add(n)
	runtime.AddCleanup(o, func(n int64) {
		m.Add(-n)
		m.Freed(n)
	}, n)
	return o
}

// collections returns the number of collections so far.
func collections() uint32 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.NumGC
}

// settled waits until no collection of the meter runs.
func settled(t *testing.T, m *Meter) {
	t.Helper()
	for end := time.Now().Add(time.Minute); m.running.Load(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("a collection does not end")
		}
	}
}

// TestUnreachable checks that bytes outside of the heap are bounded though the heap does not grow.
func TestUnreachable(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var m Meter
	most := int64(0)
	for range 1000 {
		add(&m, minGrowth/16)
		most = max(most, m.Load())
		settled(t, &m)
	}
	if most > 4*minGrowth {
		t.Errorf("%d MiB of unreachable objects were in use", most>>20)
	}
}

// TestReachable checks that few collections run while objects are reachable, or freed by the program.
func TestReachable(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, step := range map[string]func(m *Meter){
		"growing": func(m *Meter) { m.Add(minGrowth / 4) },
		"freed":   func(m *Meter) { m.Add(2 * minGrowth); settled(t, m); m.Add(-2 * minGrowth) },
	} {
		var m Meter
		before := collections()
		for range 1000 {
			step(&m)
			settled(t, &m)
		}
		if n := collections() - before; n == 0 || n > 12 {
			t.Errorf("%s: %d collections", name, n)
		}
	}
}
