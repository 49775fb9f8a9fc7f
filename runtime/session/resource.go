package session

import (
	"maps"
	"sync"
)

// resource is memory or a loaded program, which must stay alive while commands use it.
type resource struct {
	kind   string // for errors
	label  string
	serial uint64 // order in which resources are locked

	mu     sync.Mutex
	closed bool
	fill   uint64 // number of the command that first filled the memory
	unused *Queue // set by close: the queue of that command, if no other queue may use the memory
	uses   []use  // accesses of commands that may not have finished
	many   int    // number of uses from which to compact them

	// Of a program: the last launch of each queue. Launches do not conflict with each other; only commands on global
	// variables look at these.
	launches     map[*Queue]*lastLaunch
	latest       *lastLaunch // the entry used last: most programs have one queue
	manyLaunches int
}

// use is a recorded access of an issued command.
type use struct {
	queue  *Queue
	seq    uint64
	lo, hi int64
	write  bool
	always bool // waited for even by queues without hazard tracking
}

// access is a range of a resource that a new command reads or writes.
type access struct {
	res    *resource
	lo, hi int64
	write  bool
	joint  bool // of a part of a joint launch, or of the wait before it: the access passes Hold
}

// covers reports whether every command that conflicts with u also conflicts with t.
func (t *access) covers(u *use) bool {
	return t.lo <= u.lo && u.hi <= t.hi && (t.write || !u.write)
}

func (t *access) conflicts(u *use) bool {
	return (t.write || u.write) && t.lo < u.hi && u.lo < t.hi
}

// lastLaunch is the last launch of a program on a queue.
type lastLaunch struct {
	queue *Queue
	seq   uint64
}

// manyUses is the number of recorded uses from which polling the queues pays.
const manyUses = 32

// order makes command seq of q wait for the uses that conflict with t, and records t. The caller holds res.mu.
//
// A use is dropped when every access that conflicts with it also conflicts with t, and t runs later. t does if both are on the
// same queue, or if q was just made to wait. Finished uses are dropped too. A use marked always stays until it has finished,
// since a queue without hazard tracking does not wait for t.
func (q *Queue) order(t *access, seq uint64, always bool) error {
	r := t.res
	var err error
	keep := r.uses[:0]
	for i := range r.uses {
		u := &r.uses[i]
		if u.seq <= u.queue.done.Load() {
			continue
		}
		after := u.queue == q
		if !after && err == nil && t.conflicts(u) && (q.hazards || u.always) {
			q.need(u.queue, u.seq, r.kind, r.label)
			err = q.waitFor(u.queue, u.seq)
			after = err == nil
		}
		if after && err == nil && t.covers(u) && !u.always {
			continue
		}
		keep = append(keep, *u)
	}
	r.uses = keep
	if err == nil && t.write && len(r.launches) > 0 {
		err = q.orderLaunches(r)
	}
	switch {
	case err != nil:
		return err
	case r.launches != nil && !t.write:
		r.launched(q, seq)
		return nil
	case len(r.uses) >= max(r.many, manyUses):
		r.compact()
		r.many = 2 * len(r.uses) // amortizes the scans: each use is scanned a few times on average
	}
	if always {
		r.fill = seq
	}
	r.uses = append(r.uses, use{queue: q, seq: seq, lo: t.lo, hi: t.hi, write: t.write, always: always})
	return nil
}

// orderLaunches makes q wait for the launches of a program, if q tracks hazards. Later conflicting accesses then wait for q's
// command instead.
func (q *Queue) orderLaunches(r *resource) error {
	r.latest = nil
	for other, l := range r.launches {
		if other != q && l.seq > other.done.Load() {
			if !q.hazards {
				continue
			}
			if err := q.waitFor(other, l.seq); err != nil {
				return err
			}
		}
		delete(r.launches, other)
	}
	return nil
}

// launched records a launch of a program.
func (r *resource) launched(q *Queue, seq uint64) {
	if r.latest == nil || r.latest.queue != q {
		if r.latest = r.launches[q]; r.latest == nil {
			r.latest = &lastLaunch{queue: q}
			r.launches[q] = r.latest
		}
	}
	r.latest.seq = seq
	if len(r.launches) < max(r.manyLaunches, manyUses) {
		return
	}
	r.latest = nil
	maps.DeleteFunc(r.launches, func(q *Queue, l *lastLaunch) bool { return q.reached(l.seq) })
	r.manyLaunches = 2 * len(r.launches)
}

// compact drops the uses that have finished, and merges the others of each queue into one for reads and one for writes.
func (r *resource) compact() {
	keep := r.uses[:0]
next:
	for _, u := range r.uses {
		if u.queue.reached(u.seq) {
			continue
		}
		for i := range keep {
			k := &keep[i]
			if k.queue == u.queue && k.write == u.write {
				k.lo, k.hi = min(k.lo, u.lo), max(k.hi, u.hi)
				k.seq = max(k.seq, u.seq)
				k.always = k.always || u.always
				continue next
			}
		}
		keep = append(keep, u)
	}
	clear(r.uses[len(keep):])
	r.uses = keep
}

// close refuses later accesses, and returns fences for the unfinished earlier ones. A second call returns false.
func (r *resource) close() (pending []fence, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, false
	}
	r.closed = true
	if len(r.uses) == 1 && len(r.launches) == 0 && r.uses[0].always && r.uses[0].seq == r.fill {
		r.unused = r.uses[0].queue
	}
	await := func(q *Queue, seq uint64) {
		if q.reached(seq) {
			return
		}
		if m, err := q.fence(seq); err == nil { // a closed queue has run all commands
			pending = append(pending, m)
		}
	}
	for _, u := range r.uses {
		await(u.queue, u.seq)
	}
	for q, l := range r.launches {
		await(q, l.seq)
	}
	r.uses, r.launches, r.latest = nil, nil, nil
	return pending, true
}
