package buffers

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/runtime/session"
)

// Define defines the classes of buffers and of pinned memory, and makes it an error to use a buffer as an array. init computes the
// elements of buffers that have an initialiser. methods are further methods of buffers. [Buffer.Home] returns home.
func (m *Module) Define(init Initialiser, methods []lang.Method[*Buffer], home any) error {
	m.initialiser, m.home = init, home
	m.definePinned()
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*Buffer]{
		Light: true, // operations of arrays return new ones
		Name:  "Buffer",
		Methods: append([]lang.Method[*Buffer]{
			script.Promised(m.Script, "read", m.read),
			script.Method(m.Script, "readSync", m.readSync),
			script.Chained(m.Script, "write", m.write),
			script.Chained(m.Script, "fill", m.fill),
			script.Method(m.Script, "copyTo", m.copyTo),
			script.Method(m.Script, "clone", m.clone),
			script.Method(m.Script, "view", m.view),
			script.Promised(m.Script, "readRect", m.readRect),
			script.Chained(m.Script, "writeRect", m.writeRect),
			script.Method(m.Script, "free", func(b *Buffer, _ goja.FunctionCall) (goja.Value, error) { return nil, b.Free() }),
		}, methods...),
		Fields: []lang.Field[*Buffer]{
			script.Value(m.Script, "label", func(b *Buffer) any { return b.Label() }),
			script.Field(m.Script, "type", func(b *Buffer) (goja.Value, error) { return m.types.ObjectOf(b.Elem), nil }),
			script.Field(m.Script, "shape", func(b *Buffer) (goja.Value, error) { return m.Ints(b.Dims()), nil }),
			script.Value(m.Script, "length", func(b *Buffer) any { return b.Dims()[0] }),
			script.Value(m.Script, "size", func(b *Buffer) any { return b.Size() }),
			script.Value(m.Script, "kind", func(b *Buffer) any { return b.Kind().String() }),
			script.Value(m.Script, "freed", func(b *Buffer) any { return b.Freed() }),
			script.Field(m.Script, "address", m.address),
			script.Field(m.Script, "device", func(b *Buffer) (goja.Value, error) { return m.devices.ObjectOf(b.Device()), nil }),
		},
		Inspect: func(b *Buffer, o inspect.Options) string { return m.inspect(b, o) },
		Row:     bufferRow,
		JSON:    script.WithoutJSON[*Buffer]("Buffer", "its elements are on the device: write JSON.stringify(Array.from(await x.read()))"),
		Dispose: func(b *Buffer) error { return m.Explain(b.Free()) },
	})
	return m.refuseElements()
}

// DeviceMethods returns the methods of devices that make buffers and pin memory.
func (m *Module) DeviceMethods() []lang.Method[*session.Device] {
	return []lang.Method[*session.Device]{
		script.Method(m.Script, "buffer", m.create),
		script.Method(m.Script, "memoryAt", m.memoryAt),
		script.Method(m.Script, "pin", m.pin),
	}
}

// ObjectOf returns a new object of a buffer with elements of a type. unlabelled states that the label is the name of a variable.
func (m *Module) ObjectOf(b *session.Buffer, t element.Type, unlabelled bool) *goja.Object {
	return m.class.New(&Buffer{m: m, Buffer: b, Elem: t, unlabelled: unlabelled})
}

// Home returns the value that [Module.Define] got.
func (b *Buffer) Home() any { return b.m.home }
