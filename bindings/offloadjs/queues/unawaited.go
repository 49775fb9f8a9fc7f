package queues

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/script"
)

// unawaited intercepts the use of a promise of elements as the elements themselves, which would be undefined.
type unawaited struct{ m *Module }

// elementPromises returns the prototype of promises of elements: that of promises, with errors for arithmetic, iteration, indices and length.
func (m *Module) elementPromises(promise *goja.Object) (*goja.Object, error) {
	if m.promises != nil {
		return m.promises, nil
	}
	guard := m.VM.NewDynamicObject(unawaited{m})
	if err := guard.SetPrototype(promise.Prototype()); err != nil {
		return nil, err
	}
	proto := m.VM.CreateObject(guard)
	arithmetic := m.Function("[Symbol.toPrimitive]", func(call goja.FunctionCall) (goja.Value, error) {
		if call.Argument(0).String() == "string" {
			return m.VM.ToValue("[object Promise]"), nil
		}
		return nil, script.TypeError("a promise is no number").WithHint("await the value first, as in (await x.sum()) + 1")
	})
	iterate := m.Function("[Symbol.iterator]", func(goja.FunctionCall) (goja.Value, error) { return nil, noElementsError() })
	for symbol, fn := range map[*goja.Symbol]*goja.Object{goja.SymToPrimitive: arithmetic, goja.SymIterator: iterate} {
		if err := proto.DefineDataPropertySymbol(symbol, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return nil, err
		}
	}
	m.promises = proto
	return proto, nil
}

func noElementsError() error {
	return script.TypeError("a promise has no elements").WithHint("await the value first, as in (await x.read())[0]")
}

// Get is called for properties that a promise lacks.
func (u unawaited) Get(key string) goja.Value {
	if key == "length" || key != "" && key[0] >= '0' && key[0] <= '9' {
		u.m.Engine.Throw(noElementsError())
	}
	return nil
}

// Has reports that the promise has no further properties.
func (u unawaited) Has(string) bool { return false }

// Set refuses a property, which then is one of the promise itself.
func (u unawaited) Set(string, goja.Value) bool { return false }

// Delete has nothing to delete.
func (u unawaited) Delete(string) bool { return true }

// Keys returns no names.
func (u unawaited) Keys() []string { return nil }
