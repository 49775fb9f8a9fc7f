package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// Peer is one of the servers behind a plugin.
type Peer struct {
	Name string // prefix of the names of its devices, before a slash; "" for a single peer, whose names have no prefix
	Dial Dial
}

// NewCluster returns a plugin that offers the devices of several servers under one name: device cpu:0 of the peer 2 is
// NAME:2/cpu:0. Opening it calls peers and connects to all of them concurrently. Peers that cannot be opened are in the platform's
// list of Missing. Opening fails if peers fails, if no peer can be opened, if one fails with [offload.InvalidArgument], or if the context ends.
func NewCluster(name string, peers func(context.Context) ([]Peer, error)) offload.Plugin {
	return &cluster{name: name, peers: peers}
}

type cluster struct {
	name   string
	peers  func(context.Context) ([]Peer, error)
	admit  func(context.Context) (Admission, error) // nil: no server joins later
	report func(error)
}

func (c *cluster) Name() string { return c.name }

// MaxClass implements [offload.ClassBounded].
func (c *cluster) MaxClass() int { return offload.ClassRemote }

func (c *cluster) Open(ctx context.Context) (offload.Platform, error) {
	peers, err := c.peers(ctx)
	if err != nil {
		return nil, err
	}
	if len(peers) == 0 && c.admit == nil {
		return nil, offload.Errorf(offload.NotFound, "open", "there are no workers").On(c.name, "")
	}
	parts := make([]offload.Platform, len(peers))
	errs := make([]error, len(peers))
	var opening sync.WaitGroup
	for i, p := range peers {
		opening.Go(func() { parts[i], errs[i] = (&plugin{c.title(p), p.Dial}).Open(ctx) })
	}
	opening.Wait()
	all := &clusterPlatform{}
	var wrong error
	for i, err := range errs {
		if err == nil {
			all.parts = append(all.parts, parts[i])
			continue
		}
		all.missing = append(all.missing, offload.Missing{Name: peers[i].Name, Err: err})
		if offload.CodeOf(err) == offload.InvalidArgument || ctx.Err() != nil {
			wrong = cmp.Or(wrong, err)
		}
	}
	if wrong != nil || len(all.parts) == 0 && c.admit == nil {
		for _, p := range all.parts {
			_ = p.Close()
		}
		return nil, cmp.Or(wrong, all.missing[0].Err)
	}
	hooks := false
	for i, p := range parts {
		if p == nil {
			continue
		}
		clientOf(p).name = c.name
		for _, d := range p.Devices() {
			if peers[i].Name != "" {
				d.(*device).name = peers[i].Name + "/" + d.(*device).name
			}
			all.devices = append(all.devices, d)
		}
		_, ok := p.(*hooked)
		hooks = hooks || ok
	}
	all.introduce()
	var whole offload.Platform = all
	if hooks {
		whole = &hookedCluster{all}
	}
	if c.admit == nil {
		return whole, nil
	}
	g, err := c.grow(ctx, whole, all.missing, len(peers))
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	return g, nil
}

// title returns a peer's name for errors.
func (c *cluster) title(p Peer) string {
	if p.Name == "" {
		return c.name
	}
	return c.name + ":" + p.Name
}

// clusterPlatform implements [offload.Platform] for all servers of a cluster as one platform.
type clusterPlatform struct {
	parts   []offload.Platform
	devices []offload.Device
	missing []offload.Missing
}

// Missing implements [offload.Partial].
func (p *clusterPlatform) Missing() []offload.Missing { return p.missing }

// clientOf returns the client of a part.
func clientOf(p offload.Platform) *client {
	if h, ok := p.(*hooked); ok {
		return h.client
	}
	return p.(*client)
}

// introduce lets the servers of the cluster exchange memory. When a server with an address is lost, a goroutine tells the others.
func (p *clusterPlatform) introduce() {
	for _, part := range p.parts {
		c := clientOf(part)
		c.cluster = p
		if c.address == "" {
			continue
		}
		go func() {
			<-c.lost
			if c.isClosing() {
				return
			}
			for _, other := range p.parts {
				if o := clientOf(other); o != c {
					o.link.send(&protocol.PeerLost{Peer: c.address})
				}
			}
		}()
	}
}

func (p *clusterPlatform) Info() offload.PlatformInfo {
	info := p.parts[0].Info()
	if n := len(p.parts); n > 1 {
		info.Vendor = fmt.Sprintf("%d workers, the first: %s", n, info.Vendor)
	}
	return info
}

func (p *clusterPlatform) Devices() []offload.Device { return p.devices }

// CheckImage returns nil if a server may load the image, else the first server's error.
func (p *clusterPlatform) CheckImage(img *offload.Image) (first error) {
	for _, part := range p.parts {
		err := part.CheckImage(img)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (p *clusterPlatform) Close() error {
	errs := make([]error, len(p.parts))
	var closing sync.WaitGroup
	for i, part := range p.parts {
		closing.Go(func() { errs[i] = part.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// hookedCluster forwards libraries to servers with library hooks: it implements [offload.LibraryHooks].
type hookedCluster struct{ *clusterPlatform }

// RegisterLibrary registers a library with the servers. If one refuses, the earlier ones unregister it. Lost servers are skipped.
func (h *hookedCluster) RegisterLibrary(ctx context.Context, lib *offload.Library) error {
	for i, part := range h.parts {
		hooks, ok := part.(*hooked)
		if !ok {
			continue
		}
		if err := hooks.RegisterLibrary(ctx, lib); err != nil && offload.CodeOf(err) != offload.DeviceLost { // others go on
			return errors.Join(err, h.unregister(ctx, lib, h.parts[:i]))
		}
	}
	return nil
}

func (h *hookedCluster) UnregisterLibrary(ctx context.Context, lib *offload.Library) error {
	return h.unregister(ctx, lib, h.parts)
}

func (h *hookedCluster) unregister(ctx context.Context, lib *offload.Library, parts []offload.Platform) (err error) {
	for _, part := range slices.Backward(parts) {
		if hooks, ok := part.(*hooked); ok {
			err = errors.Join(err, hooks.UnregisterLibrary(ctx, lib))
		}
	}
	return err
}
