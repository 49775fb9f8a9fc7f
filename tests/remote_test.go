package tests

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/silence"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/tests/network"
)

// cutStream cuts a connection during a read.
type cutStream struct {
	io.ReadWriteCloser
	left *atomic.Int64 // number of bytes to read before the cut
}

func (s *cutStream) Read(b []byte) (int, error) {
	if s.left.Load() <= 0 {
		_ = s.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.ReadWriteCloser.Read(b[:min(int64(len(b)), s.left.Load())])
	s.left.Add(-int64(n))
	return n, err
}

// TestRemoteDeviceLostAnywhere repeats a run whose connection to a server is cut after different numbers of bytes.
func TestRemoteDeviceLostAnywhere(t *testing.T) {
	var served sync.WaitGroup
	lose := func(t *testing.T, after int64) (read int64, failed error) {
		var left atomic.Int64
		left.Store(after)
		dial := func(context.Context) (io.ReadWriteCloser, error) {
			here, there := net.Pipe()
			served.Go(func() { _ = remote.Serve(context.Background(), there, cpu.New(cpu.Options{})) }) // returns an error when the stream is cut
			return &cutStream{here, &left}, nil
		}
		s := session.Open(session.Options{Plugins: []offload.Plugin{remote.NewPlugin("far", dial), cpu.New(cpu.Options{Devices: 2})}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := &lossyRun{t: t, ctx: ctx, session: s, id: "far:cpu:0", best: "cpu:0", codes: []offload.Code{offload.DeviceLost}}
		r.run()
		if live := s.Live(); len(live) > 0 && r.failed == nil {
			t.Errorf("left alive: %v", live)
		}
		r.note("close the session", s.Close(ctx))
		return after - left.Load(), r.failed
	}
	before := runtime.NumGoroutine()
	total, failed := lose(t, 1<<40)
	if failed != nil || total < 1000 {
		t.Fatalf("%d bytes without a loss: %v", total, failed)
	}
	cuts := int64(60)
	if testing.Short() {
		cuts = 12
	}
	for i := range cuts {
		after := total * i / cuts
		if _, failed := lose(t, after); offload.CodeOf(failed) != offload.DeviceLost {
			t.Errorf("after %d of %d bytes the loss was not reported: %v", after, total, failed)
		}
	}
	served.Wait()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// TestNetworkFaults repeats a run whose connection to a server goes through a network with faults: pieces that come late, pauses, and a
// cut at a random byte of either direction. The run is right, or the device is lost; the server frees its objects.
func TestNetworkFaults(t *testing.T) {
	count := 12
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		count = 500
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("OREPL_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("OREPL_TEST_SEED=%d", seed)
	before := runtime.NumGoroutine()
	bytes, failed := throughNetwork(t, network.Faults{Seed: seed, Piece: 1000, Delay: 100 * time.Microsecond, Stall: 300 * time.Millisecond})
	if failed != nil {
		t.Fatalf("the device was lost without a cut: %v", failed)
	}
	t.Logf("%d bytes pass in each direction", bytes)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range count {
		f := network.Faults{Seed: seed + uint64(i), Piece: 1 + r.IntN(100_000), Delay: time.Duration(r.IntN(50)) * time.Microsecond, End: network.End(i % 3), Back: r.IntN(2) == 0}
		at := bytes[0]
		if f.Back {
			at = bytes[1]
		}
		f.Cut = 1 + r.Int64N(at*9/10)
		t.Run(fmt.Sprintf("%d", i), func(t *testing.T) {
			if f.End == network.Silent {
				t.Setenv(silence.Variable, "1s")
			}
			if _, failed := throughNetwork(t, f); failed == nil {
				t.Errorf("the run does not notice %+v", f)
			}
		})
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// throughNetwork performs a run with a server behind a network. It returns the bytes of both directions and the first failure.
func throughNetwork(t *testing.T, f network.Faults) (bytes [2]int64, failed error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	relay, err := network.New(l.Addr().String(), func(int) network.Faults { return f })
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if there, err := l.Accept(); err == nil {
			_ = remote.Serve(context.Background(), there, cpu.New(cpu.Options{})) // returns an error when the stream is cut
		}
	}()
	var stream *countedStream
	dial := func(ctx context.Context) (io.ReadWriteCloser, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", relay.Address())
		stream = &countedStream{Conn: conn}
		return stream, err
	}
	s := session.Open(session.Options{Plugins: []offload.Plugin{remote.NewPlugin("far", dial), cpu.New(cpu.Options{Devices: 2})}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &lossyRun{t: t, ctx: ctx, session: s, id: "far:cpu:0", best: "cpu:0", codes: []offload.Code{offload.DeviceLost}}
	r.run()
	r.note("close the session", s.Close(ctx))
	select {
	case <-served:
	case <-ctx.Done():
		t.Errorf("the server does not end: %+v", f)
	}
	relay.Close()
	_ = l.Close()
	return [2]int64{stream.written.Load(), stream.read.Load()}, r.failed
}

// countedStream counts the bytes of a connection.
type countedStream struct {
	net.Conn
	written, read atomic.Int64
}

func (s *countedStream) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.written.Add(int64(n))
	return n, err
}

func (s *countedStream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.read.Add(int64(n))
	return n, err
}
