package offloadjs

import "github.com/dop251/goja"

// live implements live(), which returns the objects that have not been freed: those of the engine if it has its own queues,
// else of the session.
func (m *instance) live(goja.FunctionCall) (goja.Value, error) {
	var list []any
	for _, obj := range m.session.Live() {
		if m.opts.OwnQueues && obj.Owner != m.queues.Owner() { // another engine's
			continue
		}
		o := m.VM.NewObject()
		_ = o.Set("kind", obj.Kind) // cannot fail on a new plain object
		_ = o.Set("label", obj.Label)
		_ = o.Set("device", obj.Device)
		_ = o.Set("bytes", obj.Bytes)
		_ = o.Set("at", obj.Pos.String())
		list = append(list, o)
	}
	return m.VM.NewArray(list...), nil
}
