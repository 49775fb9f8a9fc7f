package remote

import (
	"github.com/orepl/orepl/runtime/remote/protocol"
	"io"
	"net"
	"testing"
	"time"
)

// between is a connection with addresses.
type between struct {
	net.Conn
	local, remote net.Addr
}

func (b between) LocalAddr() net.Addr  { return b.local }
func (b between) RemoteAddr() net.Addr { return b.remote }

// TestSilenceOfDistance checks that servers on other machines have a longer timeout than local ones.
func TestSilenceOfDistance(t *testing.T) {
	t.Setenv(SilenceVariable, "")
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip)} }
	for _, c := range []struct {
		stream io.ReadWriteCloser
		want   time.Duration
	}{
		{between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, distantSilence},
		{between{nil, tcp("10.0.0.1"), tcp("10.0.0.1")}, defaultSilence},
		{between{nil, tcp("127.0.0.1"), tcp("127.0.0.1")}, defaultSilence},
		{between{nil, &net.UnixAddr{}, &net.UnixAddr{}}, defaultSilence},
		{nil, defaultSilence},
	} {
		if got, err := silence(c.stream); got != c.want || err != nil {
			t.Errorf("%v: %v, %v, want %v", c.stream, got, err, c.want)
		}
	}
	for _, c := range []struct { // a worker that names its machine: through a tunnel, in an MPI job, and from a container
		machine protocol.MachineID
		stream  io.ReadWriteCloser
		want    time.Duration
	}{
		{protocol.MachineID{1}, between{nil, tcp("127.0.0.1"), tcp("127.0.0.1")}, distantSilence},
		{protocol.MachineID{1}, nil, distantSilence},
		{protocol.ThisMachine.Get(), between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, defaultSilence},
		{protocol.MachineID{}, between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}, distantSilence},
		{protocol.MachineID{}, nil, defaultSilence},
	} {
		if got, err := silenceFrom(c.stream, c.machine); got != c.want || err != nil {
			t.Errorf("%v of machine %v: %v, %v, want %v", c.stream, c.machine, got, err, c.want)
		}
	}
	t.Setenv(SilenceVariable, "3s")
	if got, err := silence(between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}); got != 3*time.Second || err != nil {
		t.Errorf("%v, %v with the variable", got, err)
	}
}

// TestSilenceVariable checks that one variable sets the times of streams and of heartbeats.
func TestSilenceVariable(t *testing.T) {
	for text, want := range map[string][2]time.Duration{"": {defaultSilence, distantSilence}, "off": {}, "3s": {3 * time.Second, 3 * time.Second}} {
		t.Setenv(SilenceVariable, text)
		near, err1 := silence(nil)
		beats, err2 := HeartbeatSilence()
		if got := [2]time.Duration{near, beats}; got != want || err1 != nil || err2 != nil {
			t.Errorf("%q gives %v, %v, %v", text, got, err1, err2)
		}
	}
	for _, text := range []string{"999ms", "3", "-4s", "long"} {
		t.Setenv(SilenceVariable, text)
		if _, err := HeartbeatSilence(); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
