package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// admit listens for workers, and returns the address and the connections of those that join.
func admit(t *testing.T, text string) (socket.Address, <-chan net.Conn) {
	t.Helper()
	a, err := socket.ParseAddress(text)
	must(t, err)
	l, err := socket.Listen(a)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	conns, over := make(chan net.Conn, 10), make(chan error)
	go func() { over <- l.Admit(ctx, func(c net.Conn) { conns <- c }) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-over)
	})
	return l.Address(), conns
}

// TestJoin joins a script by each network, also before it listens, and sends bytes in both directions.
func TestJoin(t *testing.T) {
	for _, text := range []string{"tcp:127.0.0.1:0", "tls:127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "script")} {
		a, conns := admit(t, text)
		mine, err := a.Join(t.Context(), 0)
		must(t, err)
		theirs := <-conns
		for _, pair := range [][2]net.Conn{{mine, theirs}, {theirs, mine}} {
			_, err := pair[0].Write([]byte("hello"))
			must(t, err)
			got := make([]byte, 5)
			if _, err := io.ReadFull(pair[1], got); err != nil || string(got) != "hello" {
				t.Errorf("%s: %q, %v", text, got, err)
			}
		}
		must(t, mine.Close())
		if n, err := theirs.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%s: after the end, %d bytes and %v", text, n, err)
		}
	}
	place := filepath.Join(t.TempDir(), "late")
	late := socket.Address{Network: "unix", Place: place, Token: socket.NewToken()}
	time.AfterFunc(200*time.Millisecond, func() {
		if l, err := socket.Listen(late); err == nil {
			_ = l.Admit(t.Context(), func(net.Conn) {})
		}
	})
	conn, err := late.Join(t.Context(), time.Minute)
	must(t, err)
	must(t, conn.Close())
}

// TestJoinRefused checks the errors of a wrong token, of addresses at which nobody or another worker listens, and of one without
// encryption beyond this machine.
func TestJoinRefused(t *testing.T) {
	for _, network := range []string{"tcp", "tls"} {
		script, conns := admit(t, network+":127.0.0.1:0")
		worker := listen(t, network+":127.0.0.1:0")
		wrong, nowhere, bare, far := script, script, script, script
		wrong.Token = "0123456789abcdef"
		nowhere.Place = "127.0.0.1:1"
		bare.Token = ""
		far.Network, far.Place = "tcp", "192.0.2.1:4711"
		for _, c := range []struct {
			a          socket.Address
			want, hint string
		}{
			{wrong, "the script at " + script.String() + " refuses the token", "must have the same token"},
			{worker, "the script at " + worker.String() + " refuses the token", "that of a script"},
			{nowhere, "no script listens at", "OREPL_FAR=listen:" + network},
			{bare, "has no token", socket.TokenFileVariable},
			{far, "write tls:192.0.2.1:4711", ""},
		} {
			_, err := c.a.Join(t.Context(), 0)
			var advised *remote.Unreachable
			if err == nil || !strings.Contains(err.Error(), c.want) || c.hint != "" && (!errors.As(err, &advised) || !strings.Contains(advised.Hint, c.hint)) {
				t.Errorf("%s: %v", c.a, err)
			}
		}
		if _, err := script.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "refuses the token") {
			t.Errorf("a client reaches a script: %v", err)
		}
		if len(conns) > 0 {
			t.Errorf("%d strangers have joined", len(conns))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	nowhere := socket.Address{Network: "tcp", Place: "127.0.0.1:1", Token: socket.NewToken()}
	if _, err := nowhere.Join(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a worker that is cancelled: %v", err)
	}
}

// TestBetween puts a process between two sides that encrypt. It has keys with each of them and passes on what they say, and is found out.
func TestBetween(t *testing.T) {
	script, conns := admit(t, "tls:127.0.0.1:0")
	between, err := socket.NewBetween(script)
	must(t, err)
	defer between.Close()
	reached := script
	reached.Place = between.Addr().String()
	if _, err := reached.Join(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "refuses the token") {
		t.Errorf("the worker: %v", err)
	}
	if len(conns) > 0 {
		t.Error("the script takes it for a worker")
	}
}

// TestProtected checks which addresses may be used without encryption.
func TestProtected(t *testing.T) {
	for text, ok := range map[string]bool{
		"tcp:127.0.0.1:1": true, "tcp:127.9.9.9:1": true, "tcp:[::1]:1": true, "tcp:localhost:1": true, "unix:/a": true, "tls:0.0.0.0:1": true, "tls:head:1": true,
		"tcp:0.0.0.0:1": false, "tcp::1": false, "tcp:[::]:1": false, "tcp:10.0.0.1:1": false, "tcp:head:1": false,
	} {
		a, err := socket.ParseAddress(text)
		must(t, err)
		if err := a.CheckProtected(); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestWithToken takes tokens from addresses, the environment and files.
func TestWithToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("token of the file\n"), 0o600))
	short := filepath.Join(t.TempDir(), "short")
	must(t, os.WriteFile(short, []byte("short"), 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	must(t, os.WriteFile(empty, []byte("\n"), 0o600))
	shared := func(mode os.FileMode) string {
		name := filepath.Join(t.TempDir(), "token")
		must(t, os.WriteFile(name, []byte("token of the group"), 0o600))
		must(t, os.Chmod(name, mode))
		return name
	}
	for _, c := range []struct{ own, file, variable, fileVariable, want, wrong string }{
		{own: "token of the address", variable: "token of the environment", want: "token of the address"},
		{own: "token of the address", file: file, want: "token of the file"},
		{variable: "token of the environment", fileVariable: file, want: "token of the environment"},
		{fileVariable: file, want: "token of the file"},
		{},
		{own: "short", wrong: "has 5 characters; 16 are the least"},
		{file: short, wrong: "has 5 characters; 16 are the least"},
		{variable: "short", wrong: "16 are the least: it is that in OREPL_TOKEN"},
		{fileVariable: short, wrong: "which OREPL_TOKEN_FILE names"},
		{fileVariable: empty, wrong: "has no token"},
		{file: "/nonexistent", wrong: "no such file"},
		{file: shared(0o644), wrong: "is open to all users of this machine (mode 0644): chmod 600 "},
		{fileVariable: shared(0o602), wrong: "is open to all users of this machine (mode 0602)"},
		{file: shared(0o640), want: "token of the group"},
	} {
		t.Setenv(socket.TokenVariable, c.variable)
		t.Setenv(socket.TokenFileVariable, c.fileVariable)
		a, err := socket.Address{Network: "tcp", Place: "127.0.0.1:1", Token: c.own}.WithToken(c.file)
		if c.wrong == "" && (err != nil || a.Token != c.want) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%+v: %q, %v", c, a.Token, err)
		}
	}
}
