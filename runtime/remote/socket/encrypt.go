package socket

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"time"
)

// keyLabel is the label under which both sides derive, from the keys of a connection, the bytes that proofs cover.
const keyLabel = "EXPORTER-orepl-worker-token"

// encrypt encrypts a connection that this side opened, if the address says so. It returns 32 bytes derived from the keys, or nil
// without encryption.
func (a Address) encrypt(conn net.Conn) (net.Conn, []byte, error) {
	if a.Network != tlsNetwork {
		return conn, nil, nil
	}
	// The proof of the token covers the keys, so that the certificate need not prove anything.
	return handshake(tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}))
}

// handshake returns the encrypted connection and 32 bytes derived from its keys.
func handshake(conn *tls.Conn) (net.Conn, []byte, error) {
	if err := conn.Handshake(); err != nil {
		return nil, nil, err
	}
	state := conn.ConnectionState()
	keys, err := state.ExportKeyingMaterial(keyLabel, nil, 32)
	return &encrypted{conn}, keys, err
}

// encrypted is an encrypted connection. The end of the other process is the end of the stream, as without encryption: the protocol above
// knows where its messages end.
type encrypted struct{ *tls.Conn }

func (e *encrypted) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// newCertificate returns the settings of a side that accepts encrypted connections, with a certificate that the other side does not check.
func newCertificate() (*tls.Config, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(100, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}, nil
}
