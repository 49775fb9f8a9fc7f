package remote

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/lease"
)

// counted is a plugin whose devices count their memory, have a limited number of blocks, and fill when a gate opens.
type counted struct {
	offload.Plugin
	blocks, most atomic.Int64
	gate         chan struct{}
	filling      chan struct{} // receives when a fill arrives
}

func (c *counted) Open(ctx context.Context) (offload.Platform, error) {
	p, err := c.Plugin.Open(ctx)
	return countedPlatform{p, c}, err
}

type countedPlatform struct {
	offload.Platform
	c *counted
}

func (p countedPlatform) Devices() []offload.Device {
	return []offload.Device{countedDevice{p.Platform.Devices()[0], p.c}}
}

type countedDevice struct {
	offload.Device
	c *counted
}

func (d countedDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if d.c.blocks.Add(1) > d.c.most.Load() {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "no %d bytes", size)
	}
	return d.Device.Allocate(size, kind)
}

func (d countedDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	return countedQueue{q, d.c}, err
}

type countedQueue struct {
	offload.Queue
	c *counted
}

func (q countedQueue) Fill(to offload.Span, pattern []byte) error {
	q.c.filling <- struct{}{}
	return errorsOf(q.Host(func() error { <-q.c.gate; return nil }), q.Queue.Fill(to, pattern))
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestLeases allocates small buffers. The server allocates few blocks, the pieces do not overlap, a piece in use is not
// reused, and a device without memory reports that immediately.
func TestLeases(t *testing.T) {
	c := &counted{Plugin: cpu.New(cpu.Options{}), gate: make(chan struct{}), filling: make(chan struct{}, 10)}
	c.most.Store(4)
	here, there := net.Pipe()
	go func() { _ = Serve(context.Background(), there, c) }()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const size, count = 1000, 2*lease.MostPieces + 1
	var list []offload.Memory
	for i := range count {
		m, err := d.Allocate(size, offload.DeviceMemory)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Submit(offload.Span{Memory: m, Size: size}, bytes.Repeat([]byte{byte(i)}, size)); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	if n := c.blocks.Load(); n != 3 {
		t.Errorf("%d pieces took %d blocks of the server", count, n)
	}
	for i, m := range list {
		back := make([]byte, size)
		if err := errorsOf(q.Retrieve(back, offload.Span{Memory: m, Size: size}), q.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Fatalf("piece %d has other bytes", i)
		}
	}
	for _, m := range list[1:] {
		if err := m.Free(); err != nil {
			t.Fatal(err)
		}
	}
	var more []offload.Memory
	for range lease.MostPieces { // one block is kept, of which a piece is in use
		m, err := d.Allocate(size, offload.DeviceMemory)
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, m)
	}
	if n := c.blocks.Load(); n != 4 {
		t.Errorf("%d blocks are kept for one piece", 1+4-n)
	}
	for _, m := range more {
		if err := m.Free(); err != nil {
			t.Fatal(err)
		}
	}
	// A command that has begun uses the memory.
	m := list[0].(*memory)
	if err := q.Fill(offload.Span{Memory: m, Size: 8}, []byte{1}); err != nil {
		t.Fatal(err)
	}
	ev, err := q.Record()
	if err != nil {
		t.Fatal(err)
	}
	<-c.filling
	if err := m.Free(); err != nil {
		t.Fatal(err)
	}
	if err := m.Free(); offload.CodeOf(err) != offload.Closed {
		t.Errorf("freed again: %v", err)
	}
	for range lease.MostPieces - 1 {
		n, err := d.Allocate(size, offload.DeviceMemory)
		if err != nil {
			t.Fatal(err)
		}
		if n := n.(*memory); n.id == m.id && n.base == m.base {
			t.Fatal("memory that a command uses was given out again")
		}
	}
	close(c.gate)
	if err := ev.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Allocate(size, offload.DeviceMemory); err != nil || n.(*memory).base != m.base {
		t.Errorf("the piece is not given out again after the command: %v", err)
	}
	c.most.Store(0)
	if _, err := d.Allocate(size, offload.DeviceMemory); offload.CodeOf(err) != offload.OutOfResources {
		t.Errorf("without room: %v", err)
	}
}
