// Package stopwatch measures time for limits that must also hold on a machine that other processes keep busy.
//
// # Design
//
// Linux counts the time in which some task waited for a processor (/proc/pressure/cpu, "Pressure Stall Information"). A watch
// counts a tenth of that time, so a limit holds beside about ten tasks a processor. Where
// the kernel does not count it, a watch measures wall-clock time.
package stopwatch

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"time"
)

const (
	pressureFile = "/proc/pressure/cpu"
	discount     = 10 // the part of stalled time that counts is one over this
)

// Watch is a started stopwatch.
type Watch struct {
	start   time.Time
	stalled time.Duration
}

// Start returns a watch that starts now.
func Start() Watch { return Watch{time.Now(), stalled()} }

// Elapsed returns the time since the start. A period in which a task waited for a processor counts for a tenth.
func (w Watch) Elapsed() time.Duration {
	wall := time.Since(w.start)
	wait := min(max(stalled()-w.stalled, 0), wall)
	return wall - wait + wait/discount
}

// WithTimeout returns a context that ends with [context.DeadlineExceeded] as its cause after d by a watch.
func WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	w := Start()
	go func() {
		for left := d; left > 0; left = d - w.Elapsed() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(left, time.Millisecond)):
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// stalled returns the time since the machine's start in which some task waited for a processor, or 0 if it is unknown.
func stalled() time.Duration {
	text, err := os.ReadFile(pressureFile)
	if err != nil {
		return 0
	}
	return total(text)
}

// total parses the first line of a pressure file: "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds.
func total(text []byte) time.Duration {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, digits, ok := bytes.Cut(line, []byte("total="))
	if !ok || !bytes.HasPrefix(line, []byte("some ")) {
		return 0
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}
