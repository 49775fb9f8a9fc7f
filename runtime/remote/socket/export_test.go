package socket

import (
	"crypto/tls"
	"io"
	"net"
)

// NewBetween listens in the place of an address with encryption, and passes on what both sides say. It encrypts to each of them.
func NewBetween(a Address) (net.Listener, error) {
	settings, err := newCertificate()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		near, _, err := handshake(tls.Server(conn, settings))
		if err != nil {
			return
		}
		raw, err := net.Dial("tcp", a.Place)
		if err != nil {
			return
		}
		far, _, err := a.encrypt(raw)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(far, near) }()
		_, _ = io.Copy(near, far)
	}()
	return l, nil
}
