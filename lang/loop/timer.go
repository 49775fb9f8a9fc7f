package loop

import (
	"container/heap"
	"time"
)

const stopped = -1

// A Timer queues its callback when it expires.
type Timer struct {
	loop  *Loop
	scope *Scope
	at    time.Time
	id    int64 // sequence number; timers with equal times fire in the order of their start
	every time.Duration
	fn    Callback
	index int // index in the heap, or stopped
	// period is the timer's duration, for Restart.
	period time.Duration
	idle   bool // does not keep the loop alive
}

// After queues fn once after delay; a negative delay counts as 0. The timer belongs to the current scope. After and Every must
// be called on the loop's goroutine or while the loop does not run.
func (l *Loop) After(delay time.Duration, fn Callback) *Timer { return l.set(delay, 0, fn) }

// Every queues fn periodically. The minimum period is 1 ms, because a period of 0 would starve other callbacks.
func (l *Loop) Every(period time.Duration, fn Callback) *Timer {
	period = max(period, time.Millisecond)
	return l.set(period, period, fn)
}

func (l *Loop) set(delay, every time.Duration, fn Callback) *Timer {
	t := &Timer{loop: l, scope: l.scope, every: every, period: max(delay, 0), fn: fn}
	l.mu.Lock()
	l.start(t)
	l.mu.Unlock()
	return t
}

// start adds a timer to the heap. The caller must hold the lock.
func (l *Loop) start(t *Timer) {
	l.lastID++
	t.id, t.at = l.lastID, time.Now().Add(t.period)
	heap.Push(&l.timers, t)
	l.rouse()
}

// Restart starts the timer again with its full duration, also after it has expired, unless it was stopped or cancelled.
func (t *Timer) Restart() {
	t.loop.mu.Lock()
	defer t.loop.mu.Unlock()
	if t.fn == nil {
		return
	}
	if t.index != stopped {
		heap.Remove(&t.loop.timers, t.index)
	}
	t.loop.start(t)
}

// KeepAlive sets whether the loop waits for the timer. The default is true.
func (t *Timer) KeepAlive(yes bool) {
	t.loop.mu.Lock()
	defer t.loop.mu.Unlock()
	t.idle = !yes
	t.loop.rouse()
}

// KeepsAlive reports whether the loop waits for the timer.
func (t *Timer) KeepsAlive() bool {
	t.loop.mu.Lock()
	defer t.loop.mu.Unlock()
	return !t.idle
}

// Stop cancels the timer. A queued callback of the timer does not run.
func (t *Timer) Stop() {
	t.loop.mu.Lock()
	defer t.loop.mu.Unlock()
	if t.index != stopped {
		heap.Remove(&t.loop.timers, t.index)
	}
	t.fn = nil
}

// fire runs the callback unless the timer was stopped after it expired.
func (t *Timer) fire() error {
	t.loop.mu.Lock()
	fn := t.fn
	t.loop.mu.Unlock()
	if fn == nil {
		return nil
	}
	return fn()
}

type timerHeap []*Timer

// keepsAlive reports whether the loop waits for any timer. The first timer usually decides.
func (h timerHeap) keepsAlive() bool {
	for _, t := range h {
		if !t.idle {
			return true
		}
	}
	return false
}

// due appends the callbacks of the timers that have expired at now to batch, in order. It removes these timers, and starts
// periodic ones again.
func (h *timerHeap) due(now time.Time, batch []task) []task {
	var repeat []*Timer
	for len(*h) > 0 && !(*h)[0].at.After(now) {
		t := heap.Pop(h).(*Timer)
		batch = append(batch, task{t.fire, t.scope})
		if t.every > 0 {
			t.at = now.Add(t.every)
			repeat = append(repeat, t)
		}
	}
	for _, t := range repeat {
		heap.Push(h, t)
	}
	return batch
}

// drop removes and stops the timers of the scopes for which mine returns true.
func (h *timerHeap) drop(mine func(*Scope) bool) {
	kept := (*h)[:0]
	for _, t := range *h {
		if mine(t.scope) {
			t.index, t.fn = stopped, nil
		} else {
			kept = append(kept, t)
		}
	}
	clear((*h)[len(kept):])
	*h = kept
	for i, t := range kept {
		t.index = i
	}
	heap.Init(h)
}

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].id < h[j].id
	}
	return h[i].at.Before(h[j].at)
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = stopped
	return t
}
