//go:build linux && (amd64 || arm64)

package opencl

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// program implements [offload.Program].
type program struct {
	device  *device
	kernels []*kernel
}

// kernel implements [offload.Kernel].
type kernel struct {
	device *device
	module *ir.Module
	ir     *ir.Kernel // optimized
	info   offload.KernelInfo
	facts  *portable.LaunchFacts

	mu       sync.Mutex
	variants map[choice]*variant
	unloaded bool
}

// choice selects a variant of a kernel. Drivers vectorize kernels only without checks, polls and partial groups.
type choice struct {
	unchecked bool
	whole     bool // all groups of the launch are complete
	within    bool // the launch's size is at most the extents
	indices   bool // other indices are below the extents, too
	brief     bool // the launch executes at most briefWork instructions
}

// briefWork bounds the instructions of launches whose loops do not poll the stop flag. A processor takes about a second for
// them.
const briefWork = 1 << 31

// variant is a compiled kernel. The driver's kernel object holds the arguments of one launch at a time.
type variant struct {
	mu      sync.Mutex
	lowered *lower.Kernel
	source  string
	program cl.Program
	handle  cl.Kernel
	flat    bool  // groups have one dimension in the driver
	most    int   // maximum number of items of a group
	err     error // the compilation's error
}

// load creates a program. Each kernel is compiled separately at its first use, so a kernel that fails does not affect the
// others.
func load(ctx context.Context, d *device, img *offload.Image) (*program, error) {
	m, err := portable.Decode(img)
	if err != nil {
		return nil, err
	}
	p := &program{device: d}
	for i, k := range m.Kernels {
		if ctx.Err() != nil {
			return nil, &offload.Error{Code: offload.Cancelled, Op: "load", Device: d.id, Label: img.Label, Err: context.Cause(ctx)}
		}
		info, one := portable.Describe(k), *m
		one.Kernels = m.Kernels[i : i+1 : i+1]
		opt.Run(&one, opt.Default, nil)
		p.kernels = append(p.kernels, d.newKernel(m, k, info))
	}
	return p, nil
}

// newKernel returns an optimized kernel, which is compiled at its first use.
func (d *device) newKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) *kernel {
	info.GroupItems = d.Info().Limits.GroupItems
	return &kernel{device: d, module: m, ir: k, info: info, facts: portable.FindLaunchFacts(k), variants: map[choice]*variant{}}
}

func (k *kernel) Info() *offload.KernelInfo { return &k.info }

func (p *program) Symbols() (list []offload.Symbol) {
	for _, k := range p.kernels {
		list = append(list, offload.Symbol{Name: k.info.Name, Kernel: true})
	}
	return list
}

func (p *program) find(name string) *kernel {
	if i := slices.IndexFunc(p.kernels, func(k *kernel) bool { return k.info.Name == name }); i >= 0 {
		return p.kernels[i]
	}
	return nil
}

func (p *program) Kernel(name string) (offload.Kernel, error) {
	k := p.find(name)
	if k == nil {
		return nil, offload.Errorf(offload.NotFound, "kernel", "the program has no kernel of this name").On(p.device.id, name)
	}
	if err := p.device.proveExact(); err != nil {
		return nil, err
	}
	v, err := k.lock(k.usual())
	if err != nil {
		return nil, err
	}
	v.mu.Unlock()
	return k, nil
}

