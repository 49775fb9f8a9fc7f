package remote

import (
	"bytes"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// maxFileCalls is the maximum number of open file requests of a server. Further calls of device code wait.
const maxFileCalls = 64

// fileCalls are the requests for files of the host that the client has not answered.
type fileCalls struct {
	slots chan struct{} // holds an element for each open request

	guard sync.Mutex
	asked map[uint64]chan *protocol.FileAnswer
	newly uint64 // number of the newest request
}

func newFileCalls() fileCalls {
	return fileCalls{slots: make(chan struct{}, maxFileCalls), asked: map[uint64]chan *protocol.FileAnswer{}}
}

// askFile sends a request for a file of the host and waits for the answer.
func (s *server) askFile(m *protocol.FileRequest) (*protocol.FileAnswer, error) {
	gone := offload.Errorf(offload.DeviceLost, m.Op.String(), "the client is gone")
	select {
	case s.slots <- struct{}{}:
	case <-s.ctx.Done():
		return nil, gone
	}
	defer func() { <-s.slots }()
	ch := make(chan *protocol.FileAnswer, 1)
	s.guard.Lock()
	s.newly++
	m.Call = s.newly
	s.asked[m.Call] = ch
	s.guard.Unlock()
	defer func() {
		s.guard.Lock()
		delete(s.asked, m.Call)
		s.guard.Unlock()
	}()
	s.link.waitForSpace()
	if !s.link.send(m) {
		return nil, gone
	}
	select {
	case a := <-ch:
		return a, offload.DecodeError(a.Error)
	case <-s.ctx.Done():
		return nil, gone
	}
}

// fileAnswered delivers the answer to a request.
func (s *server) fileAnswered(m *protocol.FileAnswer) {
	s.guard.Lock()
	ch := s.asked[m.Call]
	delete(s.asked, m.Call)
	s.guard.Unlock()
	if ch != nil { // a client may answer twice
		a := *m
		a.Data, a.Error = bytes.Clone(m.Data), bytes.Clone(m.Error) // the frame's memory is reused
		ch <- &a
	}
}

// OpenFile implements [offload.FileServices]. The client applies its policy.
func (h *hostServices) OpenFile(name, mode string) (offload.File, error) {
	a, err := h.server.askFile(&protocol.FileRequest{At: h.at, Op: protocol.OpenFile, Name: name, Other: mode})
	if err != nil {
		return nil, err
	}
	return &hostFile{h.server, a.Value}, nil
}

// RemoveFile implements [offload.FileServices].
func (h *hostServices) RemoveFile(name string) error {
	_, err := h.server.askFile(&protocol.FileRequest{At: h.at, Op: protocol.RemoveFile, Name: name})
	return err
}

// RenameFile implements [offload.FileServices].
func (h *hostServices) RenameFile(from, to string) error {
	_, err := h.server.askFile(&protocol.FileRequest{At: h.at, Op: protocol.RenameFile, Name: from, Other: to})
	return err
}

// hostFile is a file that the client has opened. It implements [offload.File].
type hostFile struct {
	server *server
	number int64
}

// Read reads at most [protocol.MaxFragment] bytes.
func (f *hostFile) Read(to []byte) (int, error) {
	if len(to) == 0 {
		return 0, nil
	}
	a, err := f.server.askFile(&protocol.FileRequest{Op: protocol.ReadFile, File: f.number, Offset: int64(min(len(to), protocol.MaxFragment))})
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
func (f *hostFile) Write(data []byte) (int, error) {
	done := 0
	for {
		piece := data[done:min(done+protocol.MaxFragment, len(data))]
		a, err := f.server.askFile(&protocol.FileRequest{Op: protocol.WriteFile, File: f.number, Data: piece})
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
func (f *hostFile) Seek(offset int64, whence int) (int64, error) {
	a, err := f.server.askFile(&protocol.FileRequest{Op: protocol.SeekFile, File: f.number, Offset: offset, Whence: int32(whence)})
	if err != nil {
		return 0, err
	}
	return a.Value, nil
}

// Close implements [io.Closer].
func (f *hostFile) Close() error {
	_, err := f.server.askFile(&protocol.FileRequest{Op: protocol.CloseFile, File: f.number})
	return err
}
