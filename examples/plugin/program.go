package main

import (
	"context"
	"slices"
	"time"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// program is a loaded image.
type program struct {
	device  *device
	kernels []*kernel
}

// kernel is an entry point, compiled for a launch with checks and for one that looks for races.
type kernel struct {
	device *device
	module *ir.Module
	ir     *ir.Kernel
	info   offload.KernelInfo
	code   map[bool]*interp.Program // by whether it looks for races
}

// CheckImage returns 1 for kernel IR and an error for anything else. A plugin with a native format would return more for it.
func (d *device) CheckImage(img *offload.Image) (fit int, err error) {
	if !ir.IsBinary(img.Data) {
		return 0, offload.Errorf(offload.InvalidBinary, "load", "this is not portable kernel IR").On(d.id, img.Label)
	}
	return 1, nil
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if _, err := d.CheckImage(img); err != nil {
		return nil, err
	}
	m, err := portable.Decode(img)
	if err != nil {
		return nil, err
	}
	p := &program{device: d}
	for _, k := range m.Kernels {
		if ctx.Err() != nil {
			return nil, &offload.Error{Code: offload.Cancelled, Op: "load", Device: d.id, Label: img.Label, Err: context.Cause(ctx)}
		}
		n := &kernel{device: d, module: m, ir: k, info: portable.Describe(k), code: map[bool]*interp.Program{}}
		for _, races := range []bool{false, true} {
			if n.code[races], err = interp.Compile(k, interp.Options{Races: races}); err != nil {
				return nil, &offload.Error{Code: offload.Unsupported, Op: "load", Device: d.id, Label: k.Name, Err: err}
			}
		}
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

func (p *program) Kernel(name string) (offload.Kernel, error) {
	if i := slices.IndexFunc(p.kernels, func(k *kernel) bool { return k.info.Name == name }); i >= 0 {
		return p.kernels[i], nil
	}
	return nil, offload.Errorf(offload.NotFound, "kernel", "the program has no kernel of this name").On(p.device.id, name)
}

func (p *program) Global(name string) (offload.Memory, error) {
	if _, err := p.Kernel(name); err == nil {
		return nil, offload.Errorf(offload.SymbolKind, "global", "the name is a kernel's").On(p.device.id, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "kernel IR has no global variables").On(p.device.id, name)
}

func (p *program) Unload() error { return nil }

// launch implements [queue.Launch]: it holds one launch at a time and is reused.
type launch struct {
	device *device
	kernel *kernel
	code   *interp.Program
	grid   interp.Launch
	groups int
	labels []string
	pos    offload.Position
}

// Set checks a launch. A mistake is an error here, at the call, and not when the launch runs.
func (l *launch) Set(o *offload.Launch) error {
	k, ok := o.Kernel.(*kernel)
	if !ok || k.device != l.device {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(l.device.id, o.Kernel.Info().Name)
	}
	l.kernel, l.code, l.pos = k, k.code[o.Checks == offload.ChecksRaces], o.Pos
	l.grid = interp.Launch{Size: o.Size, GroupSize: o.GroupSize, Args: l.grid.Args[:0], SubgroupSize: 32, Unchecked: o.Checks == offload.ChecksOff}
	if o.GroupSize == [3]int{} {
		l.grid.GroupSize = offload.DefaultGroupSize(o.Size)
	}
	args, refused := portable.BindAll(l.grid.Args, k.info.Params, o.Args, l.device.Bytes)
	if refused != nil {
		return l.located(refused)
	}
	l.grid.Args, l.labels = args, l.labels[:0]
	for i := range o.Args {
		l.labels = append(l.labels, o.Args[i].Label)
	}
	var err error
	if l.groups, err = l.code.Prepare(&l.grid); err != nil {
		return l.located(offload.Errorf(offload.InvalidSize, "launch", "%v", err))
	}
	return nil
}

// located adds the launch's device, kernel and place in the script to e, and returns e.
func (l *launch) located(e *offload.Error) *offload.Error {
	e.Pos = l.pos
	return e.On(l.device.id, l.kernel.info.Name)
}

// Detach does nothing: Set copied the arguments.
func (l *launch) Detach() {}

func (l *launch) Clear() { *l = launch{device: l.device, grid: interp.Launch{Args: l.grid.Args[:0]}} }

// Cost returns false: the time of a launch is not known, so that none runs on the issuing goroutine.
func (l *launch) Cost() (time.Duration, bool) { return time.Millisecond, false }

func (l *launch) RunAtOnce(*offload.Launch) (bool, error) { return false, nil }

// Run runs the launch to its end, its first fault or a request to stop.
func (l *launch) Run(stop *queue.Stop) error {
	l.grid.Stop = stop.Flag()
	fault := l.code.Run(l.code.NewWorker(), &l.grid, 0, l.groups)
	switch {
	case fault != nil:
		f := portable.Fault(l.kernel.module, l.kernel.ir, fault, &l.grid, l.labels)
		e := l.located(offload.Errorf(f.Code, "launch", "%s", f))
		e.Fault = f
		return e
	case stop.Requested():
		return queue.ErrStopped
	}
	return nil
}
