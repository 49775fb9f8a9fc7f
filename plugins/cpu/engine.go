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
	// compile compiles a kernel for launches with these checks. The kernel is valid, and optimized unless the checks find
	// races. The error wraps errUnsupported if another engine should try.
	compile(k *ir.Kernel, checks offload.Checks) (executable, error)
}

// executable is a compiled kernel. Its methods are called by several goroutines at once.
type executable interface {
	// prepare checks a launch, chooses the code for it, and returns the number of its units: work-groups, or runs of
	// work-items where the kernel does not observe its group.
	prepare(g *interp.Launch) (c runner, units int, err error)
	// parallel reports whether units may run at the same time.
	parallel() bool
	// describe returns a short text that names the code of the kernel. The error is the reason why it differs from the code
	// that the engine is for.
	describe() (string, error)
	// unitCost returns an estimate of the nanoseconds of a unit.
	unitCost() float64
}

// runner is the code that was chosen for a launch.
type runner interface {
	// acquire returns the memory that one goroutine needs to run units of a prepared launch. release ends its use.
	acquire(g *interp.Launch) worker
	release(w worker)
	// run runs units [first, last) of the launch. It ends early when g.Stop is set. It is brief if it surely takes no more
	// than microseconds. An error is the engine's own.
	run(w worker, g *interp.Launch, first, last int, brief bool) (*interp.Fault, error)
	// together returns the number of adjacent units of a prepared launch that are faster in one run than in several.
	together(g *interp.Launch) int
}

// worker is the memory of one goroutine. Its type is the engine's.
type worker any

// errUnsupported is the error of an engine that does not compile a kernel.
var errUnsupported = errors.New("unsupported by this engine")

// interpreter is the engine that runs all kernels.
type interpreter struct{ functions *functions }

func (e interpreter) compile(k *ir.Kernel, checks offload.Checks) (executable, error) {
	k, err := e.functions.all(k)
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

// interpreted is a kernel for the interpreter.
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

// interpretedCost estimates the nanoseconds of the interpreter for 256 work-items. It assumes that loops run 16 times.
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
