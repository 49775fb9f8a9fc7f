package queues

import (
	"context"

	"github.com/orepl/orepl/lang/loop"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// WaitForSpace blocks until the queue accepts commands without blocking, or the script is stopped. It precedes every command, so it
// also records the queue's user.
func (m *Module) WaitForSpace(q *session.Queue) error {
	if s := m.Engine.Loop().Scope(); m.lastUse != (use{q, s}) {
		m.lastUse = use{q, s}
		m.uses[q] = s
	}
	ctx := m.Engine.Running()
	if !m.rpc.HasHandlers() { // avoids the closure, which costs a tenth of a launch
		return q.WaitForSpace(ctx)
	}
	return m.rpc.WaitServing(func() error { return q.WaitForSpace(ctx) })
}

// MayNeedScript reports whether commands may wait for the script: for one of its services, or a function of queue.host.
func (m *Module) MayNeedScript() bool { return m.Waiting() || m.rpc.HasHandlers() }

// A use pairs a queue with the scope that issued the last command.
type use struct {
	queue *session.Queue
	scope *loop.Scope
}

// abandon returns a function that cancels the commands of a failed call on queues that no other call has used since. s is the
// scope of the call, or nil for all calls. It returns nil without such queues. It reports their failures so far, so that no
// later call does.
func (m *Module) abandon(s *loop.Scope, cause error) func() {
	var queues []*session.Queue
	for q, by := range m.uses {
		if s == nil || by == s {
			queues = append(queues, q)
			delete(m.uses, q)
		}
	}
	m.lastUse = use{}
	if len(queues) == 0 {
		return nil
	}
	for _, q := range queues {
		if err := q.Failure(); err != nil {
			m.Engine.Report(m.Explain(err))
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return func() {
		for _, q := range queues {
			if err := q.Sync(ctx); err != nil {
				m.Engine.Options().Logger.Debug("the commands of a call that failed were dropped", "queue", q.Label(), "error", err)
			}
		}
	}
}

// settle waits for the commands that a call left on queues. It returns the failure of one queue and reports those of the others.
// Engines that share default queues skip the wait; the session waits when it closes.
func (m *Module) settle(s *loop.Scope) error {
	if !m.own {
		return nil
	}
	ctx := m.Engine.Running()
	var first error
	for q, by := range m.uses {
		if by != s {
			continue
		}
		err := m.rpc.WaitServing(func() error { return q.Sync(ctx) })
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil && first == nil:
			first = m.Explain(err)
		case err != nil:
			m.Engine.Report(m.Explain(err))
		}
		delete(m.uses, q)
	}
	m.lastUse = use{}
	return first
}

// Submit launches a kernel within the engine's limits. In a rehearsal it launches none.
func (m *Module) Submit(q *session.Queue, c *session.Call) error {
	if err := m.Count(q, 1); err != nil {
		return err
	}
	if m.rehearsing {
		return nil
	}
	if err := m.WaitForSpace(q); err != nil {
		return err
	}
	return q.Launch(c)
}

// Count counts launches if the engine limits them. It returns an error, and counts none of them, if that would exceed the limit.
func (m *Module) Count(q *session.Queue, launches int) error {
	limit := m.Engine.Options().Limits.Launches
	if limit <= 0 {
		return nil
	}
	if m.launched+uint64(launches) > limit {
		return contract.Errorf(contract.OutOfResources, "launch", "the script launched %d kernels; more are not allowed", limit).
			On(q.Device().ID(), "").WithHint("do more in one launch, or raise the limit of launches")
	}
	m.launched += uint64(launches)
	return nil
}
