package lang

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	flushBytes = 1 << 16               // bytes buffered before a flush
	flushAfter = 10 * time.Millisecond // maximum age of a buffered line
)

// output is Options.Stdout with a line buffer, to which kernels print from several goroutines. Other writes flush the buffer
// first.
type output struct {
	to io.Writer

	mu     sync.Mutex // held while to writes
	lines  []byte
	timer  *time.Timer
	set    bool  // the timer is running
	closed bool  // lines are no longer buffered
	failed error // first write error that Flush has not returned
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

// printLine buffers a line. It blocks while the writer is slow.
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

// flush writes the buffered lines and drops them if the writer fails. The caller must hold o.mu.
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

// write writes lines and converts a panic of the program's writer to an error.
func (o *output) write(lines []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the writer panicked: %v", p)
		}
	}()
	_, err = o.to.Write(lines)
	return err
}

// take returns and clears the first write error. The caller must hold o.mu.
func (o *output) take() error {
	err := o.failed
	o.failed = nil
	return err
}

// late flushes the buffer when the timer fires.
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

// behind is Options.Stderr. It flushes Stdout's buffered lines before each write.
type behind struct {
	out *output
	to  io.Writer
}

// Write implements [io.Writer].
func (b behind) Write(data []byte) (int, error) {
	b.out.mu.Lock() // both may be the same writer
	defer b.out.mu.Unlock()
	b.out.flush()
	return b.to.Write(data)
}

// PrintLine writes a line to Options.Stdout, ordered with the engine's other output. The line appears within ten milliseconds
// and before the running call returns. It is safe for concurrent use.
func (e *Engine) PrintLine(text string) { e.output.printLine(text) }

// Flush writes the buffered lines. It returns the first write error since the last call.
func (e *Engine) Flush() error { return e.output.flushNow(false) }

// Terminal returns Options.Stdout as passed by the embedding program, after a flush.
func (e *Engine) Terminal() io.Writer {
	_ = e.Flush() // the caller's own writes report the error
	return e.output.to
}
