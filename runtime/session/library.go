package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/registry"
	"github.com/orepl/orepl/runtime/trace"
)

// Library is a set of images that were registered together. Its programs are loaded on a device at their first use there.
type Library struct {
	session  *Session
	reg      *registry.Library
	object   Object
	unlisted bool

	mu       sync.Mutex
	ended    bool // refuses new uses
	gone     bool // unregistered
	programs map[*Device]*program
	pending  []fence // commands in flight when it ended
}

// program is a library on a device.
type program struct {
	resource
	library *Library
	device  *Device
	raw     offload.Program
	object  Object
}

// Kernel is an entry point of a library on a device.
type Kernel struct {
	device  *Device
	program *program
	raw     offload.Kernel
	name    string
	as      *offload.Signature // of [Library.KernelAs]
	owner   any                // stays in memory with the kernel
}

// Retain keeps an owner of the kernel's library in memory as long as the kernel and its calls.
func (k *Kernel) Retain(owner any) { k.owner = owner }

// RegisterOptions are the options of Register and RegisterFile; the zero value suits most callers.
type RegisterOptions struct {
	// AllowNative returns why native code must not be loaded from the library, or nil if it may. A nil function allows it.
	AllowNative func(label string) error
	// AllowRead returns the path to read for a member of a thin archive, or why it must not be read. A nil function allows all.
	AllowRead func(path string) (string, error)
	// Read reads a file. nil: os.ReadFile.
	Read func(path string) ([]byte, error)
	// Owner is the owner of the library, see [Object].
	Owner uint64
}

// Register makes a library of device code: an image of any kind, a container, or a file with embedded images; see
// [image.Read]. The images are offered to the plugins; nothing is loaded yet. Errors: InvalidBinary for unknown and damaged
// data, PermissionDenied if all images are native code that the options refuse. Others are Closed for a closed session, and Cancelled
// or Timeout if ctx has ended.
func (s *Session) Register(ctx context.Context, label string, data []byte, opts ...RegisterOptions) (*Library, error) {
	return s.registerRead(ctx, label, data, image.Reader{}, opts)
}

// registerRead registers the images that a reader finds in data.
func (s *Session) registerRead(ctx context.Context, label string, data []byte, r image.Reader, opts []RegisterOptions) (*Library, error) {
	lib, err := r.Read(label, data)
	if err == nil {
		refuseNative(&lib, opts)
		err = image.Check(&lib)
	}
	if err != nil {
		return nil, err
	}
	object := Object{Kind: "library", Label: label}
	for _, o := range opts {
		object.Owner = cmp.Or(object.Owner, o.Owner)
	}
	return s.register(ctx, object, false, lib)
}

// RegisterFile registers the contents of a file. An empty label is the file's name. Relative paths of a thin archive's members count
// from its folder. Errors: NotFound, HostIO, and those of Register.
func (s *Session) RegisterFile(ctx context.Context, label, path string, opts ...RegisterOptions) (*Library, error) {
	data, err := reader(opts)(path)
	if err != nil {
		code := offload.HostIO
		if errors.Is(err, os.ErrNotExist) {
			code = offload.NotFound
		}
		return nil, &offload.Error{Code: code, Op: "register", Label: label, Err: err}
	}
	return s.registerRead(ctx, cmp.Or(label, filepath.Base(path)), data, image.Reader{Resolve: memberReader(path, opts)}, opts)
}

// memberReader returns a function that reads a member of the thin archive at a path. A relative name counts from the archive's
// folder. AllowRead of the options may refuse a name or replace it.
func memberReader(archive string, opts []RegisterOptions) func(name string) ([]byte, error) {
	return func(name string) (_ []byte, err error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(archive), name)
		}
		for _, o := range opts {
			if o.AllowRead == nil {
				continue
			}
			if name, err = o.AllowRead(name); err != nil {
				return nil, err
			}
		}
		return reader(opts)(name)
	}
}

