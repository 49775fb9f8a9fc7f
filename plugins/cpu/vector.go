package cpu

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/runtime/offload"
)

// vectorizer is the engine that compiles kernels to vector code.
type vectorizer struct {
	features amd64.Features
	gang     int
	cores    int
	machine  *machine.Info
	model    *uarch.Model
	slow     interpreter
	work     *spmd.Workspace
	dump     string
}

func (e vectorizer) compile(k *ir.Kernel, checks offload.Checks) (executable, error) {
	if checks == offload.ChecksRaces {
		return nil, fmt.Errorf("%w: races are looked for by the interpreter", errUnsupported)
	}
	options := spmd.Options{
		Features: e.features, Gang: e.gang, Unchecked: checks == offload.ChecksOff,
		CacheBytes: e.machine.LastCache(), Cores: e.cores, Model: e.model, Workspace: e.work, Dump: e.dump,
	}
	p, err := spmd.Compile(k, options)
	var u *spmd.UnsupportedError
	if errors.As(err, &u) {
		return nil, fmt.Errorf("%w: %w", errUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	// The interpreter checks arguments, and runs launches that have no vector code.
	slow, err := e.slow.compile(k, checks)
	if err != nil {
		return nil, err
	}
	return &vectorized{program: p, slow: slow.(*interpreted)}, nil
}

// vectorized is a kernel compiled to vector code.
type vectorized struct {
	program *spmd.Program
	slow    *interpreted
	refused atomic.Bool // some launch needed a variant that the compiler does not support, and used the interpreter
}

// prepare returns the vector code for a launch, or the interpreter if there is none, and the number of units. It returns an error if the
// launch is invalid or the compiler panics.
func (x *vectorized) prepare(g *interp.Launch) (runner, int, error) {
	code, units, err := x.slow.prepare(g)
	if err != nil {
		return nil, 0, err
	}
	v, n, err := x.variant(g)
	if err == nil {
		return (*variantCode)(v), n, nil
	}
	if _, panicked := err.(*offload.Error); panicked {
		return nil, 0, err
	}
	var u *spmd.UnsupportedError
	if errors.As(err, &u) {
		x.refused.Store(true)
	}
	return code, units, nil
}

// variant returns the code for a launch and its number of units. It turns panics into errors, since the caller holds the
// queue's lock.
func (x *vectorized) variant(g *interp.Launch) (v *spmd.Variant, units int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked("launch", "", p)
		}
	}()
	return x.program.Prepare(g)
}

func (x *vectorized) parallel() bool { return true }

func (x *vectorized) describe() (string, error) {
	if err := guard("", x.program.Check); err != nil {
		what, _ := x.slow.describe()
		return what, err
	}
	return x.program.Describe(x.program.Listed()), nil
}

func (x *vectorized) unitCost() float64 {
	if x.refused.Load() {
		return x.slow.cost
	}
	return x.slow.cost / 50
}

// variantCode implements [runner] for vector code.
type variantCode spmd.Variant

func (v *variantCode) together(g *interp.Launch) int { return (*spmd.Variant)(v).Together(g) }

func (v *variantCode) acquire(g *interp.Launch) worker { return (*spmd.Variant)(v).Acquire(g) }

func (v *variantCode) release(w worker) { (*spmd.Variant)(v).Release(w.(*spmd.Worker)) }

func (v *variantCode) run(w worker, _ *interp.Launch, first, last int, brief bool) (*interp.Fault, error) {
	return w.(*spmd.Worker).Run(first, last, brief)
}
