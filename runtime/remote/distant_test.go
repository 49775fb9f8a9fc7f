package remote

import (
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
	t.Setenv(SilenceVariable, "3s")
	if got, err := silence(between{nil, tcp("10.0.0.1"), tcp("10.0.0.2")}); got != 3*time.Second || err != nil {
		t.Errorf("%v, %v with the variable", got, err)
	}
}
