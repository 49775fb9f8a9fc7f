package garbage

import (
	"context"
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
	for end := time.Now().Add(time.Minute); m.running.Load() != nil; time.Sleep(100 * time.Microsecond) {
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

// TestKeepPace checks that a loop which never pauses does not allocate much during a collection. A busy machine may delay a
// collection by more than the time that KeepPace waits: such attempts are repeated.
func TestKeepPace(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const size = 1 << 20
	for attempt := 1; ; attempt++ {
		var m Meter
		most, late := int64(0), false
		for range 2000 {
			begin := time.Now()
			m.KeepPace(t.Context(), size)
			late = late || time.Since(begin) >= paceTime
			add(&m, size)
			most = max(most, m.Load())
		}
		settled(t, &m)
		if most <= 4*minGrowth {
			return
		}
		if !late || attempt == 20 {
			t.Fatalf("%d MiB of unreachable objects were in use", most>>20)
		}
	}
}

// asked is a context that tells whether its Done method was called.
type asked struct {
	context.Context
	done bool
}

func (a *asked) Done() <-chan struct{} {
	a.done = true
	return a.Context.Done()
}

// TestKeepPaceEnds checks that KeepPace waits once for a collection that does not end, and not for a small allocation.
func TestKeepPaceEnds(t *testing.T) {
	var m Meter
	m.running.Store(&collection{ended: make(chan struct{})})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		bytes int64
		waits bool
	}{
		{"small", t.Context(), pacedBytes - 1, false},
		{"ended context", ended, pacedBytes, true},
		{"first", t.Context(), pacedBytes, true},
		{"second", t.Context(), pacedBytes, false},
	} {
		ctx := &asked{Context: c.ctx}
		if m.KeepPace(ctx, c.bytes); ctx.done != c.waits {
			t.Errorf("%s: KeepPace waits: %v", c.name, ctx.done)
		}
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
