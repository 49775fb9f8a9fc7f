package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends with inv.ctx, and at SIGTERM or SIGHUP, which would otherwise end this process and
// leave behind what it started. The context's cause is then an exitError with the code of the signal.
func (inv *invocation) untilSignal() (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(inv.ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			end(&exitError{128 + int(s.(syscall.Signal))})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(nil) }
}

// signalled returns an exitError with the code of the signal that ended a context of untilSignal, or nil if none did.
func signalled(ctx context.Context) error {
	var exit *exitError
	if errors.As(context.Cause(ctx), &exit) {
		return exit
	}
	return nil
}
