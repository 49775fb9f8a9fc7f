package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// notify makes c receive signals, except those that this process ignores since its start, as under nohup or in the background of a
// shell.
func notify(c chan<- os.Signal, signals ...os.Signal) {
	if signals = slices.DeleteFunc(signals, signal.Ignored); len(signals) > 0 {
		signal.Notify(c, signals...)
	}
}

// untilInterrupt returns a context that ends at an interrupt, unless this process ignores it since its start, or when cancel is called.
func untilInterrupt() (ctx context.Context, cancel context.CancelFunc) {
	if signal.Ignored(os.Interrupt) {
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

// untilSignal returns a context that ends with inv.ctx, and at SIGTERM or SIGHUP, which would otherwise end this process and
// leave behind what it started. The context's cause is then an exitError with the code of the signal. A SIGHUP that this process
// ignores since its start ends nothing.
func (inv *invocation) untilSignal() (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(inv.ctx)
	signals := make(chan os.Signal, 1)
	notify(signals, syscall.SIGTERM, syscall.SIGHUP)
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
