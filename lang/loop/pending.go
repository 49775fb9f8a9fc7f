package loop

// A Pending is a host operation that has begun and not finished. It keeps the loop alive.
type Pending struct {
	loop       *Loop
	label      string
	onCancel   func(error)
	prev, next *Pending
	done       bool
}

// Hold registers an operation. label says what it is, for a person who asks what a script waits for.
func (l *Loop) Hold(label string) *Pending {
	p := &Pending{loop: l, label: label}
	l.mu.Lock()
	p.prev = l.last
	if l.last != nil {
		l.last.next = p
	} else {
		l.first = p
	}
	l.last = p
	l.held++
	l.mu.Unlock()
	return p
}

// OnCancel sets what [Loop.Cancel] calls, once, if the operation is still pending; it must not block. It returns p.
func (p *Pending) OnCancel(fn func(cause error)) *Pending {
	p.loop.mu.Lock()
	p.onCancel = fn
	p.loop.mu.Unlock()
	return p
}

// Resolve ends the operation and queues fn, which may be nil. Any goroutine may call it; only the first call counts.
// It reports whether it was the first.
func (p *Pending) Resolve(fn Callback) bool {
	l := p.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.done {
		return false
	}
	l.remove(p)
	if fn != nil {
		l.queue = append(l.queue, fn)
	}
	l.rouse() // even without a callback: the loop may have become quiet
	return true
}

// remove unlinks p. The caller holds the lock.
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
	l.held--
}

// Pending lists the labels of the operations that are held, oldest first.
func (l *Loop) Pending() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	labels := make([]string, 0, l.held)
	for p := l.first; p != nil; p = p.next {
		labels = append(labels, p.label)
	}
	return labels
}

// StopTimers drops every timer; operations and queued callbacks stay.
func (l *Loop) StopTimers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropTimers()
	l.rouse()
}

// dropTimers forgets the timers. The caller holds the lock.
func (l *Loop) dropTimers() {
	for _, t := range l.timers {
		t.index = stopped
	}
	l.timers = nil
}

// Cancel drops every timer and queued callback, tells the held operations to stop, and forgets them: a later Resolve
// of theirs does nothing.
func (l *Loop) Cancel(cause error) {
	l.mu.Lock()
	var hooks []func(error)
	for l.first != nil {
		p := l.first
		if p.onCancel != nil {
			hooks = append(hooks, p.onCancel)
		}
		l.remove(p)
	}
	clear(l.queue)
	l.queue = l.queue[:0]
	l.dropTimers()
	l.rouse()
	l.mu.Unlock()
	for _, hook := range hooks {
		hook(cause)
	}
}
