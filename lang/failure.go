package lang

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/orepl/orepl/lang/loop"
)

// Times that a call waits for its cancelled work when it ends early. It is cutPatience if the call's context was cancelled, the script
// has exited, or the engine closes. After any other error, also of a limit that only interrupts the script, it is failurePatience. Work
// that takes longer, such as a Go function that ignores its context, continues without effect on the script.
const (
	failurePatience = 2 * time.Second
	cutPatience     = 150 * time.Millisecond
)

// uncaught handles an error of a callback of the loop. It returns an interrupt, an exit, and an error of the running call,
// which end the call. Any other error goes to OnError: that of an earlier call, and with reports.aside each exception.
func (e *Engine) uncaught(s *loop.Scope, err error) error {
	if rejection, ok := find[*unhandledRejection](err); ok {
		s = rejection.scope
	}
	_, cut := ended(err)
	var exit *ExitError
	switch {
	case cut, e.running.exit != nil, errors.As(err, &exit):
		return err
	case e.running.scope != nil && s == e.running.scope && !(e.report.aside && isScriptException(err)):
		return err
	}
	e.Report(err)
	return nil
}

// Report passes an error that belongs to no call to Options.OnError. It must be called on the loop's goroutine or by functions
// registered with [Engine.OnClose].
func (e *Engine) Report(err error) { e.opts.OnError(e.Diagnose(err)) }

// abandon cancels the work of a failed call, so that the work does not affect later calls. It waits for cancelled operations
// for at most failurePatience.
func (e *Engine) abandon(cause error) {
	mine := e.running.scope
	e.loop.CancelScope(mine, cause)
	e.report.rejected = slices.DeleteFunc(e.report.rejected, func(r rejection) bool { return r.scope == mine })
	e.esm.graph.ForgetUnfinished(mine)
	e.tellFailure(mine, cause)
	e.objects.operations.wait(mine, failurePatience)
}

// drop cancels the pending work of all calls. It waits for cancelled operations for at most cutPatience.
func (e *Engine) drop(cause error) {
	e.loop.Cancel(cause)
	e.report.rejected = nil
	e.esm.graph.ForgetUnfinished(nil)
	e.tellFailure(nil, cause)
	e.objects.operations.wait(nil, cutPatience)
}

// tellFailure calls the functions of [Engine.OnFailure] for a scope, nil for all. The functions that they return run on other
// goroutines, as operations of the scope.
func (e *Engine) tellFailure(s *loop.Scope, cause error) {
	for _, fn := range e.hooks.failed {
		work := fn(s, cause)
		if work == nil {
			continue
		}
		e.objects.operations.begin(s)
		go func() {
			defer e.objects.operations.end(s)
			work()
		}()
	}
}

// operations counts the goroutines that work for a script, by scope.
type operations struct {
	mu      sync.Mutex
	running map[*loop.Scope]int
	changed chan struct{} // closed when an operation ends, if a caller waits for it
}

func (o *operations) begin(s *loop.Scope) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil {
		o.running = map[*loop.Scope]int{}
	}
	o.running[s]++
}

func (o *operations) end(s *loop.Scope) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running[s]--; o.running[s] == 0 {
		delete(o.running, s)
	}
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// wait blocks until no operation of a scope runs, or of any scope if s is nil, but no longer than patience.
func (o *operations) wait(s *loop.Scope, patience time.Duration) {
	late := time.After(patience)
	for {
		o.mu.Lock()
		if len(o.running) == 0 || s != nil && o.running[s] == 0 {
			o.mu.Unlock()
			return
		}
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			return
		}
	}
}
