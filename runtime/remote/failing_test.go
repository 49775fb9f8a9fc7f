package remote

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// failing is a plugin whose devices have no memory that the host sees, refuse copies while fails is set, and withdraw Exact
// when inexact is.
type failing struct {
	offload.Plugin
	fails, inexact atomic.Bool
	synced         chan struct{} // receives when a queue is asked to end early; may be nil
}

func (f *failing) Open(ctx context.Context) (offload.Platform, error) {
	p, err := f.Plugin.Open(ctx)
	return failingPlatform{p, f}, err
}

type failingPlatform struct {
	offload.Platform
	f *failing
}

func (p failingPlatform) Devices() []offload.Device {
	return []offload.Device{failingDevice{p.Platform.Devices()[0], p.f}}
}

type failingDevice struct {
	offload.Device
	f *failing
}

func (d failingDevice) Info() *offload.DeviceInfo {
	info := *d.Device.Info()
	info.Features.Exact = !d.f.inexact.Load()
	return &info
}

func (d failingDevice) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	d.f.inexact.Store(true)
	return hiddenProgram{}, nil
}

type hiddenProgram struct{ offload.Program }

func (hiddenProgram) Symbols() []offload.Symbol             { return nil }
func (hiddenProgram) Global(string) (offload.Memory, error) { return hiddenMemory{}, nil }
func (hiddenProgram) Unload() error                         { return nil }

func (d failingDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	m, err := d.Device.Allocate(size, kind)
	return hiddenMemory{m}, err
}

func (d failingDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	return failingQueue{q, d.f}, err
}

type hiddenMemory struct{ offload.Memory }

func (hiddenMemory) Bytes() []byte { return nil }

type failingQueue struct {
	offload.Queue
	f *failing
}

func (q failingQueue) err() error {
	if q.f.fails.Load() {
		return offload.Errorf(offload.OutOfResources, "copy", "the cupboard is bare")
	}
	return nil
}

func near(s offload.Span) offload.Span {
	s.Memory = s.Memory.(hiddenMemory).Memory
	return s
}

func (q failingQueue) Submit(to offload.Span, data []byte) error {
	if err := q.err(); err != nil {
		return err
	}
	return q.Queue.Submit(near(to), data)
}

func (q failingQueue) Retrieve(data []byte, from offload.Span) error {
	if err := q.err(); err != nil {
		return err
	}
	return q.Queue.Retrieve(data, near(from))
}

func (q failingQueue) Sync(ctx context.Context) error {
	if ctx.Err() != nil && q.f.synced != nil {
		select {
		case q.f.synced <- struct{}{}:
		default:
		}
	}
	return q.Queue.Sync(ctx)
}

