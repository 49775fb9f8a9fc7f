package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// maxOpenFiles is the maximum number of files that device code of a server holds open.
const maxOpenFiles = 1 << 14

// openFiles are the host's files that device code of a server has opened.
type openFiles struct {
	mu    sync.Mutex
	list  map[int64]*openedFile
	last  int64 // number of the newest file
	calls int   // requests that are being served
	ended bool  // the connection has ended
}

// openedFile is a file of the host. Requests for it are served one at a time.
type openedFile struct {
	mu sync.Mutex
	offload.File
}

// file serves a request for a file on a separate goroutine, since a file may block.
func (c *client) file(m *protocol.FileRequest) error {
	t := &c.files
	t.mu.Lock()
	t.calls++
	calls := t.calls
	t.mu.Unlock()
	if calls > maxFileCalls {
		return fmt.Errorf("more than %d requests for files at once", maxFileCalls)
	}
	if m.Op > protocol.RenameFile || m.Op == protocol.ReadFile && (m.Offset <= 0 || m.Offset > protocol.MaxFragment) || m.Whence < io.SeekStart || m.Whence > io.SeekEnd {
		return fmt.Errorf("request %d for a file: operation %d, %d bytes, whence %d", m.Call, m.Op, m.Offset, m.Whence)
	}
	request := *m
	request.Data = bytes.Clone(m.Data) // the frame's memory is reused
	go func() {
		a := &protocol.FileAnswer{Call: request.Call}
		err := guardedFile(func() error { return c.serveFile(&request, a) })
		a.Error = offload.EncodeError(err)
		t.mu.Lock()
		t.calls--
		t.mu.Unlock()
		c.link.waitForSpace()
		c.link.send(a)
	}()
	return nil
}

// guardedFile calls do and converts a panic of the host's files to an error.
func guardedFile(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = offload.Errorf(offload.BackendFailure, "open", "the host's file panicked: %v", p)
		}
	}()
	return do()
}

// serveFile serves a request and fills in the answer.
func (c *client) serveFile(m *protocol.FileRequest, a *protocol.FileAnswer) error {
	switch m.Op {
	case protocol.OpenFile, protocol.RemoveFile, protocol.RenameFile:
		s, l, err := c.fileServices(m)
		if err == nil {
			a.Value, err = c.files.byName(s, m)
		}
		if err != nil && l != nil {
			l.failed(m.At.Number, err) // the launch's error has it as its cause
		}
		return err
	case protocol.CloseFile:
		f := c.files.take(m.File)
		if f == nil {
			return noFile(m)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.Close()
	}
	f := c.files.get(m.File)
	if f == nil {
		return noFile(m)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serve(m, a)
}

func noFile(m *protocol.FileRequest) error {
	return offload.Errorf(offload.Closed, m.Op.String(), "file %d is not open", m.File)
}

// byName opens, removes or renames a file. It returns the number of an opened one.
func (t *openFiles) byName(s offload.FileServices, m *protocol.FileRequest) (int64, error) {
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
func (f *openedFile) serve(m *protocol.FileRequest, a *protocol.FileAnswer) (err error) {
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

// fileServices returns the files of a launch's services, and its lane.
func (c *client) fileServices(m *protocol.FileRequest) (offload.FileServices, *lane, error) {
	c.mu.Lock()
	l := c.lanes[m.At.Queue]
	c.mu.Unlock()
	var s offload.Services
	if l != nil {
		l.mu.Lock()
		s = l.services[m.At.Number]
		l.mu.Unlock()
	}
	if s == nil { // a request of an ended launch, for instance after a timeout
		return nil, nil, offload.Errorf(offload.Cancelled, m.Op.String(), "the launch has ended")
	}
	files, ok := s.(offload.FileServices)
	if !ok {
		return nil, l, offload.Errorf(offload.Unsupported, m.Op.String(), "the kernel uses the file %q, and the launch offers no files", m.Name)
	}
	return files, l, nil
}

// add returns a number for an open file. At the limit it closes the file and returns an error.
func (t *openFiles) add(f offload.File) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || len(t.list) >= maxOpenFiles {
		_ = f.Close()
		return 0, offload.Errorf(offload.OutOfResources, "open", "kernels of a worker have %d files open", len(t.list))
	}
	if t.list == nil {
		t.list = map[int64]*openedFile{}
	}
	t.last++
	t.list[t.last] = &openedFile{File: f}
	return t.last, nil
}

func (t *openFiles) get(number int64) *openedFile {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[number]
}

// take removes a file and returns it, or nil.
func (t *openFiles) take(number int64) *openedFile {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.list[number]
	delete(t.list, number)
	return f
}

// end closes the files after the end of the connection. A request that is being served may fail.
func (t *openFiles) end() {
	t.mu.Lock()
	list := t.list
	t.list, t.ended = nil, true
	t.mu.Unlock()
	for _, f := range list {
		_ = guardedFile(f.Close) // no device code learns of a failure
	}
}