func (p *program) Global(name string) (offload.Memory, error) {
	if p.find(name) != nil {
		return nil, offload.Errorf(offload.SymbolKind, "global", "the name is a kernel's").On(p.device.id, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "portable kernel IR has no global variables").On(p.device.id, name)
}

func (p *program) Unload() error {
	for _, k := range p.kernels {
		k.mu.Lock()
		k.unloaded = true
		k.mu.Unlock()
		for _, v := range k.variants { // unloaded prevents further variants
			v.mu.Lock()
			if v.handle != 0 {
				p.device.lib.ReleaseKernel(v.handle)
				p.device.lib.ReleaseProgram(v.program)
			}
			v.handle, v.err = 0, k.closed()
			v.mu.Unlock()
		}
	}
	return nil
}

// Listing implements [offload.Lister].
func (p *program) Listing(name, format string) (string, error) {
	k := p.find(name)
	if k == nil {
		return "", offload.Errorf(offload.NotFound, "listing", "the program has no kernel of this name").On(p.device.id, name)
	}
	v, err := k.lock(k.usual())
	if err != nil {
		return "", err
	}
	defer v.mu.Unlock()
	switch format {
	case "clc":
		return v.source, nil
	case "engine":
		text := fmt.Sprintf("OpenCL C, compiled by %s", p.device.Info().Name)
		if inexact := p.device.arithmetic.Inexact(); inexact != nil {
			text += "; not exact: " + inexact.Error()
		}
		return text, nil
	}
	return "", offload.Errorf(offload.Unsupported, "listing", "an OpenCL device has no %s", format).On(p.device.id, name).WithHint("the format 'clc' shows its OpenCL C")
}

// usual returns the choice for a typical launch, for listings.
func (k *kernel) usual() choice {
	within, indices := k.facts.Any()
	return choice{whole: true, within: within, indices: indices, brief: k.facts.Bounded()}
}

// choose returns the choice for a launch.
func (k *kernel) choose(s *launch) choice {
	c := choice{unchecked: s.unchecked, whole: true}
	for axis, n := range s.size {
		c.whole = c.whole && n%s.group[axis] == 0
	}
	g := &interp.Launch{Size: s.size, GroupSize: s.group, Args: s.dims}
	c.within, c.indices = k.facts.Hold(g) // without checks, too: proved loads move out of loops
	work, ok := k.facts.Work(g)
	c.brief = ok && work <= briefWork
	return c
}

func (k *kernel) closed() error {
	return offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(k.device.id, k.info.Name)
}

// lock returns a compiled variant and locks its mutex.
func (k *kernel) lock(c choice) (*variant, error) {
	k.mu.Lock()
	if k.unloaded {
		k.mu.Unlock()
		return nil, k.closed()
	}
	v := k.variants[c]
	if v == nil {
		v = &variant{}
		k.variants[c] = v
	}
	k.mu.Unlock()
	v.mu.Lock()
	if v.handle == 0 && v.err == nil {
		v.err = k.compile(v, c)
	}
	if v.err != nil {
		v.mu.Unlock()
		return nil, v.err
	}
	return v, nil
}

var (
	comments = regexp.MustCompile(`//[^\n]*`)
	doubles  = regexp.MustCompile(`\bdouble\d*\b`)
)

// usesDouble reports whether a source of package clc uses the type double; the word in names and comments does not count.
func usesDouble(source string) bool {
	return doubles.MatchString(comments.ReplaceAllString(source, ""))
}

func (k *kernel) compile(v *variant, c choice) error {
	d, source := k.device, k.ir
	if c.within || c.indices {
		source = k.facts.Prove(k.ir, c.indices)
	}
	lowered, err := lower.Lower(source, d.target, lower.Options{SubgroupSize: subgroupSize, MaxGroup: d.Info().Limits.GroupItems, Unchecked: c.unchecked, Whole: c.whole, Unpolled: c.brief, Lockstep: d.pocl, Observes: k.info.ObservesGroup})
	if err == nil {
		v.flat = d.pocl && meetsInBranch(lowered.IR.Body, false)
		v.source, err = clc.Options{FlatGroups: v.flat}.Emit(lowered)
	}
	if err != nil {
		return k.unsupported(err)
	}
	if !d.Info().Features.F64 && usesDouble(v.source) {
		return offload.Errorf(offload.Unsupported, "compile", "the kernel computes in f64, which the device lacks").On(d.id, k.info.Name).
			WithHint("f32 divisions and roots are exact only by way of f64; Math.fast has approximations")
	}
	var log string
	options := "-cl-std=CL1.2" + d.options
	if v.flat {
		options += " -cl-opt-disable"
	}
	v.program, log, err = d.buildSource(v.source, options)
	if err != nil {
		return k.refused(v.source, log, err)
	}
	if v.handle, err = d.lib.NewKernel(v.program, clc.Name(k.ir)); err != nil {
		d.lib.ReleaseProgram(v.program)
		return d.failure("compile", k.info.Name, err)
	}
	v.lowered, v.most = lowered, d.lib.MaxGroup(v.handle, d.handle)
	return nil
}

// unsupported returns the error for a kernel that cannot be lowered, at the position of the cause.
func (k *kernel) unsupported(err error) error {
	e := offload.Errorf(offload.Unsupported, "compile", "").On(k.device.id, k.info.Name)
	e.Err = err
	var u *lower.UnsupportedError
	if errors.As(err, &u) && u.Site > 0 {
		e.Pos, _ = portable.Position(k.module, k.ir, u.Site)
	}
	op := ir.Const
	k.ir.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Call || in.Op == ir.Clock {
			op = in.Op
		}
	})
	switch op {
	case ir.Call:
		e.Hint = "OpenCL devices cannot call the host from a kernel: use device('cpu'), or pass the values in buffers"
	case ir.Clock:
		e.Hint = "OpenCL C 1.2 has no clock: use device('cpu'), or measure launches by their events"
	}
	return e
}

