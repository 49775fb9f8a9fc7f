package lang

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/heap"
)

// A guard interrupts a running call when its context ends or a limit is exceeded.
type guard struct {
	vm      *goja.Runtime
	mu      sync.Mutex
	running bool
}

// ExitError reports that the script called exit.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("the script ended with status %d", e.Code) }

// ExitCode returns the exit status.
func (e *ExitError) ExitCode() int { return e.Code }

// A limitError reports that a limit of the engine was exceeded.
type limitError struct{ code, message, hint string }

func (e *limitError) Error() string { return e.message }
func (e *limitError) Code() string  { return e.code }
func (e *limitError) Hint() string  { return e.hint }

// interrupt stops the running call, if there is one. Scripts cannot catch the interrupt.
func (g *guard) interrupt(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		g.vm.Interrupt(cause)
	}
}

// OutOfTime returns the error of a call that exceeds the limit of time.
func OutOfTime(limit time.Duration) error {
	return &limitError{"timeout", fmt.Sprintf("the script ran longer than %v", limit), "raise the time limit, or do less per call"}
}

// watch starts the supervision of a call. It returns the call's context and a function that ends the supervision. The end of
// the context and the limits of time and memory interrupt the call. overdue, which may be nil, receives the cause if the call
// has not returned overdueTime after the interrupt.
func (g *guard) watch(ctx context.Context, l Limits, share *heap.Owner, overdue func(error)) (context.Context, func()) {
	g.mu.Lock()
	g.running = true
	g.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	stopTime := func() bool { return true }
	if l.Time > 0 {
		stopTime = time.AfterFunc(l.Time, func() {
			cancel(OutOfTime(l.Time))
		}).Stop
	}
	stopMemory := watchMemory(share, l.Memory, cancel)
	over := false // prevents a late interrupt of the next call
	var late *time.Timer
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if over {
			return
		}
		cause := context.Cause(ctx)
		g.vm.Interrupt(cause)
		if overdue != nil {
			late = time.AfterFunc(overdueTime, func() {
				g.mu.Lock()
				still := !over
				g.mu.Unlock()
				if still {
					overdue(cause)
				}
			})
		}
	})
	return ctx, func() {
		stop()
		stopTime()
		stopMemory()
		g.mu.Lock()
		over, g.running = true, false
		if late != nil {
			late.Stop()
		}
		g.vm.ClearInterrupt()
		g.mu.Unlock()
		cancel(nil)
	}
}

// overdueTime is the time from the interrupt of a call until OnOverdue runs.
const overdueTime = 2 * time.Second

// memoryPeriod is the interval between two checks of the limit of memory.
const memoryPeriod = 10 * time.Millisecond

// watchMemory calls cancel when a share exceeds a limit, until stop is called. A limit of 0 is none.
func watchMemory(share *heap.Owner, limit uint64, cancel context.CancelCauseFunc) (stop func()) {
	if limit == 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(memoryPeriod)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if used, yes := share.Exceeds(limit, 0); yes {
				cancel(outOfMemory(used, limit))
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// checkMemory interrupts the running call if the script uses more memory than the limit. It measures on the script's goroutine,
// so that the script allocates nothing meanwhile: on a busy machine the measurement takes long.
func (e *Engine) checkMemory() {
	limit := e.opts.Limits.Memory
	if limit == 0 || e.limit.share == nil {
		return
	}
	if used, yes := e.limit.share.Exceeds(limit, 0); yes {
		e.vm.Interrupt(outOfMemory(used, limit))
	}
}

// outOfMemory returns the error of a script that used too much memory.
func outOfMemory(used, limit uint64) error {
	return &limitError{"out-of-memory", fmt.Sprintf("the script used %s of memory; the limit is %s", heap.Text(used), heap.Text(limit)), "raise the memory limit, or keep less alive"}
}

// step counts an iteration of a script's loop, and interrupts the script if there were more than the limit allows.
func (e *Engine) step(goja.FunctionCall) goja.Value {
	e.limit.iterations++
	if limit := e.opts.Limits.Iterations; e.limit.iterations > limit {
		e.vm.Interrupt(&limitError{"iterations", fmt.Sprintf("the loops of the script ran more than %d times", limit), "raise the limit of iterations, or use a kernel"})
	}
	return goja.Undefined()
}

// Exit ends the running call, which returns an [ExitError] with the status. It must be called on the loop's goroutine; the
// script stops at the call.
func (e *Engine) Exit(code int) {
	e.running.exit = &ExitError{Code: code}
	e.vm.Interrupt(e.running.exit)
	e.loop.Post(func() error { return e.running.exit })
}

// SetStatus sets the exit status of a script that ends without an error. [Engine.Status] returns it.
func (e *Engine) SetStatus(code int) { e.running.status = code }

// Status returns the last argument of SetStatus, or 0.
func (e *Engine) Status() int { return e.running.status }

// ended returns the cause of an interrupt that err is or wraps: an exit, the end of a context, or a limit. It returns false for
// other errors.
func ended(err error) (cause error, yes bool) {
	if interrupted, ok := find[*goja.InterruptedError](err); ok {
		if cause := interrupted.Unwrap(); cause != nil {
			return cause, true
		}
		return fmt.Errorf("%v", interrupted.Value()), true
	}
	return nil, false
}
