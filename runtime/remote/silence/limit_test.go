package silence

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/remote/protocol"
)

// between is a connection with addresses.
type between struct {
	net.Conn
	local, remote net.Addr
}

func (b between) LocalAddr() net.Addr  { return b.local }
func (b between) RemoteAddr() net.Addr { return b.remote }

// TestDistance checks that servers on other machines have a longer timeout than local ones.
func TestDistance(t *testing.T) {
	t.Setenv(Variable, "")
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip)} }
	for _, c := range []struct {
		stream io.ReadWriteCloser
		want   time.Duration
	}{
		{between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, Distant},
		{between{nil, tcp("10.0.0.1"), tcp("10.0.0.1")}, Near},
		{between{nil, tcp("127.0.0.1"), tcp("127.0.0.1")}, Near},
		{between{nil, &net.UnixAddr{}, &net.UnixAddr{}}, Near},
		{nil, Near},
	} {
		if got, err := Of(c.stream); got != c.want || err != nil {
			t.Errorf("%v: %v, %v, want %v", c.stream, got, err, c.want)
		}
	}
	for _, c := range []struct { // a worker that names its machine: through a tunnel, in an MPI job, and from a container
		machine protocol.MachineID
		stream  io.ReadWriteCloser
		want    time.Duration
	}{
		{protocol.MachineID{1}, between{nil, tcp("127.0.0.1"), tcp("127.0.0.1")}, Distant},
		{protocol.MachineID{1}, nil, Distant},
		{protocol.ThisMachine.Get(), between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, Near},
		{protocol.MachineID{}, between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, Distant},
		{protocol.MachineID{}, nil, Near},
	} {
		if got, err := From(c.stream, c.machine); got != c.want || err != nil {
			t.Errorf("%v of machine %v: %v, %v, want %v", c.stream, c.machine, got, err, c.want)
		}
	}
	t.Setenv(Variable, "3s")
	if got, err := Of(between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}); got != 3*time.Second || err != nil {
		t.Errorf("%v, %v with the variable", got, err)
	}
}

// TestVariable checks that one variable sets the times of streams and of heartbeats.
func TestVariable(t *testing.T) {
	for text, want := range map[string][2]time.Duration{"": {Near, Distant}, "off": {}, "3s": {3 * time.Second, 3 * time.Second}} {
		t.Setenv(Variable, text)
		near, err1 := Of(nil)
		beats, err2 := Limit(Distant)
		if got := [2]time.Duration{near, beats}; got != want || err1 != nil || err2 != nil {
			t.Errorf("%q: %v, %v, %v", text, got, err1, err2)
		}
	}
	for _, text := range []string{"999ms", "3", "-4s", "long"} {
		t.Setenv(Variable, text)
		if _, err := Limit(Distant); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
