package lang

import (
	"context"
	"sync/atomic"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals/goroutine"
)

// A turn is the lock of the call that runs script code. Acquiring it can be cancelled by a context.
type turn struct {
	held   chan struct{}
	holder atomic.Uint64 // number of the goroutine that holds it, or 0
}

func newTurn() turn { return turn{held: make(chan struct{}, 1)} }

var errReentrant = diag.New("reentrant", "a function that a script runs called the engine that runs it, which would wait for itself").
	WithHint("call the script's functions directly with the interpreter, or the engine from another goroutine when the call has ended")

// take acquires the turn, also after the end of the context if the turn is free. It returns errReentrant, the error of a nil
// context, or the cause of the context's end.
func (t *turn) take(ctx context.Context) error {
	if ctx == nil {
		return diag.ErrNoContext
	}
	me := goroutine.Current()
	if t.holder.Load() == me {
		return errReentrant
	}
	select {
	case t.held <- struct{}{}:
	default:
		select {
		case t.held <- struct{}{}:
		case <-ctx.Done():
			return causeOf(ctx)
		}
	}
	t.holder.Store(me)
	return nil
}

func (t *turn) giveBack() {
	t.holder.Store(0)
	<-t.held
}

// UntilCallEnds runs work on another goroutine and returns its result, or panics as work does. If the running call ends first,
// UntilCallEnds abandons the work and returns the cause. It serves parsers and file operations, which do not check interrupts. It
// must be called on the loop's goroutine.
func UntilCallEnds[T any](e *Engine, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
		panic any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panic = recover()
			done <- r
		}()
		e.limit.share.Run(func() { r.value, r.err = work() })
	}()
	select {
	case r := <-done:
		if r.panic != nil {
			panic(r.panic)
		}
		return r.value, r.err
	case <-e.Running().Done():
		var none T
		return none, context.Cause(e.Running())
	}
}
