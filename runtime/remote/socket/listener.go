package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// Listener accepts the clients of a worker, or workers that join a script.
type Listener struct {
	listener net.Listener
	address  Address
	settings *tls.Config // nil: no encryption
	made     bool        // Listen generated the token
}

// Listen listens at an address. Port 0 selects a free port. If the address has no token, Listen generates one. It replaces the file of
// a Unix socket at which no process listens any more.
func Listen(a Address) (*Listener, error) {
	made := a.Token == ""
	if made {
		a.Token = NewToken()
	}
	var settings *tls.Config
	if a.Network == tlsNetwork {
		var err error
		if settings, err = newCertificate(); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen(a.system(), a.Place)
	if err != nil && a.Network == unixNetwork && abandoned(a.Place) && os.Remove(a.Place) == nil {
		l, err = net.Listen(a.system(), a.Place)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, plain(err))
	}
	if a.Network == unixNetwork {
		if err := os.Chmod(a.Place, 0o600); err != nil {
			_ = l.Close()
			return nil, err
		}
	} else {
		a.Place = l.Addr().String()
	}
	return &Listener{l, a, settings, made}, nil
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

// Close ends a listener whose Serve or Admit was not called.
func (l *Listener) Close() error { return l.listener.Close() }

// Address returns the listener's address with its token.
func (l *Listener) Address() Address { return l.address }

// Shown returns the address to print for a user, in a form that other machines can reach. It includes the token only if the listener
// made the token.
func (l *Listener) Shown() string {
	a := l.address.Reachable()
	if l.made {
		return a.Secret()
	}
	return a.String()
}

// Made reports whether the listener made its token.
func (l *Listener) Made() bool { return l.made }

// maxClients is the maximum number of clients of a worker. maxStrangers is the maximum number of connections that have not yet
// proved that they know the token.
const (
	maxClients   = 64
	maxStrangers = 64
)

// acceptPause is the delay before a worker without free file descriptors accepts again.
const acceptPause = 100 * time.Millisecond

// Serve serves clients until ctx ends, and then returns nil. report, which may be nil, receives the errors of connections, on a
// goroutine of each connection. At most maxClients are served at a time; further ones are closed.
func (l *Listener) Serve(ctx context.Context, report func(error), plugins ...offload.Plugin) error {
	room := make(chan struct{}, maxClients)
	return l.accept(ctx, client, func(conn net.Conn, err error) {
		if err == nil {
			select {
			case room <- struct{}{}:
				err = remote.Serve(ctx, conn, plugins...)
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

// Admit calls join with the connection of each worker that joins, on a goroutine of its own, until ctx ends. It returns when these calls
// have returned. Connections that do not prove the token are closed without a report, since the other side reports the failure.
func (l *Listener) Admit(ctx context.Context, join func(net.Conn)) error {
	return l.accept(ctx, joiner, func(conn net.Conn, err error) {
		if err != nil {
			_ = conn.Close()
			return
		}
		join(conn)
	})
}

// accept accepts connections until ctx ends. For each it calls do on a goroutine, after the other side has proved the token, or with
// the error. It returns when all calls have returned.
func (l *Listener) accept(ctx context.Context, r *role, do func(net.Conn, error)) error {
	stop := context.AfterFunc(ctx, func() { _ = l.listener.Close() })
	defer stop()
	var serving sync.WaitGroup
	defer serving.Wait()
	var strangers strangers
	for {
		conn, err := l.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			_ = l.listener.Close() // which the function above may not have done yet; it removes the file of a socket
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // for instance without free file descriptors
			time.Sleep(acceptPause)
			continue
		}
		strangers.add(conn)
		serving.Go(func() {
			end := context.AfterFunc(ctx, func() { _ = conn.Close() })
			proved, err := l.greet(conn, r)
			end()
			strangers.remove(conn)
			do(proved, err)
		})
	}
}

// greet checks the token of the side that opened a connection. It returns the connection to use afterwards, also with an error.
func (l *Listener) greet(conn net.Conn, r *role) (net.Conn, error) {
	var keys []byte
	if l.settings != nil {
		if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
			return conn, err
		}
		safe, digest, err := handshake(tls.Server(conn, l.settings))
		if err != nil {
			return conn, err
		}
		conn, keys = safe, digest
	}
	return conn, l.address.check(conn, keys, r)
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
