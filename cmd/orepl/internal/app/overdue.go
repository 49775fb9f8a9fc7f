package app

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/cmd/orepl/internal/status"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

const (
	// stopPatience is the time that devices have to stop after a limit or Ctrl-C.
	stopPatience = 3 * time.Second
	// failPatience is the time that devices have to close after another error, when destructors of libraries may run.
	failPatience = 20 * time.Second
	// interruptPatience is the time after Ctrl-C in which a command must have ended: longer than those above and that of the engine.
	interruptPatience = 8 * time.Second
)

// endInterrupted ends the process after Ctrl-C and interruptPatience, unless ended is closed by then. A command that reads a
// named pipe may not end by itself.
func (inv *invocation) endInterrupted(ended chan struct{}) {
	select {
	case <-ended:
		return
	case <-inv.ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(interruptPatience):
		inv.exit(inv.ctx.Err())
	}
}

// exit ends the process with an error's message and code.
func (inv *invocation) exit(err error) { os.Exit(status.HandOver(inv.finish(err))) }

// lost ends the process for a reason that no call can return. The exit code is that of the error with which the script ends, if
// any. Else it is that of Ctrl-C, if it was pressed, and else that of the reason.
func (inv *invocation) lost(reason error) {
	if err := inv.ending.Load(); err != nil {
		diag.Print(inv.Stderr, reason, inv.colors(inv.Stderr))
		inv.exit(*err)
	}
	if err := inv.ctx.Err(); err != nil {
		diag.Print(inv.Stderr, reason, inv.colors(inv.Stderr))
		inv.exit(err)
	}
	inv.exit(reason)
}

// close closes engine and runtime. If the devices do not stop in time, it returns a stuckError while they still run, and the
// process must end.
func (inv *invocation) close(e *lang.Engine, rt *orepl.Runtime, err error) error {
	ended := make(chan error, 1)
	if err != nil {
		inv.ending.Store(&err)
		defer inv.ending.Store(nil)
	}
	go func() { ended <- inv.closeAll(e, rt, err) }()
	interrupted := inv.ctx.Done()
	var late <-chan time.Time
	cause := err
	switch limit := e.Options().Limits.Time; {
	case err == nil && limit > 0:
		cause = diag.New("timeout", "the devices ran longer than %v after the script had ended", limit)
		late = time.After(limit + stopPatience)
	case err != nil && diag.Code(err) == "timeout":
		late = time.After(stopPatience)
	case err != nil:
		late = time.After(failPatience)
	}
	for {
		select {
		case err := <-ended:
			return err
		case <-interrupted:
			interrupted = nil
			if err == nil {
				cause = inv.ctx.Err()
			}
			late = time.After(stopPatience)
		case <-late:
			return &stuckError{cause}
		}
	}
}

// stuckError is the reason for the end of a script whose devices do not stop.
type stuckError struct{ cause error }

func (e *stuckError) Error() string {
	if errors.Is(e.cause, context.Canceled) {
		return "stopped with Ctrl-C"
	}
	return e.cause.Error()
}
func (e *stuckError) Unwrap() error { return e.cause }
func (e *stuckError) Code() string  { return diag.Code(e.cause) }
func (e *stuckError) Hint() string {
	return "a device does not stop, so the process ends without closing its devices"
}
