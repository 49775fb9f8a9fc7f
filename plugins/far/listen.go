package far

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// listenPrefix is the prefix of an address in OREPL_FAR at which workers join.
const listenPrefix = "listen:"

// admission listens at addresses, and returns a function that admits the workers that join there.
func admission(addresses []string, tell func(string)) (remote.Admission, error) {
	var listeners []*socket.Listener
	for _, text := range addresses {
		l, err := listen(text, tell)
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, wrong(fmt.Sprintf("listen:%s", text), err)
		}
		listeners = append(listeners, l)
	}
	return func(ctx context.Context, join func(io.ReadWriteCloser)) {
		var admitting sync.WaitGroup
		for _, l := range listeners {
			admitting.Go(func() {
				if err := l.Admit(ctx, func(c net.Conn) { join(c) }); err != nil {
					tell(fmt.Sprintf("far: no worker can join at %s any more: %v", l.Address(), err))
				}
			})
		}
		admitting.Wait()
	}, nil
}

// listen listens at an address, and tells how workers join there. Without a token it makes one, which the line shows.
func listen(text string, tell func(string)) (*socket.Listener, error) {
	a, err := socket.ParseAddress(text)
	if err != nil {
		return nil, errors.New("it is no address: write tcp:127.0.0.1:4711 on one machine, tls:0.0.0.0:4711 for others, or unix:PATH")
	}
	if a, err = a.WithToken(""); err != nil {
		return nil, err
	}
	if err := a.CheckProtected(); err != nil {
		return nil, err
	}
	l, err := socket.Listen(a)
	if err != nil {
		return nil, err
	}
	tell("far: workers join by: orepl worker --join " + l.Shown())
	return l, nil
}
