// Package sched distributes work over cores. It splits a range of units, such as the work-groups of a launch, into chunks,
// which the caller and the pool's workers run in parallel.
//
// Starting work takes no lock unless workers must be woken or started. Idle workers spin briefly before they sleep. The workers
// are spread evenly over concurrent callers.
package sched

import (
	"sync"
	"sync/atomic"
)

// maxJobs bounds the jobs that share the workers; the caller of a further job works alone.
const maxJobs = 32

const (
	// spins is the number of polls before a worker, or a caller that waits for its workers, sleeps. They take about 0.1 ms. A
	// wake-up takes half as long. A caller that waits for each launch issues the next one within 0.1 ms.
	spins    = 8000
	spinWait = 20   // iterations of delay between polls
	yieldAt  = 0x1f // polls whose number has these low bits set yield the processor instead
)

// Pool is a set of workers, one per core except the caller's. They start when first needed.
type Pool struct {
	size  int
	jobs  [maxJobs]atomic.Pointer[Job]
	count atomic.Int32 // jobs in the table

	started  atomic.Int32
	sleeping atomic.Int32 // len(parked)
	mu       sync.Mutex
	parked   []chan struct{}
	closed   bool
	workers  sync.WaitGroup
}

// NewPool returns a pool for this number of cores.
func NewPool(cores int) *Pool { return &Pool{size: max(cores-1, 0)} }

// Cores returns the number of goroutines that can work concurrently, including the caller.
func (p *Pool) Cores() int { return p.size + 1 }

// Close stops the workers after their current jobs, and waits for them. Run must not be called afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, wake := range p.parked {
		wake <- struct{}{}
	}
	p.parked = nil
	p.sleeping.Store(0)
	p.mu.Unlock()
	p.workers.Wait()
}

// Task is work that is split into chunks.
type Task interface {
	// Work runs chunks until [Share.Next] returns false. Several goroutines may call it concurrently.
	Work(s Share)
}

// Job is reusable memory for one task at a time. The zero value is ready for use.
type Job struct {
	pool  *Pool
	task  Task
	chunk int64
	end   atomic.Int64 // atomic, since workers may read a job during its setup
	next  atomic.Int64
	state atomic.Int64 // the number of helpers, and flags
	done  chan struct{}
}

const (
	open    = 1 << 62 // workers may join
	waiting = 1 << 61 // the caller sleeps until the last worker leaves
)

// Run runs units 0 to units-1 of the task in chunks of chunk units, on this goroutine and on up to helpers workers. It returns
// when all units have finished, or, after a [Share.Stop], those that have begun. It also waits for them if the task ends the
// calling goroutine.
func (p *Pool) Run(j *Job, task Task, units, chunk, helpers int) {
	j.pool, j.task = p, task
	j.chunk = int64(chunk)
	j.end.Store(int64(units))
	j.next.Store(0)
	helpers = min(helpers, p.size, (units-1)/chunk)
	if helpers <= 0 || !p.publish(j, helpers) {
		task.Work(Share{job: j})
		j.task = nil
		return
	}
	defer func() {
		p.withdraw(j)
		j.task = nil
	}()
	task.Work(Share{job: j})
}

// publish adds the job to the table, and wakes or starts up to helpers workers. It returns false if the table is full.
func (p *Pool) publish(j *Job, helpers int) bool {
	if j.done == nil {
		j.done = make(chan struct{}, 1)
	}
	if !p.enter(j) {
		return false // the job stays closed: a worker may hold it from an earlier Run
	}
	j.state.Store(open)
	p.count.Add(1)
	p.mobilise(helpers)
	return true
}

// enter puts a job into a free entry of the table. It returns false if there is none.
func (p *Pool) enter(j *Job) bool {
	for i := range p.jobs {
		if p.jobs[i].Load() == nil && p.jobs[i].CompareAndSwap(nil, j) {
			return true
		}
	}
	return false
}

// mobilise wakes or starts up to n workers. Spinning workers find the job by themselves.
func (p *Pool) mobilise(n int) {
	if p.sleeping.Load() == 0 && int(p.started.Load()) == p.size {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; n > 0 && len(p.parked) > 0; n-- {
		last := len(p.parked) - 1
		p.parked[last] <- struct{}{} // does not block: the channel has room, and a sleeper is signalled once
		p.parked = p.parked[:last]
		p.sleeping.Add(-1)
	}
	for ; n > 0 && int(p.started.Load()) < p.size && !p.closed; n-- {
		p.started.Add(1)
		p.workers.Add(1)
		go p.work()
	}
}

// withdraw removes the job from the table and waits for its workers.
func (p *Pool) withdraw(j *Job) {
	for i := range p.jobs {
		if p.jobs[i].Load() == j {
			p.jobs[i].Store(nil)
			break
		}
	}
	p.count.Add(-1)
	left := j.state.And(^open) &^ open
	for look := 0; left != 0 && look < spins; look++ {
		pause(look)
		left = j.state.Load()
	}
	if left != 0 && j.state.Or(waiting) != 0 {
		<-j.done
	}
	j.state.Store(0)
}

// join adds the calling worker to the job. It returns false if the job is closed.
func (j *Job) join() bool {
	for {
		s := j.state.Load()
		if s&open == 0 {
			return false
		}
		if j.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

func (j *Job) leave() {
	if j.state.Add(-1) == waiting {
		j.done <- struct{}{}
	}
}

// helpers returns the number of workers in the job.
func (j *Job) helpers() int64 { return j.state.Load() &^ (open | waiting) }

func (j *Job) exhausted() bool { return j.next.Load() >= j.end.Load() }

// Share is one goroutine's access to the chunks of a job. The zero value has no chunks.
type Share struct {
	job    *Job
	worker bool
}

// OnWorker reports whether the share is that of a worker of the pool, not of the goroutine that runs the job.
func (s Share) OnWorker() bool { return s.worker }

// Next returns the next chunk, units [first, last). A job's chunks are in ascending order. The result ok is false if none is left,
// or if the worker is to help another job.
func (s Share) Next() (first, last int, ok bool) {
	j := s.job
	if j == nil {
		return 0, 0, false
	}
	if s.worker && j.pool.count.Load() > 1 && j.pool.needed(j) {
		return 0, 0, false
	}
	all := j.end.Load()
	if j.next.Load() >= all { // avoids an overflow of next
		return 0, 0, false
	}
	end := j.next.Add(j.chunk)
	if end-j.chunk >= all {
		return 0, 0, false
	}
	return int(end - j.chunk), int(min(end, all)), true
}

// Stop ends the job: Next returns no further chunks.
func (s Share) Stop() {
	if s.job != nil {
		s.job.next.Store(s.job.end.Load())
	}
}

// needed reports whether a helper of j should move to another job: one with at least two helpers fewer than j, and with units that no
// goroutine has begun.
func (p *Pool) needed(j *Job) bool {
	mine := j.helpers()
	for i := range p.jobs {
		if o := p.jobs[i].Load(); o != nil && o != j && o.helpers()+1 < mine && !o.exhausted() {
			return true
		}
	}
	return false
}

// find returns the job with the fewest helpers among those with units that no goroutine has begun, or nil.
func (p *Pool) find() *Job {
	if p.count.Load() == 0 {
		return nil
	}
	var best *Job
	for i := range p.jobs {
		if j := p.jobs[i].Load(); j != nil && !j.exhausted() && (best == nil || j.helpers() < best.helpers()) {
			best = j
		}
	}
	return best
}
