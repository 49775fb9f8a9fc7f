package heartbeat

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// newHeartbeats returns the heartbeats of a process. The channel leaving receives nothing; a test closes it.
func newHeartbeats(id int, silence time.Duration) (h *Watch, leaving chan struct{}, lost chan error) {
	leaving, lost = make(chan struct{}), make(chan error, 8)
	return &Watch{ID: id, Silence: silence, Leaving: leaving, Accepts: func(id int) bool { return id == 0 }, Lost: func(_ int, why error) { lost <- why },
		Troubled: func() bool { return false }}, leaving, lost
}

// TestHeartbeats connects a process to another by the second of two addresses; a foreign process listens at the first one. Both
// leave normally.
func TestHeartbeats(t *testing.T) {
	worker, workerLeaves, lost1 := newHeartbeats(1, time.Minute)
	host, hostLeaves, lost0 := newHeartbeats(0, time.Minute)
	port, token, err := worker.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	hosts := []string{"127.0.0.1"}
	if wrong, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), port).String()); err == nil { // some systems have no such address
		hosts = []string{"127.0.0.2", "127.0.0.1"}
		defer wrong.Close()
		go func() {
			if conn, err := wrong.Accept(); err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 400"))
				_ = conn.Close()
			}
		}()
	}
	if err := host.Connect(1, hosts, port, token); err != nil {
		t.Fatal(err)
	}
	if err := host.Connect(1, hosts[len(hosts)-1:], port, "another token"); err == nil || !strings.Contains(err.Error(), "refuses the token") {
		t.Errorf("a wrong token: %v", err)
	}
	stranger, _, _ := newHeartbeats(2, time.Minute)
	if err := stranger.Connect(1, hosts[len(hosts)-1:], port, token); err == nil {
		t.Error("a process that is not expected was admitted")
	}
	close(hostLeaves)
	close(workerLeaves)
	host.Part()
	worker.Part()
	select {
	case why := <-lost0:
		t.Error(why)
	case why := <-lost1:
		t.Error(why)
	default:
	}
}

// TestHeartbeatsLost checks the reasons for which a process is lost: its death, its silence, and its loss of another one.
func TestHeartbeatsLost(t *testing.T) {
	for _, c := range []struct {
		want    string
		silence time.Duration
		end     func(conn net.Conn)
	}{
		{"rank 7 ended", time.Minute, func(conn net.Conn) { _ = conn.Close() }},
		{"silent for", 50 * time.Millisecond, func(net.Conn) {}},
		{"EOF", time.Minute, func(conn net.Conn) { _, _ = conn.Write([]byte{broken}) }},
	} {
		h, leaving, lost := newHeartbeats(0, c.silence)
		mine, other := net.Pipe()
		if !h.enter() {
			t.Fatal("a connection is refused")
		}
		go h.watch(mine, 7, nil)
		go func() { // reads heartbeats
			for b := make([]byte, 8); ; {
				if _, err := other.Read(b); err != nil {
					return
				}
			}
		}()
		c.end(other)
		if why := <-lost; !strings.Contains(why.Error(), c.want) {
			t.Errorf("%v, want %q", why, c.want)
		}
		close(leaving)
		h.Part()
		_ = other.Close()
		if h.enter() {
			t.Error("a connection is accepted after the process has left")
		}
	}
}

// TestConnectAfterPart connects a process that has left meanwhile. The other one sees that it leaves normally.
func TestConnectAfterPart(t *testing.T) {
	worker, workerLeaves, lost := newHeartbeats(1, time.Minute)
	defer close(workerLeaves)
	host, _, _ := newHeartbeats(0, time.Minute)
	port, token, err := worker.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	host.Part()
	if err := host.Connect(1, []string{"127.0.0.1"}, port, token); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		worker.Part() // returns after the end of the connection
		close(ended)
	}()
	select {
	case <-ended:
	case why := <-lost:
		t.Error(why)
	case <-time.After(time.Minute):
		t.Error("the connection stays open")
	}
}
