package lowered

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// Run is a launch in flight with its records. It implements the interface Launch of package lane.
type Run[R Records] struct {
	launch  *Launch // valid until End
	pool    *Pool[R]
	records R
	lowered *lower.Kernel
	prints  bool
	lost    <-chan struct{}
	stopped atomic.Bool

	// The state of calls of services, which may return after the end of the launch.
	calls    *lower.Calls // nil if the kernel calls none
	services offload.Services
	device   string
	kernel   *Kernel

	answers sync.Mutex // held while a call is answered
	over    bool       // another launch may have the records; guarded by answers
}

// Start takes records for a launch of a variant's lowered kernel. lost is closed when the device is lost; may be nil.
func (p *Pool[R]) Start(s *Launch, k *lower.Kernel, lost <-chan struct{}) (*Run[R], error) {
	records, err := p.Take(k, s.Info.Prints)
	if err != nil {
		return nil, err
	}
	r := &Run[R]{launch: s, pool: p, records: records, lowered: k, prints: s.Info.Prints && s.Services != nil, lost: lost}
	if s.Services != nil && s.Info.CallsServices() {
		r.calls, r.services, r.device, r.kernel = k.Calls(records.Words()), s.Services, s.device, s.Kernel
	}
	return r, nil
}

// Records returns the records of the launch.
func (r *Run[R]) Records() R { return r.records }

// Prints reports whether End calls the host.
func (r *Run[R]) Prints() bool { return r.prints }

// Stoppable reports whether the device can end the launch on request.
func (r *Run[R]) Stoppable() bool { return r.records.Stoppable() }

// Stop requests that the running launch ends.
func (r *Run[R]) Stop() {
	atomic.StoreUint32(&r.records.Words()[lower.StopWord], 1)
	r.stopped.Store(true)
}

// Release makes the records available to other launches.
func (r *Run[R]) Release() { r.pool.Put(r.records) }

// End delivers the prints of the launch and returns its fault, or an error if prints were lost. A service that gave up because the
// launch was stopped is no fault. If the driver failed to run the launch, ended is false and End only refuses further calls.
func (r *Run[R]) End(ended bool) error {
	r.answers.Lock()
	r.over = true
	r.answers.Unlock()
	if !ended {
		return nil
	}
	err := r.launch.outcome(r.lowered, r.records, r.calls)
	if r.stopped.Load() && errors.Is(err, context.Canceled) {
		return nil // a service gave up because of the stop
	}
	return err
}

// Begun answers the launch's calls of services on a goroutine until the launch is settled or the device is lost. It cancels the
// context of the calls when the launch is stopped.
func (r *Run[R]) Begun(settled <-chan struct{}) {
	if r.calls != nil {
		go r.serve(settled, r.lowered.Source)
	}
}

func (r *Run[R]) serve(settled <-chan struct{}, source *ir.Kernel) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pause := time.Microsecond
	for {
		select {
		case <-settled:
			return
		case <-r.lost:
			return
		default:
		}
		if r.stopped.Load() {
			cancel()
		}
		call, ok := r.next()
		if !ok {
			time.Sleep(pause)
			pause = min(2*pause, 200*time.Microsecond)
			continue
		}
		pause = time.Microsecond
		at, _ := portable.Position(r.kernel.Module, source, call.Site)
		q := &offload.Request{Message: offload.Message{Device: r.device, Kernel: r.kernel.info.Name, Item: call.Item, Pos: at}, Name: call.Service, Result: portable.TypeOf(call.Result)}
		for _, a := range call.Args {
			q.Args = append(q.Args, offload.Scalar{Type: portable.TypeOf(a.Type), Bits: a.Bits})
		}
		go func() {
			defer func() {
				if p := recover(); p != nil {
					r.answer(call, 0, offload.Errorf(offload.BackendFailure, "call", "the service %s panicked: %v", call.Service, p))
				}
			}()
			bits, err := r.services.Call(ctx, q)
			r.answer(call, bits, err)
		}()
	}
}

// next returns a waiting call of a service. ok is false if there is none or the launch has ended.
func (r *Run[R]) next() (c lower.Call, ok bool) {
	r.answers.Lock()
	defer r.answers.Unlock()
	if r.over {
		return c, false
	}
	return r.calls.Next()
}

// answer answers a call of a service, unless the launch has ended.
func (r *Run[R]) answer(c lower.Call, bits uint64, err error) {
	r.answers.Lock()
	defer r.answers.Unlock()
	if !r.over {
		r.calls.Answer(c, bits, err)
	}
}
