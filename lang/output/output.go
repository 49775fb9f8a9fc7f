// Package output orders the lines that kernels print with the other output of an engine.
package output

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

// Output is a writer with a buffer of lines, to which kernels print from several goroutines. Other writes flush the buffer first.
type Output struct {
	to io.Writer

	mu     sync.Mutex // held while to writes
	lines  []byte
	timer  *time.Timer
	set    bool  // the timer is running
	closed bool  // lines are no longer buffered
	failed error // first write error that Flush has not returned
}

// New returns an output with an empty buffer.
func New(to io.Writer) *Output {
	o := &Output{to: to}
	o.timer = time.AfterFunc(time.Hour, o.late)
	o.timer.Stop()
	return o
}

// Write implements [io.Writer]. It flushes the buffer first. If lines could not be written, it returns that error and does not write
// data.
func (o *Output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	if err := o.take(); err != nil {
		return 0, err
	}
	return o.to.Write(data)
}

// Line buffers a line, which is written within ten milliseconds. It blocks while the writer is slow.
func (o *Output) Line(text string) {
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
func (o *Output) flush() {
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
func (o *Output) write(lines []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the writer panicked: %v", p)
		}
	}()
	_, err = o.to.Write(lines)
	return err
}

// take returns and clears the first write error. The caller must hold o.mu.
func (o *Output) take() error {
	err := o.failed
	o.failed = nil
	return err
}

// late flushes the buffer when the timer fires.
func (o *Output) late() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set = false
	o.flush()
}

// Flush writes the buffered lines. It returns the first write error since the last call.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	return o.take()
}

// Close is Flush; later lines are not buffered.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.flush()
	return o.take()
}

// behind flushes the lines of an output before each write.
type behind struct {
	out *Output
	to  io.Writer
}

// Behind returns a writer that flushes the lines of out before each write.
func Behind(out *Output, to io.Writer) io.Writer { return behind{out, to} }

// Write implements [io.Writer].
func (b behind) Write(data []byte) (int, error) {
	b.out.mu.Lock() // both may be the same writer
	defer b.out.mu.Unlock()
	b.out.flush()
	return b.to.Write(data)
}

// Inner returns the writer of an [Output] or of [Behind], and any other one itself.
func Inner(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *Output:
		return w.to
	case behind:
		return w.to
	}
	return w
}
