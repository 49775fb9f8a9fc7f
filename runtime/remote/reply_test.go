package remote

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// TestReplyErrorOutlivesFrame checks that a failed request returns its own error while other replies arrive.
func TestReplyErrorOutlivesFrame(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		var head [4]byte
		for {
			if _, err := io.ReadFull(b, head[:]); err != nil {
				return
			}
			buf := make([]byte, binary.LittleEndian.Uint32(head[:]))
			if _, err := io.ReadFull(b, buf); err != nil {
				return
			}
			p, err := protocol.Parse(buf)
			if err != nil {
				t.Error(err)
				return
			}
			var r protocol.Message
			switch m := p.(type) {
			case *protocol.Hello:
				w := &protocol.Welcome{Version: protocol.Version, Devices: []protocol.Device{{Name: "d"}}}
				copy(w.Magic[:], protocol.Magic)
				r = w
			case *protocol.Allocate:
				r = &protocol.Reply{Request: m.Request, Error: offload.EncodeError(offload.Errorf(offload.OutOfResources, "allocate", "no %d bytes %s", m.Size, strings.Repeat(string(rune('a'+m.Size%26)), 40)))}
			default:
				continue
			}
			b.Write(protocol.Append(nil, r, 0))
		}
	}()
	pl, err := NewPlugin("x", func(context.Context) (io.ReadWriteCloser, error) { return a, nil }).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	d := pl.Devices()[0]
	var wg sync.WaitGroup
	var mu sync.Mutex
	bad := 0
	for g := range 16 {
		wg.Go(func() {
			for i := range 300 {
				n := int64(1000000 + g*1000 + i)
				_, err := d.Allocate(n, 0)
				want := fmt.Sprintf("no %d bytes %s", n, strings.Repeat(string(rune('a'+n%26)), 40))
				if err == nil || !strings.Contains(err.Error(), want) {
					mu.Lock()
					if bad++; bad < 6 {
						t.Errorf("asked for %d bytes, error: %v", n, err)
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}