// TestExchangeFails exchanges memory while the devices of both sides, or memory of the other, fail: each command fails with the
// device's own error, and the connection of the servers stays as it is.
func TestExchangeFails(t *testing.T) {
	f := &failing{Plugin: cpu.New(cpu.Options{})}
	dials := new(atomic.Int64)
	devices, _, _ := peersOf(t, f, dials)
	const n = 3<<20 + 5
	allocated := func(d offload.Device) offload.Memory {
		m, err := d.Allocate(n, offload.DeviceMemory)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := allocated(devices[0]), allocated(devices[1])
	q, err := devices[0].NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	exchange := func(to, from offload.Memory) error {
		if err := q.Exchange(offload.Span{Memory: to, Size: n}, offload.Span{Memory: from, Size: n}); err != nil {
			t.Fatal(err)
		}
		return q.Sync(t.Context())
	}
	data, back := bytes.Repeat([]byte("pieces "), n/7+1)[:n], make([]byte, n)
	if err := q.Submit(offload.Span{Memory: a, Size: n}, data); err != nil {
		t.Fatal(err)
	}
	if err := exchange(b, a); err != nil {
		t.Fatal(err)
	}
	before := dials.Load()
	for range 3 {
		f.fails.Store(true)
		for _, copies := range [][2]offload.Memory{{b, a}, {a, b}} {
			if err := exchange(copies[0], copies[1]); offload.CodeOf(err) != offload.OutOfResources || !strings.Contains(err.Error(), "cupboard") {
				t.Errorf("an exchange of a device that fails: %v", err)
			}
		}
		f.fails.Store(false)
		if err := exchange(a, b); err != nil {
			t.Error(err)
		}
	}
	c := allocated(devices[1])
	client := clientOf(devices[1].(*device).client.cluster.parts[1])
	client.link.send(&protocol.Release{Kind: protocol.MemoryObject, Object: c.(*memory).id})
	if _, err := devices[1].Allocate(1, offload.DeviceMemory); err != nil { // the release was handled
		t.Fatal(err)
	}
	for _, copies := range [][2]offload.Memory{{c, a}, {a, c}} {
		if err := exchange(copies[0], copies[1]); offload.CodeOf(err) != offload.Closed {
			t.Errorf("an exchange of memory that was freed: %v", err)
		}
	}
	if err := exchange(a, b); err != nil {
		t.Error(err)
	}
	if err := q.Retrieve(back, offload.Span{Memory: a, Size: n}); err != nil {
		t.Fatal(err)
	}
	if err := q.Sync(t.Context()); err != nil || !bytes.Equal(back, data) {
		t.Errorf("the bytes differ, error: %v", err)
	}
	if dials := dials.Load() - before; dials != 0 {
		t.Errorf("%d connections were opened anew", dials)
	}
}

// TestWithdrawnExact loads a program, at which the server's device finds its arithmetic to be inexact: so does the client's.
func TestWithdrawnExact(t *testing.T) {
	here, there := net.Pipe()
	go func() { _ = Serve(t.Context(), there, &failing{Plugin: cpu.New(cpu.Options{})}) }()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := p.Devices()[0]
	before := d.Info()
	if !before.Features.Exact {
		t.Error("the device is inexact before it has a program")
	}
	if _, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if d.Info().Features.Exact || !before.Features.Exact {
		t.Error("the withdrawal did not arrive, or changed what was returned before")
	}
}

// serveRaw serves a plugin, and returns the client's end, whose messages a goroutine reads. seen is called with each.
func serveRaw(t *testing.T, o Server, seen func(protocol.Message)) (write func(...protocol.Message), here net.Conn, served chan error) {
	here, there := net.Pipe()
	served = make(chan error, 1)
	go func() { served <- o.Serve(context.Background(), there) }()
	go func() {
		l := newLink(here, false)
		l.handle = func(p protocol.Message) error { seen(p); return nil }
		_ = l.receive()
	}()
	return func(list ...protocol.Message) {
		t.Helper()
		var b []byte
		for _, p := range list {
			b = protocol.Append(b, p, 0)
		}
		if _, err := here.Write(b); err != nil {
			t.Fatal(err)
		}
	}, here, served
}

func served(t *testing.T, done chan error) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the server does not end")
	}
}

