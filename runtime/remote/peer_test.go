package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// countingStream counts the bytes that pass.
type countingStream struct {
	io.ReadWriteCloser
	passed *atomic.Int64
}

func (s *countingStream) Read(b []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(b)
	s.passed.Add(int64(n))
	return n, err
}

func (s *countingStream) Write(b []byte) (int, error) {
	n, err := s.ReadWriteCloser.Write(b)
	s.passed.Add(int64(n))
	return n, err
}

// choppyStream returns bytes in pieces of random sizes.
type choppyStream struct{ io.ReadWriteCloser }

func (s choppyStream) Read(b []byte) (int, error) {
	most := 100_000
	if rand.IntN(8) == 0 {
		most = 10
	}
	runtime.Gosched() // others may overtake
	return s.ReadWriteCloser.Read(b[:min(len(b), 1+rand.IntN(most))])
}

// peers opens the devices of three servers that reach each other. It returns the bytes that passed the client, and a function
// that kills a server.
func peers(t *testing.T) (devices []offload.Device, passed *atomic.Int64, kill func(server int)) {
	return peersOf(t, cpu.New(cpu.Options{}), new(atomic.Int64))
}

// peersOf opens the devices of three servers of a plugin, and counts their connections.
func peersOf(t *testing.T, plugin offload.Plugin, dials *atomic.Int64) (devices []offload.Device, passed *atomic.Int64, kill func(server int)) {
	passed = new(atomic.Int64)
	var servers [3]context.Context
	var kills [3]context.CancelCauseFunc
	var serve func(i int) io.ReadWriteCloser
	serve = func(i int) io.ReadWriteCloser {
		dials.Add(1)
		here, there := net.Pipe()
		o := Server{Plugins: []offload.Plugin{plugin}, Address: strconv.Itoa(i), DialPeer: func(_ context.Context, address string) (io.ReadWriteCloser, error) {
			to, err := strconv.Atoi(address)
			if err != nil || servers[to].Err() != nil {
				return nil, errors.New("nobody listens at " + address)
			}
			return serve(to), nil
		}}
		go func() { _ = o.Serve(servers[i], choppyStream{there}) }()
		return choppyStream{here}
	}
	c := NewCluster("far", func(context.Context) (list []Peer, err error) {
		for i := range servers {
			servers[i], kills[i] = context.WithCancelCause(t.Context())
			list = append(list, Peer{Name: strconv.Itoa(i), Dial: func(context.Context) (io.ReadWriteCloser, error) {
				return &countingStream{serve(i), passed}, nil
			}})
		}
		return list, nil
	})
	p, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p.Devices(), passed, func(i int) { kills[i](errors.New("killed")) }
}

// TestExchangeBetweenServers copies between memories of two servers in both directions, whole and as boxes, without the client.
func TestExchangeBetweenServers(t *testing.T) {
	devices, passed, _ := peers(t)
	if !devices[0].(offload.PeerCopier).CanExchange(devices[1]) || devices[0].(offload.PeerCopier).CanExchange(devices[0]) {
		t.Fatal("which devices exchange memory is wrong")
	}
	const n = 5<<20 + 3
	memory := func(d offload.Device) offload.Memory {
		m, err := d.Allocate(n, offload.DeviceMemory)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b, c := memory(devices[0]), memory(devices[1]), memory(devices[2])
	var queues []offload.Queue
	for _, d := range devices {
		q, err := d.NewQueue(offload.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, q)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	data, back := make([]byte, n), make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	all := func(m offload.Memory) offload.Span { return offload.Span{Memory: m, Size: n} }
	check(queues[0].Submit(all(a), data))
	check(queues[0].Sync(t.Context()))
	before := passed.Load()
	check(queues[0].Exchange(all(b), all(a))) // pushes
	check(queues[0].Sync(t.Context()))
	check(queues[2].Exchange(all(c), all(b))) // pulls
	check(queues[2].Sync(t.Context()))
	box := [3]int64{100, 50, 20}
	check(queues[0].(offload.RectCopier).ExchangeRect(offload.Rect{Memory: c, Offset: 7, RowPitch: 128, SlicePitch: 10000},
		offload.Rect{Memory: a, Offset: 1000, RowPitch: 300, SlicePitch: 30000}, box))
	check(queues[0].Sync(t.Context()))
	if passed := passed.Load() - before; passed > 10000 {
		t.Errorf("%d bytes passed the client", passed)
	}
	check(queues[2].Retrieve(back, all(c)))
	check(queues[2].Sync(t.Context()))
	want := bytes.Clone(data)
	for z := range box[2] {
		for y := range box[1] {
			copy(want[7+z*10000+y*128:][:box[0]], data[1000+z*30000+y*300:])
		}
	}
	if !bytes.Equal(back, want) {
		t.Error("the bytes differ")
	}
	if err := queues[0].Exchange(offload.Span{Memory: b, Offset: 8, Size: n}, all(a)); offload.CodeOf(err) != offload.InvalidSize {
		t.Errorf("beyond the memory: %v", err)
	}
	if err := queues[0].Exchange(all(b), all(c)); err == nil {
		if err = queues[0].Sync(t.Context()); offload.CodeOf(err) != offload.InvalidDevice {
			t.Errorf("between two other devices: %v", err)
		}
	}
	if err := queues[0].Fill(all(b), []byte{1}); err == nil {
		if err = queues[0].Sync(t.Context()); offload.CodeOf(err) != offload.InvalidDevice {
			t.Errorf("a fill of another device's memory: %v", err)
		}
	}
	check(b.Free())
}

// TestExchangeWithLostServer copies between two servers until one is killed: the command fails, and the other device
// stays usable.
func TestExchangeWithLostServer(t *testing.T) {
	devices, _, kill := peers(t)
	const n = 1 << 20
	a, err := devices[0].Allocate(n, offload.DeviceMemory)
	if err != nil {
		t.Fatal(err)
	}
	b, err := devices[1].Allocate(n, offload.DeviceMemory)
	if err != nil {
		t.Fatal(err)
	}
	q, err := devices[0].NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	time.AfterFunc(20*time.Millisecond, func() { kill(1) })
	for err == nil {
		err = q.Exchange(offload.Span{Memory: b, Size: n}, offload.Span{Memory: a, Size: n})
		if err == nil {
			err = q.Sync(ctx)
		}
	}
	if offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the exchange failed with %v", err)
	}
	if err := q.Fill(offload.Span{Memory: a, Size: n}, []byte{1}); err != nil {
		t.Error(err)
	}
	if err := q.Sync(ctx); err != nil {
		t.Error(err)
	}
}

// TestStrangePeer connects to a server as another one that does not know a session.
func TestStrangePeer(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Server{Address: "1"}.Serve(t.Context(), there) }()
	m := &protocol.PeerHello{Version: protocol.Version, Session: protocol.NewSessionID()}
	copy(m.Magic[:], protocol.Magic)
	if _, err := here.Write(protocol.Append(nil, m, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err == nil {
		t.Error("the stranger was served")
	}
}
