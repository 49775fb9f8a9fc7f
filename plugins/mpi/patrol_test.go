package mpi

import (
	"slices"
	"testing"
	"time"
)

// TestPatrol follows three processes, one of which stops for some looks, once or again and again. It counts as lost once, after looks in a
// row over the time that belongs to a time of silence.
func TestPatrol(t *testing.T) {
	for _, c := range []struct {
		name    string
		silence time.Duration
		stopped func(look int) bool
		look    int // at which it is lost; 0 for never
	}{
		{"runs", 10 * time.Second, func(int) bool { return false }, 0},
		{"stops", 10 * time.Second, func(look int) bool { return look >= 7 }, 11},
		{"stops for a second", 10 * time.Second, func(look int) bool { return look >= 7 && look < 12 }, 11},
		{"stops for less", 10 * time.Second, func(look int) bool { return look >= 7 && look < 11 }, 0},
		{"stops often", 10 * time.Second, func(look int) bool { return look%5 > 0 }, 0},
		{"stops in short silence", time.Second, func(look int) bool { return look >= 7 }, 11},
		{"stops in long silence", time.Minute, func(look int) bool { return look >= 7 }, 31},
	} {
		t.Run(c.name, func(t *testing.T) {
			const victim = 5
			p, look := newPatrol(map[int]int{1: 100, victim: 500, 7: 700}, c.silence), 0
			p.stopped = func(process int) bool { return process == 100*victim && c.stopped(look) }
			for look = 1; look < 100; look++ {
				var want []int
				if look == c.look {
					want = []int{victim}
				}
				if lost := p.look(); !slices.Equal(lost, want) {
					t.Fatalf("look %d: lost are %v, want %v", look, lost, want)
				}
			}
		})
	}
}
