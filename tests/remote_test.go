package tests

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/session"
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
