package offloadjs

import (
	"context"
	"math"
	"runtime"
	"weak"

	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/runtime/memory"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// quota tracks the use of device resources that the engine limits.
type quota struct {
	owner    uint64                         // owner of the engine's objects in the session
	buffers  []weak.Pointer[session.Buffer] // buffers of the script, including freed and collected ones
	launched uint64
}

// makeBuffer allocates a buffer within the engine's limits.
func (m *instance) makeBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) {
	opts.Context, opts.Owner = m.Engine.Running(), m.quota.owner
	limit := m.Engine.Options().Limits.DeviceMemory
	if limit == 0 {
		return d.NewBuffer(opts)
	}
	want := uint64(max(opts.Elem, 0))
	for _, n := range opts.Dims {
		if n > 0 && want > math.MaxUint64/uint64(n) {
			want = math.MaxUint64
			break
		}
		want *= uint64(max(n, 0))
	}
	used := m.quota.bytes()
	if want > limit || used+want > limit {
		runtime.GC() // collection frees unreachable buffers
		used = m.quota.bytes()
	}
	if want > limit || used+want > limit {
		return nil, contract.Errorf(contract.OutOfResources, "create buffer", "%d bytes beside %d in use exceed the limit of %d bytes of device memory", want, used, limit).
			On(d.ID(), opts.Label).WithHint("free buffers that are done with, or raise the limit of device memory")
	}
	b, err := d.NewBuffer(opts)
	if err == nil {
		m.quota.buffers = append(m.quota.buffers, weak.Make(b))
	}
	return b, err
}

// bytes returns the total size of live buffers and drops the others from the list.
func (q *quota) bytes() uint64 {
	total := uint64(0)
	live := q.buffers[:0]
	for _, w := range q.buffers {
		if b := w.Value(); b != nil && !b.Freed() {
			total += uint64(b.Size())
			live = append(live, w)
		}
	}
	q.buffers = live
	return total
}

// waitForSpace blocks until the queue accepts commands without blocking, or the script is stopped. It precedes every command, so it
// also records the queue's user.
func (m *instance) waitForSpace(q *session.Queue) error {
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

// A use pairs a queue with the scope that issued the last command.
type use struct {
	queue *session.Queue
	scope *loop.Scope
}

// abandon cancels the commands of a failed call on queues that no other call has used since. It reports their failures so far,
// so that no later call does.
func (m *instance) abandon(s *loop.Scope, cause error) func() {
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

// settle waits for the commands that a call left on queues. It returns the first failure and reports the others. Engines that
// share default queues skip the wait; the session waits when it closes.
func (m *instance) settle(s *loop.Scope) error {
	if !m.opts.OwnQueues {
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

// submit launches a kernel within the engine's limits. In a rehearsal it launches none.
func (m *instance) submit(q *session.Queue, c *session.Call) error {
	if err := m.count(q, 1); err != nil {
		return err
	}
	if m.rehearsal != nil {
		return nil
	}
	if err := m.waitForSpace(q); err != nil {
		return err
	}
	return q.Launch(c)
}

// count counts launches within the limit of the engine.
func (m *instance) count(q *session.Queue, launches int) error {
	limit := m.Engine.Options().Limits.Launches
	if limit <= 0 {
		return nil
	}
	if m.quota.launched+uint64(launches) > limit {
		return contract.Errorf(contract.OutOfResources, "launch", "the script launched %d kernels; more are not allowed", limit).
			On(q.Device().ID(), "").WithHint("do more in one launch, or raise the limit of launches")
	}
	m.quota.launched += uint64(launches)
	return nil
}

const (
	largeRead     = 64 << 20 // size in bytes from which free memory of the machine is checked
	objectBytes   = 600      // approximate bytes of a script object
	propertyBytes = 100      // approximate bytes of each property
)

// hostMemory allocates memory for elements within the limits of the engine and the machine. It checks in advance, because Go
// terminates a process that runs out of memory.
func (m *instance) hostMemory(b *bufferObject, count int64) ([]byte, error) {
	need := count * int64(b.elem.Size())
	if r := b.elem.Elem.Record; r != nil {
		need += count * int64(objectBytes+propertyBytes*len(r.Fields))
	}
	most, of := int64(math.MaxInt64), ""
	if limit := m.Engine.Options().Limits.Memory; limit > 0 {
		most, of = int64(min(limit, math.MaxInt64)), "the script's limit allows"
	}
	if need >= largeRead {
		if n := memory.Available() / 2; n < most { // the other half is for the script and other processes
			most, of = n, "half of what the machine has left is"
		}
	}
	if need > most {
		return nil, contract.Errorf(contract.OutOfResources, "read", "%d elements need %d bytes of the host; %s %d", count, need, of, most).
			On(b.Device().ID(), b.Label()).WithHint("read it in parts: read(start, count)")
	}
	return make([]byte, count*int64(b.elem.Size())), nil
}
