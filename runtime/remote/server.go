package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/hostfile"
	"github.com/orepl/orepl/runtime/remote/joint"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

const (
	maxRequests = 1024      // maximum number of open requests of a client
	maxImages   = 1 << 16   // maximum number of image contents; a client makes the server drop all at half of it
	maxPending  = 1024      // maximum number of unfinished commands of a queue; a client's window is smaller
	maxAtOnce   = 256 << 20 // maximum size in bytes of memory that is sent without a wait for space
)

// Serve offers the devices of the plugins to the client at the other end of the stream, until the stream or ctx ends. Then it frees the
// client's objects and closes the platforms. It returns the reason of the end, or nil if the client closed the stream or has ended. When
// ctx ends, Serve closes the stream, and may return nil or the error of a closed stream.
func Serve(ctx context.Context, stream io.ReadWriteCloser, plugins ...offload.Plugin) error {
	return Server{Plugins: plugins}.Serve(ctx, stream)
}

// Server is a server whose devices may exchange memory with those of other servers.
type Server struct {
	Plugins  []offload.Plugin
	Address  string                                                                // address for other servers; empty if there are none
	DialPeer func(ctx context.Context, address string) (io.ReadWriteCloser, error) // connects to another server; nil if there are none
	LosePeer func(address string)                                                  // ends all connections of a server that the client has lost; may be nil
}

