package remote

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Address is the address of a worker: "tcp:HOST:PORT#TOKEN" or "unix:PATH#TOKEN". The token is a secret that both sides know;
// neither sends it.
type Address struct {
	Network string // "tcp" or "unix"
	Place   string // HOST:PORT or a path
	Token   string
}

// ParseAddress parses an address. The token is optional.
func ParseAddress(text string) (Address, error) {
	place, token, _ := strings.Cut(text, "#")
	network, place, ok := strings.Cut(place, ":")
	if !ok || network != "tcp" && network != "unix" || place == "" {
		return Address{}, fmt.Errorf("%q is no address of a worker: write tcp:HOST:PORT#TOKEN or unix:PATH#TOKEN, as orepl worker prints it, or spawn", text)
	}
	if network == "tcp" {
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

const (
	nonceBytes = 32
	greetTime  = 5 * time.Second // time limit for a connection to prove the token
)

// proof returns the proof of a side's knowledge of the token, for two nonces.
func (a Address) proof(side string, nonces ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(a.Token))
	h.Write([]byte("orepl worker, " + side))
	for _, n := range nonces {
		h.Write(n)
	}
	return h.Sum(nil)
}

// Unreachable is the error of a worker that cannot be reached, with advice for the user.
type Unreachable struct {
	Err  error
	Hint string
}

// Error returns the text of Err.
func (u *Unreachable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unreachable) Unwrap() error { return u.Err }

// Dial connects to the worker at the address. Both sides prove that they know the token.
func (a Address) Dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if a.Token == "" {
		return nil, fmt.Errorf("the address %s has no token: write it as orepl worker prints it, with # and the token", a)
	}
	conn, err := (&net.Dialer{Timeout: greetTime}).DialContext(ctx, a.Network, a.Place)
	if err != nil {
		return nil, &Unreachable{err, fmt.Sprintf("start the worker: orepl worker --listen %s; it prints the address that OREPL_FAR takes", a)}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = a.greetWorker(conn)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (a Address) greetWorker(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	theirs, mine := make([]byte, nonceBytes), make([]byte, nonceBytes)
	_, _ = rand.Read(mine) // never fails
	if _, err := io.ReadFull(conn, theirs); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return &Unreachable{fmt.Errorf("the worker at %s does not respond", a), "see whether its process is stopped, and start another one"}
		}
		return fmt.Errorf("%s does not greet as a worker: %w", a, err)
	}
	if _, err := conn.Write(append(mine, a.proof("client", theirs, mine)...)); err != nil {
		return err
	}
	answer := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		if errors.Is(err, io.EOF) {
			return &Unreachable{fmt.Errorf("the worker at %s refuses the token", a), "copy the line OREPL_FAR=… that this worker printed when it began"}
		}
		return fmt.Errorf("the worker at %s does not answer: %w", a, err)
	}
	if !hmac.Equal(answer, a.proof("worker", mine, theirs)) {
		return fmt.Errorf("the worker at %s does not know the token", a)
	}
	return conn.SetDeadline(time.Time{})
}

// GreetClient proves the token to the client at the other end of a connection, and checks the client's proof.
func (a Address) GreetClient(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	mine := make([]byte, nonceBytes)
	_, _ = rand.Read(mine) // never fails
	if _, err := conn.Write(mine); err != nil {
		return err
	}
	answer := make([]byte, nonceBytes+sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	theirs, proof := answer[:nonceBytes], answer[nonceBytes:]
	if !hmac.Equal(proof, a.proof("client", mine, theirs)) {
		return errors.New("the token is wrong")
	}
	if _, err := conn.Write(a.proof("worker", theirs, mine)); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// Listener accepts the clients of a worker.
type Listener struct {
	listener net.Listener
	address  Address
}

// Listen listens at an address. Port 0 selects a free port. Without a token it generates one.
func Listen(a Address) (*Listener, error) {
	if a.Token == "" {
		a.Token = NewToken()
	}
	l, err := net.Listen(a.Network, a.Place)
	if err != nil && a.Network == "unix" && abandoned(a.Place) && os.Remove(a.Place) == nil {
		l, err = net.Listen(a.Network, a.Place)
	}
	if err != nil {
		return nil, err
	}
	if a.Network == "unix" {
		if err := os.Chmod(a.Place, 0o600); err != nil {
			_ = l.Close()
			return nil, err
		}
	} else {
		a.Place = l.Addr().String()
	}
	return &Listener{l, a}, nil
}

// NewToken returns a random token of 32 hexadecimal digits.
func NewToken() string {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

// abandoned reports whether a file is a socket at which no process listens, as after the kill of a worker.
func abandoned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// Address returns the listener's address with its token.
func (l *Listener) Address() Address { return l.address }

// maxClients is the maximum number of clients of a worker. maxStrangers is the maximum number of connections that have not
// proved the token.
const (
	maxClients   = 64
	maxStrangers = 64
)

// acceptPause is the delay before a worker without free file descriptors accepts again.
const acceptPause = 100 * time.Millisecond

// Serve serves clients until ctx ends. report, which may be nil, receives the errors of connections.
func (l *Listener) Serve(ctx context.Context, report func(error), plugins ...offload.Plugin) error {
	stop := context.AfterFunc(ctx, func() { _ = l.listener.Close() })
	defer stop()
	var serving sync.WaitGroup
	defer serving.Wait()
	room := make(chan struct{}, maxClients)
	var strangers strangers
	for {
		conn, err := l.listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // for instance without free file descriptors
			time.Sleep(acceptPause)
			continue
		}
		strangers.add(conn)
		serving.Go(func() {
			err := l.address.GreetClient(conn)
			strangers.remove(conn)
			if err == nil {
				select {
				case room <- struct{}{}:
					err = Serve(ctx, conn, plugins...)
					<-room
				default:
					err = fmt.Errorf("the worker has %d clients already", maxClients)
				}
			}
			_ = conn.Close()
			if err != nil && report != nil && ctx.Err() == nil {
				report(fmt.Errorf("%s: %w", conn.RemoteAddr(), err))
			}
		})
	}
}

// strangers are connections that have not proved the token, oldest first.
type strangers struct {
	mu   sync.Mutex
	list []net.Conn
}

// add adds a connection. At the limit it closes the oldest, so that idle connections do not exclude clients.
func (s *strangers) add(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= maxStrangers {
		_ = s.list[0].Close()
		s.list = s.list[1:]
	}
	s.list = append(s.list, conn)
}

func (s *strangers) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, conn); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	}
}