// logLine matches a line number before a column or in parentheses in a build log.
var logLine = regexp.MustCompile(`(?m)(?::|\()(\d+)(?::\d+|\))[^\n]*\berror\b`)

// refused returns the error for a source that the driver rejects, at the position of the log's first error.
func (k *kernel) refused(source, log string, err error) error {
	e := k.device.failure("compile", k.info.Name, err)
	if log = strings.TrimSpace(log); log != "" {
		e.Detail += fmt.Sprintf(": %.2000s", log)
	}
	if match := logLine.FindStringSubmatch(log); match != nil {
		n, _ := strconv.Atoi(match[1])
		if site, ok := clc.SiteOf(k.ir, source, n); ok {
			e.Pos, _ = portable.Position(k.module, k.ir, site)
		}
	}
	if e.Hint == "" {
		e.Hint = "`orepl kernel --emit clc` shows the OpenCL C; the driver's compiler should take it: please report both"
	}
	return e
}

// meetsInBranch reports whether a block has a conditional barrier. PoCL 3.1 miscompiles such kernels in two ways. It runs
// the first work-item of a group alone to evaluate the condition. Groups with one item in their first dimension run it a
// second time; one-dimensional groups do not (seed 200030 of TestRandomKernels). With optimization, items beyond the
// launch's size execute the kernel (seed 77004).
func meetsInBranch(b *ir.Block, branch bool) bool {
	for _, in := range b.Instrs {
		if in.Op == ir.Barrier && branch {
			return true
		}
		within := branch || in.Op == ir.If
		if in.Then != nil && meetsInBranch(in.Then, within) || in.Else != nil && meetsInBranch(in.Else, within) {
			return true
		}
	}
	return false
}

// buildSource compiles a source, or loads its binary from the cache.
func (d *device) buildSource(source, options string) (p cl.Program, log string, err error) {
	info := d.Info()
	key := cacheKey(d.driver, info.Name, info.Arch, info.DriverVersion, options, source)
	if binary := d.cache.get(key); binary != nil {
		if p, log, err = d.lib.BuildBinary(d.context, d.handle, binary, options); err == nil {
			return p, log, nil
		}
		d.cache.remove(key)
	}
	p, log, err = d.lib.Build(d.context, d.handle, source, options)
	if err == nil {
		if binary := d.lib.Binary(p); binary != nil {
			_ = d.cache.put(key, binary) // an error only costs the next process a compilation
		}
	}
	return p, log, err
}
