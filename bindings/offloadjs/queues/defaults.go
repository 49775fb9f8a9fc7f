package queues

import (
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// DefaultOf returns the queue of commands that name none. It is the device's default queue, or with [Config.Own] a queue of
// this engine. If engines shared the device's queue, a fault in one script would reject a later read in another.
func (m *Module) DefaultOf(d *session.Device) (*session.Queue, error) {
	if !m.own {
		return d.Queue()
	}
	if q := m.defaults[d]; q != nil {
		return q, nil
	}
	q, err := d.NewQueue(session.QueueOptions{Label: "default", Owner: m.owner})
	if err != nil {
		return nil, err
	}
	m.addQueue(&m.defaults, d, q)
	return q, nil
}

// PrintOf returns the queue on which printing reads a buffer. On a separate queue, a read waits only for the commands that
// use the buffer, and leaves failures to the next sync.
func (m *Module) PrintOf(d *session.Device) (*session.Queue, error) {
	if q := m.prints[d]; q != nil {
		return q, nil
	}
	q, err := d.NewQueue(session.QueueOptions{Label: "print", Unlisted: true})
	if err != nil {
		return nil, err
	}
	m.addQueue(&m.prints, d, q)
	return q, nil
}

// addQueue records a queue that is closed with the engine.
func (m *Module) addQueue(queues *map[*session.Device]*session.Queue, d *session.Device, q *session.Queue) {
	if *queues == nil {
		*queues = map[*session.Device]*session.Queue{}
	}
	(*queues)[d] = q
}

// closeQueues closes the engine's own default queues and those for printing, and reports failures that no script has seen.
// Running commands are cancelled, because the engine's context has ended.
func (m *Module) closeQueues() {
	ctx := m.Engine.Context()
	report := func(q *session.Queue, err error) {
		switch {
		case err == nil:
		case contract.CodeOf(err) == contract.Cancelled:
			m.Engine.Options().Logger.Debug("closing an engine's queue", "queue", q.Label(), "device", q.Device().ID(), "error", err)
		default:
			m.Engine.Report(m.Explain(err))
		}
	}
	for q := range m.uses {
		if m.own && m.defaults[q.Device()] != q {
			report(q, q.Sync(ctx))
		}
	}
	for _, queues := range []map[*session.Device]*session.Queue{m.defaults, m.prints} {
		for _, q := range queues {
			report(q, q.Close(ctx))
		}
	}
}

// checkNotDefault returns an error if the queue is a default queue of this engine, which scripts cannot close.
func (m *Module) checkNotDefault(q *session.Queue) error {
	if m.defaults[q.Device()] != q {
		return nil
	}
	return contract.Errorf(contract.InvalidQueue, "close", "a device's default queue ends with its engine").
		On(q.Device().ID(), q.Label())
}
