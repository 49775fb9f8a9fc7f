package cpu

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/runtime/offload"
)

// briefUnits is the maximum number of units of a launch that runs on its goroutine's stack. Such a goroutine cannot be preempted
// before the launch ends. Unit times are measured averages: a unit that misses the caches takes many times as long.
const briefUnits = 1024

// atHand caches the worker of the launch that [launch.RunAtOnce] ran last. It is zero if none is kept.
type atHand struct {
	plan   *plan
	made   int // plan.made when the worker was acquired
	code   *spmd.Variant
	worker *spmd.Worker
}

// isBrief reports whether a launch of the plan takes at most a microsecond by the measured time of its units. It returns false
// before the first measurement, for interpreted kernels, for units whose times vary, and for no units or more than briefUnits.
func (pl *plan) isBrief() bool {
	if pl.steady == nil {
		return false
	}
	const limit = int64(measureAbove) * costScale
	cost := pl.variant.cost.Load()
	return cost > 0 && cost <= limit && cost*int64(pl.units) <= limit // the product cannot overflow
}

// RunAtOnce implements [queue.Launch] for prepared brief launches, and returns false for others. It does not recover from panics,
// since a deferred call would take longer than the launch. Traps of the code are guarded, and nothing else can panic.
func (l *launch) RunAtOnce(o *offload.Launch) (ran bool, err error) {
	pl, ok := o.Prepared.(*plan)
	if !ok || pl.device != l.own.device || !pl.isBrief() {
		return false, nil
	}
	k := &l.reused
	if k.plan != pl || k.made != pl.made {
		k.drop()
		*k = atHand{pl, pl.made, pl.steady, pl.steady.Acquire(&pl.grid)}
	}
	fault, err := k.worker.Run(0, pl.units, true)
	if fault != nil || err != nil {
		err = l.failed(o, fault, err)
	}
	if k.worker.Heavy() {
		k.drop()
	}
	return true, err
}

// failed returns the error of a launch that RunAtOnce ran, from its fault or the engine's error.
func (l *launch) failed(o *offload.Launch, fault *interp.Fault, err error) error {
	l.plan, l.at = o.Prepared.(*plan), o.Pos
	if err != nil {
		l.fail(err)
		err = l.broken
	} else {
		l.fault = fault
		err = l.faultError()
	}
	l.plan, l.fault, l.broken = &l.own, nil, nil
	return err
}

// drop releases the worker, if there is one.
func (k *atHand) drop() {
	if k.worker != nil {
		k.code.Release(k.worker)
	}
	*k = atHand{}
}
