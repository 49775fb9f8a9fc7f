package remote_test

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// TestActivity counts queues, commands, memory and bytes of a client and its server, both in this process. Those that exist are none after
// the end of the connection, which the client closes or loses.
func TestActivity(t *testing.T) {
	for _, lost := range []bool{false, true} {
		var here, there net.Conn
		served := make(chan error)
		p, err := remote.NewPlugin("pipe", func(context.Context) (io.ReadWriteCloser, error) {
			here, there = net.Pipe()
			go func() { served <- remote.Serve(context.Background(), there, cpu.New(cpu.Options{})) }()
			return here, nil
		}).Open(t.Context())
		must(t, err)
		c := activity.Current()
		queues, memory, commands, received, sent := c.Queues.Load(), c.Memory.Load(), c.Commands.Load(), c.Received.Load(), c.Sent.Load()
		d := p.Devices()[0]
		var made []offload.Memory
		for range 2 {
			m, err := d.Allocate(1<<20, offload.DeviceMemory)
			must(t, err)
			made = append(made, m)
		}
		must(t, made[0].Free())
		q, err := d.NewQueue(offload.QueueOptions{})
		must(t, err)
		must(t, q.Fill(offload.Span{Memory: made[1], Size: 1 << 20}, []byte{7}))
		data := make([]byte, 1<<20)
		must(t, q.Retrieve(data, offload.Span{Memory: made[1], Size: 1 << 20}))
		must(t, q.Sync(t.Context()))
		if data[1<<20-1] != 7 {
			t.Fatal("wrong data")
		}
		if n := c.Queues.Load() - queues; n != 2 {
			t.Errorf("%d queues", n)
		}
		if n := c.Memory.Load() - memory; n != 1<<20 {
			t.Errorf("%d bytes of memory", n)
		}
		if n := c.Commands.Load() - commands; n != 4 {
			t.Errorf("%d commands", n)
		}
		if r, s := c.Received.Load()-received, c.Sent.Load()-sent; r < 1<<20 || r > 1<<20+2000 || s < 1<<20 || s > 1<<20+2000 {
			t.Errorf("%d bytes received, %d sent", r, s)
		}
		if lost {
			must(t, here.Close())
			<-d.(offload.Losable).Lost()
		} else {
			must(t, q.Close())
		}
		must(t, p.Close())
		if err := <-served; err != nil && !lost {
			t.Error(err)
		}
		if q, m := c.Queues.Load()-queues, c.Memory.Load()-memory; q != 0 || m != 0 {
			t.Errorf("lost: %v; after the end %d queues and %d bytes are left", lost, q, m)
		}
	}
}
