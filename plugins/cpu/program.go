package cpu

import (
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// program implements [offload.Program] for an image of portable kernel IR.
type program struct {
	device   *device
	module   *portable.Cached[*module]
	unloaded atomic.Bool
}

func (p *program) Symbols() []offload.Symbol {
	list := make([]offload.Symbol, len(p.module.Value.kernels))
	for i, k := range p.module.Value.kernels {
		list[i] = offload.Symbol{Name: k.info.Name, Kernel: true}
	}
	return list
}

func (p *program) Kernel(name string) (offload.Kernel, error) {
	if p.unloaded.Load() {
		return nil, p.closed("kernel", name)
	}
	i := slices.IndexFunc(p.module.Value.kernels, func(k *kernel) bool { return k.info.Name == name })
	if i < 0 {
		return nil, offload.Errorf(offload.NotFound, "kernel", "the program has no kernel of this name").On(p.device.id, name)
	}
	k := p.module.Value.kernels[i]
	if k.err != nil {
		return nil, k.err
	}
	return k, nil
}

func (p *program) Global(name string) (offload.Memory, error) {
	if p.unloaded.Load() {
		return nil, p.closed("global", name)
	}
	if slices.ContainsFunc(p.module.Value.kernels, func(k *kernel) bool { return k.info.Name == name }) {
		return nil, offload.Errorf(offload.SymbolKind, "global", "this is a kernel").On(p.device.id, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "portable kernel IR has no global variables").On(p.device.id, name)
}

// Unload releases the compiled code. The cache keeps it for a while, since the same image may be loaded again. It returns an
// error if the program was unloaded before.
func (p *program) Unload() error {
	if p.unloaded.Swap(true) {
		return p.closed("unload", "")
	}
	p.device.modules.Put(p.module)
	return nil
}

func (p *program) closed(op, label string) error {
	return offload.Errorf(offload.Closed, op, "the program was unloaded").On(p.device.id, label)
}

// kernel implements [offload.Kernel]. Programs of equal images share it.
type kernel struct {
	module      *ir.Module
	ir          *ir.Kernel // before optimization
	optimized   *ir.Kernel
	info        offload.KernelInfo
	engines     []engine
	comparisons portable.Comparisons
	labels      context.Context            // with the name, for profiles of workers
	err         error                      // the reason why it could not be compiled, or nil
	variants    [3]atomic.Pointer[variant] // indexed by checks
}

// variant is a kernel compiled for some checks.
type variant struct {
	executable
	refusals []string     // the reasons why better engines do not run it
	steady   bool         // times of units hardly depend on arguments, and no services are called
	cost     atomic.Int64 // measured nanoseconds per 1024 units; 0 before the first run
}

func newKernel(m *ir.Module, k, optimized *ir.Kernel, engines []engine) *kernel {
	labels := pprof.WithLabels(context.Background(), pprof.Labels("kernel", k.Name))
	return &kernel{module: m, ir: k, optimized: optimized, info: portable.Describe(k), engines: engines, labels: labels}
}

func (k *kernel) Info() *offload.KernelInfo { return &k.info }

// variant returns the kernel compiled for the checks. Concurrent first calls may all compile it; one result is kept. An error
// is not kept.
func (k *kernel) variant(checks offload.Checks) (*variant, error) {
	if int(checks) >= len(k.variants) {
		return nil, offload.Errorf(offload.InvalidArgument, "launch", "there is no check mode %d", checks).On("", k.info.Name)
	}
	if v := k.variants[checks].Load(); v != nil {
		return v, nil
	}
	source := k.optimized
	if checks == offload.ChecksRaces {
		source = k.ir // before optimization, which removes accesses
	}
	x, refusals, err := build(k.engines, k.module, source, checks)
	if err != nil {
		return nil, err
	}
	v := &variant{executable: x, refusals: refusals, steady: isSteady(source)}
	if !k.variants[checks].CompareAndSwap(nil, v) {
		v = k.variants[checks].Load()
	}
	return v, nil
}

// engine returns a text that names the kernel's code, and the reasons why better engines do not run it.
func (k *kernel) engine(v *variant) string {
	what, err := v.describe()
	parts := append([]string{what}, v.refusals...)
	if err != nil {
		parts = append(parts, refusal(k.module, k.optimized, err))
	}
	return strings.Join(parts, "; ")
}

// isSteady reports whether a kernel has no loops, prints and calls of services, and does not observe its group. The times of
// its units then hardly depend on its arguments. The units of kernels that observe their group are groups of varying size.
func isSteady(k *ir.Kernel) bool {
	steady := !k.ObservesGroup()
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Loop, ir.Print, ir.Call:
			steady = false
		}
	})
	return steady
}

// unitCost returns the nanoseconds per unit: measured, or estimated before the first run.
func (v *variant) unitCost() float64 {
	if c := v.cost.Load(); c > 0 {
		return float64(c) / costScale
	}
	return v.executable.unitCost()
}

const costScale = 1024

// measured records the measured nanoseconds per unit in a moving average.
func (v *variant) measured(ns float64) {
	now := max(int64(ns*costScale), 1)
	if old := v.cost.Load(); old > 0 {
		now = old + (now-old)/4
	}
	v.cost.Store(max(now, 1))
}
