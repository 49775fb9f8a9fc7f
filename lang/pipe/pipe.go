// Package pipe reads the output of a process from a pipe that other processes may keep open after its end.
package pipe

import (
	"errors"
	"io"
	"os"
	"time"
)

// A Reader reads from a pipe that another process writes to. After [Reader.End] it returns the rest of the pipe's contents,
// even if other processes keep the pipe open. Only one goroutine may read.
type Reader struct {
	file  *os.File
	ended bool          // Read observed the end of the process
	wait  time.Duration // remaining time to wait after the end
	rest  int           // remaining bytes to read after the end
}

// capacity is more than a pipe usually holds. When more bytes follow the end of the process, others wrote them.
const capacity = 1 << 20

// NewReader returns a reader. After the process has ended, it waits for data for at most grace in total.
func NewReader(file *os.File, grace time.Duration) *Reader {
	return &Reader{file: file, wait: grace, rest: capacity}
}

// End tells the reader that the process has ended: from then on, Read waits for at most the grace. It is safe for concurrent
// use.
func (r *Reader) End() {
	if err := r.file.SetReadDeadline(time.Unix(1, 0)); err != nil { // the system has no deadlines for pipes
		time.AfterFunc(r.wait, func() { _ = r.file.Close() })
	}
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	if !r.ended {
		n, err := r.file.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, atEnd(err)
		}
		r.ended = true
	}
	if r.wait <= 0 || r.rest <= 0 {
		return 0, io.EOF
	}
	began := time.Now()
	if err := r.file.SetReadDeadline(began.Add(r.wait)); err != nil {
		return 0, atEnd(err)
	}
	n, err := r.file.Read(p[:min(len(p), r.rest)])
	r.wait -= time.Since(began)
	r.rest -= n
	return n, atEnd(err)
}

// Close closes the pipe.
func (r *Reader) Close() error { return r.file.Close() }

// atEnd converts errors of an ended wait to io.EOF.
func atEnd(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		return io.EOF
	}
	return err
}
