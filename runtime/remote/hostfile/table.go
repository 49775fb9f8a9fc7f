package hostfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// maxOpen is the maximum number of files that device code of a server holds open.
const maxOpen = 1 << 14

// Table has the host's files that device code of a server has opened. The zero Table is empty.
type Table struct {
	mu    sync.Mutex
	list  map[int64]*opened
	last  int64 // number of the newest file
	calls int   // requests that are being served
	ended bool  // the connection has ended
}

// opened is a file of the host. Requests for it are served one at a time.
type opened struct {
	mu sync.Mutex
	offload.File
}

// Services are the files that a launch may use.
type Services struct {
	offload.FileServices
	// Failed records an error that device code meets, as a cause of the launch's error. It may be nil.
	Failed func(error)
}

// Serve serves a request on a separate goroutine, since a file may block, and passes the answer to send. It calls services for the
// files of the request's launch. It returns an error for a request that no server sends: an invalid one, or one beyond [MaxCalls].
func (t *Table) Serve(m *protocol.FileRequest, services func(*protocol.FileRequest) (Services, error), send func(*protocol.FileAnswer)) error {
	t.mu.Lock()
	t.calls++
	calls := t.calls
	t.mu.Unlock()
	if calls > MaxCalls {
		return fmt.Errorf("more than %d requests for files at once", MaxCalls)
	}
	if m.Op > protocol.RenameFile || m.Op == protocol.ReadFile && (m.Offset <= 0 || m.Offset > protocol.MaxFragment) || m.Whence < io.SeekStart || m.Whence > io.SeekEnd {
		return fmt.Errorf("request %d for a file: operation %d, %d bytes, whence %d", m.Call, m.Op, m.Offset, m.Whence)
	}
	request := *m
	request.Data = bytes.Clone(m.Data) // the frame's memory is reused
	go func() {
		a := &protocol.FileAnswer{Call: request.Call}
		err := guarded(func() error { return t.answer(&request, a, services) })
		a.Error = offload.EncodeError(err)
		t.mu.Lock()
		t.calls--
		t.mu.Unlock()
		send(a)
	}()
	return nil
}

// guarded calls do and converts a panic of the host's files to an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = offload.Errorf(offload.BackendFailure, "open", "the host's file panicked: %v", p)
		}
	}()
	return do()
}

// answer serves a request and fills in the answer.
func (t *Table) answer(m *protocol.FileRequest, a *protocol.FileAnswer, services func(*protocol.FileRequest) (Services, error)) error {
	switch m.Op {
	case protocol.OpenFile, protocol.RemoveFile, protocol.RenameFile:
		s, err := services(m)
		if err == nil {
			a.Value, err = t.byName(s, m)
		}
		if err != nil && s.Failed != nil {
			s.Failed(err)
		}
		return err
	case protocol.CloseFile:
		f := t.take(m.File)
		if f == nil {
			return notOpen(m)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.Close()
	}
	f := t.get(m.File)
	if f == nil {
		return notOpen(m)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serve(m, a)
}

func notOpen(m *protocol.FileRequest) error {
	return offload.Errorf(offload.Closed, m.Op.String(), "file %d is not open", m.File)
}

// byName opens, removes or renames a file. It returns the number of an opened file, and 0 for the other operations.
func (t *Table) byName(s offload.FileServices, m *protocol.FileRequest) (int64, error) {
	switch m.Op {
	case protocol.RemoveFile:
		return 0, s.RemoveFile(m.Name)
	case protocol.RenameFile:
		return 0, s.RenameFile(m.Name, m.Other)
	}
	f, err := s.OpenFile(m.Name, m.Other)
	if err != nil {
		return 0, err
	}
	return t.add(f)
}

// serve serves a read, a write or a seek.
func (f *opened) serve(m *protocol.FileRequest, a *protocol.FileAnswer) (err error) {
	switch m.Op {
	case protocol.ReadFile:
		data := make([]byte, m.Offset)
		var n int
		n, err = f.Read(data)
		a.Data, a.End = data[:n], errors.Is(err, io.EOF)
		if a.End {
			err = nil
		}
	case protocol.WriteFile:
		var n int
		n, err = f.Write(m.Data)
		a.Value = int64(n)
	case protocol.SeekFile:
		a.Value, err = f.Seek(m.Offset, int(m.Whence))
	}
	return err
}

// add returns a number for an open file. At the limit, or after End, it closes the file and returns an error.
func (t *Table) add(f offload.File) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || len(t.list) >= maxOpen {
		_ = f.Close()
		return 0, offload.Errorf(offload.OutOfResources, "open", "kernels of a worker have %d files open", len(t.list))
	}
	if t.list == nil {
		t.list = map[int64]*opened{}
	}
	t.last++
	t.list[t.last] = &opened{File: f}
	return t.last, nil
}

func (t *Table) get(number int64) *opened {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[number]
}

// take removes a file and returns it, or nil if no file has the number.
func (t *Table) take(number int64) *opened {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.list[number]
	delete(t.list, number)
	return f
}

// End closes the files after the end of the connection. A request that is being served may fail.
func (t *Table) End() {
	t.mu.Lock()
	list := t.list
	t.list, t.ended = nil, true
	t.mu.Unlock()
	for _, f := range list {
		_ = guarded(f.Close) // no device code learns of a failure
	}
}
