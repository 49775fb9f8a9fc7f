package session_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/session"
)

// TestQueuesAreFreeDuringABriefLaunch runs a launch on its caller's goroutine. Other queues use the same program and
// buffer meanwhile, but conflicting commands run after it.
func TestQueuesAreFreeDuringABriefLaunch(t *testing.T) {
	started, gate := make(chan struct{}), make(chan struct{})
	var over, unloaded atomic.Bool
	reads := []offload.Param{i32Buffer("x", false)}
	p := &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU, kernels: map[string]hostKernel{
		"hold": {info: offload.KernelInfo{Name: "hold", Params: reads}, brief: true, run: func([]offload.Arg, *queue.Stop) error {
			close(started)
			<-gate
			time.Sleep(time.Millisecond)
			over.Store(true)
			return nil
		}},
		"pass": {info: offload.KernelInfo{Name: "pass", Params: reads}, brief: true, run: func([]offload.Arg, *queue.Stop) error { return nil }},
	}, log: func(what string) {
		if what == "unload" && !over.Load() {
			t.Error("the program was unloaded under its launch")
		}
		unloaded.Store(unloaded.Load() || what == "unload")
	}}
	s := open(t, p)
	d := device(t, s, "cpu")
	x := buffer(t, d, 1)
	check(t, defaultQueue(t, d).Sync(ctx))
	lib := must(s.Register(ctx, "lib", irImage))(t)
	calls := map[string]*session.Call{}
	for name := range p.kernels {
		k := must(lib.Kernel(ctx, d, name))(t)
		calls[name] = must(k.Bind(session.Config{Size: []int{1}}, session.Buf(x)))(t)
	}
	var queues [3]*session.Queue
	for i := range queues {
		queues[i] = must(d.NewQueue(session.QueueOptions{}))(t)
	}

	var all sync.WaitGroup
	run := func(fn func() error) {
		all.Go(func() {
			if err := fn(); err != nil {
				t.Error(err)
			}
		})
	}
	run(func() error { return queues[0].Launch(calls["hold"]) })
	<-started
	check(t, soon(t, "Launch", func() error { return queues[1].Launch(calls["pass"]) }))
	check(t, soon(t, "Sync", func() error { return queues[1].Sync(ctx) }))
	run(func() error {
		if err := queues[2].Write(x, 0, []byte{1, 0, 0, 0}); err != nil {
			return err
		}
		err := queues[2].Sync(ctx)
		if !over.Load() {
			t.Error("a copy did not wait for a launch that reads what it writes")
		}
		return err
	})
	run(func() error { return lib.Unregister(ctx) })
	time.Sleep(5 * time.Millisecond)
	close(gate)
	all.Wait()
	check(t, queues[0].Sync(ctx))
	if !unloaded.Load() {
		t.Error("the program was not unloaded")
	}
}

// TestARefusedLaunchLeavesNothingLocked checks that the resources of a launch that the plugin refused stay usable.
func TestARefusedLaunchLeavesNothingLocked(t *testing.T) {
	p := adder()
	s := open(t, p)
	d := device(t, s, "cpu")
	x, y := buffer(t, d, 1), buffer(t, d, 1)
	k := kernel(t, s, d, "add")
	call := must(k.Bind(session.Config{Size: []int{1}}, session.Buf(x), session.Buf(y)))(t)
	refused := must(d.NewQueue(session.QueueOptions{}))(t)
	other := defaultQueue(t, d)
	for range 3 {
		p.refuse.Store(true)
		wantCode(t, refused.Launch(call), offload.BackendFailure)
		p.refuse.Store(false)
		check(t, soon(t, "Launch", func() error { return other.Launch(call) }))
		check(t, soon(t, "Launch", func() error { return refused.Launch(call) }))
		p.refuse.Store(true)
		wantCode(t, refused.Launch(call), offload.BackendFailure)
		p.refuse.Store(false)
		check(t, soon(t, "Write", func() error { return other.Write(y, 0, make([]byte, 4)) }))
		check(t, soon(t, "Sync", func() error { return other.Sync(ctx) }))
	}
	check(t, x.Free())
	check(t, refused.Sync(ctx))
	if !refused.Idle() {
		t.Error("a queue waits for a launch that was refused")
	}
}
