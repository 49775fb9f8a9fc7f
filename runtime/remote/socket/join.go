package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/orepl/orepl/runtime/remote"
)

// CheckProtected returns an error for a TCP address without encryption whose host is neither localhost nor a loopback address.
func (a Address) CheckProtected() error {
	if a.Network != tcpNetwork {
		return nil
	}
	host, port, _ := net.SplitHostPort(a.Place)
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("connections to %s would leave this machine without encryption: write tls:%s", a, net.JoinHostPort(host, port))
}

// Intervals between attempts to join a script that does not listen yet.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
)

// Join connects a worker to the script at the address. While no script listens there, it tries again until patience has passed.
// Both sides prove that they know the token. An address without a token is an error, as is one that CheckProtected refuses.
func (a Address) Join(ctx context.Context, patience time.Duration) (net.Conn, error) {
	if a.Token == "" {
		return nil, &remote.Unreachable{Err: fmt.Errorf("the address %s has no token", a),
			Hint: fmt.Sprintf("set %s or %s to the script's, or write #TOKEN behind the address", TokenVariable, TokenFileVariable)}
	}
	if err := a.CheckProtected(); err != nil {
		return nil, err
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		conn, err := (&net.Dialer{Timeout: greetTime}).DialContext(ctx, a.system(), a.Place)
		if err == nil {
			expire(conn)
			conn, err = a.meet(ctx, conn, joiner)
			return conn, err
		}
		left := time.Until(end)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if left <= 0 {
			var dns *net.DNSError
			hint := "start the script with OREPL_FAR=listen:" + a.String() + ", and see that it has called devices() or pool()"
			if errors.As(err, &dns) {
				hint = "see whether the name of the machine is right"
			}
			return nil, &remote.Unreachable{Err: fmt.Errorf("no script listens at %s: %w", a, plain(err)), Hint: hint}
		}
		select {
		case <-time.After(min(pause, left)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
