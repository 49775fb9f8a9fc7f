package cpu

import (
	"context"

	"github.com/orepl/orepl/runtime/offload"
)

// caller calls services of the host, one at a time. ask calls them on a goroutine of its own, so that a work-item need not wait
// for a service when its launch is stopped. call calls them on the goroutine of the work-item.
type caller struct {
	request   offload.Request
	questions chan question // nil while there is no goroutine
	answers   chan answer   // with room for one, so that an abandoned goroutine can end
}

type question struct {
	ctx  context.Context
	host offload.Services
}

type answer struct {
	bits   uint64
	err    error
	exited bool // the service ended the goroutine
}

// ask sends c.request to the goroutine, which it starts if there is none, and stores the answer in a. It returns false if ctx
// ended first, since the launch was stopped; c must not be reused then.
func (c *caller) ask(ctx context.Context, host offload.Services, a *answer) bool {
	if c.questions == nil {
		c.questions, c.answers = make(chan question), make(chan answer, 1)
		go c.serve()
	}
	c.questions <- question{ctx, host}
	select {
	case *a = <-c.answers:
		if a.exited {
			c.questions = nil
		}
		return true
	case <-ctx.Done():
		c.end()
		return false
	}
}

func (c *caller) serve() {
	asked := false
	defer func() {
		if asked {
			c.answers <- answer{0, c.exitError(), true}
		}
	}()
	for q := range c.questions {
		asked = true
		a := c.call(q.ctx, q.host)
		asked = false
		c.answers <- a
	}
}

// call calls the service that c.request names and returns its answer. A panic of the service becomes an error.
func (c *caller) call(ctx context.Context, host offload.Services) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a.err = offload.Errorf(offload.BackendFailure, "call", "the service %s panicked: %v", c.request.Name, p)
		}
	}()
	a.bits, a.err = host.Call(ctx, &c.request)
	return a
}

// exitError returns the error of a service that ended the goroutine.
func (c *caller) exitError() error {
	return offload.Errorf(offload.BackendFailure, "call", "the service %s ended its goroutine", c.request.Name).
		WithHint("it called runtime.Goexit, as t.FailNow does: return an error instead")
}

// end stops the goroutine after its current call.
func (c *caller) end() {
	if c.questions != nil {
		close(c.questions)
	}
}
