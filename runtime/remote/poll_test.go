package remote

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// polled is one end of a stream of messages in memory: it implements [Poller] and [Poster].
type polled struct {
	mu      *sync.Mutex
	changed *sync.Cond
	inbox   []byte
	over    bool
	other   *polled
	posts   int // messages that this end sent
}

func newPolled() (a, b *polled) {
	mu := new(sync.Mutex)
	changed := sync.NewCond(mu)
	a, b = &polled{mu: mu, changed: changed}, &polled{mu: mu, changed: changed}
	a.other, b.other = b, a
	return a, b
}

func (p *polled) Post(b []byte) bool {
	_, err := p.Write(b)
	return err == nil
}

func (p *polled) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return 0, io.ErrClosedPipe
	}
	p.other.inbox = append(p.other.inbox, b...)
	p.posts++
	p.changed.Broadcast()
	return len(b), nil
}

func (p *polled) Poll() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.inbox) > 0 || p.over
}

func (p *polled) Drive(done func() bool) bool {
	for range 100 {
		if done() {
			return true
		}
		time.Sleep(10 * time.Microsecond)
	}
	return false
}

func (p *polled) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.inbox) == 0 && !p.over {
		p.changed.Wait()
	}
}

func (p *polled) Read(b []byte) (int, error) {
	p.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.inbox) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.inbox)
	p.inbox = p.inbox[n:]
	return n, nil
}

func (p *polled) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over, p.other.over = true, true
	p.changed.Broadcast()
	return nil
}

// TestPolled uses a device over a stream that waiting goroutines poll, from several goroutines. The server reports ends of
// commands that arrived together in one message.
func TestPolled(t *testing.T) {
	here, there := newPolled()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), there, cpu.New(cpu.Options{})) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const fills, users = 2000, 3
	var using sync.WaitGroup
	for user := range users {
		using.Go(func() {
			d := p.Devices()[0]
			m, err := d.Allocate(fills, offload.DeviceMemory)
			if err != nil {
				t.Error(err)
				return
			}
			q, err := d.NewQueue(offload.QueueOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			want, got := make([]byte, fills), make([]byte, fills)
			for i := range fills {
				want[i] = byte(i + user)
				if err := q.Fill(offload.Span{Memory: m, Offset: int64(i), Size: 1}, want[i:i+1]); err != nil {
					t.Error(err)
				}
			}
			if err := q.Retrieve(got, offload.Span{Memory: m, Size: fills}); err != nil {
				t.Error(err)
			}
			if err := q.Sync(ctx); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("the bytes that came back differ")
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	using.Wait()
	there.mu.Lock()
	if n := there.posts; n > users*fills/4 {
		t.Errorf("the server sent %d messages for %d commands", n, users*fills)
	}
	there.mu.Unlock()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
