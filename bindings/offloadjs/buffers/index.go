package buffers

import (
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/runtime/session"
)

// noElements intercepts property accesses that reach beyond the prototype of buffers. Elements reside on a device, so indexing
// a buffer like a typed array would silently return undefined. noElements throws an error with the correct expression.
type noElements struct{ m *Module }

// refuseElements makes it an error to use a buffer as an array of numbers. It inserts noElements between the prototype of
// buffers and Object.prototype, and rejects arithmetic and iteration.
func (m *Module) refuseElements() error {
	proto := m.class.Prototype()
	arithmetic := m.Function("[Symbol.toPrimitive]", func(call goja.FunctionCall) (goja.Value, error) {
		if call.Argument(0).String() == "string" {
			return m.VM.ToValue("[object Buffer]"), nil
		}
		return nil, script.TypeError("a buffer is no number: operators do not reach its elements, which are on its device").
			WithHint("write a function of them, as in x.map(v => v + 1) or x.zip(y, (a, b) => a + b), or read them first: await x.read()")
	})
	iterate := m.Function("[Symbol.iterator]", func(goja.FunctionCall) (goja.Value, error) {
		return nil, script.TypeError("the elements of a buffer are on its device and cannot be iterated").WithHint("read them first: for (const v of await x.read()) …")
	})
	for symbol, fn := range map[*goja.Symbol]*goja.Object{goja.SymToPrimitive: arithmetic, goja.SymIterator: iterate} {
		if err := proto.DefineDataPropertySymbol(symbol, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	elements := m.VM.NewDynamicObject(noElements{m})
	if err := elements.SetPrototype(proto.Prototype()); err != nil {
		return err
	}
	return proto.SetPrototype(elements)
}

func (n noElements) refuse(key string) {
	i, err := strconv.ParseUint(key, 10, 64)
	if err != nil {
		return
	}
	n.m.Engine.Throw(script.TypeError("the elements of a buffer are on its device and cannot be indexed").
		WithHint("read them first: (await x.read())[%d], or await x.at(%d); write them with x.write, or x.setSlice(%[2]d, value)", i, i))
}

// Get is called for properties that a buffer lacks. It refuses indices of elements, and returns nil.
func (n noElements) Get(key string) goja.Value {
	n.refuse(key)
	return nil
}

// Has is called before a property is added. It refuses indices of elements, and returns false.
func (n noElements) Has(key string) bool {
	n.refuse(key)
	return false
}

func (noElements) Set(string, goja.Value) bool { return false }
func (noElements) Delete(string) bool          { return true }
func (noElements) Keys() []string              { return nil }

// DeviceBuffer returns the session's buffer, for modules that fill buffers from Go.
func (b *Buffer) DeviceBuffer() *session.Buffer { return b.Buffer }