// reader returns the first Read of the options that is not nil, or [os.ReadFile].
func reader(opts []RegisterOptions) func(path string) ([]byte, error) {
	for _, o := range opts {
		if o.Read != nil {
			return o.Read
		}
	}
	return os.ReadFile
}

// refuseNative marks the images as unusable that the options refuse.
func refuseNative(lib *offload.Library, opts []RegisterOptions) {
	for _, o := range opts {
		if o.AllowNative == nil || !slices.ContainsFunc(lib.Images, isNative) {
			continue
		}
		why := o.AllowNative(lib.Label)
		for _, img := range lib.Images {
			if why != nil && img.Unusable == nil && isNative(img) {
				img.Unusable = offload.Errorf(offload.PermissionDenied, "register", "the image is native code: %v", why).On("", img.Label).
					WithHint("the program that runs this script decides whether it may run native code")
			}
		}
	}
}

// isNative reports whether an image is code that may run in this process without checks. OpenCL C and SPIR-V are, since the OpenCL
// driver of a processor runs them in the process.
func isNative(img *offload.Image) bool {
	return img.Kind == offload.ImageOpenCLC || img.Kind == offload.ImageSPIRV || img.Kind == offload.ImageELF && !strings.HasPrefix(img.Target, "amdgcn")
}

// RegisterImages makes a library of identified images. pos is the place of the call in the script.
func (s *Session) RegisterImages(ctx context.Context, label string, pos offload.Position, images ...*offload.Image) (*Library, error) {
	return s.register(ctx, Object{Kind: "library", Label: label, Pos: pos}, false, offload.Library{Label: label, Images: images})
}

// RegisterUnlisted is like RegisterImages, for a library that [Session.Live] does not list, such as a compiled kernel of a
// script, which the script cannot free.
func (s *Session) RegisterUnlisted(ctx context.Context, label string, images ...*offload.Image) (*Library, error) {
	return s.register(ctx, Object{Kind: "library", Label: label}, true, offload.Library{Label: label, Images: images})
}

func (s *Session) register(ctx context.Context, object Object, unlisted bool, lib offload.Library) (*Library, error) {
	label := object.Label
	if err := s.acquire("register", "", label); err != nil {
		return nil, err
	}
	defer s.release()
	if err := contextError(ctx, "register"); err != nil {
		return nil, err
	}
	reg, err := s.registry.Register(ctx, lib)
	if err != nil {
		return nil, err
	}
	object.ID = s.serial.Add(1)
	for _, img := range lib.Images {
		object.Bytes += int64(len(img.Data))
	}
	l := &Library{session: s, reg: reg, programs: make(map[*Device]*program), object: object, unlisted: unlisted}
	s.live.add(liveEntry{object: object, library: l, unlisted: unlisted})
	return l, nil
}

// Label returns the library's label.
func (l *Library) Label() string { return l.object.Label }

// Images reports how each image fits the devices of the opened plugins, and why it was refused.
func (l *Library) Images() []registry.ImageStatus { return l.reg.Images() }

// Entries returns the host program's table of entries; nil without one.
func (l *Library) Entries() []offload.Entry { return l.reg.Entries() }

// load returns the library's program on a device, and loads it at the first call. Errors: InvalidDevice for a device of another
// session, DeviceLost, Closed after Unregister, Cancelled or Timeout if ctx has ended, and those of the plugin.
func (l *Library) load(ctx context.Context, d *Device) (*program, error) {
	if d.session != l.session {
		return nil, offload.Errorf(offload.InvalidDevice, "load", "the device belongs to another session").On(d.id, l.object.Label)
	}
	if err := contextError(ctx, "load"); err != nil {
		return nil, err
	}
	if err := d.checkLost("load", l.object.Label); err != nil {
		return nil, err
	}
	start := time.Now()
	if l.mu.Lock(); l.programs[d] == nil {
		defer l.session.Trace().Compile(trace.DeviceProcess+d.id, "load "+l.object.Label)()
	}
	l.mu.Unlock()
	raw, err := l.reg.Load(ctx, d.raw)
	loaded := observe.Span{Kind: observe.Load, Name: l.object.Label, Device: d.id, Start: start, Duration: time.Since(start), Err: err}
	if err != nil {
		l.session.spans.Send(loaded, l.object.Owner)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, l.endedError("load")
	}
	if p := l.programs[d]; p != nil {
		return p, nil
	}
	l.session.spans.Send(loaded, l.object.Owner)
	id := l.session.serial.Add(1)
	p := &program{
		library:  l,
		resource: resource{kind: "library", label: l.object.Label, serial: id, launches: map[*Queue]*lastLaunch{}}, device: d, raw: raw,
		object: Object{ID: id, Kind: "program", Label: l.object.Label, Device: d.id, Pos: l.object.Pos, Owner: l.object.Owner},
	}
	l.programs[d] = p
	l.session.live.add(liveEntry{object: p.object, unlisted: l.unlisted})
	return p, nil
}

