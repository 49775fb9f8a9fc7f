package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// guarded counts workers that run a job after its Run returned.
type guarded struct {
	running atomic.Bool
	late    *atomic.Int64
	units   atomic.Int64
}

func (g *guarded) Work(s Share) {
	for first, last, ok := s.Next(); ok; first, last, ok = s.Next() {
		if !g.running.Load() {
			g.late.Add(1)
		}
		runtime.Gosched()
		g.units.Add(int64(last - first))
	}
}

// TestMoreCallersThanPlaces reuses more jobs than the table has entries. Callers without an entry work alone, and no worker
// may join their jobs.
func TestMoreCallersThanPlaces(t *testing.T) {
	p := NewPool(8)
	defer p.Close()
	var late, lost atomic.Int64
	var wg sync.WaitGroup
	for range 3 * maxJobs {
		wg.Go(func() {
			var j Job
			g := &guarded{late: &late}
			for range 50 {
				g.units.Store(0)
				g.running.Store(true)
				p.Run(&j, g, 64, 1, 7)
				g.running.Store(false)
				if g.units.Load() != 64 {
					lost.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if late.Load() > 0 || lost.Load() > 0 {
		t.Errorf("%d chunks ran after Run, %d times Run returned before all had run", late.Load(), lost.Load())
	}
}

// joiner tries to join its job like a worker that found the job in the table during an earlier Run.
type joiner struct {
	job    Job
	joined bool
}

func (g *joiner) Work(s Share) {
	for _, _, ok := s.Next(); ok; _, _, ok = s.Next() {
		g.joined = g.joined || g.job.join()
	}
}

func TestAJobWithoutAPlaceIsShut(t *testing.T) {
	p := NewPool(2)
	for range maxJobs {
		jobWith(p, 0, 0)
	}
	var g joiner
	p.Run(&g.job, &g, 10, 1, 1)
	if g.joined || g.job.join() {
		t.Error("a worker can join a job that did not enter the table")
	}
}
