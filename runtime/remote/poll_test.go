package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// polled is one end of a stream of messages in memory: it implements [Poller] and [Queuer].
type polled struct {
	mu      *sync.Mutex
	changed *sync.Cond
	inbox   []byte
	over    bool
	other   *polled
	posts   int // messages that this end sent
	driven  int // goroutines in Drive of other streams
}

func newPolled() (a, b *polled) {
	mu := new(sync.Mutex)
	changed := sync.NewCond(mu)
	a, b = &polled{mu: mu, changed: changed}, &polled{mu: mu, changed: changed}
	a.other, b.other = b, a
	return a, b
}

func (p *polled) Queue(parts [][]byte) (int, bool, error) {
	n, err := p.Write(bytes.Join(parts, nil))
	return n, true, err
}

func (p *polled) OnWritten(func(n int, err error)) {}

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

func (p *polled) Driven(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.driven += by
	p.changed.Broadcast()
}

func (p *polled) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for (len(p.inbox) == 0 || p.driven > 0) && !p.over {
		p.changed.Wait()
	}
}

func (p *polled) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.inbox) == 0 && !p.over {
		p.changed.Wait()
	}
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

// TestDriveWith waits for a message of one stream. Meanwhile the messages of another one are handled, but not those of which a part is
// missing or that are too large for the buffer: these are left to the goroutine of their stream.
func TestDriveWith(t *testing.T) {
	a, _ := newPolled()
	l := newLink(a, false)
	type end struct {
		link       *link
		near, peer *polled
		got        int
	}
	var ends []*end
	var others []*link
	for range 3 {
		e := new(end)
		e.near, e.peer = newPolled()
		e.link = newLink(e.near, false)
		e.link.handle = func(p protocol.Message) error { e.got += len(p.(*protocol.Fragment).Data); return nil }
		ends, others = append(ends, e), append(others, e.link)
	}
	frame := func(n int) []byte { return protocol.Append(nil, &protocol.Fragment{Data: make([]byte, n)}, 0) }
	send := func(e *end, b []byte) {
		if _, err := e.peer.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	part := frame(100)
	send(ends[0], append(frame(5), part[:40]...))
	send(ends[1], append(frame(7), part[:3]...))
	send(ends[2], frame(readAtOnce))
	if l.driveWith(others, func() bool { return ends[1].got > 0 && ends[2].near.driven == 0 }) != true {
		t.Fatal("the first messages were not handled")
	}
	send(ends[0], part[40:])
	send(ends[1], part[3:])
	if !l.driveWith(others[:2], func() bool {
		if ends[0].near.driven != 1 || ends[1].near.driven != 1 {
			t.Error("the goroutines of the other streams read, too")
		}
		return ends[0].got == 105 && ends[1].got == 107
	}) {
		t.Errorf("%d and %d bytes were handled", ends[0].got, ends[1].got)
	}
	if ends[2].got != 0 {
		t.Error("a message that fills the buffer was handled")
	}
	for i, e := range ends {
		if e.near.driven != 0 {
			t.Errorf("stream %d counts %d driving goroutines", i, e.near.driven)
		}
	}
	done := make(chan error)
	go func() { done <- ends[2].link.receive() }()
	send(ends[2], frame(1))
	for {
		ends[2].link.reading.Lock()
		got := ends[2].got
		ends[2].link.reading.Unlock()
		if got == readAtOnce+1 {
			break
		}
		runtime.Gosched()
	}
	_ = ends[2].peer.Close()
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// lazy is a polled that writes parts a while after Queue, in order.
type lazy struct {
	*polled
	written func(n int, err error)
	delay   time.Duration // 200 µs if it is 0

	unsent sync.Mutex
	parts  [][]byte
}

func (l *lazy) OnWritten(written func(n int, err error)) { l.written = written }

func (l *lazy) Queue(parts [][]byte) (int, bool, error) {
	l.unsent.Lock()
	defer l.unsent.Unlock()
	if len(l.parts) > 4 {
		return 0, false, nil
	}
	if len(l.parts) == 0 {
		time.AfterFunc(cmp.Or(l.delay, 200*time.Microsecond), l.write)
	}
	l.parts = append(l.parts, parts...)
	return 0, true, nil
}

func (l *lazy) write() {
	l.unsent.Lock()
	n, err := 0, error(nil)
	for _, part := range l.parts {
		m, e := l.Write(part)
		n += m
		err = cmp.Or(err, e)
	}
	l.parts = nil
	l.unsent.Unlock()
	l.written(n, err)
}

// Close waits until no part is used.
func (l *lazy) Close() error {
	err := l.polled.Close()
	for {
		l.unsent.Lock()
		n := len(l.parts)
		l.unsent.Unlock()
		if n == 0 {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// TestLateWrites reads memory and overwrites it without a wait between, over a stream that writes late: the bytes that arrive are
// the old ones, both ways.
func TestLateWrites(t *testing.T) {
	a, b := newPolled()
	here, there := &lazy{polled: a}, &lazy{polled: b}
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), there, cpu.New(cpu.Options{})) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const size, rounds = 3<<20 + 5, 40
	m, err := p.Devices()[0].Allocate(size, offload.DeviceMemory)
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Devices()[0].NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole := offload.Span{Memory: m, Size: size}
	data, got := bytes.Repeat([]byte{1}, size), make([]byte, size)
	for i := range rounds {
		old := byte(i)
		errs := []error{q.Fill(whole, []byte{old})}
		if i%2 == 0 {
			errs = append(errs, q.Sync(ctx)) // the queue is idle
		}
		errs = append(errs, q.Retrieve(got, whole), q.Submit(whole, data), q.Sync(ctx))
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(got, []byte{old}); n != size {
			t.Fatalf("round %d: %d of %d bytes are those of before the write", i, n, size)
		}
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// lateEnd is a polled whose Drive returns false although a write ended after it last called done.
type lateEnd struct {
	*polled
	written func(n int, err error)
	queued  int
}

func (l *lateEnd) OnWritten(written func(n int, err error)) { l.written = written }

func (l *lateEnd) Queue(parts [][]byte) (int, bool, error) {
	for _, p := range parts {
		l.queued += len(p)
	}
	return 0, true, nil
}

func (l *lateEnd) Drive(done func() bool) bool {
	if done() {
		return true
	}
	l.written(l.queued, nil)
	return false
}

// TestWriteAfterDrive waits for bytes that are written between the last call of done and the end of Drive.
func TestWriteAfterDrive(t *testing.T) {
	a, _ := newPolled()
	l := newLink(&lateEnd{polled: a}, false)
	l.sendWith(&protocol.Fragment{}, make([]byte, 1<<20))
	written := make(chan bool, 1)
	go func() { written <- l.waitWritten(l.position()) }()
	select {
	case ok := <-written:
		if !ok {
			t.Error("the connection ended")
		}
	case <-time.After(time.Minute):
		t.Fatal("waitWritten sleeps although the bytes were written")
	}
}

// TestCancelledRead cancels reads of memory that the next command overwrites, over a stream that writes late. No read returns
// bytes of the next command.
func TestCancelledRead(t *testing.T) {
	a, b := newPolled()
	here, there := &lazy{polled: a}, &lazy{polled: b, delay: 20 * time.Millisecond}
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), there, cpu.New(cpu.Options{})) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const size = 3 << 20
	m, err := p.Devices()[0].Allocate(size, offload.DeviceMemory)
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Devices()[0].NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole := offload.Span{Memory: m, Size: size}
	cancelled, stop := context.WithCancel(ctx)
	stop()
	for i := range 20 {
		if err := errors.Join(q.Fill(whole, []byte{1}), q.Sync(ctx)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, size)
		if err := q.Retrieve(got, whole); err != nil {
			t.Fatal(err)
		}
		read, err := q.Record()
		if err == nil {
			err = q.Fill(whole, []byte{2})
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = read.Sync(cancelled)
		_ = q.Sync(ctx) // may report the cancellation
		if n := bytes.Count(got, []byte{2}); n > 0 {
			t.Fatalf("read %d has %d bytes of the command after it", i, n)
		}
	}
	if err := errors.Join(m.Free(), q.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	select {
	case <-served:
	case <-ctx.Done():
		t.Error("the server did not end")
	}
}