// Serve is like the function [Serve], but the other end of the stream may also be another server.
func (o Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{ctx: ctx, link: newLink(stream, true), options: o, session: protocol.NewSessionID(),
		images: map[protocol.Digest]*content{}, memories: map[uint64]offload.Memory{}, deviceOf: map[uint64]*servedDevice{},
		programs: map[uint64]*servedProgram{}, kernels: map[uint64]servedKernel{}, queues: map[uint64]*servedQueue{}, closing: map[*servedQueue]bool{},
		requests: map[uint64]context.CancelFunc{}, serviceCalls: serviceCalls{calls: map[uint64]chan *protocol.ServiceAnswer{}}}
	s.held, s.peers, s.served = map[offload.Memory]int{}, map[string]*peer{}, map[io.Closer]bool{}
	s.files = hostfile.NewCalls(ctx, s.sendFileRequest)
	s.joints = joints{hall: joint.NewHall(), links: joint.NewLinks()}
	if s.link.poller != nil {
		s.link.await = s.awaitAll
	}
	s.unheld.L = &s.mu
	s.printed.L = &s.mu
	s.link.handle, s.link.idle, s.link.land = s.handle, s.reportAtOnce, s.land
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	err := s.link.cause(s.link.receive())
	if errors.Is(err, errPeer) {
		err = s.servePeer(s.other)
	}
	stop()
	cancel()
	s.link.end()
	s.free()
	if errors.Is(err, io.ErrClosedPipe) || isEnd(err) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// isEnd reports whether an error of a stream means that the process at the other end closed it, or ended. The system resets a
// connection that is closed before its last bytes were read.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

// hasEnded reports whether an error of reading or writing a stream means that the process at the other end is gone.
func hasEnded(err error) bool {
	return isEnd(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// server is one connection, to a client or from another server.
type server struct {
	ctx     context.Context
	link    *link
	options Server
	session protocol.SessionID
	other   *protocol.PeerHello // first message of a server at the other end; nil for a client

	// These fields belong to the receiving goroutine.
	greeted    bool
	devices    []*servedDevice
	images     map[protocol.Digest]*content
	imageBytes int64          // total size of the contents in images
	ended      []*servedQueue // queues with commands that ended at once and were not reported

	platforms []offload.Platform
	running   sync.WaitGroup // requests and queues

	mu       sync.Mutex
	memories map[uint64]offload.Memory
	deviceOf map[uint64]*servedDevice // device of each memory
	exchanges
	programs map[uint64]*servedProgram
	kernels  map[uint64]servedKernel
	queues   map[uint64]*servedQueue
	closing  map[*servedQueue]bool // released queues whose commands have not ended
	requests map[uint64]context.CancelFunc
	serviceCalls
	lines
	files *hostfile.Calls

	libraries []*servedLibrary // in order of registration
}

// serviceCalls are the calls of services that the client has not answered. It is guarded by server.mu.
type serviceCalls struct {
	calls    map[uint64]chan *protocol.ServiceAnswer
	lastCall uint64
}

// lines limits the output of device code. It is guarded by server.mu.
type lines struct {
	prints  int       // lines sent that the client has not printed
	printed sync.Cond // prints or leaving changed
	leaving bool      // the client's connection has ended
}

type servedDevice struct {
	offload.Device
	platform offload.Platform

	mu     sync.Mutex
	base   offload.Event // origin of the times reported to the client; nil before the first queue, and without a clock
	spares joint.Spares  // for operands of joint launches
}

type servedProgram struct {
	offload.Program
	device  *servedDevice
	kernels []uint64
	globals []uint64
}

// servedKernel is a kernel and the number of its program.
type servedKernel struct {
	offload.Kernel
	program uint64
}

// content is the content of an image, or the received part of it.
type content struct {
	total uint64
	data  []byte
}

// handle handles a message of the client. An error ends the connection, except errPeer: Serve then serves another server on it.
func (s *server) handle(p protocol.Message) (err error) {
	defer func() {
		if r := recover(); r != nil { // panic of a plugin on an unexpected message
			err = fmt.Errorf("message %T: panic: %v\n%s", p, r, debug.Stack())
		}
	}()
	if m, ok := p.(*protocol.Hello); ok && !s.greeted {
		s.greeted = true
		return s.greet(m)
	}
	if m, ok := p.(*protocol.PeerHello); ok && !s.greeted {
		s.other = m
		return errPeer
	}
	if !s.greeted {
		return fmt.Errorf("message %T comes before the greeting", p)
	}
	switch m := p.(type) {
	case *protocol.CancelRequest:
		s.mu.Lock()
		cancel := s.requests[m.Request]
		s.mu.Unlock()
		if cancel != nil { // otherwise it has just been answered
			cancel()
		}
		return nil
	case *protocol.ImageData:
		return s.addData(m)
	case *protocol.ForgetImages:
		clear(s.images)
		s.imageBytes = 0
		return nil
	case *protocol.CheckImage:
		return s.checkImage(m)
	case *protocol.RegisterLibrary:
		return s.registerLibrary(m)
	case *protocol.UnregisterLibrary:
		return s.unregisterLibrary(m)
	case *protocol.Load:
		return s.load(m)
	case *protocol.FindKernel:
		return s.findKernel(m)
	case *protocol.FindGlobal:
		return s.findGlobal(m)
	case *protocol.FindAddress:
		return s.findAddress(m)
	case *protocol.Allocate:
		return s.allocate(m)
	case *protocol.NewQueue:
		return s.newQueue(m)
	case *protocol.Release:
		return s.release(m)
	case *protocol.Transfer:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.transfer(m) })
	case *protocol.Fragment:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.fragment(m, false) })
	case *landed:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.fragment(&m.Fragment, true) })
	case *protocol.Exchange:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.exchangePeer(m) })
	case *protocol.PeerLost:
		s.losePeer(m.Peer)
		return nil
	case *protocol.Fill:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.fill(m) })
	case *protocol.Launch:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.launch(m) })
	case *protocol.JointLaunch:
		return s.onQueue(m.Launch.At, func(q *servedQueue) error { return q.joint(m) })
	case *protocol.Abandon:
		s.hall.Fail(m.Operation, offload.DecodeError(m.Error))
		return nil
	case *protocol.Relaunch:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.relaunch(m) })
	case *protocol.Record:
		return s.onQueue(m.At, func(q *servedQueue) error { return q.issue(m.At, pending{record: true}, func() error { return nil }) })
	case *protocol.Stop:
		if q := s.queue(m.At.Queue); q != nil { // otherwise it was released, after its last command had ended
			q.stop(m.At.Number)
		}
		return nil
	case *protocol.ServiceAnswer:
		s.answered(m)
		return nil
	case *protocol.FileAnswer:
		s.files.Answered(m)
		return nil
	case *protocol.PrintsDone:
		s.mu.Lock()
		defer s.mu.Unlock()
		if int64(m.Count) > int64(s.prints) {
			return fmt.Errorf("%d lines were printed of %d", m.Count, s.prints)
		}
		s.prints -= int(m.Count)
		s.printed.Broadcast()
		return nil
	}
	return fmt.Errorf("message %T is a server's", p)
}

