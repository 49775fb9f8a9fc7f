package mpi

import (
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/members"
	"github.com/orepl/orepl/runtime/remote/neighbor"
)

// A process that a signal has stopped counts as lost after stoppedTime, or after 1/stoppedShare of the time limit for silence if that is
// longer.
const (
	stoppedTime  = time.Second
	stoppedShare = 10
)

// patrol looks for stopped processes among those of this machine to which this process is connected. The system tells of them sooner
// than their silence does.
type patrol struct {
	processes map[int]int // by rank
	stopped   func(process int) bool
	looks     int         // number of successive looks at a stopped process after which it is lost
	seen      map[int]int // number of such looks so far, by rank
}

// newPatrol returns a patrol of processes for a time of silence.
func newPatrol(processes map[int]int, silence time.Duration) *patrol {
	return &patrol{processes: processes, stopped: neighbor.Stopped, looks: 1 + int(max(stoppedTime, silence/stoppedShare)/lookEvery), seen: map[int]int{}}
}

// look looks at each process once, and returns the ranks of those that count as lost since this look.
func (p *patrol) look() (lost []int) {
	for rank, process := range p.processes {
		if p.seen[rank]++; !p.stopped(process) {
			p.seen[rank] = 0
		}
		if p.seen[rank] == p.looks {
			lost = append(lost, rank)
		}
	}
	return lost
}

// patrol loses connected processes of this machine that a signal has stopped, until this process leaves. A stopped script is killed, since
// the launcher would wait for it.
func (w *world) patrol() {
	near := map[int]int{}
	for rank, process := range w.processes {
		connected := w.mayConnect(rank) || w.role == hostRole && (w.roles[rank] == workerRole || w.isFirst(w.lib.Rank))
		if process != 0 && connected {
			near[rank] = process
		}
	}
	if w.beats.Silence == 0 || len(near) == 0 {
		return
	}
	p := newPatrol(near, w.beats.Silence)
	for {
		select {
		case <-w.finishing:
			return
		case <-time.After(lookEvery): // a ticker's looks could follow each other at once on a busy machine
		}
		for _, rank := range p.look() {
			if w.lostError(rank) != nil {
				continue
			}
			m := members.Member{PIDs: []int{near[rank]}}
			if w.roles[rank] == hostRole {
				kill(m)
			}
			w.lose(rank, stoppedError(rank, m))
		}
	}
}
