package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/remote/hostfile"
	"github.com/orepl/orepl/runtime/remote/lease"
	"github.com/orepl/orepl/runtime/remote/protocol"
	"github.com/orepl/orepl/runtime/remote/silence"
	"github.com/orepl/orepl/runtime/remote/warn"
)

// Dial connects to a server.
type Dial func(ctx context.Context) (io.ReadWriteCloser, error)

// NewPlugin returns a plugin that offers the devices of a server under a name.
func NewPlugin(name string, dial Dial) offload.Plugin { return &plugin{name, dial} }

type plugin struct {
	name string
	dial Dial
}

func (p *plugin) Name() string { return p.name }

// MaxClass implements [offload.ClassBounded].
func (p *plugin) MaxClass() int { return offload.ClassRemote }

func (p *plugin) Open(ctx context.Context) (offload.Platform, error) {
	if _, err := silence.Limit(silence.Near); err != nil {
		return nil, err
	}
	dialed, err := p.dial(ctx)
	if err != nil {
		e := offload.Errorf(offload.NotFound, "open", "the worker of %s cannot be reached", p.name)
		e.Err = err
		var inner *Unreachable
		if errors.As(err, &inner) {
			e.Hint = inner.Hint
		}
		return nil, e
	}
	limit, _ := silence.Of(dialed)
	stream, heard := listenTo(dialed)
	c := &client{name: p.name, link: newLink(stream, false), dialed: dialed, clock: queue.NewClock(), lost: make(chan struct{}), ended: make(chan struct{}),
		welcomed: make(chan *protocol.Welcome, 1), replies: map[uint64]chan *protocol.Reply{}, lanes: map[uint64]*lane{}, calls: map[uint64]context.CancelFunc{},
		sent: map[protocol.Digest]bool{}}
	c.link.handle, c.link.land = c.handle, c.land
	go c.receive()
	w, err := c.greet(ctx, heard, limit)
	if err != nil {
		return nil, err
	}
	if err := c.open(w); err != nil {
		c.end(nil)
		<-c.ended
		return nil, err
	}
	if limit, _ = silence.From(dialed, w.Machine); limit > 0 {
		go c.watch(heard, limit)
	}
	if w.Hooks {
		return &hooked{client: c, libraries: map[*offload.Library]uint64{}}, nil
	}
	return c, nil
}

// client is a connection to a server: it implements [offload.Platform].
type client struct {
	name     string // name of the plugin
	link     *link
	dialed   io.ReadWriteCloser
	clock    queue.Clock
	info     offload.PlatformInfo
	address  string // address at which other servers reach this one
	session  protocol.SessionID
	cluster  *clusterPlatform // servers that reach each other; nil for a single server
	devices  []offload.Device
	welcomed chan *protocol.Welcome
	serial   atomic.Uint64 // numbers of objects and requests

	lost  chan struct{}
	ended chan struct{} // closed after lost, when the queues know of the loss and no message is handled any more
	why   error         // set before lost is closed

	mu      sync.Mutex
	closing bool // Close was called
	gone    bool // the connection has ended: requests are refused
	replies map[uint64]chan *protocol.Reply
	lanes   map[uint64]*lane
	calls   map[uint64]context.CancelFunc // cancels running service calls
	files   hostfile.Table
	warners warn.Warners

	images    sync.Mutex
	sent      map[protocol.Digest]bool // images whose contents the server has
	sentBytes int                      // total size of these contents
}

// keepImages is the total size in bytes of sent images above which the client makes the server drop them, before the next one.
const keepImages = 64 << 20

