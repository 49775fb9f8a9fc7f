package socket

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// TestPlainFailures checks that errors of connections have the system's words, not those of package net.
func TestPlainFailures(t *testing.T) {
	token := strings.Repeat("t", TokenBytes)
	parse := func(text string) Address {
		t.Helper()
		a, err := ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		a.Token = token
		return a
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	place := busy.Addr().String()
	clear, err := Listen(parse("tcp:127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer clear.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go clear.Serve(ctx, func(error) {})
	dial := func(text string) error { _, err := parse(text).Dial(t.Context()); return err }
	_, occupied := Listen(parse("tcp:" + place))
	_, nobody := parse("tcp:127.0.0.1:1").Join(t.Context(), time.Millisecond)
	for want, err := range map[string]error{
		"tcp:127.0.0.1:1: connection refused":                        dial("tcp:127.0.0.1:1"),
		"unix:/nonexistent/socket: no such file or directory":        dial("unix:/nonexistent/socket"),
		"tcp:" + place + ": address already in use":                  occupied,
		"no script listens at tcp:127.0.0.1:1: connection refused":   nobody,
		"the other side does not encrypt: both need tls: or neither": dial("tls:" + clear.Address().Place),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dial ") || strings.Contains(err.Error(), "listen tcp") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
