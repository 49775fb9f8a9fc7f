// Package lowered is shared by plugins that lower kernels of portable IR to text, which their drivers compile. It keeps the
// variants of a kernel, checks launches, and decodes the records of a launch.
//
// # Design
//
// The driver compiles each kernel separately and at its first use, so that a kernel that fails does not affect the others. A
// variant is a kernel compiled for some launches, for example those whose accesses are proved to be in bounds. The plugin
// chooses the variant of a launch, since what is worth a compilation depends on the driver.
package lowered

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// SubgroupSize is the number of work-items of a subgroup.
const SubgroupSize = 32

// Dialect is the form in which a plugin's driver takes kernels.
type Dialect struct {
	Format   string // name of its listings, such as "clc"
	Language string // such as "OpenCL C"
	Device   string // a device in messages, such as "an OpenCL device"
}

// Device is the part of a device that does not depend on the driver. Plugins embed it.
type Device struct {
	ID         string
	Dialect    *Dialect
	Properties atomic.Pointer[offload.DeviceInfo]

	arithmetic portable.Arithmetic
}

// Info implements [offload.Device].
func (d *Device) Info() *offload.DeviceInfo { return d.Properties.Load() }

// Kernel is the part of a kernel that does not depend on the driver.
type Kernel struct {
	Device string // ID
	Module *ir.Module
	IR     *ir.Kernel // optimized
	Facts  *portable.LaunchFacts
	info   offload.KernelInfo
}

// NewKernel returns the part of a kernel that this package defines, with its launch facts.
func (d *Device) NewKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) Kernel {
	info.GroupItems = d.Info().Limits.GroupItems
	return Kernel{Device: d.ID, Module: m, IR: k, Facts: portable.FindLaunchFacts(k), info: info}
}

// Info implements [offload.Kernel].
func (k *Kernel) Info() *offload.KernelInfo { return &k.info }

// Unsupported returns the error for a kernel that cannot be lowered or emitted, at the position of the cause.
func (k *Kernel) Unsupported(err error) *offload.Error {
	e := offload.Errorf(offload.Unsupported, "compile", "").On(k.Device, k.info.Name)
	e.Err = err
	var u *lower.UnsupportedError
	if errors.As(err, &u) && u.Site > 0 {
		e.Pos, _ = portable.Position(k.Module, k.IR, u.Site)
	}
	return e
}

// Refused adds a driver's log to the error for a source text that it rejects, and returns the error. The first group of line
// matches the line number of the log's first error. siteOf maps that number to a site of the kernel, whose position the error
// then has.
func (k *Kernel) Refused(e *offload.Error, source, log string, line *regexp.Regexp, siteOf func(k *ir.Kernel, source string, line int) (site int, ok bool)) *offload.Error {
	if log = strings.TrimSpace(log); log != "" {
		e.Detail += fmt.Sprintf(": %.2000s", log)
	}
	if match := line.FindStringSubmatch(log); match != nil {
		n, _ := strconv.Atoi(match[1])
		if site, ok := siteOf(k.IR, source, n); ok {
			e.Pos, _ = portable.Position(k.Module, k.IR, site)
		}
	}
	return e
}

// Variant is a compiled kernel. V is the driver's part. The mutex guards all fields.
type Variant[V any] struct {
	sync.Mutex
	Code    V
	Lowered *lower.Kernel
	Source  string
	Most    int // maximum number of items of a group
	made    bool
	err     error // the compilation's error
}

// Variants are the variants of a kernel by the plugin's choice C. The zero value is ready for use.
type Variants[C comparable, V any] struct {
	mu       sync.Mutex
	all      map[C]*Variant[V]
	unloaded bool
}

// Lock returns the variant for a choice, locked; the caller unlocks it. It compiles the variant at the first call. It keeps all
// errors except the loss of the device. After Unload it returns an error.
func (s *Variants[C, V]) Lock(k *Kernel, c C, compile func(v *Variant[V], c C) error) (*Variant[V], error) {
	s.mu.Lock()
	if s.unloaded {
		s.mu.Unlock()
		return nil, k.unloaded()
	}
	v := s.all[c]
	if v == nil {
		if s.all == nil {
			s.all = map[C]*Variant[V]{}
		}
		v = &Variant[V]{}
		s.all[c] = v
	}
	s.mu.Unlock()
	v.Lock()
	if !v.made && v.err == nil {
		err := compile(v, c)
		if offload.CodeOf(err) == offload.DeviceLost {
			v.Unlock()
			return nil, err
		}
		v.made, v.err = err == nil, err
	}
	if err := v.err; err != nil {
		v.Unlock()
		return nil, err
	}
	return v, nil
}

