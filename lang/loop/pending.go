package loop

import "slices"

// A Pending is a host operation that has started and not finished. It keeps the loop alive, unless [Loop.Watch] made it.
type Pending struct {
	loop       *Loop
	scope      *Scope
	label      string
	onCancel   func(error)
	stalled    Callback // of Watch; nil for a held operation
	prev, next *Pending
	done       bool
}

// Hold registers an operation of the current scope. label describes the operation in the result of [Loop.Pending]. Hold must be called
// on the loop's goroutine or while the loop does not run.
func (l *Loop) Hold(label string) *Pending {
	return l.add(&Pending{loop: l, scope: l.scope, label: label})
}

// Watch registers an operation of the current scope that does not keep the loop alive. If the loop has nothing left to run,
// the operation that was registered last ends: stalled is queued, and the loop goes on. Watch must be called like Hold.
func (l *Loop) Watch(stalled Callback) *Pending {
	return l.add(&Pending{loop: l, scope: l.scope, stalled: stalled})
}

func (l *Loop) add(p *Pending) *Pending {
	l.mu.Lock()
	p.prev = l.last
	if l.last != nil {
		l.last.next = p
	} else {
		l.first = p
	}
	l.last = p
	if p.stalled == nil {
		l.held++
	}
	l.mu.Unlock()
	return p
}

// unstick queues the callback of the last watched operation, and reports whether there was one.
func (l *Loop) unstick() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := l.last; p != nil; p = p.prev {
		if p.stalled != nil {
			l.remove(p)
			l.queue = append(l.queue, task{p.stalled, p.scope})
			return true
		}
	}
	return false
}

// OnCancel sets a function that [Loop.Cancel] and [Loop.CancelScope] call once if the operation is still pending. The function
// must not block. OnCancel returns p.
func (p *Pending) OnCancel(fn func(cause error)) *Pending {
	p.loop.mu.Lock()
	p.onCancel = fn
	p.loop.mu.Unlock()
	return p
}

// Resolve ends the operation, queues fn, which may be nil, and returns true. If the operation has ended or was cancelled, it
// returns false. It is safe for concurrent use.
func (p *Pending) Resolve(fn Callback) bool {
	l := p.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.done {
		return false
	}
	l.remove(p)
	if fn != nil {
		l.queue = append(l.queue, task{fn, p.scope})
	}
	l.rouse() // needed even without a callback, because the loop may have become idle
	return true
}

// Post queues a callback of the operation without ending it, and returns true. If the operation has ended or was cancelled, it
// returns false. It is safe for concurrent use.
func (p *Pending) Post(fn Callback) bool {
	l := p.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.done {
		return false
	}
	l.queue = append(l.queue, task{fn, p.scope})
	l.rouse()
	return true
}

// remove unlinks p. The caller must hold the lock.
func (l *Loop) remove(p *Pending) {
	p.done = true
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		l.first = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		l.last = p.prev
	}
	p.prev, p.next = nil, nil
	if p.stalled == nil {
		l.held--
	}
}

// Pending returns the labels of the held operations, oldest first.
func (l *Loop) Pending() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	labels := make([]string, 0, l.held)
	for p := l.first; p != nil; p = p.next {
		if p.stalled == nil {
			labels = append(labels, p.label)
		}
	}
	return labels
}

// Cancel drops all timers and queued callbacks and cancels the pending operations. Resolve of these has no effect any more, and
// their functions from [Pending.OnCancel] are called.
func (l *Loop) Cancel(cause error) { l.cancel(cause, func(*Scope) bool { return true }) }

// CancelScope is Cancel for the work of one scope.
func (l *Loop) CancelScope(s *Scope, cause error) {
	l.cancel(cause, func(other *Scope) bool { return other == s })
}

func (l *Loop) cancel(cause error, mine func(*Scope) bool) {
	l.mu.Lock()
	var hooks []func(error)
	for p := l.first; p != nil; {
		next := p.next
		if mine(p.scope) {
			if p.onCancel != nil {
				hooks = append(hooks, p.onCancel)
			}
			l.remove(p)
		}
		p = next
	}
	l.queue = slices.DeleteFunc(l.queue, func(t task) bool { return mine(t.scope) })
	l.timers.drop(mine)
	l.rouse()
	l.mu.Unlock()
	for _, hook := range hooks {
		hook(cause)
	}
}