// greet opens the plugins and answers the client's first message. If no plugin has a device, the answer has the first error of a
// plugin, or NotFound if none failed. A client of another version of the protocol gets an answer too, and then greet returns an error.
func (s *server) greet(m *protocol.Hello) error {
	w := &protocol.Welcome{Version: protocol.Version, Machine: protocol.ThisMachine.Get()}
	copy(w.Magic[:], protocol.Magic)
	if string(m.Magic[:]) != protocol.Magic || m.Version != protocol.Version {
		s.link.send(w) // the client reports the difference
		s.link.flushed()
		return fmt.Errorf("the client speaks version %d of the protocol, this program version %d", m.Version, protocol.Version)
	}
	s.running.Go(func() { s.link.keepAlive(s.ctx) }) // opening plugins may take long
	var first error
	for _, p := range s.options.Plugins {
		platform, err := p.Open(s.ctx)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if len(s.platforms) == 0 {
			w.Platform = platform.Info()
		}
		s.platforms = append(s.platforms, platform)
		if _, ok := platform.(offload.LibraryHooks); ok {
			w.Hooks = true
		}
		devices := platform.Devices()
		for i, d := range devices {
			name := fmt.Sprintf("%s:%d", p.Name(), i)
			if n, ok := d.(offload.Named); ok {
				name = p.Name() + ":" + n.Named()
			}
			entry := protocol.Device{Name: name, Platform: platform.Info(), Info: *d.Info()}
			if x, ok := d.(offload.Describer); ok {
				entry.Properties, _ = json.Marshal(x.Describe()) // omits values that JSON cannot represent
			}
			w.Devices = append(w.Devices, entry)
			s.devices = append(s.devices, &servedDevice{Device: d, platform: platform})
			activity.Devices(name)
		}
	}
	if len(s.devices) == 0 {
		w.Error = offload.EncodeError(cmp.Or[error](first, offload.Errorf(offload.NotFound, "open", "the server has no device")))
	}
	if s.options.Address != "" {
		w.Address, w.Session = s.options.Address, s.session
		sessions.Store(s.session, s)
	}
	s.link.send(w)
	return nil
}

// free cancels the client's requests and queues. When these and all exchanges have ended, it frees the remaining objects and closes
// the platforms.
func (s *server) free() {
	s.mu.Lock()
	for _, cancel := range s.requests {
		cancel()
	}
	queues := slices.AppendSeq(slices.Collect(maps.Keys(s.closing)), maps.Values(s.queues))
	s.queues = nil
	peers := s.peers
	s.leaving = true
	s.printed.Broadcast()
	for stream := range s.served { // a server that neither sends nor ends must not keep memory
		go func() { _ = stream.Close() }()
	}
	s.mu.Unlock()
	sessions.Delete(s.session)
	s.hall.Close(errGone)
	for _, p := range peers {
		p.end()
	}
	for _, q := range queues {
		q.abort()
	}
	s.running.Wait()
	for _, p := range s.programs {
		_ = p.Unload() // the client's connection has ended, so failures are not reported
	}
	for _, l := range slices.Backward(s.libraries) {
		_ = l.unregister(context.Background())
	}
	s.mu.Lock()
	for len(s.held) > 0 {
		s.unheld.Wait()
	}
	s.held = nil
	s.mu.Unlock()
	for _, m := range s.memories {
		freeMemory(m)
	}
	for _, d := range s.devices {
		d.spares.Free()
	}
	for _, p := range s.platforms {
		_ = p.Close()
	}
}

// freeMemory frees memory of the client. It ignores errors, since the client does not wait for a result. A global stays: its
// program frees it.
func freeMemory(m offload.Memory) {
	if _, ok := m.(global); !ok {
		activity.Current().Memory.Add(-m.Size())
	}
	_ = m.Free()
}

// answer calls do on a separate goroutine, and then sends the reply that do has filled, or the error or panic of do. It returns
// an error if request number is open, or maxRequests are.
func (s *server) answer(number uint64, do func(ctx context.Context, r *protocol.Reply) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	if len(s.requests) >= maxRequests || s.requests[number] != nil {
		s.mu.Unlock()
		cancel()
		return fmt.Errorf("request %d is open, or too many are", number)
	}
	s.requests[number] = cancel
	s.mu.Unlock()
	s.running.Go(func() {
		defer cancel()
		r := &protocol.Reply{Request: number}
		if err := guard(func() error { return do(ctx, r) }); err != nil {
			r = &protocol.Reply{Request: number, Error: offload.EncodeError(offload.Nameless(err))}
		}
		s.mu.Lock()
		delete(s.requests, number)
		s.mu.Unlock()
		s.link.send(r)
	})
	return nil
}

// guard calls do and returns a panic as an error.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = offload.Errorf(offload.BackendFailure, "serve", "the device's plugin panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

