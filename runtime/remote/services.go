package remote

import (
	"context"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/hostfile"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// hostServices forwards the requests of device code to the client.
type hostServices struct {
	server  *server
	at      protocol.At
	program uint64
}

func (h *hostServices) Print(m *offload.Message) {
	s := h.server
	s.mu.Lock()
	for s.prints >= protocol.MaxPrints && !s.leaving {
		s.printed.Wait()
	}
	s.prints++
	s.mu.Unlock()
	s.link.waitForSpace()
	s.link.send(&protocol.Printed{At: h.at, Message: *m})
}

// Warn implements [offload.Warner]. It may be called after the end of the launch.
func (h *hostServices) Warn(text string) {
	h.server.link.waitForSpace()
	h.server.link.send(&protocol.Warning{Program: h.program, Text: text})
}

func (h *hostServices) Call(ctx context.Context, r *offload.Request) (uint64, error) {
	s := h.server
	ch := make(chan *protocol.ServiceAnswer, 1)
	s.mu.Lock()
	s.lastCall++
	number := s.lastCall
	s.calls[number] = ch
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, number)
		s.mu.Unlock()
	}()
	s.link.send(&protocol.ServiceCall{At: h.at, Call: number, Request: *r})
	select {
	case a := <-ch:
		return a.Bits, offload.DecodeError(a.Error)
	case <-ctx.Done():
		s.link.send(&protocol.ServiceCancel{Call: number})
		return 0, context.Cause(ctx)
	case <-s.ctx.Done():
		return 0, offload.Errorf(offload.DeviceLost, "call", "the client is gone")
	}
}

// answered delivers the answer to a call to the work-item that waits for it, if one does.
func (s *server) answered(m *protocol.ServiceAnswer) {
	s.mu.Lock()
	ch := s.calls[m.Call]
	delete(s.calls, m.Call)
	s.mu.Unlock()
	if ch != nil { // nil if the launch was stopped
		a := *m
		a.Error = append([]byte(nil), m.Error...)
		ch <- &a
	}
}

// OpenFile implements [offload.FileServices]. The client applies its policy.
func (h *hostServices) OpenFile(name, mode string) (offload.File, error) {
	return h.server.files.Open(h.at, name, mode)
}

// RemoveFile implements [offload.FileServices].
func (h *hostServices) RemoveFile(name string) error { return h.server.files.Remove(h.at, name) }

// RenameFile implements [offload.FileServices].
func (h *hostServices) RenameFile(from, to string) error {
	return h.server.files.Rename(h.at, from, to)
}

// sendFileRequest sends a request of device code for a file. It reports whether the client is there.
func (s *server) sendFileRequest(m *protocol.FileRequest) bool {
	s.link.waitForSpace()
	return s.link.send(m)
}

// serveFile serves a server's request for a file.
func (c *client) serveFile(m *protocol.FileRequest) error {
	return c.files.Serve(m, c.filesOf, func(a *protocol.FileAnswer) {
		c.link.waitForSpace()
		c.link.send(a)
	})
}

// filesOf returns the files of the launch of a request, or an error if the launch has ended or offers no files.
func (c *client) filesOf(m *protocol.FileRequest) (files hostfile.Services, err error) {
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
		return files, offload.Errorf(offload.Cancelled, m.Op.String(), "the launch has ended")
	}
	files.Failed = func(err error) { l.failed(m.At.Number, err) }
	var ok bool
	if files.FileServices, ok = s.(offload.FileServices); !ok {
		return files, offload.Errorf(offload.Unsupported, m.Op.String(), "the kernel uses the file %q, and the launch offers no files", m.Name)
	}
	return files, nil
}