// TestEndWithSilentServer ends a client while another server, which is silent in the middle of an exchange, uses its memory.
func TestEndWithSilentServer(t *testing.T) {
	welcomed, replies := make(chan *protocol.Welcome, 1), make(chan protocol.Message, 16)
	_, here, done := serveRaw(t, Server{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Address: "1"}, func(p protocol.Message) {
		switch m := p.(type) {
		case *protocol.Welcome:
			welcomed <- m
		case *protocol.Reply:
			replies <- m
		}
	})
	if _, err := here.Write(session()); err != nil {
		t.Fatal(err)
	}
	w := <-welcomed
	other, there := net.Pipe()
	go func() { _ = Server{}.Serve(context.Background(), there) }()
	h := &protocol.PeerHello{Version: protocol.Version, Session: w.Session}
	copy(h.Magic[:], protocol.Magic)
	<-replies
	<-replies
	b := protocol.Append(protocol.Append(nil, h, 0), &protocol.PeerCopy{Write: true, Place: protocol.Place{Memory: 10}, Extent: [3]int64{64, 1, 1}}, 0)
	if _, err := other.Write(append(b, protocol.PieceFollows)); err != nil { // and no bytes
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	_ = here.Close()
	served(t, done)
}

// TestEndWithReleasedQueue ends a client whose released queue has a command that runs until it is stopped.
func TestEndWithReleasedQueue(t *testing.T) {
	f := &failing{Plugin: cpu.New(cpu.Options{}), synced: make(chan struct{}, 1)}
	g := &gated{f, f.synced, nil}
	replies := make(chan protocol.Message, 16)
	write, here, done := serveRaw(t, Server{Plugins: []offload.Plugin{g}}, func(p protocol.Message) {
		if _, ok := p.(*protocol.Reply); ok {
			replies <- p
		}
	})
	if _, err := here.Write(session()); err != nil {
		t.Fatal(err)
	}
	<-replies
	<-replies
	write(&protocol.Fill{At: protocol.At{Queue: 20, Number: 1}, Memory: 10, Offset: 0, Size: 8, Pattern: []byte{1}}, &protocol.Release{Kind: protocol.QueueObject, Object: 20}, &protocol.Allocate{Request: 3, Device: 0, Memory: 11, Size: 64, Kind: 0})
	<-replies
	_ = here.Close()
	served(t, done)
}

// TestGlobalWithoutNumber requests a global with the number that denotes host memory.
func TestGlobalWithoutNumber(t *testing.T) {
	replies := make(chan protocol.Message, 16)
	write, here, done := serveRaw(t, Server{Plugins: []offload.Plugin{&failing{Plugin: cpu.New(cpu.Options{})}}}, func(p protocol.Message) {
		if _, ok := p.(*protocol.Reply); ok {
			replies <- p
		}
	})
	if _, err := here.Write(session()); err != nil {
		t.Fatal(err)
	}
	<-replies
	<-replies
	img := protocol.ImageRef{Kind: offload.ImageIR}
	write(&protocol.Load{Request: 3, Device: 0, Program: 30, Image: img})
	<-replies
	write(&protocol.FindGlobal{Request: 4, Program: 30, Memory: 0, Name: "g"})
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "number 0") {
			t.Errorf("the server ended with %v", err)
		}
	case <-replies:
		t.Error("a global has the number 0")
		_ = here.Close()
		served(t, done)
	}
}

// TestUnreadPrints prints lines for a client that does not consume them. The server sends a bounded number, and one
// more for each consumed line. The end of the connection ends waiting prints.
func TestUnreadPrints(t *testing.T) {
	var mu sync.Mutex
	arrived := 0
	sent := func() int {
		mu.Lock()
		defer mu.Unlock()
		return arrived
	}
	here, there := net.Pipe()
	s := &server{link: newLink(there, true)}
	s.printed.L = &s.mu
	go func() {
		l := newLink(here, false)
		l.handle = func(protocol.Message) error { mu.Lock(); arrived++; mu.Unlock(); return nil }
		_ = l.receive()
	}()
	printing := make(chan struct{})
	go func() {
		defer close(printing)
		for range 3 * protocol.MaxPrints {
			(&hostServices{server: s, at: protocol.At{Queue: 1, Number: 1}}).Print(&offload.Message{Text: "line"})
		}
	}()
	settles := func(want int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); sent() < want && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		if n := sent(); n != want {
			t.Errorf("%d lines arrived, want %d", n, want)
		}
	}
	settles(protocol.MaxPrints)
	s.greeted = true
	if err := s.handle(&protocol.PrintsDone{Count: 100}); err != nil {
		t.Error(err)
	}
	settles(protocol.MaxPrints + 100)
	if err := s.handle(&protocol.PrintsDone{Count: protocol.MaxPrints + 1}); err == nil {
		t.Error("more lines were printed than sent")
	}
	s.mu.Lock()
	s.leaving = true
	s.printed.Broadcast()
	s.mu.Unlock()
	<-printing
	s.link.end()
}
