//go:build linux

package mpi

import "testing"

// TestPatience compares how long processes poll for messages: longer if each has a core, and longest while a script waits.
func TestPatience(t *testing.T) {
	var all, odd, even cores
	for i := range 70 {
		c := []*cores{&even, &odd}[i%2]
		c[i/64] |= 1 << (i % 64)
	}
	all.add(&odd)
	all.add(&even)
	all.add(&odd)
	if odd.count() != 35 || all.count() != 70 {
		t.Errorf("%d and %d cores", odd.count(), all.count())
	}
	if n := usable(); n.count() == 0 {
		t.Error("this process has no cores")
	}
	w := &world{}
	l := links{w}
	for _, c := range []struct {
		roomy  bool
		expect int
		want   any
	}{{false, 1, driveTime}, {true, 0, keenTime}, {true, -1, roomyTime}, {false, 0, driveTime}} {
		w.roomy = c.roomy
		l.Expect(c.expect)
		if got := w.patience(); got != c.want {
			t.Errorf("roomy %v, %d messages expected: %v, want %v", c.roomy, w.expected.Load(), got, c.want)
		}
	}
}
