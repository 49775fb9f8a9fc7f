package mpi

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/mpi/internal/members"
)

// TestSentry follows processes that are there, end, stop or never begin, and checks which counts as missing after how many looks.
func TestSentry(t *testing.T) {
	runs, stops := members.Member{PIDs: []int{1 << 30}}, members.Member{PIDs: []int{1 << 30}, Stopped: true}
	always := func(m members.Member) func(int) (members.Member, bool) {
		return func(int) (members.Member, bool) { return m, true }
	}
	until := func(n int, m members.Member) func(int) (members.Member, bool) {
		return func(look int) (members.Member, bool) { return m, look <= n }
	}
	for _, c := range []struct {
		name   string
		at     func(look int) (members.Member, bool)
		hidden bool // the system does not show all processes
		remote bool // some ranks are on other machines
		hides  bool // a process that is not found runs until look 20
		allow  bool // stopped processes are allowed
		look   int  // at which it counts as missing; 0 for never
		reason string
	}{
		{name: "runs", at: always(runs)},
		{name: "never", at: until(0, runs), look: absentLooks, reason: "ended before the job was connected"},
		{name: "elsewhere", at: until(0, runs), remote: true},
		{name: "ends", at: until(5, runs), look: 5 + goneLooks, reason: "ended before"},
		{name: "ends beside remote ranks", at: until(5, runs), remote: true, look: 5 + goneLooks, reason: "ended before"},
		{name: "blinks", at: func(look int) (members.Member, bool) { return runs, look%2 == 0 }},
		{name: "replaces its program", at: func(look int) (members.Member, bool) { return runs, look < 5 || look > 10 }, hides: true},
		{name: "ends hidden", at: until(5, runs), hides: true, look: 19 + goneLooks, reason: "ended before"},
		{name: "stops", at: always(stops), look: stoppedLooks, reason: "a signal has stopped the process of rank 1, number"},
		{name: "stops in a debugger", at: always(stops), allow: true},
		{name: "ends in a debugger", at: until(3, stops), allow: true, look: 3 + goneLooks, reason: "ended before"},
		{name: "hidden", at: until(0, runs), hidden: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			look := 0
			s := &sentry{size: 2, all: !c.remote, patient: c.allow, running: func(int) bool { return c.hides && look < 20 }, seen: map[int][]int{}, absent: map[int]int{}, stopped: map[int]int{}, reported: map[int]bool{}}
			s.find = func() (map[int]members.Member, bool) {
				list := map[int]members.Member{0: runs}
				if m, ok := c.at(look); ok {
					list[1] = m
				}
				return list, !c.hidden
			}
			for look = 1; look < 100; look++ {
				missing := s.look()
				if missing[0] != nil || (missing[1] != nil) != (look == c.look) {
					t.Fatalf("look %d: missing %v, want rank 1 at look %d", look, missing, c.look)
				}
				if missing[1] != nil && !strings.Contains(missing[1].Error(), c.reason) {
					t.Errorf("the reason is %v", missing[1])
				}
			}
		})
	}
}
