package offload

import (
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/session"
)

// noElements stands behind the prototype of buffers. A buffer's elements are on its device: to index it, as a typed
// array is indexed, would silently give undefined, so it is an error that says what to write.
type noElements struct{ m *instance }

// refuseIndices puts noElements between the prototype of buffers and that of objects.
func (m *instance) refuseIndices() error {
	return m.buffer.Prototype().SetPrototype(m.vm.NewDynamicObject(noElements{m}))
}

func (n noElements) refuse(key string) {
	i, err := strconv.ParseUint(key, 10, 64)
	if err != nil {
		return
	}
	d := &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: "the elements of a buffer are on its device and cannot be indexed"}
	n.m.engine.Throw(d.WithHint("read them first: (await x.read())[%d], or (await x.read(%d, 1))[0]; write them with x.write", i, i))
}

// Get is called for every property that a buffer lacks.
func (n noElements) Get(key string) goja.Value {
	n.refuse(key)
	return nil
}

// Has is called before a property is made.
func (n noElements) Has(key string) bool {
	n.refuse(key)
	return false
}

func (noElements) Set(string, goja.Value) bool { return false }
func (noElements) Delete(string) bool          { return true }
func (noElements) Keys() []string              { return nil }

// DeviceBuffer is the buffer itself, for modules that fill buffers of the script from Go.
func (b *bufferObject) DeviceBuffer() *session.Buffer { return b.Buffer }
