// Package hostfile lets device code of a server use files of its client's host: [Calls] has the requests of a server, [Table] the
// files that a client has opened for it.
package hostfile

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// MaxCalls is the maximum number of open requests of a server. Further calls of device code wait.
const MaxCalls = 64

// Calls are the requests of a server that the client has not answered.
type Calls struct {
	ctx   context.Context
	send  func(*protocol.FileRequest) bool
	slots chan struct{} // holds an element for each open request

	mu    sync.Mutex
	asked map[uint64]chan *protocol.FileAnswer
	last  uint64 // number of the newest request
}

// NewCalls returns the requests of a server, which end when ctx ends. send sends a request, and reports whether the client is
// there.
func NewCalls(ctx context.Context, send func(*protocol.FileRequest) bool) *Calls {
	return &Calls{ctx: ctx, send: send, slots: make(chan struct{}, MaxCalls), asked: map[uint64]chan *protocol.FileAnswer{}}
}

// ask sends a request and waits for the answer. It returns the answer and the error that it contains, or nil and an error if the client
// is gone.
func (c *Calls) ask(m *protocol.FileRequest) (*protocol.FileAnswer, error) {
	gone := offload.Errorf(offload.DeviceLost, m.Op.String(), "the client is gone")
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
		return nil, gone
	}
	defer func() { <-c.slots }()
	ch := make(chan *protocol.FileAnswer, 1)
	c.mu.Lock()
	c.last++
	m.Call = c.last
	c.asked[m.Call] = ch
	c.mu.Unlock()
	defer c.take(m.Call)
	if !c.send(m) {
		return nil, gone
	}
	select {
	case a := <-ch:
		return a, offload.DecodeError(a.Error)
	case <-c.ctx.Done():
		return nil, gone
	}
}

// take removes a request and returns its channel, or nil if the request is not open.
func (c *Calls) take(call uint64) chan *protocol.FileAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := c.asked[call]
	delete(c.asked, call)
	return ch
}

// Answered delivers the answer to a request, of which it copies the bytes. It drops an answer that no request waits for.
func (c *Calls) Answered(m *protocol.FileAnswer) {
	if ch := c.take(m.Call); ch != nil { // a client may answer twice
		a := *m
		a.Data, a.Error = bytes.Clone(m.Data), bytes.Clone(m.Error) // the frame's memory is reused
		ch <- &a
	}
}

// Open opens a file for device code of the launch at. The client applies its policy.
func (c *Calls) Open(at protocol.At, name, mode string) (offload.File, error) {
	a, err := c.ask(&protocol.FileRequest{At: at, Op: protocol.OpenFile, Name: name, Other: mode})
	if err != nil {
		return nil, err
	}
	return &file{c, a.Value}, nil
}

// Remove removes a file for device code of the launch at.
func (c *Calls) Remove(at protocol.At, name string) error {
	_, err := c.ask(&protocol.FileRequest{At: at, Op: protocol.RemoveFile, Name: name})
	return err
}

// Rename renames a file for device code of the launch at.
func (c *Calls) Rename(at protocol.At, from, to string) error {
	_, err := c.ask(&protocol.FileRequest{At: at, Op: protocol.RenameFile, Name: from, Other: to})
	return err
}

// file is a file that the client has opened. It implements [offload.File].
type file struct {
	calls  *Calls
	number int64
}

// Read reads at most [protocol.MaxFragment] bytes.
func (f *file) Read(to []byte) (int, error) {
	if len(to) == 0 {
		return 0, nil
	}
	a, err := f.calls.ask(&protocol.FileRequest{Op: protocol.ReadFile, File: f.number, Offset: int64(min(len(to), protocol.MaxFragment))})
	if a == nil {
		return 0, err
	}
	n := copy(to, a.Data)
	if err == nil && a.End {
		err = io.EOF
	}
	return n, err
}

// Write writes pieces of at most [protocol.MaxFragment] bytes.
func (f *file) Write(data []byte) (int, error) {
	done := 0
	for {
		piece := data[done:min(done+protocol.MaxFragment, len(data))]
		a, err := f.calls.ask(&protocol.FileRequest{Op: protocol.WriteFile, File: f.number, Data: piece})
		if a != nil {
			done += int(min(max(a.Value, 0), int64(len(piece))))
		}
		if err == nil && a.Value != int64(len(piece)) {
			err = io.ErrShortWrite
		}
		if err != nil || done == len(data) {
			return done, err
		}
	}
}

// Seek implements [io.Seeker].
func (f *file) Seek(offset int64, whence int) (int64, error) {
	a, err := f.calls.ask(&protocol.FileRequest{Op: protocol.SeekFile, File: f.number, Offset: offset, Whence: int32(whence)})
	if err != nil {
		return 0, err
	}
	return a.Value, nil
}

// Close implements [io.Closer].
func (f *file) Close() error {
	_, err := f.calls.ask(&protocol.FileRequest{Op: protocol.CloseFile, File: f.number})
	return err
}
