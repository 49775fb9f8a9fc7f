package offloadjs

import (
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// defaultQueue is where commands go that name no queue: the device's default queue, or, if engines share the devices, a
// queue of this engine alone. Else a fault of one script would reject the next read of another.
func (m *instance) defaultQueue(d *session.Device) (*session.Queue, error) {
	if !m.opts.OwnQueues {
		return d.Queue()
	}
	if q := m.own[d]; q != nil {
		return q, nil
	}
	q, err := d.NewQueue(session.QueueOptions{Label: "default"})
	if err != nil {
		return nil, err
	}
	m.keepOwn(&m.own, d, q)
	return q, nil
}

// lookQueue returns the queue on which printing reads a buffer. On a queue of its own it waits only for the commands
// that use the buffer, and takes no failure from the next sync.
func (m *instance) lookQueue(d *session.Device) (*session.Queue, error) {
	if q := m.lookers[d]; q != nil {
		return q, nil
	}
	q, err := d.NewQueue(session.QueueOptions{Label: "print", Unlisted: true})
	if err != nil {
		return nil, err
	}
	m.keepOwn(&m.lookers, d, q)
	return q, nil
}

// keepOwn keeps a queue of the engine, to be closed with it.
func (m *instance) keepOwn(queues *map[*session.Device]*session.Queue, d *session.Device, q *session.Queue) {
	if *queues == nil {
		*queues = map[*session.Device]*session.Queue{}
	}
	(*queues)[d] = q
}

// closeQueues ends the engine's queues, and reports failures unless the session does. The engine's context has ended,
// and so running commands are cancelled. It reports earlier failures that no script has seen.
func (m *instance) closeQueues() {
	ctx := m.engine.Context()
	tell := func(q *session.Queue, err error) {
		switch {
		case err == nil:
		case contract.CodeOf(err) == contract.Cancelled:
			m.engine.Options().Logger.Debug("closing an engine's queue", "queue", q.Label(), "device", q.Device().ID(), "error", err)
		default:
			m.engine.Report(m.explain(err))
		}
	}
	for q := range m.uses {
		if m.opts.OwnQueues && m.own[q.Device()] != q {
			tell(q, q.Sync(ctx))
		}
	}
	for _, queues := range []map[*session.Device]*session.Queue{m.own, m.lookers} {
		for _, q := range queues {
			tell(q, q.Close(ctx))
		}
	}
}

// ownDefault refuses to close a default queue of this engine.
func (m *instance) ownDefault(q *session.Queue) error {
	if m.own[q.Device()] != q {
		return nil
	}
	return contract.Errorf(contract.InvalidQueue, "close", "a device's default queue ends with its engine").
		On(q.Device().ID(), q.Label())
}