func (c *client) open(w *protocol.Welcome) error {
	if string(w.Magic[:]) != protocol.Magic || w.Version != protocol.Version {
		return offload.Errorf(offload.Unsupported, "open", "the server speaks version %d of the protocol, this program version %d", w.Version, protocol.Version).
			WithHint("use the same build on both sides")
	}
	if err := offload.DecodeError(w.Error); err != nil {
		return err
	}
	c.info, c.address, c.session = w.Platform, w.Address, w.Session
	for i := range w.Devices {
		d := &w.Devices[i]
		if d.Name == "" {
			return offload.Errorf(offload.BackendFailure, "open", "the server has a device without a name")
		}
		info := d.Info
		info.Class = offload.ClassRemote
		info.Features.Unified, info.Features.HostVisible = false, false
		dev := &device{client: c, number: uint32(i), name: d.Name, platform: d.Platform}
		dev.info.Store(&info)
		if len(d.Properties) > 0 {
			if err := json.Unmarshal(d.Properties, &dev.properties); err != nil {
				return offload.Errorf(offload.BackendFailure, "open", "the properties of device %s are damaged: %v", d.Name, err)
			}
		}
		c.devices = append(c.devices, dev)
	}
	return nil
}

func (c *client) Info() offload.PlatformInfo { return c.info }
func (c *client) Devices() []offload.Device  { return c.devices }

func (c *client) CheckImage(img *offload.Image) error {
	_, err := c.check(protocol.AnyDevice, img)
	return err
}

// Close writes the last messages, for at most flushTime, and ends the connection. The server then frees the remaining objects.
func (c *client) Close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.link.flushed()
	c.end(errors.New("the connection was closed"))
	<-c.ended
	return nil
}

// isClosing reports whether Close was called.
func (c *client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// end ends the connection for the reason why. Only the first reason is kept.
func (c *client) end(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	_ = c.link.stream.Close() // makes receive return
}

// LostError returns an error of code [offload.DeviceLost], whose cause is the reason for the end of the connection.
func (c *client) LostError() error {
	err := offload.Errorf(offload.DeviceLost, "connection", "the connection to the process of the device is lost")
	err.Err = c.lostReason()
	return err
}

// receive handles the server's messages until the connection ends. Then it ends all waits for the server.
func (c *client) receive() {
	defer close(c.ended)
	c.end(c.link.cause(c.link.receive()))
	c.link.end() // no memory of a command is used afterwards
	c.mu.Lock()
	c.gone = true
	lanes, replies, calls := c.lanes, c.replies, c.calls
	c.lanes, c.replies, c.calls = nil, nil, nil
	activity.Current().Queues.Add(-int64(len(lanes)))
	c.mu.Unlock()
	close(c.lost)
	why := c.LostError()
	for _, ch := range replies {
		close(ch)
	}
	for _, cancel := range calls {
		cancel()
	}
	c.files.End()
	for _, l := range lanes {
		l.lose(why)
	}
}

func (c *client) handle(p protocol.Message) error {
	switch m := p.(type) {
	case *protocol.Welcome:
		m.Error = bytes.Clone(m.Error) // the frame's memory is reused
		for i := range m.Devices {
			m.Devices[i].Properties = bytes.Clone(m.Devices[i].Properties)
		}
		select {
		case c.welcomed <- m:
			return nil
		default:
			return errors.New("a second welcome")
		}
	case *protocol.Reply:
		c.mu.Lock()
		ch := c.replies[m.Request]
		delete(c.replies, m.Request)
		c.mu.Unlock()
		if ch == nil {
			return fmt.Errorf("a reply to request %d, which is not open", m.Request)
		}
		m.Error = bytes.Clone(m.Error)
		ch <- m // the channel has room
	case *protocol.Reached:
		return c.onLane(m.At, func(l *lane) error { return l.end(m) })
	case *protocol.Fragment:
		return c.onLane(m.At, func(l *lane) error { return l.data(m) })
	case *landed: // handled by land
	case *protocol.Printed:
		return c.onLane(m.At, func(l *lane) error { return l.print(m) })
	case *protocol.ServiceCall:
		return c.onLane(m.At, func(l *lane) error { return l.call(m) })
	case *protocol.ServiceCancel:
		c.mu.Lock()
		cancel := c.calls[m.Call]
		c.mu.Unlock()
		if cancel != nil { // otherwise the call has just been answered
			cancel()
		}
	case *protocol.FileRequest:
		return c.serveFile(m)
	case *protocol.Warning:
		c.warners.Warn(m.Program, m.Text)
	case *protocol.Unloaded:
		c.warners.Unloaded(m.Program)
	case *protocol.Alive: // only its arrival matters
	default:
		return fmt.Errorf("message %T is a client's", p)
	}
	return nil
}

// land returns the host memory for n bytes of a fragment. It returns nil if the copy has several rows, or if no such bytes are expected.
func (c *client) land(m *protocol.Fragment, n int64) (to []byte) {
	_ = c.onLane(m.At, func(l *lane) error { to = l.land(m, n); return nil }) // handle reports the error
	return to
}

func (c *client) onLane(at protocol.At, do func(*lane) error) error {
	c.mu.Lock()
	l := c.lanes[at.Queue]
	c.mu.Unlock()
	if l == nil {
		return fmt.Errorf("queue %d does not exist", at.Queue)
	}
	return do(l)
}

// request sends the request m, whose number is number, and waits for the reply. The results are those of requestWith.
func (c *client) request(op string, number uint64, m protocol.Message) (*protocol.Reply, error) {
	return c.requestWith(context.Background(), op, number, func() { c.link.send(m) })
}

// requestImage sends an image's content, if the server lacks it, and the request that of makes. The results are those of requestWith.
func (c *client) requestImage(ctx context.Context, op string, number uint64, img *offload.Image, of func(protocol.ImageRef) protocol.Message) (*protocol.Reply, error) {
	return c.requestWith(ctx, op, number, func() {
		c.images.Lock()
		defer c.images.Unlock()
		c.forgetImages()
		c.link.send(of(c.sendImage(img)))
	})
}

// await handles messages for a while until done returns true, and reports whether done did. Without a [Poller] it returns false.
func (c *client) await(done func() bool) bool {
	if c.link.poller == nil {
		return false
	}
	return c.link.driveWith(c.busyOthers(), func() bool {
		c.link.poll()
		return done()
	})
}

// mostOthers is the maximum number of other streams that a goroutine polls while it waits for one stream.
const mostOthers = 8

// busy reports whether commands are in flight.
func (c *client) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lanes {
		if l.window.Load() > 0 {
			return true
		}
	}
	return false
}

