package remote

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// TestRepeatedLaunches launches the same kernel with the same arguments: the messages do not have them again.
func TestRepeatedLaunches(t *testing.T) {
	here, there := net.Pipe()
	go func() { _ = Serve(context.Background(), there, cpu.New(cpu.Options{})) }()
	stream := &countingStream{here, new(atomic.Int64)}
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return stream, nil }).Open(t.Context())
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	data, err := os.ReadFile("../conform/testdata/kernels.irb")
	check(err)
	d := p.Devices()[0]
	program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
	check(err)
	k, err := program.Kernel("ids")
	check(err)
	q, err := d.NewQueue(offload.QueueOptions{})
	check(err)
	m, err := d.Allocate(1<<20, offload.DeviceMemory)
	check(err)
	l := &offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{1}, Label: "a label of the buffer"}},
		Pos: offload.Position{File: "a/script/with/a/path.js", Line: 1, Col: 2}}
	const n = 1000
	before := stream.passed.Load()
	for range n {
		check(q.Launch(l))
	}
	check(q.Sync(t.Context()))
	if each := (stream.passed.Load() - before) / n; each > 80 {
		t.Errorf("a launch and its report take %d bytes", each)
	}
	check(m.Free())
	m, err = d.Allocate(1<<20, offload.DeviceMemory) // the same arguments but for the memory
	check(err)
	l.Args[0].Memory = m
	check(q.Launch(l))
	check(q.Sync(t.Context()))
	check(q.Close())
	check(m.Free())
	check(p.Close())
}

// TestLaunchesKept checks that a client and a server keep the same launches of a random sequence. The server must find each
// launch that the client omits, and reconstruct the same arguments.
func TestLaunchesKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	client := sentLaunches{kept: map[uint64]*protocol.Launch{}}
	server := map[uint64][]protocol.Arg{}
	repeated, forgotten := 0, 0
	for i := range 20000 {
		m := &protocol.Launch{At: protocol.At{Queue: 1, Number: uint64(i)}, Kernel: 1 + random.Uint64N(2*maxKept/3*uint64(1+i/10000)), Size: [3]int{1 + random.IntN(2), 1, 1}, Services: random.IntN(20) == 0}
		m.Args = []protocol.Arg{{Memory: 1 + random.Uint64N(2)}, {Type: offload.I32, Bits: random.Uint64N(3)}, {Type: offload.F64, Bits: random.Uint64N(3)}}
		if random.IntN(20) == 0 {
			m.Args[2] = protocol.Arg{Struct: true, Data: []byte{1}}
		}
		got := m.Args
		switch sent := client.shortest(m).(type) {
		case *protocol.Launch:
			if sent.IsKept() {
				if len(server) >= maxKept {
					forgotten++
				}
				remember(server, sent.Kernel, append([]protocol.Arg(nil), sent.Args...))
			}
		case *protocol.Relaunch:
			repeated++
			if got = server[sent.Kernel]; got == nil {
				t.Fatalf("launch %d: the server does not know kernel %d", i, sent.Kernel)
			}
			for _, c := range sent.Changed {
				got[c.Index].Bits = c.Bits
			}
		}
		if a, b := fmt.Sprint(got), fmt.Sprint(m.Args); a != b {
			t.Fatalf("launch %d: the server makes %s, want %s", i, a, b)
		}
	}
	if repeated < 1000 || forgotten < 10 {
		t.Errorf("%d launches were repeated, %d times all were forgotten", repeated, forgotten)
	}
}

// TestWrongRelaunch sends a server repeated launches that it cannot know.
func TestWrongRelaunch(t *testing.T) {
	q := &servedQueue{server: &server{}, kept: map[uint64]*receivedLaunch{7: {launch: offload.Launch{Args: make([]offload.Arg, 2)}, memories: []uint64{5, 0}}, 8: {launch: offload.Launch{Args: make([]offload.Arg, 1)}, memories: []uint64{0}}}}
	q.server.kernels = map[uint64]servedKernel{8: {Kernel: struct{ offload.Kernel }{}}}
	for want, m := range map[string]*protocol.Relaunch{
		"which was not launched":        {At: protocol.At{Queue: 20, Number: 1}, Kernel: 9, Changed: nil},
		"or an argument's memory":       {At: protocol.At{Queue: 20, Number: 1}, Kernel: 7, Changed: nil},
		"argument 1 of a repeated":      {At: protocol.At{Queue: 20, Number: 1}, Kernel: 8, Changed: []protocol.ChangedArg{{Index: 1, Bits: 5}}},
		"argument 4294967295 of a repe": {At: protocol.At{Queue: 20, Number: 1}, Kernel: 8, Changed: []protocol.ChangedArg{{Index: 1<<32 - 1, Bits: 5}}},
	} {
		if err := q.relaunch(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