// Made reports whether the variant for a choice is compiled. It does not block: for a variant that is locked, as during its
// compilation, it returns false.
func (s *Variants[C, V]) Made(c C) bool {
	s.mu.Lock()
	v := s.all[c]
	s.mu.Unlock()
	if v == nil || !v.TryLock() { // locked for long only while it is compiled
		return false
	}
	defer v.Unlock()
	return v.made
}

// Unload releases all variants. Further uses of the kernel fail.
func (s *Variants[C, V]) Unload(k *Kernel, release func(V)) {
	s.mu.Lock()
	s.unloaded = true
	s.mu.Unlock()
	for _, v := range s.all { // unloaded prevents further variants
		v.Lock()
		if v.made {
			release(v.Code)
		}
		v.made, v.err = false, k.unloaded()
		v.Unlock()
	}
}

func (k *Kernel) unloaded() error {
	return offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(k.Device, k.info.Name)
}

// Compiled is a kernel with its variants.
type Compiled interface {
	offload.Kernel
	// Prepare compiles the variant of a typical launch, or reports why the kernel cannot be compiled.
	Prepare() error
	// Source returns the text of the variant of a typical launch, Engine a sentence on how the kernel runs.
	Source() (string, error)
	Engine() (string, error)
	Unload()
}

// Program implements [offload.Program] and [offload.Lister].
type Program[K Compiled] struct {
	device  *Device
	prove   func() error // compares the device's arithmetic with the interpreter's at its first call
	kernels []K
}

// Load returns the program of an image for a device d, which embeds shared. The device's arithmetic is compared with the
// interpreter's before the first kernel is used.
func Load[K Compiled](ctx context.Context, img *offload.Image, d offload.Device, shared *Device, newKernel func(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) K) (*Program[K], error) {
	m, err := portable.Decode(img)
	if err != nil {
		return nil, err
	}
	prove := func() error {
		return shared.arithmetic.Prove(d, &shared.Properties, func(k *ir.Kernel, info offload.KernelInfo) (offload.Kernel, func() error, error) {
			n := newKernel(&ir.Module{Kernels: []*ir.Kernel{k}}, k, info)
			return n, func() error { n.Unload(); return nil }, nil
		})
	}
	p := &Program[K]{device: shared, prove: prove}
	for i, k := range m.Kernels {
		if ctx.Err() != nil {
			return nil, portable.Cancelled(ctx, img).On(shared.ID, img.Label)
		}
		info, one := portable.Describe(k), *m
		one.Kernels = m.Kernels[i : i+1 : i+1]
		opt.Run(&one, opt.Default, nil)
		p.kernels = append(p.kernels, newKernel(m, k, info))
	}
	return p, nil
}

// Symbols implements [offload.Program].
func (p *Program[K]) Symbols() (list []offload.Symbol) {
	for _, k := range p.kernels {
		list = append(list, offload.Symbol{Name: k.Info().Name, Kernel: true})
	}
	return list
}

func (p *Program[K]) find(op, name string) (k K, err error) {
	if i := slices.IndexFunc(p.kernels, func(k K) bool { return k.Info().Name == name }); i >= 0 {
		return p.kernels[i], nil
	}
	return k, offload.Errorf(offload.NotFound, op, "the program has no kernel of this name").On(p.device.ID, name)
}

// Kernel implements [offload.Program].
func (p *Program[K]) Kernel(name string) (offload.Kernel, error) {
	k, err := p.find("kernel", name)
	if err == nil {
		err = p.prove()
	}
	if err == nil {
		err = k.Prepare()
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// Global implements [offload.Program].
func (p *Program[K]) Global(name string) (offload.Memory, error) {
	if _, err := p.find("global", name); err == nil {
		return nil, offload.Errorf(offload.SymbolKind, "global", "the name is a kernel's").On(p.device.ID, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "portable kernel IR has no global variables").On(p.device.ID, name)
}

// Unload implements [offload.Program].
func (p *Program[K]) Unload() error {
	for _, k := range p.kernels {
		k.Unload()
	}
	return nil
}

// Listing implements [offload.Lister].
func (p *Program[K]) Listing(name, format string) (string, error) {
	k, err := p.find("listing", name)
	if err != nil {
		return "", err
	}
	switch format {
	case p.device.Dialect.Format:
		return k.Source()
	case "engine":
		text, err := k.Engine()
		if err != nil {
			return "", err
		}
		if inexact := p.device.arithmetic.Inexact(); inexact != nil {
			text += "; not exact: " + inexact.Error()
		}
		return text, nil
	}
	return "", offload.Errorf(offload.Unsupported, "listing", "%s has no %s", p.device.Dialect.Device, format).On(p.device.ID, name).
		WithHint("the format '%s' shows its %s", p.device.Dialect.Format, p.device.Dialect.Language)
}
