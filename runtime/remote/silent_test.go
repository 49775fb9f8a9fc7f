package remote

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// silentPeer opens the platform of a peer that sends a greeting and no replies. Without reads it does not read either.
func silentPeer(t *testing.T, reads bool) offload.Platform {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { _ = b.Close() })
	go func() {
		var head [4]byte
		for n := 0; n == 0 || reads; n++ {
			if _, err := io.ReadFull(b, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, b, int64(binary.LittleEndian.Uint32(head[:]))); err != nil {
				return
			}
			if n == 0 {
				w := &protocol.Welcome{Version: protocol.Version, Devices: []protocol.Device{{Name: "d"}}}
				copy(w.Magic[:], protocol.Magic)
				if _, err := b.Write(protocol.Append(nil, w, 0)); err != nil {
					return
				}
			}
		}
	}()
	p, err := NewPlugin("x", func(context.Context) (io.ReadWriteCloser, error) { return a, nil }).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ends fails the test if do does not return in time.
func ends(t *testing.T, within time.Duration, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(within):
		t.Fatalf("the call did not end within %v", within)
		return nil
	}
}

// TestSilentPeer checks that a request to a silent peer ends soon after its context, and that Close returns.
func TestSilentPeer(t *testing.T) {
	p := silentPeer(t, true)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := ends(t, time.Minute, func() error {
		_, err := p.Devices()[0].Load(ctx, &offload.Image{Kind: offload.ImageIR, Data: []byte("x")})
		return err
	})
	if offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the error is %v", err)
	}
	_ = ends(t, time.Minute, p.Close)
	p = silentPeer(t, false)
	go p.Devices()[0].Allocate(8, 0)
	time.Sleep(50 * time.Millisecond)
	_ = ends(t, time.Minute, p.Close)
}
