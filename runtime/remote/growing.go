package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Admission calls join with the stream of each server that joins, on goroutines of its own, until ctx ends. It returns when all
// these calls have returned.
type Admission func(ctx context.Context, join func(io.ReadWriteCloser))

// NewGrowing returns a plugin like that of [NewCluster] whose servers may also join while it is open. Opening it calls admit, and
// needs no peer. Servers that join are numbered from the number of listed peers on. The number and a slash precede the names of a
// server's devices. The function report receives the errors of servers that cannot join.
func NewGrowing(name string, peers func(context.Context) ([]Peer, error), admit func(context.Context) (Admission, error), report func(error)) offload.Plugin {
	return &cluster{name: name, peers: peers, admit: admit, report: report}
}

// growing implements [offload.Growing] for servers that join. Each server is a part. All listed peers together are the first one,
// unless none of them has a device.
type growing struct {
	name    string
	report  func(error)
	missing []offload.Missing
	end     context.CancelFunc
	over    chan struct{} // closed when no server joins any more

	mu    sync.Mutex
	next  int // number of the next server
	parts []offload.Platform
	more  chan struct{} // closed when the next part joins
}

// grow begins to admit servers beside the listed peers, which are open as the platform listed. peers is the number of all
// listed peers, so that the first server that joins has this number.
func (c *cluster) grow(ctx context.Context, listed offload.Platform, missing []offload.Missing, peers int) (*growing, error) {
	admit, err := c.admit(ctx)
	if err != nil {
		return nil, err
	}
	g := &growing{name: c.name, report: c.report, missing: missing, over: make(chan struct{}), next: peers, more: make(chan struct{})}
	if len(listed.Devices()) > 0 {
		g.parts = []offload.Platform{listed}
	}
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	g.end = end
	go func() {
		defer close(g.over)
		admit(open, func(stream io.ReadWriteCloser) {
			if err := g.add(open, stream); err != nil && open.Err() == nil {
				g.report(err)
			}
		})
	}()
	return g, nil
}

// add adds the server at the other end of a stream. If that fails, it closes the stream and returns the error.
func (g *growing) add(ctx context.Context, stream io.ReadWriteCloser) error {
	part, err := (&plugin{g.name, func(context.Context) (io.ReadWriteCloser, error) { return stream, nil }}).Open(ctx)
	if err != nil {
		_ = stream.Close()
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range part.Devices() {
		d := d.(*device)
		d.name = fmt.Sprintf("%d/%s", g.next, d.name)
	}
	g.next++
	g.parts = append(g.parts, part)
	close(g.more)
	g.more = make(chan struct{})
	return nil
}

// Joined implements [offload.Growing].
func (g *growing) Joined() ([]offload.Platform, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.parts), g.more
}

// Missing implements [offload.Partial].
func (g *growing) Missing() []offload.Missing { return g.missing }

// Devices returns nil, since all devices belong to parts.
func (g *growing) Devices() []offload.Device { return nil }

// CheckImage accepts every image, since a part that joins later may load it.
func (g *growing) CheckImage(*offload.Image) error { return nil }

func (g *growing) Info() offload.PlatformInfo {
	parts, _ := g.Joined()
	if len(parts) == 0 {
		return offload.PlatformInfo{Name: g.name, Vendor: "no worker has joined"}
	}
	info := parts[0].Info()
	if n := len(parts); n > 1 {
		info.Vendor = fmt.Sprintf("%d parts, the first: %s", n, info.Vendor)
	}
	return info
}

// Close admits no further server, and ends the connections to all.
func (g *growing) Close() error {
	g.end()
	<-g.over
	parts, _ := g.Joined()
	errs := make([]error, len(parts))
	var closing sync.WaitGroup
	for i, part := range parts {
		closing.Go(func() { errs[i] = part.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}
