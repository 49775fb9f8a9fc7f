package socket_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// listen starts a worker in this process, which ends with the test.
func listen(t *testing.T, address string) socket.Address {
	t.Helper()
	a, err := socket.ParseAddress(address)
	must(t, err)
	l, err := socket.Listen(a)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- l.Serve(ctx, nil, cpu.New(cpu.Options{})) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-served)
	})
	return l.Address()
}

// TestCluster connects to two workers, by TCP and by a socket of Unix.
func TestCluster(t *testing.T) {
	addresses := []socket.Address{listen(t, "tcp:127.0.0.1:0"), listen(t, "unix:"+filepath.Join(t.TempDir(), "worker"))}
	p, err := remote.NewCluster("far", func(context.Context) (list []remote.Peer, err error) {
		for i, a := range addresses {
			list = append(list, remote.Peer{Name: string(rune('0' + i)), Dial: a.Dial})
		}
		return list, nil
	}).Open(t.Context())
	must(t, err)
	var names []string
	for _, d := range p.Devices() {
		names = append(names, d.(offload.Named).Named())
		m, err := d.Allocate(1<<20, offload.DeviceMemory)
		must(t, err)
		must(t, m.Free())
	}
	if got := strings.Join(names, " "); got != "0/cpu:0 1/cpu:0" {
		t.Errorf("devices %s", got)
	}
	must(t, p.Close())
}

// TestClusterRefused opens a cluster with one of two workers running. Its devices must work, and the error for the other
// must contain its name and a hint.
func TestClusterRefused(t *testing.T) {
	a := listen(t, "tcp:127.0.0.1:0")
	gone := socket.Address{Network: "unix", Place: filepath.Join(t.TempDir(), "none"), Token: "x"}
	p, err := remote.NewCluster("far", func(context.Context) ([]remote.Peer, error) {
		return []remote.Peer{{Name: "0", Dial: gone.Dial}, {Name: "1", Dial: a.Dial}}, nil
	}).Open(t.Context())
	must(t, err)
	m, err := p.Devices()[0].Allocate(64, offload.DeviceMemory)
	must(t, err)
	must(t, m.Free())
	missing := p.(offload.Partial).Missing()
	var e *offload.Error
	if len(missing) != 1 || missing[0].Name != "0" || !errors.As(missing[0].Err, &e) || e.Code != offload.NotFound ||
		!strings.Contains(e.Error(), "far:0") || !strings.Contains(e.Hint, "orepl worker --listen unix:") {
		t.Errorf("missing are %+v", missing)
	}
	must(t, p.Close())
	if _, err := remote.NewCluster("far", func(context.Context) ([]remote.Peer, error) {
		return []remote.Peer{{Name: "0", Dial: gone.Dial}}, nil
	}).Open(t.Context()); offload.CodeOf(err) != offload.NotFound {
		t.Errorf("without any worker: %v", err)
	}
}

// TestStrangers checks that connections without the token are refused: a client with another token, a client that sends
// garbage, and a worker that does not know the client's token.
func TestStrangers(t *testing.T) {
	a := listen(t, "tcp:127.0.0.1:0")
	wrong := a
	wrong.Token = "0123456789abcdef"
	for token, want := range map[string]string{wrong.Token: "refuses the token", "": "has no token"} {
		wrong.Token = token
		if _, err := wrong.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	conn, err := net.Dial("tcp", a.Place)
	must(t, err)
	_, err = conn.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n", 8)))
	must(t, err)
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	if data, err := io.ReadAll(conn); len(data) > 32 {
		t.Errorf("a stranger got %d bytes, %v", len(data), err)
	}
	must(t, conn.Close())

	impostor, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer impostor.Close()
	go func() {
		if conn, err := impostor.Accept(); err == nil {
			_, _ = conn.Write(make([]byte, 32))
			_, _ = io.ReadFull(conn, make([]byte, 64))
			_, _ = conn.Write(make([]byte, 32))
		}
	}()
	a.Place = impostor.Addr().String()
	if _, err := a.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "does not know the token") {
		t.Error(err)
	}
}

// TestIdleStrangers opens more connections than may wait to prove the token: clients with the token are served all the same.
func TestIdleStrangers(t *testing.T) {
	a := listen(t, "tcp:127.0.0.1:0")
	for range 80 {
		conn, err := net.Dial("tcp", a.Place)
		must(t, err)
		defer conn.Close()
	}
	conn, err := a.Dial(t.Context())
	must(t, err)
	must(t, conn.Close())
}

// TestAddresses parses valid addresses and refuses invalid ones.
func TestAddresses(t *testing.T) {
	a, err := socket.ParseAddress("tcp:127.0.0.1:7#ab")
	if err != nil || a.String() != "tcp:127.0.0.1:7" || a.Secret() != "tcp:127.0.0.1:7#ab" {
		t.Error(a, err)
	}
	for _, bad := range []string{"", "tcp", "tcp:", "udp:1.2.3.4:5", "tcp:127.0.0.1", "#ab"} {
		if _, err := socket.ParseAddress(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestAbandonedSocket listens where a killed worker has left its socket, and not where one still listens.
func TestAbandonedSocket(t *testing.T) {
	place := filepath.Join(t.TempDir(), "worker")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: place, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	if _, err := socket.Listen(socket.Address{Network: "unix", Place: place}); err == nil {
		t.Error("two workers listen at one place")
	}
	must(t, l.Close())
	listen(t, "unix:"+place)
}

// TestEndedListener ends listeners while a client connects. When Serve returns, the file of the socket is gone.
func TestEndedListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	for range 300 {
		l, err := socket.Listen(socket.Address{Network: "unix", Place: path})
		must(t, err)
		conn, err := net.Dial("unix", path)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, l.Serve(ctx, nil))
		must(t, conn.Close())
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the socket is left: %v", err)
		}
	}
}

// TestReset resets the connection of a client, as systems do for bytes that a client did not read. The server reports no error.
func TestReset(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = remote.Serve(t.Context(), conn, cpu.New(cpu.Options{}))
		}
		served <- err
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	p, err := remote.NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return conn, nil }).Open(t.Context())
	must(t, err)
	must(t, conn.(*net.TCPConn).SetLinger(0))
	must(t, p.Close())
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
