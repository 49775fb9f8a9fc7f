package cpu

import (
	"errors"
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// engine compiles kernels.
type engine interface {
	// compile compiles a kernel for launches with these checks. The kernel is valid, and is optimized unless the checks look
	// for races. The error wraps errUnsupported if another engine should be tried.
	compile(k *ir.Kernel, checks offload.Checks) (executable, error)
}

// executable is a compiled kernel. Its methods are safe for concurrent use.
type executable interface {
	// prepare checks a launch, chooses its code, and returns the number of its units. A unit is a work-group, or a run of
	// work-items if the kernel does not observe its group.
	prepare(g *interp.Launch) (c runner, units int, err error)
	// parallel reports whether units may run at the same time.
	parallel() bool
	// describe returns a short text that names the kernel's code. The error is the reason why the engine's own code is not
	// used.
	describe() (string, error)
	// unitCost returns the estimated nanoseconds per unit.
	unitCost() float64
}

// runner runs the code that was chosen for a launch.
type runner interface {
	// acquire returns a worker, the memory with which one goroutine runs units of a prepared launch. release takes it back.
	acquire(g *interp.Launch) worker
	release(w worker)
	// run runs units [first, last) of the launch and stops early when g.Stop is set. brief promises that the units take a
	// few microseconds at most. The error is a failure of the engine, the fault one of the kernel.
	run(w worker, g *interp.Launch, first, last int, brief bool) (*interp.Fault, error)
	// together returns the number of adjacent units of a prepared launch that run faster in one call of run, 1 if none do.
	together(g *interp.Launch) int
}

// worker is the memory with which one goroutine runs units. Each engine has its own type.
type worker any

// errUnsupported reports that an engine does not support a kernel.
var errUnsupported = errors.New("unsupported by this engine")

// interpreter is the engine tried last. It supports nearly all kernels.
type interpreter struct{}

func (interpreter) compile(k *ir.Kernel, checks offload.Checks) (executable, error) {
	k, err := expandAll(k)
	if err != nil {
		return nil, err
	}
	p, err := interp.Compile(k, interp.Options{Races: checks == offload.ChecksRaces})
	if err != nil {
		return nil, err
	}
	x := &interpreted{program: p, races: checks == offload.ChecksRaces, cost: interpretedCost(k.Body)}
	x.workers.New = func() any { return p.NewWorker() }
	return x, nil
}

// interpreted is a kernel compiled for the interpreter.
type interpreted struct {
	program *interp.Program
	races   bool
	cost    float64
	workers sync.Pool
}

func (x *interpreted) prepare(g *interp.Launch) (runner, int, error) {
	units, err := x.program.Prepare(g)
	return x, units, err
}

func (x *interpreted) acquire(*interp.Launch) worker { return x.workers.Get() }
func (x *interpreted) release(w worker)              { x.workers.Put(w) }
func (x *interpreted) together(*interp.Launch) int   { return 1 }
func (x *interpreted) parallel() bool                { return !x.races }
func (x *interpreted) describe() (string, error)     { return "the interpreter", nil }
func (x *interpreted) unitCost() float64             { return x.cost }

func (x *interpreted) run(w worker, g *interp.Launch, first, last int, _ bool) (*interp.Fault, error) {
	return x.program.Run(w.(*interp.Worker), g, first, last), nil
}

// interpretedCost returns the estimated nanoseconds that the interpreter takes to run a block for 256 work-items. It assumes 16
// iterations per loop.
func interpretedCost(b *ir.Block) float64 {
	const perInstr = 200
	cost := 0.0
	for _, in := range b.Instrs {
		c := float64(perInstr)
		if in.Then != nil {
			c += interpretedCost(in.Then)
		}
		if in.Else != nil {
			c += interpretedCost(in.Else)
		}
		if in.Op == ir.Loop {
			c *= 16
		}
		cost += c
	}
	return cost
}