// outstanding returns the newest command of each queue with commands that have not ended.
func (c *client) outstanding() (list []lease.Mark) {
	c.mu.Lock()
	lanes := slices.Collect(maps.Values(c.lanes))
	c.mu.Unlock()
	for _, l := range lanes {
		l.mu.Lock()
		if m := (lease.Mark{Reached: &l.reached, Number: l.newest}); m.Runs() {
			list = append(list, m)
		}
		l.mu.Unlock()
	}
	return list
}

// busyOthers returns the links to other servers of the cluster that have commands in flight, at most mostOthers of them. It leaves
// out streams that are no [Poller].
func (c *client) busyOthers() (list []*link) {
	if c.cluster == nil {
		return nil
	}
	for _, p := range c.cluster.parts {
		if o := clientOf(p); o != c && o.link.poller != nil && len(list) < mostOthers && o.busy() {
			list = append(list, o.link)
		}
	}
	return list
}

// cancelTime is the time limit for the reply to a cancelled request, after which the connection is closed.
const cancelTime = 2 * time.Second

// requestWith calls send, which sends the request with this number, and waits for the reply. The error is that in the reply, or
// DeviceLost for a lost server. When ctx ends, it cancels the request, and waits for the reply for at most cancelTime.
func (c *client) requestWith(ctx context.Context, op string, number uint64, send func()) (*protocol.Reply, error) {
	ch := make(chan *protocol.Reply, 1)
	c.mu.Lock()
	gone := c.gone
	if !gone {
		c.replies[number] = ch
	}
	c.mu.Unlock()
	if gone {
		return nil, c.refused(op)
	}
	send()
	var r *protocol.Reply
	c.await(func() bool { return len(ch) > 0 })
	select {
	case r = <-ch:
	case <-ctx.Done():
		c.link.send(&protocol.CancelRequest{Request: number})
		late := time.AfterFunc(cancelTime, func() { c.abort(errors.New("the server does not answer")) })
		r = <-ch // afterwards it is known whether the request's object exists
		late.Stop()
	}
	if r == nil {
		return nil, c.refused(op)
	}
	return r, offload.DecodeError(r.Error)
}

