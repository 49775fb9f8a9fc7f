package mpi

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
	"github.com/orepl/orepl/plugins/mpi/internal/members"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// MPI's beginning waits for all processes of the job, and never ends if one of them has died or is stopped. A sentry looks for such
// processes on this machine until the connections between hosts and workers exist.

const (
	lookEvery    = 250 * time.Millisecond
	goneLooks    = 2             // looks without a process, after which it has ended
	absentLooks  = 20            // looks after which a process that was never there does not exist
	stoppedLooks = 8             // looks after which a stopped process counts as lost
	connectLooks = 480           // looks after which a job that is not connected has failed
	brokenPause  = 4 * lookEvery // time for other processes to find the cause before they find this one's end
)

// broke is set after the beginning of the job failed because of another process.
var broke atomic.Bool

// sentry is the state of the search for processes that do not join the job.
type sentry struct {
	find     func() (map[int]members.Member, bool)
	size     int  // number of ranks
	all      bool // all are on this machine
	patient  bool // processes may be stopped, as by debuggers
	looks    int
	running  func(pid int) bool
	seen     map[int][]int // processes of ranks that have been found
	absent   map[int]int   // looks without a process, by rank
	stopped  map[int]int   // looks at a stopped process
	reported map[int]bool
}

func newSentry() *sentry {
	j := job.Current()
	limit, err := silence.Limit(silence.Distant)
	return &sentry{find: members.Local, size: j.Size, all: j.Local == j.Size, patient: err == nil && limit == 0, running: members.Running, seen: map[int][]int{},
		absent: map[int]int{}, stopped: map[int]int{}, reported: map[int]bool{}}
}

// look looks for the processes of all ranks. It returns those that have ended, do not exist or are stopped, with the reasons; each rank
// once. It kills stopped ones. It returns nil if the processes cannot be found.
func (s *sentry) look() map[int]error {
	s.looks++
	found, ok := s.find()
	if !ok {
		return nil
	}
	missing := map[int]error{}
	for rank := range s.size {
		m, here := found[rank]
		switch {
		case here:
			s.seen[rank], s.absent[rank] = m.PIDs, 0
		case slices.ContainsFunc(s.seen[rank], s.running): // it replaces its program just now, and shows no variables
			s.absent[rank] = 0
		case len(s.seen[rank]) > 0 || s.all:
			s.absent[rank]++
		}
		if s.stopped[rank]++; !m.Stopped || s.patient {
			s.stopped[rank] = 0
		}
		switch {
		case s.reported[rank]:
			continue
		case len(s.seen[rank]) > 0 && s.absent[rank] >= goneLooks, s.absent[rank] >= absentLooks:
			missing[rank] = endedError(rank)
		case s.stopped[rank] >= stoppedLooks:
			missing[rank] = stoppedError(rank, m)
			kill(m) // launchers wait for it
		}
		s.reported[rank] = missing[rank] != nil
	}
	return missing
}

// stoppedError returns the reason of a loss of a process that a signal has stopped.
func stoppedError(rank int, m members.Member) error {
	return fmt.Errorf("a signal has stopped the process of rank %d, number %d", rank, m.PIDs[0])
}

// endedError returns the reason why a job was not connected: a process ended before.
func endedError(rank int) error {
	return fmt.Errorf("the process of rank %d ended before the job was connected; see what it printed", rank)
}

// wait waits until this process has joined the job, and returns the error if joining fails. If another process does not join,
// it calls abandon and returns the reason.
func (s *sentry) wait(ready <-chan error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ready:
			return err
		case <-tick.C:
		}
		missing := s.look()
		for rank := range s.size {
			if missing[rank] != nil {
				return abandon(missing[rank])
			}
		}
		if s.looks >= connectLooks && !s.patient {
			return abandon(fmt.Errorf("the %d processes of the job did not find each other within %v", s.size, connectLooks*lookEvery))
		}
	}
}

// abandon notes that the job's beginning failed, and asks for the end of processes on other machines. It waits for that for at
// most brokenPause, and returns the reason.
func abandon(reason error) error {
	broke.Store(true)
	ended := make(chan struct{})
	go func() {
		libmpi.Abort(reason.Error())
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(brokenPause):
	}
	return reason
}

// expect loses hosts that end, stop or take too long before they have connected to this process. It returns when all have connected or
// are lost, or this process leaves the job. Without connections it returns at once.
func (s *sentry) expect(w *world) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for w.beats.Silence > 0 {
		select {
		case <-w.finishing:
			return
		case <-tick.C:
		}
		missing, late := s.look(), s.looks >= connectLooks
		waiting := false
		for rank, role := range w.roles {
			if role != hostRole || !w.mayConnect(rank) || w.isWatched(rank) {
				continue
			}
			waiting = true
			if why := missing[rank]; why != nil {
				w.lose(rank, why)
			} else if late {
				w.lose(rank, fmt.Errorf("rank %d has not connected within %v", rank, connectLooks*lookEvery))
			}
		}
		if !waiting {
			return
		}
	}
}

// isWatched reports whether the host with a rank has connected to this process, or is lost.
func (w *world) isWatched(rank int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watched[rank] || w.lost[rank] != nil
}

// ended returns an error if a rank has ended. It returns nil if it cannot tell: not all processes of the job are on this machine, or
// the system does not show them.
func ended(rank int) error {
	found, ok := members.Local()
	if _, here := found[rank]; !ok || here || job.Current().Local != job.Current().Size {
		return nil
	}
	return endedError(rank)
}
