package heartbeat

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/tests/network"
)

// TestHeartbeatsRejoin cuts the connection between a host and a worker several times. Neither is lost, and a report of a third
// process arrives, also over a later connection. After the end of the worker's machine both are lost.
func TestHeartbeatsRejoin(t *testing.T) {
	t.Parallel()
	const cuts, greeting = 4, 68 // bytes of a host before its heartbeats
	worker, workerLeaves, lost1 := newHeartbeats(1, time.Minute)
	host, hostLeaves, lost0 := newHeartbeats(0, time.Minute)
	for _, h := range []*Watch{worker, host} {
		h.distant = func(net.Conn) bool { return true }
		h.interval = 10 * time.Millisecond
	}
	port, token, err := worker.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan int, 100)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	relay, err := network.New(net.JoinHostPort("127.0.0.1", fmt.Sprint(port)), func(n int) network.Faults {
		connected <- n
		f := network.Faults{Seed: seed + uint64(n), Piece: 10, End: network.End(r.IntN(2))}
		if n < cuts {
			f.Cut = greeting + 1 + r.Int64N(6)
		}
		return f
	})
	if err != nil {
		t.Fatal(err)
	}
	_, place, _ := net.SplitHostPort(relay.Address())
	at, _ := strconv.ParseUint(place, 10, 16)
	if err := host.Connect(1, []string{"127.0.0.1"}, uint16(at), token); err != nil {
		t.Fatal(err)
	}
	for n := range connected {
		if n == cuts {
			break
		}
	}
	host.Report(2)
	if why := <-lost1; !strings.Contains(why.Error(), "lost the process of rank 2") {
		t.Fatalf("the worker loses the host: %v", why)
	}
	select {
	case why := <-lost0:
		t.Fatalf("the host loses the worker: %v", why)
	default:
	}
	relay.Close()
	if why := <-lost0; !strings.Contains(why.Error(), "rank 1") {
		t.Errorf("the host says %v", why)
	}
	for why := range lost1 { // a report may arrive twice
		if strings.Contains(why.Error(), "rank 0") {
			break
		}
	}
	close(hostLeaves)
	close(workerLeaves)
	host.Part()
	worker.Part()
}

// TestLeavesWhileCut ends a connection, and leaves before there is another one: the other process is not lost.
func TestLeavesWhileCut(t *testing.T) {
	h, leaves, lost := newHeartbeats(0, time.Minute)
	h.distant = func(net.Conn) bool { return true }
	conn, other := net.Pipe()
	_ = other.Close()
	h.enter()
	h.watch(conn, 1, func(int) net.Conn {
		close(leaves)
		return nil
	})
	h.Part()
	select {
	case why := <-lost:
		t.Error(why)
	default:
	}
}
