package sched

import (
	"sync/atomic"
	"testing"
)

// jobWith returns a published job with this number of helpers.
func jobWith(p *Pool, helpers int64, units int64) *Job {
	j := &Job{pool: p, chunk: 1}
	j.end.Store(units)
	j.state.Store(open + helpers)
	p.enter(j)
	p.count.Add(1)
	return j
}

func TestWorkersSpreadOverJobs(t *testing.T) {
	p := NewPool(8)
	crowded := jobWith(p, 3, 100)
	lonely := jobWith(p, 1, 100)
	jobWith(p, 0, 0) // an exhausted job
	if got := p.find(); got != lonely {
		t.Error("a free worker does not go where help is scarcest")
	}
	if _, _, ok := (Share{job: crowded, worker: true}).Next(); ok {
		t.Error("no worker of the crowded job changes over")
	}
	if _, _, ok := (Share{job: lonely, worker: true}).Next(); !ok {
		t.Error("a worker leaves the lonely job")
	}
	if _, _, ok := (Share{job: crowded}).Next(); !ok {
		t.Error("the caller leaves its own job")
	}
}

func TestAFullTableMeansWorkingAlone(t *testing.T) {
	p := NewPool(2)
	for range maxJobs {
		jobWith(p, 0, 0)
	}
	var j Job
	m := &marks{units: make([]atomic.Int32, 10)}
	p.Run(&j, m, 10, 1, 1)
	m.check(t)
	if m.who.Load() != 1 {
		t.Errorf("%d goroutines took part", m.who.Load())
	}
}
