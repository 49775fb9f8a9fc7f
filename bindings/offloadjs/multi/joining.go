package multi

import (
	"slices"

	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/session"
)

// joining are the pools of an engine to which devices of workers that join are added.
type joining struct {
	pools []*poolObject
	stop  chan struct{} // ends the waits for the next worker; nil without pools
}

// joins adds the devices of workers that have joined to a new pool, and later those of workers that join. Without a plugin that
// workers can join, the pool stays as it is. This is an error if the script asked for workers.
func (m *Module) joins(p *poolObject, asked bool) error {
	if asked {
		m.host.Reach().Devices(m.Engine.Running()) // opens the plugins
	}
	devices, more := m.host.Reach().Joining(m.Engine.Running())
	if len(more) == 0 {
		if !asked {
			return nil
		}
		for _, missing := range m.host.Reach().Unreached() { // a wrong address, for one
			if e, ok := missing.Err.(*contract.Error); ok {
				return e
			}
		}
		return contract.Errorf(contract.NotFound, "pool", "no worker can join").
			WithHint("set OREPL_FAR=listen:tcp:127.0.0.1:4711 for the script, and start orepl worker --join tcp:127.0.0.1:4711")
	}
	p.grows = true
	m.joining.pools = append(m.joining.pools, p)
	m.addAll(devices, more)
	return nil
}

// addAll adds devices to all pools, and waits for the next worker.
func (m *Module) addAll(devices []*session.Device, more []<-chan struct{}) {
	for _, p := range m.joining.pools {
		if p.add(devices) {
			p.dispatchSoon()
		}
	}
	m.await(more)
}

// await calls grow after the next worker has joined. It ends the waits of earlier calls.
func (m *Module) await(more []<-chan struct{}) {
	if m.joining.stop != nil {
		close(m.joining.stop)
	}
	stop := make(chan struct{})
	m.joining.stop = stop
	for _, joined := range more {
		go func() {
			select {
			case <-joined:
				m.Engine.Post(func() error { m.grow(stop); return nil })
			case <-stop:
			case <-m.Engine.Context().Done():
			}
		}()
	}
}

// grow adds the devices that have joined to the pools. It does nothing if a later call of await waits for the next ones.
func (m *Module) grow(stop chan struct{}) {
	if m.joining.stop != stop {
		return
	}
	m.joining.pools = slices.DeleteFunc(m.joining.pools, func(p *poolObject) bool { return p.closed })
	if len(m.joining.pools) == 0 {
		close(stop)
		m.joining.stop = nil
		return
	}
	m.addAll(m.host.Reach().Joining(m.Engine.Running()))
}

// add adds the devices that are new and not lost as members. It reports whether there are any.
func (p *poolObject) add(devices []*session.Device) (any bool) {
	for _, d := range pool.Distinct(devices) {
		if d.IsLost() || slices.Contains(p.devices, d) {
			continue
		}
		p.devices, p.idle = append(p.devices, d), append(p.idle, nil)
		p.tasks.Join()
		any = true
	}
	return any
}
