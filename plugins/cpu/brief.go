package cpu

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/runtime/offload"
)

// briefUnits bounds the units of a launch that runs on the stack of the goroutine, whose thread is then blocked until it
// ends. The time of a unit was measured, but units that miss the caches take many times as long.
const briefUnits = 1024

// atHand is a worker that a queue keeps for the prepared launch that it ran last.
type atHand struct {
	plan   *plan
	made   int // the plan's count of calls of set when the worker was acquired
	code   *spmd.Variant
	worker *spmd.Worker
}

// isBrief reports whether launches of the plan take no longer than a microsecond.
func (pl *plan) isBrief() bool {
	if pl.steady == nil {
		return false
	}
	const limit = int64(measureAbove) * costScale
	cost := pl.variant.cost.Load()
	return cost > 0 && cost <= limit && cost*int64(pl.units) <= limit // the product cannot overflow
}

// RunAtOnce implements [queue.Launch] for launches that are prepared and brief. It has no recover, which would take longer
// than the rest: the traps of the code are guarded, and nothing else can panic.
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

// failed returns the error of a launch that was run at once.
func (l *launch) failed(o *offload.Launch, fault *interp.Fault, err error) error {
	l.plan, l.at = o.Prepared.(*plan), o.Pos
	defer l.Clear()
	if err != nil {
		l.fail(err)
		return l.broken
	}
	l.fault = fault
	return l.faultError()
}

// drop releases the worker.
func (k *atHand) drop() {
	if k.worker != nil {
		k.code.Release(k.worker)
	}
	*k = atHand{}
}
