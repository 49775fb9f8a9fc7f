package offload

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
	if m.own == nil {
		m.own = map[*session.Device]*session.Queue{}
		m.engine.OnClose(m.closeOwnQueues)
	}
	m.own[d] = q
	return q, nil
}

// closeOwnQueues ends the engine's queues. The engine's context has ended: what runs is cancelled.
func (m *instance) closeOwnQueues() {
	for _, q := range m.own {
		if err := q.Close(m.engine.Context()); err != nil {
			m.engine.Options().Logger.Debug("closing an engine's queue", "device", q.Device().ID(), "error", err)
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