func (s *server) device(i uint32) (*servedDevice, error) {
	if uint64(i) >= uint64(len(s.devices)) {
		return nil, fmt.Errorf("device %d does not exist", i)
	}
	return s.devices[i], nil
}

// addData adds a piece to the content of an image. After the last piece it checks the digest. It returns an error if the images
// are too many or too large, or the piece does not fit.
func (s *server) addData(m *protocol.ImageData) error {
	const limit = 1 << 32
	c := s.images[m.Digest]
	if c == nil {
		if len(s.images) >= maxImages {
			return errors.New("too many images")
		}
		c = &content{total: m.Total}
		s.images[m.Digest] = c
	}
	if s.imageBytes += int64(len(m.Data)); s.imageBytes > limit+keepImages {
		return errors.New("the images are too large")
	}
	if m.Total != c.total || m.Total > limit || uint64(len(c.data))+uint64(len(m.Data)) > c.total {
		return errors.New("the pieces of an image do not fit")
	}
	c.data = append(c.data, m.Data...)
	if uint64(len(c.data)) == c.total && protocol.Digest(sha256.Sum256(c.data)) != m.Digest {
		return errors.New("an image was damaged on its way")
	}
	return nil
}

func (s *server) image(ref *protocol.ImageRef) (*offload.Image, error) {
	if ref.Size == 0 {
		return ref.Image(nil), nil
	}
	c := s.images[ref.Digest]
	if c == nil || uint64(len(c.data)) != c.total || ref.Size != c.total {
		return nil, errors.New("the content of an image is missing")
	}
	return ref.Image(c.data), nil
}

func (s *server) checkImage(m *protocol.CheckImage) error {
	img, err := s.image(&m.Image)
	if err != nil {
		return err
	}
	if m.Device != protocol.AnyDevice {
		d, err := s.device(m.Device)
		if err != nil {
			return err
		}
		return s.answer(m.Request, func(_ context.Context, r *protocol.Reply) error {
			fit, err := d.CheckImage(img)
			r.Value = int64(fit)
			return err
		})
	}
	return s.answer(m.Request, func(context.Context, *protocol.Reply) error {
		var first error
		for _, p := range s.platforms {
			err := p.CheckImage(img)
			if err == nil {
				return nil
			}
			first = cmp.Or(first, err)
		}
		return first
	})
}

func (s *server) load(m *protocol.Load) error {
	d, err := s.device(m.Device)
	if err != nil {
		return err
	}
	img, err := s.image(&m.Image)
	if err != nil {
		return err
	}
	return s.answer(m.Request, func(ctx context.Context, r *protocol.Reply) error {
		p, err := d.Load(ctx, img)
		if err != nil {
			return err
		}
		r.Symbols, r.Inexact = p.Symbols(), !d.Info().Features.Exact
		return keep(s, s.programs, m.Program, &servedProgram{Program: p, device: d}, p.Unload)
	})
}

// keep registers an object of the client under its number. If the number is taken, drop ends the object, and keep returns an error.
func keep[T any](s *server, objects map[uint64]T, number uint64, object T, drop func() error) error {
	s.mu.Lock()
	_, taken := objects[number]
	if !taken {
		objects[number] = object
	}
	s.mu.Unlock()
	if taken {
		return errors.Join(offload.Errorf(offload.InvalidArgument, "create", "the number %d is taken", number), drop())
	}
	return nil
}

func (s *server) program(number uint64) (*servedProgram, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[number]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("program %d does not exist", number)
}

func (s *server) findKernel(m *protocol.FindKernel) error {
	p, err := s.program(m.Program)
	if err != nil {
		return err
	}
	return s.answer(m.Request, func(_ context.Context, r *protocol.Reply) error {
		var k offload.Kernel
		var err error
		if m.Signed {
			signed, ok := p.Program.(offload.SignedProgram)
			if !ok {
				return offload.Errorf(offload.Unsupported, "kernel", "the device takes no kernels by signature").On("", m.Name)
			}
			k, err = signed.KernelAs(m.Name, &m.Signature)
		} else {
			k, err = p.Kernel(m.Name)
		}
		if err != nil {
			return err
		}
		r.Info, r.Inexact = *k.Info(), !p.device.Info().Features.Exact
		if err := keep(s, s.kernels, m.Kernel, servedKernel{k, m.Program}, func() error { return nil }); err != nil {
			return err
		}
		s.mu.Lock()
		p.kernels = append(p.kernels, m.Kernel)
		s.mu.Unlock()
		return nil
	})
}

