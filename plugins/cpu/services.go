package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// services forwards a launch's requests to the host.
type services struct {
	host   offload.Services
	kernel *kernel
	device string
	stop   *queue.Stop

	mu       sync.Mutex
	failures map[string]error // of calls, by their text, which is all that a fault keeps

	interrupted atomic.Bool // a call was abandoned because the launch was stopped
}

// reset prepares for another launch.
func (s *services) reset(host offload.Services, k *kernel, device string) {
	s.host, s.kernel, s.device, s.stop = host, k, device, nil
	s.interrupted.Store(false)
	s.failures = nil
}

func (s *services) message(site int, item [3]int, text string) offload.Message {
	pos, _ := portable.Position(s.kernel.module, s.kernel.ir, site)
	return offload.Message{Device: s.device, Kernel: s.kernel.info.Name, Item: item, Pos: pos, Text: text}
}

// Print implements [interp.Services].
func (s *services) Print(site int, item [3]int, text string) {
	m := s.message(site, item, text)
	s.host.Print(&m)
}

// Call implements [interp.Services]. It returns when the launch is stopped, even if the host's service does not.
func (s *services) Call(site int, name string, item [3]int, args []interp.Scalar, result ir.Type) (uint64, error) {
	r := &offload.Request{Message: s.message(site, item, ""), Name: name, Args: make([]offload.Scalar, len(args)), Result: portable.TypeOf(result)}
	for i, a := range args {
		r.Args[i] = offload.Scalar{Type: portable.TypeOf(a.Type), Bits: a.Bits}
	}
	ctx, release := s.stop.Context()
	defer release()
	type answer struct {
		bits uint64
		err  error
	}
	answered := make(chan answer, 1)
	host := s.host // the call may outlast the launch, whose services are then another's
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answered <- answer{0, offload.Errorf(offload.BackendFailure, "call", "the service %s panicked: %v", name, p)}
			}
		}()
		bits, err := host.Call(ctx, r)
		answered <- answer{bits, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			s.note(a.err)
		}
		return a.bits, a.err
	case <-ctx.Done():
		s.interrupted.Store(true)
		return 0, context.Cause(ctx)
	}
}

const mostFailures = 1024 // errors that are kept: the fault of a launch is one of them

// note keeps the error of a call.
func (s *services) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == nil {
		s.failures = map[string]error{}
	}
	if len(s.failures) < mostFailures {
		s.failures[err.Error()] = err
	}
}

// failure returns the error of a call by its text, nil if none is known.
func (s *services) failure(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures[text]
}
