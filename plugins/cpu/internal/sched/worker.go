package sched

import "runtime"

// work is the body of a worker's goroutine. If a task ends the goroutine, a new one replaces it.
func (p *Pool) work() {
	var j *Job // the job whose task runs, unless ended
	ended := false
	defer func() {
		if !ended {
			j.leave()
			go p.work()
			return
		}
		p.workers.Done()
	}()
	wake := make(chan struct{}, 1)
	for {
		j = p.find()
		for look := 0; j == nil && look < spins; look++ {
			pause(look)
			j = p.find()
		}
		if j == nil {
			if ended = !p.park(wake); ended {
				return
			}
			continue
		}
		if j.join() {
			j.task.Work(Share{job: j, worker: true})
			j.leave()
		}
	}
}

// park sleeps until mobilise or Close wakes the worker, and returns true. If there is work already, it does not sleep. It
// returns false if the pool is closed already.
func (p *Pool) park(wake chan struct{}) bool {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return false
	}
	p.parked = append(p.parked, wake)
	p.sleeping.Add(1)
	if p.find() != nil { // a job may have been published before this worker was counted as sleeping
		p.parked = p.parked[:len(p.parked)-1]
		p.sleeping.Add(-1)
		p.mu.Unlock()
		return true
	}
	p.mu.Unlock()
	<-wake
	return true
}

// pause delays between two polls. look is the number of the poll.
func pause(look int) {
	if look&yieldAt == yieldAt {
		runtime.Gosched()
		return
	}
	for range spinWait {
	}
}
