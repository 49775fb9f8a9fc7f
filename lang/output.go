package lang

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	flushBytes = 1 << 16               // of lines that wait
	flushAfter = 10 * time.Millisecond // how long a line waits at most
)

// output is Options.Stdout with a buffer of lines, which kernels print from several goroutines. Other writes come behind the
// lines that wait.
type output struct {
	to io.Writer

	mu     sync.Mutex // held while to writes
	lines  []byte
	timer  *time.Timer
	set    bool  // the timer is set
	closed bool  // lines do not wait any more
	failed error // the first failure to write lines that Flush has not returned
}

func newOutput(to io.Writer) *output {
	o := &output{to: to}
	o.timer = time.AfterFunc(time.Hour, o.late)
	o.timer.Stop()
	return o
}

// Write implements [io.Writer].
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	if err := o.take(); err != nil {
		return 0, err
	}
	return o.to.Write(data)
}

// printLine adds a line. It waits while the writer is slow.
func (o *output) printLine(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(append(o.lines, text...), '\n')
	if o.closed || len(o.lines) >= flushBytes {
		o.flush()
	} else if !o.set {
		o.set = true
		o.timer.Reset(flushAfter)
	}
}

// flush writes the lines. A writer that fails loses them. o.mu is held.
func (o *output) flush() {
	if len(o.lines) == 0 {
		return
	}
	lines := o.lines
	o.lines = o.lines[:0]
	if err := o.write(lines); err != nil && o.failed == nil {
		o.failed = fmt.Errorf("print lines of kernels: %w", err)
	}
}

// write returns a panic of the writer, which is the program's, as an error.
func (o *output) write(lines []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the writer panicked: %v", p)
		}
	}()
	_, err = o.to.Write(lines)
	return err
}

// take returns the first failure to write lines, once. o.mu is held.
func (o *output) take() error {
	err := o.failed
	o.failed = nil
	return err
}

// late runs when the timer fires.
func (o *output) late() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set = false
	o.flush()
}

func (o *output) flushNow(last bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = o.closed || last
	o.flush()
	return o.take()
}

// behind is Options.Stderr, whose text comes behind the lines that were printed before.
type behind struct {
	out *output
	to  io.Writer
}

// Write implements [io.Writer].
func (b behind) Write(data []byte) (int, error) {
	b.out.mu.Lock() // the two may be one writer
	defer b.out.mu.Unlock()
	b.out.flush()
	return b.to.Write(data)
}

// PrintLine writes a line to Options.Stdout, in order with everything that the engine writes there, within ten milliseconds
// and before the running call returns. It may be called from any goroutine.
func (e *Engine) PrintLine(text string) { e.output.printLine(text) }

// Flush writes the lines that PrintLine has not written yet. It returns the first failure since the last call to write lines.
func (e *Engine) Flush() error { return e.output.flushNow(false) }

// Terminal returns Options.Stdout as the embedding program passed it, after a flush.
func (e *Engine) Terminal() io.Writer {
	_ = e.Flush() // the program finds out by itself
	return e.output.to
}
