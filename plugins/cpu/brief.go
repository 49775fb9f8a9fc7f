package cpu

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/runtime/offload"
)

// briefUnits is how many units a launch has at most that runs on the stack of the goroutine, whose thread nobody can
// have until it ends. What a unit takes was measured, but memory that is not in the caches takes many times as long.
const briefUnits = 1024

// atHand is what a queue has at hand to run the prepared launch again that it ran last: a worker that is set for it.
type atHand struct {
	plan   *plan
	made   int // what the plan was when the worker was set
	code   *spmd.Variant
	worker *spmd.Worker
}

// isBrief reports whether launches of the plan surely take no longer than a moment.
func (pl *plan) isBrief() bool {
	if pl.steady == nil {
		return false
	}
	const limit = int64(measureAbove) * costScale
	cost := pl.variant.cost.Load()
	return cost > 0 && cost <= limit && cost*int64(pl.units) <= limit // which cannot overflow
}

// RunAtOnce implements [queue.Launch] for launches that were prepared and are brief. To be ready for panics would take
// longer than the rest: what code of its kernels asks of Go is guarded, the little that is here cannot panic.
func (l *launch) RunAtOnce(o *offload.Launch) (ran bool, err error) {
	pl, ok := o.Prepared.(*plan)
	if !ok || pl.device != l.own.device || !pl.isBrief() {
		return false, nil
	}
	k := &l.again
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

// failed is the error of a launch that was run at once.
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

// drop gives the worker back.
func (k *atHand) drop() {
	if k.worker != nil {
		k.code.Release(k.worker)
	}
	*k = atHand{}
}
