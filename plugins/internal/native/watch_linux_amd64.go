package native

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// While calls run, their stop flags are polled this often.
	watchEvery = 5 * time.Millisecond
	// watchIdle is the number of polls without a running call after which the watcher sleeps.
	watchIdle = 100
	// A call is ended in other code than the image's, which may hold locks of the process, after this time.
	patience = 200 * time.Millisecond
)

// ending is a call's flag while the watcher interrupts the call.
var ending atomic.Bool

// watcher interrupts calls whose stop flag is set: a call polls nothing by itself. There is one for all callers.
var watcher struct {
	sync.Mutex
	callers []*Caller
	started bool
	asleep  atomic.Bool
	wake    chan struct{}
}

// watched adds a caller to those whose flags are polled.
func watched(c *Caller) {
	w := &watcher
	w.Lock()
	defer w.Unlock()
	w.callers = append(w.callers, c)
	if !w.started {
		w.started = true
		w.wake = make(chan struct{}, 1)
		go watch()
	}
}

// unwatched removes a caller.
func unwatched(c *Caller) {
	w := &watcher
	w.Lock()
	defer w.Unlock()
	if i := slices.Index(w.callers, c); i >= 0 {
		w.callers[i] = w.callers[len(w.callers)-1]
		w.callers = w.callers[:len(w.callers)-1]
	}
}

// watch is the body of the watcher.
func watch() {
	w := &watcher
	for idle := 0; ; {
		if pollCallers() {
			idle = 0
		} else if idle++; idle > watchIdle {
			w.asleep.Store(true)
			if !pollCallers() { // a call that began before could not see it asleep
				<-w.wake
			} else if !w.asleep.CompareAndSwap(true, false) {
				<-w.wake
			}
			idle = 0
		}
		time.Sleep(watchEvery)
	}
}

// pollCallers interrupts calls whose flag is set, and reports whether any call runs.
func pollCallers() bool {
	w := &watcher
	w.Lock()
	defer w.Unlock()
	running := false
	for _, c := range w.callers {
		stop := c.running.Load()
		if stop == nil {
			continue
		}
		running = true
		if stop != &ending {
			if !stop.Load() && c.foreign.Load().Fault() == nil {
				continue
			}
			c.since = time.Now()
			if !c.running.CompareAndSwap(stop, &ending) {
				continue
			}
		}
		c.interrupt()
	}
	return running
}

// interrupt asks the running call to end.
func (c *Caller) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.Load() == &ending {
		c.guard.Interrupt(c.image.base, c.image.base+uintptr(c.image.span), time.Since(c.since) > patience || c.foreign.Load().Fault() != nil)
	}
}

// begin notes that a call with the flag runs.
func (c *Caller) begin(stop *atomic.Bool) {
	c.running.Store(stop)
	if w := &watcher; w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// end notes that the call has ended.
func (c *Caller) end(stop *atomic.Bool) {
	if c.running.CompareAndSwap(stop, nil) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guard.Resume()
	c.running.Store(nil)
}
