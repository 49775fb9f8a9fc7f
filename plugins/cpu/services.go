package cpu

import (
	"context"
	"slices"
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
	prompt offload.PromptServices // host, if it has services that return at once
	kernel *kernel
	device string
	stop   *queue.Stop

	mu       sync.Mutex
	failures map[string]error // errors of calls by their text, since faults keep only the text
	ctx      context.Context  // context of the calls; nil before the first one
	release  func()           // ends ctx
	callers  []*caller        // callers not in use

	interrupted atomic.Bool           // a call was abandoned because the launch was stopped
	exited      atomic.Pointer[error] // the error of a service that ended the work-item's goroutine
}

// reset prepares s for another launch.
func (s *services) reset(host offload.Services, k *kernel, device string) {
	s.host, s.kernel, s.device, s.stop = host, k, device, nil
	s.prompt, _ = host.(offload.PromptServices)
	s.interrupted.Store(false)
	s.exited.Store(nil)
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

// Call implements [interp.Services]. It returns when the launch is stopped, even if the service is still running, unless the
// service is called on this goroutine.
func (s *services) Call(site int, name string, item [3]int, args []interp.Scalar, result ir.Type) (uint64, error) {
	ctx, c := s.caller()
	r := &c.request
	r.Message, r.Name, r.Result, r.Args = s.message(site, item, ""), name, portable.TypeOf(result), r.Args[:0]
	for _, a := range args {
		r.Args = append(r.Args, offload.Scalar{Type: portable.TypeOf(a.Type), Bits: a.Bits})
	}
	var a answer
	if s.prompt != nil && s.prompt.ReturnsAtOnce(name) {
		a = s.inPlace(ctx, c)
	} else if !c.ask(ctx, s.host, &a) {
		s.interrupted.Store(true)
		return 0, context.Cause(ctx)
	}
	if a.err != nil {
		s.note(a.err)
	}
	s.mu.Lock()
	s.callers = append(s.callers, c)
	s.mu.Unlock()
	return a.bits, a.err
}

// inPlace calls the service on the work-item's goroutine. It records an error if the service ends the goroutine.
func (s *services) inPlace(ctx context.Context, c *caller) (a answer) {
	returned := false
	defer func() {
		if !returned {
			err := c.exitError()
			s.exited.Store(&err)
		}
	}()
	a = c.call(ctx, s.host)
	returned = true
	return a
}

// mayEnd reports whether the kernel calls a service in place. Such a service could end the goroutine of the work-item.
func (s *services) mayEnd() bool {
	return s.prompt != nil && slices.ContainsFunc(s.kernel.info.Services, s.prompt.ReturnsAtOnce)
}

// caller returns the context for calls of this launch and an unused caller.
func (s *services) caller() (context.Context, *caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.release == nil {
		s.ctx, s.release = s.stop.Context()
	}
	last := len(s.callers) - 1
	if last < 0 {
		return s.ctx, &caller{}
	}
	c := s.callers[last]
	s.callers = s.callers[:last]
	return s.ctx, c
}

// end cancels the context and ends the goroutines of the callers that are not in use.
func (s *services) end() {
	if s.release == nil { // there were no calls
		return
	}
	s.release()
	for _, c := range s.callers {
		c.end()
	}
	s.ctx, s.release, s.callers = nil, nil, nil
}

const mostFailures = 1024 // bounds the recorded errors

// note records the error of a call for failure, unless mostFailures errors are recorded.
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

// failure returns the recorded error of a call with this text, or nil if there is none.
func (s *services) failure(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures[text]
}