// usable returns an error if the server is lost.
func (c *client) usable(op string) error {
	c.mu.Lock()
	gone := c.gone
	c.mu.Unlock()
	if gone {
		return c.refused(op)
	}
	return nil
}

func (c *client) refused(op string) error {
	e := offload.Errorf(offload.DeviceLost, op, "the device is lost")
	e.Err = c.LostError()
	return e
}

// forgetImages makes the server drop the contents of all images if they are large or many. The caller holds c.images until it has
// sent the next message that names an image.
func (c *client) forgetImages() {
	if c.sentBytes > keepImages || len(c.sent) > maxImages/2 {
		c.link.send(&protocol.ForgetImages{})
		clear(c.sent)
		c.sentBytes = 0
	}
}

// sendImage returns the reference to an image, and sends the image's content if the server lacks it. The caller holds c.images.
func (c *client) sendImage(img *offload.Image) protocol.ImageRef {
	ref := protocol.RefOf(img)
	if !c.sent[ref.Digest] {
		c.sent[ref.Digest] = true
		c.sentBytes += len(img.Data)
		for rest := img.Data; len(rest) > 0; {
			n := min(protocol.MaxFragment, len(rest))
			c.link.sendWith(&protocol.ImageData{Digest: ref.Digest, Total: ref.Size}, rest[:n])
			rest = rest[n:]
		}
	}
	return ref
}

func (c *client) check(device uint32, img *offload.Image) (int, error) {
	if img.Unusable != nil {
		return 0, img.Unusable
	}
	number := c.serial.Add(1)
	r, err := c.requestImage(context.Background(), "load", number, img, func(ref protocol.ImageRef) protocol.Message {
		return &protocol.CheckImage{Request: number, Device: device, Image: ref}
	})
	if err != nil {
		return 0, err
	}
	return int(r.Value), nil
}

// hooked is a client of a server whose plugins have library hooks: it implements [offload.LibraryHooks].
type hooked struct {
	*client
	registered sync.Mutex
	libraries  map[*offload.Library]uint64
}

// RegisterLibrary sends the whole library: contents of usable images, entries and flags.
func (h *hooked) RegisterLibrary(ctx context.Context, lib *offload.Library) error {
	c := h.client
	number := c.serial.Add(1)
	m := &protocol.RegisterLibrary{Request: number, Library: c.serial.Add(1), Label: lib.Label, Entries: lib.Entries, Requires: lib.Requires}
	_, err := c.requestWith(ctx, "register", number, func() {
		c.images.Lock()
		defer c.images.Unlock()
		c.forgetImages()
		for _, img := range lib.Images {
			if img.Unusable == nil {
				m.Images = append(m.Images, c.sendImage(img))
			}
		}
		c.link.send(m)
	})
	if err != nil {
		return err
	}
	h.registered.Lock()
	defer h.registered.Unlock()
	h.libraries[lib] = m.Library
	return nil
}

// UnregisterLibrary also succeeds if the server is lost.
func (h *hooked) UnregisterLibrary(ctx context.Context, lib *offload.Library) error {
	h.registered.Lock()
	library := h.libraries[lib]
	delete(h.libraries, lib)
	h.registered.Unlock()
	number := h.serial.Add(1)
	_, err := h.requestWith(ctx, "unregister", number, func() { h.link.send(&protocol.UnregisterLibrary{Request: number, Library: library}) })
	if offload.CodeOf(err) == offload.DeviceLost {
		return nil
	}
	return err
}
