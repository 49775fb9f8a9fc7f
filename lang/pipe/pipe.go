// Package pipe reads the output of a process from a pipe that other processes may hold open after its end.
package pipe

import (
	"errors"
	"io"
	"os"
	"time"
)

// A Reader reads the end of a pipe that another process writes to. After [Reader.End] it returns the rest of the pipe's
// contents without waiting, even if other processes hold the pipe open. One goroutine may read.
type Reader struct {
	file  *os.File
	ended bool          // Read saw the end of the process
	wait  time.Duration // left for waiting, from then on
	rest  int           // left to be read, from then on
}

// capacity is more than a pipe holds: bytes beyond it are not the ended process's.
const capacity = 1 << 20

// NewReader makes a reader. Behind the end of the process it waits for data no longer than grace, all in all.
func NewReader(file *os.File, grace time.Duration) *Reader {
	return &Reader{file: file, wait: grace, rest: capacity}
}

// End says that the process has ended. It may be called from any goroutine.
func (r *Reader) End() {
	if err := r.file.SetReadDeadline(time.Unix(1, 0)); err != nil { // a system whose pipes have no deadlines
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

// atEnd makes the end of the data of every reason not to wait for more.
func atEnd(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		return io.EOF
	}
	return err
}
