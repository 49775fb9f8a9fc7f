package mpi

import (
	"runtime"
	"testing"
)

// TestClosedByBoth checks that a stream which the other process closes meanwhile remains until Close has sent its message: this process
// may leave once it has no streams, and the other one waits for the message.
func TestClosedByBoth(t *testing.T) {
	w := &world{streams: map[address]*stream{}}
	s := newStream(w, address{rank: 1}, firstTag)
	w.streams[s.at] = s
	w.over = true // nothing is sent
	w.calling.Lock()
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for begun := false; !begun; runtime.Gosched() {
		s.mu.Lock()
		begun = s.closed
		s.mu.Unlock()
	}
	s.put(nil)
	if len(w.streams) == 0 {
		t.Error("the stream is gone before the other process has been told")
	}
	w.calling.Unlock()
	<-closed
	if len(w.streams) > 0 {
		t.Error("the stream is left")
	}
}
