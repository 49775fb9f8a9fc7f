//go:build linux && (amd64 || arm64)

package opencl

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
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
	device   *device
	module   *ir.Module
	ir       *ir.Kernel // optimized
	info     offload.KernelInfo
	variants [2]variant // with checks, and without
}

// variant is a kernel as the driver compiled it. The driver's kernel object holds the arguments of one launch at a time.
type variant struct {
	mu      sync.Mutex
	lowered *lower.Kernel
	source  string
	program cl.Program
	handle  cl.Kernel
	flat    bool  // the driver's groups have one dimension
	most    int   // items of the largest group
	err     error // why it could not be compiled; kept
}

// load makes a program. Its kernels are compiled when they are asked for, each by itself, so that one which the device
// cannot run does not spoil the others.
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
		n := &kernel{device: d, module: m, ir: k, info: portable.Describe(k)}
		one := *m
		one.Kernels = m.Kernels[i : i+1 : i+1]
		opt.Run(&one, opt.Default, nil)
		n.info.GroupItems = d.Info().Limits.GroupItems
		p.kernels = append(p.kernels, n)
	}
	return p, nil
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
	p.device.proveExact()
	v := &k.variants[0]
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := k.build(v, false); err != nil {
		return nil, err
	}
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
		for i := range k.variants {
			v := &k.variants[i]
			v.mu.Lock()
			if v.handle != 0 {
				p.device.lib.ReleaseKernel(v.handle)
				p.device.lib.ReleaseProgram(v.program)
			}
			v.handle, v.err = 0, offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(p.device.id, k.info.Name)
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
	v := &k.variants[0]
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := k.build(v, false); err != nil {
		return "", err
	}
	switch format {
	case "clc":
		return v.source, nil
	case "engine":
		text := fmt.Sprintf("OpenCL C, compiled by %s", p.device.Info().Name)
		if p.device.inexact != nil { // set before the first kernel
			text += "; not exact: " + p.device.inexact.Error()
		}
		return text, nil
	}
	return "", offload.Errorf(offload.Unsupported, "listing", "an OpenCL device has no %s", format).On(p.device.id, name).WithHint("the format 'clc' shows its OpenCL C")
}

// build compiles a variant if that has not been done. v.mu is held.
func (k *kernel) build(v *variant, unchecked bool) error {
	if v.handle != 0 || v.err != nil {
		return v.err
	}
	v.err = k.compile(v, unchecked)
	return v.err
}

var (
	comments = regexp.MustCompile(`//[^\n]*`)
	doubles  = regexp.MustCompile(`\bdouble\d*\b`)
)

// usesDouble reports whether OpenCL C of package clc computes in double; names and comments of the script may contain the word.
func usesDouble(source string) bool {
	return doubles.MatchString(comments.ReplaceAllString(source, ""))
}

func (k *kernel) compile(v *variant, unchecked bool) error {
	d := k.device
	lowered, err := lower.Lower(k.ir, d.target, lower.Options{SubgroupSize: subgroupSize, MaxGroup: d.Info().Limits.GroupItems, Unchecked: unchecked})
	if err == nil {
		v.flat = d.pocl && meetsInBranch(lowered.IR.Body, false)
		v.source, err = clc.Options{FlatGroups: v.flat}.Emit(lowered)
	}
	if err != nil {
		e := offload.Errorf(offload.Unsupported, "compile", "").On(d.id, k.info.Name)
		e.Err = err
		return e
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
		e := d.failure("compile", k.info.Name, err)
		if log != "" {
			e.Detail += fmt.Sprintf(": %.2000s", log)
		}
		return e
	}
	if v.handle, err = d.lib.NewKernel(v.program, clc.Name(k.ir)); err != nil {
		d.lib.ReleaseProgram(v.program)
		return d.failure("compile", k.info.Name, err)
	}
	v.lowered, v.most = lowered, d.lib.MaxGroup(v.handle, d.handle)
	return nil
}

// meetsInBranch reports whether a block has a barrier in a condition. PoCL 3.1 computes such kernels wrong in two ways.
// It runs the first work-item of a group alone, to see which way the condition goes. Groups with one item in their
// first dimension run it again, in the loop over the others; groups of one dimension do not (seed 200030 of
// TestRandomKernels). Its optimizations let items beyond the launch's size take part (seed 77004).
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

// buildSource compiles a source, or takes the binary that it was compiled to before.
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
			_ = d.cache.put(key, binary) // the next process compiles again
		}
	}
	return p, log, err
}
