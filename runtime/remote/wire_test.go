package remote

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// TestBytesInFlight issues copies with more bytes than a server buffers for a queue.
func TestBytesInFlight(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error)
	go func() { served <- Serve(context.Background(), there, cpu.New(cpu.Options{})) }()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := p.Devices()[0]
	const size = laneBytes / 3
	m, err := d.Allocate(size, offload.DeviceMemory)
	check(err)
	q, err := d.NewQueue(offload.QueueOptions{})
	check(err)
	var l *lane
	for _, l = range p.(*client).lanes {
	}
	span := offload.Span{Memory: m, Size: size}
	gate := make(chan struct{})
	check(q.Host(func() error { <-gate; return nil }))
	out := make([][]byte, 12)
	for i := range out {
		check(q.Fill(span, []byte{byte(i)}))
		out[i] = make([]byte, size)
		check(q.Retrieve(out[i], span))
	}
	ctx, cancel := context.WithCancel(t.Context())
	most := make(chan int64)
	go func() {
		var n int64
		for ctx.Err() == nil {
			n = max(n, l.bytes.Load())
			runtime.Gosched()
		}
		most <- n
	}()
	close(gate)
	check(q.Sync(t.Context()))
	cancel()
	if n := <-most; n > laneBytes+size {
		t.Errorf("%d bytes in flight", n)
	}
	for i, b := range out {
		if b[0] != byte(i) || b[size-1] != byte(i) {
			t.Errorf("copy %d has %d and %d", i, b[0], b[size-1])
		}
	}
	check(q.Close())
	check(m.Free())
	check(p.Close())
	check(<-served)
}

// TestCloseWithoutReader closes a client whose server no longer reads, while a request waits.
func TestCloseWithoutReader(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	go func() {
		_, _ = io.ReadFull(there, make([]byte, len(protocol.Append(nil, &protocol.Hello{}, 0)))) // the other end may close first
		w := &protocol.Welcome{Version: protocol.Version, Devices: []protocol.Device{{Name: "x"}}}
		copy(w.Magic[:], protocol.Magic)
		_, _ = there.Write(protocol.Append(nil, w, 0))
	}()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error)
	go func() {
		_, err := p.Devices()[0].Allocate(16, offload.DeviceMemory)
		refused <- err
	}()
	time.Sleep(10 * time.Millisecond)
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("close hangs")
	}
	if err := <-refused; offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the request: %v", err)
	}
}

// gone is the stream to a process that has ended, which the other process finds out by a write.
type gone struct {
	io.Reader
	writes  int           // number of writes that succeed; used by one goroutine
	written chan struct{} // is closed by the first write, which Read awaits; nil if it does not
	failure error
	closed  chan struct{}
	once    sync.Once
}

func (g *gone) Read(b []byte) (int, error) {
	if g.written != nil {
		<-g.written
	}
	if n, err := g.Reader.Read(b); err == nil {
		return n, nil
	}
	<-g.closed
	return 0, &net.OpError{Op: "read", Net: "unix", Err: net.ErrClosed}
}

func (g *gone) Write(b []byte) (int, error) {
	if g.writes--; g.writes >= 0 {
		close(g.written)
		return len(b), nil
	}
	return 0, g.failure
}

func (g *gone) Close() error {
	g.once.Do(func() { close(g.closed) })
	return nil
}

// TestClientGone checks what a server reports if a write ends the connection: nothing if the client has ended, else the error of
// the write.
func TestClientGone(t *testing.T) {
	full := errors.New("no space")
	for failure, want := range map[error]error{syscall.EPIPE: nil, syscall.ECONNRESET: nil, full: full} {
		s := &gone{Reader: bytes.NewReader(session()), failure: &net.OpError{Op: "write", Net: "unix", Err: failure}, closed: make(chan struct{})}
		if err := Serve(t.Context(), s, cpu.New(cpu.Options{})); !errors.Is(err, want) {
			t.Errorf("after %v: %v, want %v", failure, err, want)
		}
	}
}

// TestServerGone checks the reason that a client reports if a write ends the connection.
func TestServerGone(t *testing.T) {
	for failure, want := range map[error]string{syscall.EPIPE: "the process ended, or closed the connection", errors.New("no space"): "write unix: no space"} {
		w := &protocol.Welcome{Version: protocol.Version, Devices: []protocol.Device{{Name: "x"}}}
		copy(w.Magic[:], protocol.Magic)
		s := &gone{Reader: bytes.NewReader(protocol.Append(nil, w, 0)), writes: 1, written: make(chan struct{}), failure: &net.OpError{Op: "write", Net: "unix", Err: failure}, closed: make(chan struct{})}
		p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return s, nil }).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Devices()[0].Allocate(16, offload.DeviceMemory); offload.CodeOf(err) != offload.DeviceLost || !strings.Contains(err.Error(), want) {
			t.Errorf("after %v: %v, want %s", failure, err, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// stream is a recorded stream: reads come from a buffer, writes are dropped.
type stream struct{ io.Reader }

func (s *stream) Write(b []byte) (int, error) { return len(b), nil }
func (s *stream) Close() error                { return nil }

// session returns the bytes of a client that sends most kinds of messages in a legal order.
func session() []byte {
	h := &protocol.Hello{Version: protocol.Version}
	copy(h.Magic[:], protocol.Magic)
	var b []byte
	for _, p := range []protocol.Message{h, &protocol.Allocate{Request: 1, Device: 0, Memory: 10, Size: 64, Kind: 0}, &protocol.NewQueue{Request: 2, Device: 0, Queue: 20, Label: "q"}} {
		b = protocol.Append(b, p, 0)
	}
	return b
}

// frames returns a frame of each type of message, from the golden bytes of the package protocol.
func frames(t testing.TB) (list [][]byte) {
	t.Helper()
	text, err := os.ReadFile("protocol/testdata/wire.golden")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "*") {
			list = append(list, nil)
		}
		if len(line) < 60 || line[8:10] != "  " {
			continue
		}
		piece, err := hex.DecodeString(strings.ReplaceAll(line[10:58], " ", ""))
		if err != nil || len(list) == 0 {
			t.Fatalf("%q: %v", line, err)
		}
		list[len(list)-1] = append(list[len(list)-1], piece...)
	}
	return list
}