// Symbols returns the kernels and global variables of the image that fits the device.
func (l *Library) Symbols(ctx context.Context, d *Device) ([]offload.Symbol, error) {
	p, err := l.load(ctx, d)
	if err != nil {
		return nil, err
	}
	return p.raw.Symbols(), nil
}

// Kernel returns a kernel on a device. Errors: NotFound with the nearest name, SymbolKind for a global variable, and
// those of loading.
func (l *Library) Kernel(ctx context.Context, d *Device, name string) (*Kernel, error) {
	p, err := l.load(ctx, d)
	if err != nil {
		return nil, err
	}
	raw, err := p.raw.Kernel(name)
	if err != nil {
		return nil, p.symbolError(err, name, true)
	}
	return &Kernel{device: d, program: p, raw: raw, name: name}, nil
}

// KernelAs is like Kernel, for an image that does not describe its kernels: sig describes them. Errors: also InvalidArgument for
// a signature that the device cannot call. If the image describes its kernels itself, a convention other than [offload.ConventionImage] is
// Unsupported, and the rest of sig is ignored.
func (l *Library) KernelAs(ctx context.Context, d *Device, name string, sig *offload.Signature) (*Kernel, error) {
	p, err := l.load(ctx, d)
	if err != nil {
		return nil, err
	}
	signed, ok := p.raw.(offload.SignedProgram)
	if !ok {
		if sig.Convention == offload.ConventionImage {
			return l.Kernel(ctx, d, name)
		}
		return nil, offload.Errorf(offload.Unsupported, "kernel", "the image describes its kernels, which have no convention %q", sig.Convention).On(d.id, name).
			WithHint("leave the convention out")
	}
	raw, err := signed.KernelAs(name, sig)
	if err != nil {
		return nil, p.symbolError(err, name, true)
	}
	return &Kernel{device: d, program: p, raw: raw, name: name, as: sig}, nil
}

// Global returns the memory of a global variable on a device as an opaque buffer of bytes, which ends with the library. Use
// View for its type. Errors: NotFound with the nearest name, SymbolKind for a kernel, and those of loading.
func (l *Library) Global(ctx context.Context, d *Device, name string) (*Buffer, error) {
	p, err := l.load(ctx, d)
	if err != nil {
		return nil, err
	}
	raw, err := p.raw.Global(name)
	if err != nil {
		return nil, p.symbolError(err, name, false)
	}
	s, e := newShape("global", offload.Opaque, 1, []int{int(raw.Size())})
	if e != nil {
		return nil, e.On(d.id, name)
	}
	a := &allocation{res: &p.resource, global: true, device: d, raw: raw, size: raw.Size()}
	return &Buffer{shape: s, alloc: a, label: name}, nil
}

// Address returns the address of a function or variable on a device, as its kernels see it, for pointers in data. It is valid
// until the library is unregistered. Errors: NotFound with the nearest name, Unsupported if the image's symbols have none.
func (l *Library) Address(ctx context.Context, d *Device, name string) (uint64, error) {
	p, err := l.load(ctx, d)
	if err != nil {
		return 0, err
	}
	a, ok := p.raw.(offload.SymbolAddresser)
	if !ok {
		return 0, offload.Errorf(offload.Unsupported, "address", "symbols of the image have no addresses").On(d.id, name)
	}
	at, err := a.SymbolAddress(name)
	if err != nil {
		return 0, p.symbolError(err, name, true)
	}
	return at, nil
}

