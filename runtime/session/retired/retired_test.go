package retired

import (
	"context"
	"testing"
	"time"
)

// fence is a fence of a test's queue.
type fence struct {
	queue   int
	seq     int
	reached *[2]int // commands that have run, by queue
	looks   *int    // calls of Reached
}

func (f fence) Reached() bool { *f.looks++; return f.reached[f.queue] >= f.seq }

func (f fence) Precedes(other fence) bool { return f.queue == other.queue && f.seq <= other.seq }

// Await runs the commands of its queue, but for those of queue 1.
func (f fence) Await(ctx context.Context) error {
	if f.queue == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	f.reached[f.queue] = max(f.reached[f.queue], f.seq)
	return nil
}

// TestReap checks that memory is freed when all its fences are reached, and that fences behind one that is not reached are not asked.
func TestReap(t *testing.T) {
	var reached [2]int
	looks, freed := 0, 0
	var l List[fence]
	for i := range 10 {
		l.Add([]fence{{0, i, &reached, &looks}, {1, i, &reached, &looks}}, 1, func() { freed++ })
	}
	if freed != 1 || l.Empty() { // the first one needs no command
		t.Fatalf("%d freed", freed)
	}
	reached = [2]int{9, 3}
	looks = 0
	if !l.Reap() || freed != 4 || looks != 13 { // two for each of the first four, one for the others
		t.Errorf("%d freed after %d looks", freed, looks)
	}
	if l.Reap() {
		t.Error("memory in use was freed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.ReapAll(ctx); err == nil || freed != 4 {
		t.Errorf("%d freed, %v, though a queue does not run", freed, err)
	}
	reached[1] = 9
	if !l.Reap() || !l.Empty() || freed != 10 {
		t.Errorf("%d freed", freed)
	}
}

// TestKeepPace checks how much memory is in use after allocations, and that a queue which does not run delays them once.
func TestKeepPace(t *testing.T) {
	var reached [2]int
	looks := 0
	var l List[fence]
	add := func(queue, seq int) {
		l.KeepPace(t.Context(), 1<<20)
		l.Add([]fence{{queue, seq, &reached, &looks}}, 1<<20, func() {})
		if l.bytes > aheadBytes {
			t.Fatalf("%d bytes are in use", l.bytes)
		}
	}
	for i := range 100 {
		add(0, i+1)
	}
	if err := l.ReapAll(t.Context()); err != nil || !l.Empty() {
		t.Fatal(err)
	}
	begin := time.Now()
	for i := range 1000 {
		l.KeepPace(t.Context(), 1<<20)
		l.Add([]fence{{1, i + 1, &reached, &looks}}, 1<<20, func() {})
	}
	if d := time.Since(begin); d > 20*paceTime {
		t.Errorf("%v of waits for a queue that does not run", d)
	}
}