// TestFrames parses the frames that fuzz targets begin with.
func TestFrames(t *testing.T) {
	list := frames(t)
	for i, frame := range list {
		if m, err := protocol.Parse(frame[4:]); err != nil || int(protocol.TypeOf(m)) != i {
			t.Errorf("frame %d: %T, %v", i, m, err)
		}
	}
	if len(list) < 40 {
		t.Errorf("%d frames", len(list))
	}
}

// FuzzServer sends arbitrary bytes to a server after a client's start.
func FuzzServer(f *testing.F) {
	for _, frame := range frames(f) {
		f.Add(frame)
	}
	f.Add(protocol.Append(protocol.Append(nil, &protocol.Transfer{At: protocol.At{Queue: 20, Number: 1}, Dst: protocol.Place{Memory: 10}, Extent: [3]int64{4, 2, 1}}, 0), &protocol.Fragment{At: protocol.At{Queue: 20, Number: 1}, Offset: 0, Data: []byte("12345678")}, 0))
	f.Add(protocol.Append(nil, &protocol.Fill{At: protocol.At{Queue: 20, Number: 1}, Memory: 10, Offset: 0, Size: 8, Pattern: []byte{1, 2}}, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Serve(t.Context(), &stream{Reader: io.MultiReader(bytes.NewReader(session()), bytes.NewReader(data))}, small{cpu.New(cpu.Options{})})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
	})
}

// small is a plugin whose devices have little memory.
type small struct{ offload.Plugin }

func (p small) Open(ctx context.Context) (offload.Platform, error) {
	platform, err := p.Plugin.Open(ctx)
	return smallPlatform{platform}, err
}

type smallPlatform struct{ offload.Platform }

func (p smallPlatform) Devices() []offload.Device {
	return []offload.Device{smallDevice{p.Platform.Devices()[0]}}
}

type smallDevice struct{ offload.Device }

func (d smallDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if size > 1<<20 {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes", size)
	}
	return d.Device.Allocate(size, kind)
}

// FuzzClient sends arbitrary bytes to a client after a server's welcome.
func FuzzClient(f *testing.F) {
	for _, frame := range frames(f) {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &protocol.Welcome{Version: protocol.Version, Devices: []protocol.Device{{Name: "x"}}}
		copy(w.Magic[:], protocol.Magic)
		s := &stream{Reader: io.MultiReader(bytes.NewReader(protocol.Append(nil, w, 0)), bytes.NewReader(data))}
		useClient(t, s)
	})
}

// useClient opens a client on a stream and uses it until it is lost.
func useClient(t *testing.T, s io.ReadWriteCloser) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return s, nil }).Open(ctx)
	if err != nil {
		return
	}
	d := p.Devices()[0]
	if m, err := d.Allocate(16, offload.DeviceMemory); err == nil {
		if q, err := d.NewQueue(offload.QueueOptions{}); err == nil {
			_ = q.Retrieve(make([]byte, 16), offload.Span{Memory: m, Size: 16})
			_, _ = q.Record()
			_ = q.Sync(ctx)
			_ = q.Close()
		}
		_ = m.Free()
	}
	if ctx.Err() != nil {
		t.Error("the client hangs")
	}
	_ = p.Close()
}

// TestDamage changes bytes of real conversations in both directions: neither side crashes or hangs.
func TestDamage(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		rng, far := rand.New(rand.NewPCG(seed, 5)), rand.New(rand.NewPCG(seed, 7))
		here, there := net.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = Serve(context.Background(), &noisy{ReadWriteCloser: there, rng: far, good: 20 + far.IntN(1000)}, cpu.New(cpu.Options{}))
		}()
		useClient(t, &noisy{ReadWriteCloser: here, rng: rng, good: 20 + rng.IntN(3000)})
		here.Close()
		<-served
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// noisy changes a byte that it reads after some good ones, and then ends.
type noisy struct {
	io.ReadWriteCloser
	rng  *rand.Rand
	good int
	done bool
}

func (n *noisy) Read(b []byte) (int, error) {
	if n.done {
		return 0, io.EOF
	}
	k, err := n.ReadWriteCloser.Read(b)
	if n.good -= k; n.good < 0 && k > 0 {
		n.done = true
		b[n.rng.IntN(k)] ^= 1 << n.rng.IntN(8)
	}
	return k, err
}
