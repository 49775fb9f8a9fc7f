package remote

import (
	"io"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/remote/protocol"
)

// held is a stream whose Write uses its bytes until release is closed, also after Close.
type held struct {
	io.Reader
	begun, release chan struct{}
}

func (h *held) Write(b []byte) (int, error) {
	if len(b) < maxCopied {
		return len(b), nil
	}
	close(h.begun)
	<-h.release
	return 0, io.ErrClosedPipe
}

func (h *held) Close() error { return nil }

// TestWrittenAtEnd ends a connection while its writer uses the bytes of a message. No wait for these bytes returns before the writer has
// left them, since their memory may then be freed.
func TestWrittenAtEnd(t *testing.T) {
	reader, _ := io.Pipe()
	h := &held{reader, make(chan struct{}), make(chan struct{})}
	l := newLink(h, false)
	l.sendWith(&protocol.Fragment{}, make([]byte, 1<<20))
	<-h.begun
	ended, waited := make(chan struct{}), make(chan bool, 1)
	go func() { l.end(); close(ended) }()
	for done := false; !done; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		done = l.ended
		l.mu.Unlock()
	}
	go func() { waited <- l.waitWritten(l.position()) }()
	select {
	case <-waited:
		t.Fatal("a wait ends while the writer uses the bytes")
	case <-time.After(50 * time.Millisecond):
	}
	close(h.release)
	if <-waited {
		t.Error("the bytes count as written")
	}
	<-ended
}
