package offloadjs

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/runtime/session"
)

func (m *instance) defineClasses() {
	m.typ = lang.NewClass(m.Engine, lang.ClassSpec[element.Type]{
		Name: "Type",
		Fields: []lang.Field[element.Type]{
			script.Value(m.Script, "name", func(t element.Type) any { return t.String() }),
			script.Value(m.Script, "size", func(t element.Type) any { return t.Size() }),
			script.Field(m.Script, "layout", func(t element.Type) (goja.Value, error) {
				if t.Elem.Record == nil {
					return goja.Undefined(), nil
				}
				return element.Layout(m.VM, t.Elem.Record), nil
			}),
		},
		Inspect: func(t element.Type, _ inspect.Options) string { return t.String() },
		Call:    element.CallError,
		JSON:    func(t element.Type) (goja.Value, error) { return m.VM.ToValue(t.String()), nil },
	})
	m.device = lang.NewClass(m.Engine, lang.ClassSpec[*session.Device]{
		Name: "Device",
		Methods: append([]lang.Method[*session.Device]{
			script.Method(m.Script, "buffer", m.newBuffer),
			script.Method(m.Script, "createQueue", m.newQueue),
			script.Method(m.Script, "memoryAt", m.memoryAt),
			script.Method(m.Script, "pin", m.pin),
		}, m.deviceMethods()...),
		Fields: []lang.Field[*session.Device]{
			script.Value(m.Script, "id", func(d *session.Device) any { return d.ID() }),
			script.Value(m.Script, "name", func(d *session.Device) any { return d.Info().Name }),
			script.Value(m.Script, "type", func(d *session.Device) any { return d.Info().Type.String() }),
			script.Value(m.Script, "vendor", func(d *session.Device) any { return d.Info().Vendor }),
			script.Value(m.Script, "arch", func(d *session.Device) any { return d.Info().Arch }),
			script.Value(m.Script, "platform", func(d *session.Device) any { return d.Platform().Name }),
			script.Value(m.Script, "computeUnits", func(d *session.Device) any { return d.Info().ComputeUnits }),
			script.Field(m.Script, "limits", func(d *session.Device) (goja.Value, error) { return m.limits(d), nil }),
			script.Field(m.Script, "features", func(d *session.Device) (goja.Value, error) { return m.features(d), nil }),
			script.Field(m.Script, "memory", func(d *session.Device) (goja.Value, error) { return m.memory(d), nil }),
			script.Field(m.Script, "queue", func(d *session.Device) (goja.Value, error) {
				q, err := m.defaultQueue(d)
				if err != nil {
					return nil, err
				}
				return m.queueObject(q), nil
			}),
		},
		Inspect: func(d *session.Device, _ inspect.Options) string { return inspectDevice(d) },
		Row:     deviceRow,
		JSON:    m.deviceJSON,
	})
	m.defineBuffer()
	m.definePinned()
	m.defineQueue()
	m.defineKernel()
	m.defineBoundLaunch()
	m.defineLibrary()
	m.definePipeline()
	m.defineTrace()
}

func (m *instance) defineQueue() {
	m.queue = lang.NewClass(m.Engine, lang.ClassSpec[*session.Queue]{
		Name: "Queue",
		Methods: []lang.Method[*session.Queue]{
			script.Method(m.Script, "launch", m.queueLaunch),
			script.Method(m.Script, "record", m.record),
			script.Method(m.Script, "wait", m.waitEvent),
			script.Method(m.Script, "host", m.host),
			script.Method(m.Script, "query", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return m.VM.ToValue(q.Idle()), nil }),
			script.Promised(m.Script, "sync", m.syncQueue),
			script.Method(m.Script, "close", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return nil, m.closeQueue(q) }),
		},
		Fields: []lang.Field[*session.Queue]{
			script.Value(m.Script, "label", func(q *session.Queue) any { return q.Label() }),
			script.Field(m.Script, "device", func(q *session.Queue) (goja.Value, error) { return m.deviceObject(q.Device()), nil }),
		},
		Inspect: func(q *session.Queue, _ inspect.Options) string { return inspectQueue(q) },
		Row:     queueRow,
		JSON:    withoutJSON[*session.Queue]("Queue", "write what identifies it, such as its label"),
		Dispose: func(q *session.Queue) error { return m.Explain(m.closeQueue(q)) },
	})
	m.event = lang.NewClass(m.Engine, lang.ClassSpec[*session.Event]{
		Name:  "Event",
		Light: true, // events are created by every launch
		Methods: []lang.Method[*session.Event]{
			script.Method(m.Script, "elapsedSince", m.elapsedSince),
			script.Method(m.Script, "catch", m.catchEvent),
		},
		Fields: []lang.Field[*session.Event]{
			{Name: "then", Hidden: true, Get: func(ev *session.Event) (goja.Value, error) {
				v, err := m.thenOf(ev)
				return v, m.Explain(err)
			}},
			script.Value(m.Script, "done", func(ev *session.Event) any { return ev.Done() }),
			script.Field(m.Script, "queue", func(ev *session.Event) (goja.Value, error) { return m.queueObject(ev.Queue()), nil }),
		},
		Inspect: func(ev *session.Event, _ inspect.Options) string { return inspectEvent(ev) },
	})
}

