//go:build !nonative

package native

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/fatal"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	// watchEvery and watchSlowest bound the interval of polls of stop flags. In between it is the run time of the newest
	// call, divided by watchPart.
	watchEvery   = 5 * time.Millisecond
	watchSlowest = 100 * time.Millisecond
	watchPart    = 20
	// watchIdle is the number of polls without a running call after which the watcher sleeps.
	watchIdle = 100
	// patience is the time after which a call is interrupted even outside of the image's code, where it may hold locks of
	// the process.
	patience = 200 * time.Millisecond
	// deafPatience is the time after which a call that blocks the signal of interrupts ends the process.
	deafPatience = time.Second
	// lastPatience is the time after which any other call that has not ended ends the process.
	lastPatience = 30 * time.Second
)

// ending marks a call that the watcher is interrupting, in place of its stop flag.
var ending atomic.Bool

// watcher interrupts calls of all callers whose stop flag is set, since native code does not poll it. It also interrupts those with
// a fault in a thread that they created. A call that cannot be stopped ends the process.
var watcher struct {
	sync.Mutex
	callers []*Caller
	started bool
	asleep  atomic.Bool
	wake    chan struct{}
}

// watched adds a caller to the watcher.
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

// unwatched removes a caller from the watcher.
func unwatched(c *Caller) {
	w := &watcher
	w.Lock()
	defer w.Unlock()
	if i := slices.Index(w.callers, c); i >= 0 {
		w.callers[i] = w.callers[len(w.callers)-1]
		w.callers = w.callers[:len(w.callers)-1]
	}
}

// watch is the watcher's loop. Its pauses grow with the run time of the calls, so that long calls are not slowed.
func watch() {
	w := &watcher
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for idle := 0; ; {
		pause, running := pollCallers(time.Now())
		if running {
			idle = 0
		} else if idle++; idle <= watchIdle {
			pause = watchEvery
		}
		if running && pause == watchEvery || !running && idle <= watchIdle {
			time.Sleep(watchEvery)
			continue
		}
		w.asleep.Store(true)
		again, still := pollCallers(time.Now()) // a call that began before this did not see asleep set
		if (still != running || again < pause) && w.asleep.CompareAndSwap(true, false) {
			idle = 0
			continue
		}
		if running {
			timer.Reset(pause)
			select {
			case <-w.wake:
			case <-timer.C:
				if !w.asleep.CompareAndSwap(true, false) {
					<-w.wake
				}
			}
			timer.Stop()
		} else {
			<-w.wake
		}
		idle = 0
	}
}

// pollCallers interrupts calls whose flag is set. It returns the pause until the next poll, and whether a call is running.
func pollCallers(now time.Time) (pause time.Duration, running bool) {
	w := &watcher
	w.Lock()
	defer w.Unlock()
	return poll(w.callers, now)
}

func poll(callers []*Caller, now time.Time) (pause time.Duration, running bool) {
	pause = watchSlowest
	for _, c := range callers {
		stop := c.running.Load()
		if stop != c.seen {
			c.seen, c.seenAt = stop, now
		}
		if stop == nil {
			continue
		}
		running = true
		if c.guard.Gone() {
			c.lose("a thread of this process ended in %s", offload.BackendFailure)
			continue
		}
		pause = min(pause, max(now.Sub(c.seenAt)/watchPart, watchEvery))
		if stop != &ending {
			if !stop.Load() && c.foreign.Load().Fault() == nil {
				continue
			}
			c.since = now
			if !c.running.CompareAndSwap(stop, &ending) {
				continue
			}
		}
		pause = watchEvery
		c.interrupt()
		if late := now.Sub(c.since); late > deafPatience && c.guard.Deaf() || late > lastPatience {
			c.lose("%s cannot be stopped: it blocks the signals by which it would be", offload.Timeout)
		}
	}
	return pause, running
}

// lose ends the process because the running call will not return. format is the reason, with one verb for the call's name.
func (c *Caller) lose(format string, code offload.Code) {
	if c.lost {
		return // the process goes on in spite of it
	}
	c.lost = true
	name := "a function"
	for _, s := range c.image.symbols {
		if s.Function && c.image.base+uintptr(s.value) == c.block.fn {
			name = fmt.Sprintf("the function %q", s.Name)
		}
	}
	reason := offload.Errorf(code, "launch", format, name).On("", c.image.label).
		WithHint("native code runs in the process itself: in a worker (OREPL_FAR=spawn) only the worker ends")
	go fatal.End(reason)
}

// interrupt requests the end of the running call.
func (c *Caller) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.Load() == &ending {
		c.guard.Interrupt(c.image.base, c.image.base+uintptr(c.image.span), time.Since(c.since) > patience || c.foreign.Load().Fault() != nil)
	}
}

// begin records the stop flag of a call that starts, and wakes the watcher if it sleeps.
func (c *Caller) begin(stop *atomic.Bool) {
	c.running.Store(stop)
	if w := &watcher; w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// end records that the call has ended.
func (c *Caller) end(stop *atomic.Bool) {
	if c.running.CompareAndSwap(stop, nil) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guard.Resume()
	c.running.Store(nil)
}
