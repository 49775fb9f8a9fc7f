package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/internal/native"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/plugins/internal/regions"
	"github.com/orepl/orepl/runtime/offload"
)

// The fits of images: native code for this processor is preferred to portable code.
const (
	fitIR     = 1
	fitNative = 2
)

// checkNative returns an error if a native image is for another processor, or if native images cannot run here.
func (d *device) checkNative(img *offload.Image) error {
	refuse := func(format string, args ...any) error {
		return offload.Errorf(offload.Unsupported, "load", format, args...).On(d.id, img.Label)
	}
	if !process.Supported() {
		return refuse("native images need Linux on x86-64")
	}
	if target, _, _ := strings.Cut(img.Target, "-"); target != "x86_64" && target != "amd64" {
		return refuse("the image is for %s, and this processor is x86_64", img.Target)
	}
	if levelOf(img.Arch) > levelOf(machine.Arch()) {
		return refuse("the image is for %s, and this processor is %s", img.Arch, machine.Arch())
	}
	return nil
}

// levelOf returns the level of an architecture such as x86-64-v3, and 0 for others.
func levelOf(arch string) int {
	level, found := strings.CutPrefix(arch, "x86-64-v")
	n, err := strconv.Atoi(level)
	if !found || err != nil {
		return 0
	}
	return n
}

func (d *device) loadNative(ctx context.Context, img *offload.Image) (offload.Program, error) {
	loaded, err := native.Load(ctx, img.Label, img.Data)
	if err != nil {
		return nil, d.named(err)
	}
	ports, err := d.connect(loaded, img.Label)
	if err != nil {
		return nil, d.named(errors.Join(err, loaded.Close()))
	}
	return &nativeProgram{device: d, image: loaded, label: img.Label, ports: ports, globals: map[string]*block{},
		regions: sync.OnceValue(func() *regions.Table { return regions.Read(img.Data) })}, nil
}

// nativeProgram implements [offload.Program] for a shared object.
type nativeProgram struct {
	device *device
	image  *native.Image
	label  string
	ports  *ports // nil if the code calls no services

	regions func() *regions.Table // the debug information of target regions

	unloaded atomic.Bool

	mu      sync.Mutex
	globals map[string]*block
	callers []*native.Caller // all callers of the program
	idle    []*native.Caller // callers not in use
}

// Symbols implements [offload.Program]. It leaves out the symbols of RPC, and in an image with target regions all other functions.
func (p *nativeProgram) Symbols() []offload.Symbol {
	var list []offload.Symbol
	outlined := slices.ContainsFunc(p.image.Symbols(), isRegion)
	for _, s := range p.image.Symbols() {
		if isPort(s) || s.Function && outlined && !isRegion(s) {
			continue
		}
		list = append(list, offload.Symbol{Name: s.Name, Kernel: s.Function, Size: s.Size})
	}
	return list
}

func isRegion(s native.Symbol) bool { return s.Function && strings.HasPrefix(s.Name, regions.Prefix) }

// Channel implements [offload.Channeled]. It returns nil for programs without ports.
func (p *nativeProgram) Channel() *offload.Channel {
	if p.ports == nil {
		return nil
	}
	return p.ports.host.Channel()
}

// Kernel returns a target region that the image's debug information describes. For other functions it returns an error: a shared
// object has no signatures of its functions, so callers must use KernelAs.
func (p *nativeProgram) Kernel(name string) (offload.Kernel, error) {
	s, _, err := p.find("kernel", name, true)
	if err != nil {
		return nil, err
	}
	refuse := func(detail string) *offload.Error {
		return offload.Errorf(offload.InvalidArgument, "kernel", "%s", detail).On(p.device.id, name)
	}
	const undescribed = "the image does not describe the kernel's parameters"
	if !isRegion(s) {
		return nil, refuse(undescribed).
			WithHint("give the signature, as in lib.kernel(%q, { args: ['i64', 'f32', 'buffer'], convention: 'range' }); see docs/images.md", name)
	}
	sig, unclear, ok := p.regions().Signature(s.Name)
	switch {
	case ok:
		return p.KernelAs(name, sig)
	case unclear != "":
		return nil, refuse(fmt.Sprintf("the region's parameter %s is of a type that no argument has", unclear)).
			WithHint("give the signature: the parameters are %s, in this order", strings.Join(p.regions().Names(s.Name), ", "))
	}
	return nil, refuse(undescribed).WithHint("compile with -g, or give the signature, as in lib.kernel(%q, { args: ['i32', 'buffer'], convention: 'openmp' }); "+
		"the arguments are the variables that the region uses, in the order of their first use in it: see docs/images.md", name)
}