func (s *server) findGlobal(m *protocol.FindGlobal) error {
	p, err := s.program(m.Program)
	if err != nil {
		return err
	}
	if m.Memory == 0 {
		return errors.New("a global has the number 0")
	}
	return s.answer(m.Request, func(_ context.Context, r *protocol.Reply) error {
		g, err := p.Global(m.Name)
		if err != nil {
			return err
		}
		r.Value, r.Kind = g.Size(), g.Kind()
		if err := keep(s, s.memories, m.Memory, offload.Memory(global{g}), func() error { return nil }); err != nil {
			return err
		}
		s.mu.Lock()
		s.deviceOf[m.Memory] = p.device
		p.globals = append(p.globals, m.Memory)
		s.mu.Unlock()
		return nil
	})
}

func (s *server) findAddress(m *protocol.FindAddress) error {
	mem := s.memory(m.Memory)
	var p *servedProgram
	var err error
	if m.Memory == 0 {
		p, err = s.program(m.Program)
	} else if mem == nil {
		err = fmt.Errorf("memory %d does not exist", m.Memory)
	}
	if err != nil {
		return err
	}
	return s.answer(m.Request, func(_ context.Context, r *protocol.Reply) error {
		var address uint64
		err := error(offload.Errorf(offload.Unsupported, "address", "the device has no addresses").On("", m.Name))
		if p == nil {
			if a, ok := mem.(offload.Addresser); ok {
				address, err = a.Address()
			}
		} else if a, ok := p.Program.(offload.SymbolAddresser); ok {
			address, err = a.SymbolAddress(m.Name)
		}
		r.Value = int64(address)
		return err
	})
}

// global is memory that its program frees.
type global struct{ offload.Memory }

func (global) Free() error { return nil }

func (s *server) allocate(m *protocol.Allocate) error {
	d, err := s.device(m.Device)
	if err != nil {
		return err
	}
	if m.Memory == 0 {
		return errors.New("memory has the number 0")
	}
	return s.answer(m.Request, func(context.Context, *protocol.Reply) error {
		if m.Size <= 0 {
			return offload.Errorf(offload.InvalidSize, "allocate", "%d bytes", m.Size)
		}
		mem, err := d.Allocate(m.Size, m.Kind)
		if err != nil {
			return err
		}
		if err := keep(s, s.memories, m.Memory, mem, mem.Free); err != nil {
			return err
		}
		activity.Current().Memory.Add(mem.Size())
		s.mu.Lock()
		s.deviceOf[m.Memory] = d
		s.mu.Unlock()
		return nil
	})
}

// memory returns the client's memory with a number, or nil if there is none.
func (s *server) memory(number uint64) offload.Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memoryLocked(number)
}

// memoryLocked is memory for a caller that holds s.mu.
func (s *server) memoryLocked(number uint64) offload.Memory {
	m := s.memories[number]
	if g, ok := m.(global); ok {
		return g.Memory
	}
	return m
}

// release ends an object of the client. It frees memory and unloads a program once no command uses them, and closes a queue
// after its commands. It returns an error if there is no such object.
func (s *server) release(m *protocol.Release) error {
	s.mu.Lock()
	memory, program, queue := s.memories[m.Object], s.programs[m.Object], s.queues[m.Object]
	switch m.Kind {
	case protocol.MemoryObject:
		delete(s.memories, m.Object)
		delete(s.deviceOf, m.Object)
	case protocol.ProgramObject:
		if program != nil {
			for _, k := range program.kernels {
				delete(s.kernels, k)
			}
			for _, g := range program.globals {
				delete(s.memories, g)
				delete(s.deviceOf, g)
			}
		}
		delete(s.programs, m.Object)
	case protocol.QueueObject:
		delete(s.queues, m.Object)
		if queue != nil {
			s.closing[queue] = true
		}
	}
	s.mu.Unlock()
	switch {
	case m.Kind == protocol.MemoryObject && memory != nil:
		s.whenUnused(memory, func() { freeMemory(memory) })
	case m.Kind == protocol.ProgramObject && program != nil:
		s.whenUnused(nil, func() {
			s.running.Go(func() { // device code's files are closed by requests, whose answers this goroutine receives
				_ = program.Unload()
				s.link.send(&protocol.Unloaded{Program: m.Object})
			})
		})
	case m.Kind == protocol.QueueObject && queue != nil:
		queue.close()
	default:
		return fmt.Errorf("object %d of kind %d does not exist", m.Object, m.Kind)
	}
	return nil
}
