// Package socket connects workers and scripts by sockets: TCP, TCP with encryption, and Unix sockets.
//
// # Design
//
// Both sides prove a token by an HMAC of two nonces, and never send it. With encryption the proofs also cover the keys of the
// connection. The token thus replaces certificates: a process between the two sides would have different keys on each side.
package socket

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/remote"
)

// Networks of addresses.
const (
	tcpNetwork  = "tcp"
	tlsNetwork  = "tls" // TCP with encryption
	unixNetwork = "unix"
)

// Address is the address of a worker, or of a script that workers join: "tcp:HOST:PORT#TOKEN", "tls:HOST:PORT#TOKEN" or
// "unix:PATH#TOKEN". The token is a secret that both sides know; neither sends it.
type Address struct {
	Network string // "tcp", "tls" or "unix"
	Place   string // HOST:PORT or a path
	Token   string
}

// ParseAddress parses an address. The token is optional.
func ParseAddress(text string) (Address, error) {
	place, token, _ := strings.Cut(text, "#")
	network, place, ok := strings.Cut(place, ":")
	if !ok || !slices.Contains([]string{tcpNetwork, tlsNetwork, unixNetwork}, network) || place == "" {
		return Address{}, fmt.Errorf("%q is no address of a worker: write tcp:HOST:PORT#TOKEN, tls:HOST:PORT#TOKEN or unix:PATH#TOKEN, as orepl worker prints it, or spawn", text)
	}
	if network != unixNetwork {
		if _, _, err := net.SplitHostPort(place); err != nil {
			return Address{}, fmt.Errorf("%q is no address of a worker: %w", text, err)
		}
	}
	return Address{network, place, token}, nil
}

// String returns the address without its token.
func (a Address) String() string { return a.Network + ":" + a.Place }

// Secret returns the address with its token.
func (a Address) Secret() string { return a.String() + "#" + a.Token }

// system returns the name of the network in package net.
func (a Address) system() string {
	if a.Network == tlsNetwork {
		return tcpNetwork
	}
	return a.Network
}

// NewToken returns a random token of 32 hexadecimal digits.
func NewToken() string {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

// TokenBytes is the minimum length in bytes of a token that a user chooses: 16 hexadecimal digits are 64 bits.
const TokenBytes = 16

// The environment variables with the token of addresses that have none, and with the path of a file that holds it.
const (
	TokenVariable     = "OREPL_TOKEN"
	TokenFileVariable = "OREPL_TOKEN_FILE"
)

// WithToken returns the address with the token in file. If file is empty, the address keeps its own token. If it has none, it takes the
// token in [TokenVariable], or in the file that [TokenFileVariable] names. Without any, the token is empty. A file is an error if it
// cannot be read, has no token or is open to all users of the machine. So is a token shorter than [TokenBytes].
func (a Address) WithToken(file string) (Address, error) {
	source := ""
	if file == "" && a.Token == "" {
		if a.Token = strings.TrimSpace(os.Getenv(TokenVariable)); a.Token != "" {
			source = ": it is that in " + TokenVariable
		} else if file = os.Getenv(TokenFileVariable); file != "" {
			source = fmt.Sprintf(": it is that in %s, which %s names", file, TokenFileVariable)
		}
	}
	if file != "" {
		data, err := readPrivate(file)
		if err != nil {
			return a, err
		}
		if a.Token = strings.TrimSpace(string(data)); a.Token == "" {
			return a, fmt.Errorf("the file %s has no token", file)
		}
	}
	if n := len(a.Token); n > 0 && n < TokenBytes {
		return a, fmt.Errorf("the token has %d characters; %d are the least%s", n, TokenBytes, source)
	}
	return a, nil
}

// readPrivate reads a file. It refuses one that is open to all users of the machine, except on Windows, where rights are not
// checked.
func readPrivate(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if open := info.Mode().Perm() & 0o007; open != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the file %s with the token is open to all users of this machine (mode %04o): chmod 600 %s", name, info.Mode().Perm(), name)
	}
	return io.ReadAll(file)
}

// greetTime is the time limit for each step of a new connection. The steps are to connect, to agree on keys where it is encrypted,
// and to prove the token. The side that opens the connection does the last two within one limit.
const greetTime = 5 * time.Second

// Dial connects to the worker at the address, which must have a token. Both sides prove that they know it.
func (a Address) Dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if a.Token == "" {
		return nil, fmt.Errorf("the address %s has no token: write it as orepl worker prints it, with # and the token", a)
	}
	conn, err := (&net.Dialer{Timeout: greetTime}).DialContext(ctx, a.system(), a.Place)
	if err != nil {
		return nil, &remote.Unreachable{Err: fmt.Errorf("%s: %w", a, plain(err)), Hint: fmt.Sprintf("start the worker: orepl worker --listen %s; it prints the address that OREPL_FAR takes", a)}
	}
	return a.meet(ctx, conn, client)
}

// meet proves the token on a connection that this side opened. It closes the connection if that fails.
func (a Address) meet(ctx context.Context, conn net.Conn, r *role) (net.Conn, error) {
	raw := conn
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, err := a.prove(conn, r)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return conn, nil
}