func (m *instance) defineKernel() {
	m.kernel = lang.NewClass(m.Engine, lang.ClassSpec[*kernelObject]{
		Name: "Kernel",
		Methods: []lang.Method[*kernelObject]{
			script.Method(m.Script, "launch", m.launch),
			script.Method(m.Script, "bind", m.bind),
			script.Method(m.Script, "occupancy", m.occupancy),
			script.Method(m.Script, "explain", m.explainText),
			script.Method(m.Script, "debug", m.debug),
		},
		Fields: []lang.Field[*kernelObject]{
			script.Field(m.Script, "warnings", m.kernelWarnings),
			script.Value(m.Script, "name", func(k *kernelObject) any { return k.name }),
			script.Value(m.Script, "source", func(k *kernelObject) any { return k.text }),
		},
		Inspect: func(k *kernelObject, _ inspect.Options) string { return inspectKernel(k) },
		Row:     kernelRow,
		JSON:    withoutJSON[*kernelObject]("Kernel", "write what identifies it, such as k.name or k.source"),
	})
}

func (m *instance) defineLibrary() {
	m.library = lang.NewClass(m.Engine, lang.ClassSpec[*libraryObject]{
		Name: "Library",
		Methods: []lang.Method[*libraryObject]{
			script.Method(m.Script, "kernel", m.libraryKernel),
			script.Method(m.Script, "global", m.libraryGlobal),
			script.Method(m.Script, "address", m.libraryAddress),
			script.Promised(m.Script, "unregister", m.unregister),
		},
		Fields: []lang.Field[*libraryObject]{
			script.Value(m.Script, "label", func(l *libraryObject) any { return l.Label() }),
			script.Field(m.Script, "images", m.libraryImages),
			script.Field(m.Script, "entries", m.libraryEntries),
			script.Field(m.Script, "kernels", m.libraryKernels),
		},
		Inspect: func(l *libraryObject, _ inspect.Options) string {
			return inspectLibrary(l)
		},
		AsyncDispose: func(l *libraryObject) (goja.Value, error) { return m.unregister(l, goja.FunctionCall{}) },
	})
	m.native = lang.NewClass(m.Engine, lang.ClassSpec[*nativeKernel]{
		Name:    "LibraryKernel",
		Methods: []lang.Method[*nativeKernel]{script.Method(m.Script, "launch", m.launchNative), script.Method(m.Script, "occupancy", m.occupancyNative)},
		Fields: []lang.Field[*nativeKernel]{
			script.Value(m.Script, "name", func(k *nativeKernel) any { return k.name }),
		},
		Inspect: func(k *nativeKernel, _ inspect.Options) string {
			return fmt.Sprintf("Kernel %s%s of library %q", k.name, k.parameters(), k.library.Label())
		},
	})
}

func (m *instance) defineBuffer() {
	m.buffer = lang.NewClass(m.Engine, lang.ClassSpec[*bufferObject]{
		Name: "Buffer",
		Methods: append([]lang.Method[*bufferObject]{
			script.Promised(m.Script, "read", m.read),
			script.Method(m.Script, "readSync", m.readSync),
			script.Chained(m.Script, "write", m.write),
			script.Chained(m.Script, "fill", m.fill),
			script.Method(m.Script, "copyTo", m.copyTo),
			script.Method(m.Script, "clone", m.clone),
			script.Method(m.Script, "view", m.view),
			script.Promised(m.Script, "readRect", m.readRect),
			script.Chained(m.Script, "writeRect", m.writeRect),
			script.Method(m.Script, "free", func(b *bufferObject, _ goja.FunctionCall) (goja.Value, error) { return nil, b.Free() }),
		}, m.bufferMethods()...),
		Fields: []lang.Field[*bufferObject]{
			script.Value(m.Script, "label", func(b *bufferObject) any { return b.Label() }),
			script.Field(m.Script, "type", func(b *bufferObject) (goja.Value, error) { return m.typeObject(b.elem), nil }),
			script.Field(m.Script, "shape", func(b *bufferObject) (goja.Value, error) { return m.Ints(b.Dims()), nil }),
			script.Value(m.Script, "length", func(b *bufferObject) any { return b.Dims()[0] }),
			script.Value(m.Script, "size", func(b *bufferObject) any { return b.Size() }),
			script.Value(m.Script, "kind", func(b *bufferObject) any { return b.Kind().String() }),
			script.Value(m.Script, "freed", func(b *bufferObject) any { return b.Freed() }),
			script.Field(m.Script, "address", m.bufferAddress),
			script.Field(m.Script, "device", func(b *bufferObject) (goja.Value, error) { return m.deviceObject(b.Device()), nil }),
		},
		Inspect: func(b *bufferObject, o inspect.Options) string { return m.inspectBuffer(b, o) },
		Row:     bufferRow,
		JSON:    withoutJSON[*bufferObject]("Buffer", "its elements are on the device: write JSON.stringify(Array.from(await x.read()))"),
		Dispose: func(b *bufferObject) error { return m.Explain(b.Free()) },
	})
}