// KernelAs implements [offload.SignedProgram].
func (p *nativeProgram) KernelAs(name string, sig *offload.Signature) (offload.Kernel, error) {
	s, address, err := p.find("kernel", name, true)
	if err != nil {
		return nil, err
	}
	newLayout := native.NewLayout
	if isRegion(s) && !p.regions().Environment(s.Name) {
		newLayout = native.NewBareLayout
	}
	layout, err := newLayout(sig)
	if err != nil {
		var e *offload.Error
		if errors.As(err, &e) {
			e.Device, e.Label, e.Pos = p.device.id, name, sig.Pos
		}
		return nil, err
	}
	k := &nativeKernel{program: p, address: address, layout: layout, convention: sig.Convention, axes: max(sig.Axes, 1)}
	k.info = offload.KernelInfo{Name: name, Params: sig.Params, Convention: sig.Convention, ObservesGroup: false, AnyService: p.ports != nil}
	return k, nil
}

func (p *nativeProgram) Global(name string) (offload.Memory, error) {
	s, _, err := p.find("global", name, false)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.globals[name]
	if b == nil {
		b = &block{device: p.device, data: p.image.Memory(s)}
		p.globals[name] = b
	}
	return b, nil
}

// SymbolAddress implements [offload.SymbolAddresser].
func (p *nativeProgram) SymbolAddress(name string) (uint64, error) {
	s, _, _ := p.image.Lookup(name)
	_, address, err := p.find("address", name, s.Function)
	return uint64(address), err
}

// find returns a symbol and its address. function is true to find a function or a target region, and false to find a variable.
// It is an error if the program was unloaded, or if the image has no such symbol or one of the other kind.
func (p *nativeProgram) find(op, name string, function bool) (native.Symbol, uintptr, error) {
	refuse := func(code offload.Code, detail string) error {
		return offload.Errorf(code, op, "%s", detail).On(p.device.id, name)
	}
	s, address, ok := p.image.Lookup(name)
	if !ok && function {
		s, address, ok = p.region(name)
	}
	switch {
	case p.unloaded.Load():
		return s, 0, refuse(offload.Closed, "the program was unloaded")
	case !ok && function:
		return s, 0, refuse(offload.NotFound, "the image exports no function of this name")
	case !ok:
		return s, 0, refuse(offload.NotFound, "the image exports no variable of this name")
	case s.Function && !function:
		return s, 0, refuse(offload.SymbolKind, "this is a function")
	case !s.Function && function:
		return s, 0, refuse(offload.SymbolKind, "this is a variable")
	}
	return s, address, nil
}

// region returns the target region of the function and line in name, such as saxpy_l11. ok is false if no region or several
// have this name. Callers cannot use clang's full names, whose numbers differ from build to build.
func (p *nativeProgram) region(name string) (s native.Symbol, address uintptr, ok bool) {
	for _, candidate := range p.image.Symbols() {
		if !isRegion(candidate) {
			continue
		}
		parts := strings.SplitN(strings.TrimPrefix(candidate.Name, regions.Prefix), "_", 3)
		if len(parts) < 3 || parts[2] != name {
			continue
		}
		if ok {
			return s, 0, false
		}
		s, address, ok = p.image.Lookup(candidate.Name)
	}
	return s, address, ok
}

// Unload frees the program's callers and channel, runs the image's destructors and unmaps it. The memory of its globals counts
// as freed. It returns an error if the program was unloaded before, if a destructor fails, or if threads may be in the image's
// code. The image then stays in memory.
func (p *nativeProgram) Unload() error {
	if p.unloaded.Swap(true) {
		return offload.Errorf(offload.Closed, "unload", "the program was unloaded").On(p.device.id, p.label)
	}
	p.mu.Lock()
	for _, b := range p.globals {
		b.freed.Store(true)
	}
	callers := p.callers
	p.callers, p.idle = nil, nil
	p.mu.Unlock()
	for _, c := range callers {
		c.Free()
	}
	if p.ports != nil {
		p.ports.host.Close()
	}
	return p.device.named(p.image.Close())
}

// caller returns a caller for the use of one goroutine; release takes it back. It returns an error if the program was unloaded,
// or if no caller can be created.
func (p *nativeProgram) caller() (*native.Caller, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded.Load() {
		return nil, offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(p.device.id, p.label)
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	c, err := p.image.NewCaller()
	if err == nil {
		p.callers = append(p.callers, c)
	}
	return c, err
}

func (p *nativeProgram) release(c *native.Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// nativeKernel implements [offload.Kernel].
type nativeKernel struct {
	program    *nativeProgram
	address    uintptr
	layout     *native.Layout
	convention offload.Convention
	axes       int
	info       offload.KernelInfo
	cost       atomic.Int64 // measured nanoseconds per 1024 items; 0 before the first measurement
}

func (k *nativeKernel) Info() *offload.KernelInfo { return &k.info }
