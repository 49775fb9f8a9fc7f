package queues

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/script"
)

// elementPromises returns the prototype of promises of elements: that of promises, with an error for arithmetic, which would silently
// be NaN or a text. Other uses without await are warnings of all promises.
func (m *Module) elementPromises(promise *goja.Object) (*goja.Object, error) {
	if m.promises != nil {
		return m.promises, nil
	}
	proto := m.VM.CreateObject(promise.Prototype())
	arithmetic := m.Function("[Symbol.toPrimitive]", func(call goja.FunctionCall) (goja.Value, error) {
		if call.Argument(0).String() == "string" {
			return m.VM.ToValue("[object Promise]"), nil
		}
		return nil, script.TypeError("a promise is no number").WithHint("await the value first, as in (await x.sum()) + 1")
	})
	if err := proto.DefineDataPropertySymbol(goja.SymToPrimitive, arithmetic, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		return nil, err
	}
	m.promises = proto
	return proto, nil
}