// symbolError adds a hint to an error about a symbol: the names of the program's kernels or variables if it was not found, or the other
// method for a symbol of the other kind.
func (p *program) symbolError(err error, name string, kernel bool) error {
	err = located(err, p.device.id, name)
	e, ok := err.(*offload.Error)
	if !ok || e.Hint != "" {
		return err
	}
	if e.Code == offload.SymbolKind {
		c := *e
		if kernel {
			return c.WithHint("a variable is read and written as a buffer: lib.global(%q)", name)
		}
		return c.WithHint("a function is launched as a kernel: lib.kernel(%q)", name)
	}
	if e.Code != offload.NotFound {
		return err
	}
	var names []string
	for _, s := range p.raw.Symbols() {
		if s.Kernel == kernel {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	c := *e
	return c.WithHint("%s", spelling.List(name, names, map[bool]string{true: "kernels", false: "global variables"}[kernel]))
}

// Unregister ends the library: later uses are Closed errors; Unregister waits for kernels in flight, unloads the programs
// and tells the plugins. If ctx ends while kernels run, the library stays ended, and Unregister can be called again.
// A call after a complete one is a Closed error.
func (l *Library) Unregister(ctx context.Context) error {
	l.mu.Lock()
	if l.gone {
		l.mu.Unlock()
		return l.endedError("unregister")
	}
	l.ended = true
	for _, p := range l.programs {
		if pending, ok := p.close(); ok {
			l.pending = append(l.pending, pending...)
		}
	}
	pending := slices.Clone(l.pending)
	l.mu.Unlock()

	for _, m := range pending {
		if err := m.Await(ctx); err != nil {
			return err
		}
	}
	err := l.reg.Unregister(ctx)
	l.mu.Lock()
	l.gone = true
	for _, p := range l.programs {
		l.session.live.remove(p.object.ID)
	}
	l.mu.Unlock()
	l.session.live.remove(l.object.ID)
	return err
}

func (l *Library) endedError(op string) error {
	return offload.Errorf(offload.Closed, op, "the library has been unregistered").On("", l.object.Label)
}

// Name returns the kernel's name.
func (k *Kernel) Name() string { return k.name }

// Device returns the device that the kernel is loaded on.
func (k *Kernel) Device() *Device { return k.device }

// Info returns the kernel's description, which must not be changed.
func (k *Kernel) Info() *offload.KernelInfo { return k.raw.Info() }

// Listing returns the kernel's code as text, in format "asm", "ptx" or "clc"; "engine" returns a line that names the engine
// which runs it.
func (k *Kernel) Listing(format string) (string, error) {
	lister, ok := k.program.raw.(offload.Lister)
	if !ok {
		return "", offload.Errorf(offload.Unsupported, "listing", "the plugin does not show its code").On(k.device.id, k.name)
	}
	text, err := lister.Listing(k.name, format)
	return text, located(err, k.device.id, k.name)
}

// Channel is the state of the ports of a library's program on a device.
type Channel struct {
	Device  *Device
	Library string // its label
	offload.Channel
}

// Channels returns the channels of the programs that are loaded, in order of their libraries' registration.
func (s *Session) Channels() []Channel {
	var list []Channel
	for _, l := range s.live.libraries() {
		l.mu.Lock()
		programs := slices.SortedFunc(maps.Values(l.programs), func(a, b *program) int { return cmp.Compare(a.object.ID, b.object.ID) })
		l.mu.Unlock()
		for _, p := range programs {
			if c, ok := p.raw.(offload.Channeled); ok {
				if state := c.Channel(); state != nil {
					list = append(list, Channel{Device: p.device, Library: l.object.Label, Channel: *state})
				}
			}
		}
	}
	return list
}
