package remote

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// gated is a plugin whose fills wait for a gate, and whose memory reports that it was freed.
type gated struct {
	offload.Plugin
	gate, freed chan struct{}
}

func (g *gated) Open(ctx context.Context) (offload.Platform, error) {
	p, err := g.Plugin.Open(ctx)
	return gatedPlatform{p, g}, err
}

type gatedPlatform struct {
	offload.Platform
	g *gated
}

func (p gatedPlatform) Devices() []offload.Device {
	return []offload.Device{gatedDevice{p.Platform.Devices()[0], p.g}}
}

type gatedDevice struct {
	offload.Device
	g *gated
}

func (d gatedDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	m, err := d.Device.Allocate(size, kind)
	return gatedMemory{m, d.g}, err
}

func (d gatedDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	return gatedQueue{q, d.g}, err
}

type gatedMemory struct {
	offload.Memory
	g *gated
}

func (m gatedMemory) Free() error {
	select {
	case m.g.freed <- struct{}{}:
	default:
	}
	return m.Memory.Free()
}

type gatedQueue struct {
	offload.Queue
	g *gated
}

func (q gatedQueue) Fill(offload.Span, []byte) error {
	return q.Host(func() error { <-q.g.gate; return nil })
}

// TestReleaseDuringCommand releases memory that a running command uses: it is freed after the command.
func TestReleaseDuringCommand(t *testing.T) {
	t.Run("open queue", func(t *testing.T) { releaseDuringCommand(t, false) })
	t.Run("released queue", func(t *testing.T) { releaseDuringCommand(t, true) })
}

func releaseDuringCommand(t *testing.T, closed bool) {
	here, there := net.Pipe()
	g := &gated{cpu.New(cpu.Options{}), make(chan struct{}), make(chan struct{}, 1)}
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), there, g) }()
	replies := make(chan uint64, 16)
	go func() {
		var head [4]byte
		for {
			if _, err := io.ReadFull(here, head[:]); err != nil {
				return
			}
			frame := make([]byte, binary.LittleEndian.Uint32(head[:]))
			if _, err := io.ReadFull(here, frame); err != nil {
				return
			}
			if p, err := protocol.Parse(frame); err != nil {
				t.Error(err)
			} else if r, ok := p.(*protocol.Reply); ok {
				replies <- r.Request
			}
		}
	}()
	write := func(b []byte) {
		t.Helper()
		if _, err := here.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	write(session())
	<-replies
	<-replies
	b := protocol.Append(nil, &protocol.Fill{At: protocol.At{Queue: 20, Number: 1}, Memory: 10, Offset: 0, Size: 8, Pattern: []byte{1}}, 0)
	if closed {
		b = protocol.Append(b, &protocol.Release{Kind: protocol.QueueObject, Object: 20}, 0)
	}
	b = protocol.Append(b, &protocol.Release{Kind: protocol.MemoryObject, Object: 10}, 0)
	write(protocol.Append(b, &protocol.Allocate{Request: 3, Device: 0, Memory: 11, Size: 64, Kind: 0}, 0))
	<-replies // the release was handled
	select {
	case <-g.freed:
		t.Error("the memory was freed while a command ran")
	case <-time.After(50 * time.Millisecond):
	}
	close(g.gate)
	select {
	case <-g.freed:
	case <-time.After(time.Minute):
		t.Error("the memory is not freed")
	}
	_ = here.Close()
	<-served
}

// TestManyDigests sends the starts of more images than a server keeps.
func TestManyDigests(t *testing.T) {
	s := &server{images: map[protocol.Digest]*content{}}
	var err error
	sent := 0
	for ; err == nil && sent <= 2*maxImages; sent++ {
		m := &protocol.ImageData{Total: 8, Data: []byte{1}}
		binary.LittleEndian.PutUint32(m.Digest[:], uint32(sent))
		err = s.addData(m)
	}
	if err == nil || len(s.images) > maxImages {
		t.Errorf("%d of %d images are kept, error: %v", len(s.images), sent, err)
	}
}

// TestStopAfterRelease stops commands of a released queue, as a goroutine may that cancels while another one closes the queue.
func TestStopAfterRelease(t *testing.T) {
	replies := make(chan protocol.Message, 16)
	write, here, done := serveRaw(t, Server{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}}, func(p protocol.Message) {
		if _, ok := p.(*protocol.Reply); ok {
			replies <- p
		}
	})
	if _, err := here.Write(session()); err != nil {
		t.Fatal(err)
	}
	<-replies
	<-replies
	write(&protocol.Release{Kind: protocol.QueueObject, Object: 20}, &protocol.Stop{At: protocol.At{Queue: 20, Number: 1}}, &protocol.Allocate{Request: 3, Device: 0, Memory: 11, Size: 64, Kind: 0})
	select {
	case <-replies:
		_ = here.Close()
		served(t, done)
	case err := <-done:
		t.Errorf("the server ended: %v", err)
	}
}
