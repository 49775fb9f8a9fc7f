package offloadjs

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/runtime/session"
)

// method returns a method that converts errors to diagnostics.
func method[T any](m *instance, name string, fn func(T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	return lang.Method[T]{Name: name, Call: func(self T, call goja.FunctionCall) (goja.Value, error) {
		v, err := fn(self, call)
		return v, m.explain(err)
	}}
}

// promised returns a method that returns a promise. Every error rejects the promise.
func promised[T any](m *instance, name string, fn func(T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	explained := method(m, name, fn).Call
	return lang.Method[T]{Name: name, Call: func(self T, call goja.FunctionCall) (goja.Value, error) {
		return m.engine.Promised(func(call goja.FunctionCall) (goja.Value, error) { return explained(self, call) })(call)
	}}
}

// chained returns a method whose implementation also receives the script's receiver, so that it can return that object.
func chained[T any](m *instance, name string, fn func(goja.Value, T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	return method(m, name, func(self T, call goja.FunctionCall) (goja.Value, error) { return fn(call.This, self, call) })
}

// field returns a computed property that converts errors to diagnostics.
func field[T any](m *instance, name string, get func(T) (goja.Value, error)) lang.Field[T] {
	return lang.Field[T]{Name: name, Get: func(self T) (goja.Value, error) {
		v, err := get(self)
		return v, m.explain(err)
	}}
}

// value returns a computed property with a Go value.
func value[T any](m *instance, name string, get func(T) any) lang.Field[T] {
	return lang.Field[T]{Name: name, Get: func(self T) (goja.Value, error) { return m.vm.ToValue(get(self)), nil }}
}

func (m *instance) defineClasses() {
	m.typ = lang.NewClass(m.engine, lang.ClassSpec[element.Type]{
		Name: "Type",
		Fields: []lang.Field[element.Type]{
			value(m, "name", func(t element.Type) any { return t.String() }),
			value(m, "size", func(t element.Type) any { return t.Size() }),
			field(m, "layout", func(t element.Type) (goja.Value, error) {
				if t.Elem.Record == nil {
					return goja.Undefined(), nil
				}
				return element.Layout(m.vm, t.Elem.Record), nil
			}),
		},
		Inspect: func(t element.Type, _ inspect.Options) string { return t.String() },
		Call:    element.CallError,
		JSON:    func(t element.Type) (goja.Value, error) { return m.vm.ToValue(t.String()), nil },
	})
	m.device = lang.NewClass(m.engine, lang.ClassSpec[*session.Device]{
		Name: "Device",
		Methods: append([]lang.Method[*session.Device]{
			method(m, "buffer", m.newBuffer),
			method(m, "createQueue", m.newQueue),
			method(m, "memoryAt", m.memoryAt),
			method(m, "pin", m.pin),
		}, m.deviceMethods()...),
		Fields: []lang.Field[*session.Device]{
			value(m, "id", func(d *session.Device) any { return d.ID() }),
			value(m, "name", func(d *session.Device) any { return d.Info().Name }),
			value(m, "type", func(d *session.Device) any { return d.Info().Type.String() }),
			value(m, "vendor", func(d *session.Device) any { return d.Info().Vendor }),
			value(m, "arch", func(d *session.Device) any { return d.Info().Arch }),
			value(m, "platform", func(d *session.Device) any { return d.Platform().Name }),
			value(m, "computeUnits", func(d *session.Device) any { return d.Info().ComputeUnits }),
			field(m, "limits", func(d *session.Device) (goja.Value, error) { return m.limits(d), nil }),
			field(m, "features", func(d *session.Device) (goja.Value, error) { return m.features(d), nil }),
			field(m, "memory", func(d *session.Device) (goja.Value, error) { return m.memory(d), nil }),
			field(m, "queue", func(d *session.Device) (goja.Value, error) {
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
	m.definePool()
	m.defineTrace()
	m.defineCollective()
}

func (m *instance) defineQueue() {
	m.queue = lang.NewClass(m.engine, lang.ClassSpec[*session.Queue]{
		Name: "Queue",
		Methods: []lang.Method[*session.Queue]{
			method(m, "launch", m.queueLaunch),
			method(m, "record", m.record),
			method(m, "wait", m.waitEvent),
			method(m, "host", m.host),
			method(m, "query", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return m.vm.ToValue(q.Idle()), nil }),
			promised(m, "sync", m.syncQueue),
			method(m, "close", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return nil, m.closeQueue(q) }),
		},
		Fields: []lang.Field[*session.Queue]{
			value(m, "label", func(q *session.Queue) any { return q.Label() }),
			field(m, "device", func(q *session.Queue) (goja.Value, error) { return m.deviceObject(q.Device()), nil }),
		},
		Inspect: func(q *session.Queue, _ inspect.Options) string { return inspectQueue(q) },
		Row:     queueRow,
		JSON:    withoutJSON[*session.Queue]("Queue", "write what identifies it, such as its label"),
		Dispose: func(q *session.Queue) error { return m.explain(m.closeQueue(q)) },
	})
	m.event = lang.NewClass(m.engine, lang.ClassSpec[*session.Event]{
		Name:  "Event",
		Light: true, // events are created by every launch
		Methods: []lang.Method[*session.Event]{
			method(m, "elapsedSince", m.elapsedSince),
			method(m, "catch", m.catchEvent),
		},
		Fields: []lang.Field[*session.Event]{
			{Name: "then", Hidden: true, Get: func(ev *session.Event) (goja.Value, error) {
				v, err := m.thenOf(ev)
				return v, m.explain(err)
			}},
			value(m, "done", func(ev *session.Event) any { return ev.Done() }),
			field(m, "queue", func(ev *session.Event) (goja.Value, error) { return m.queueObject(ev.Queue()), nil }),
		},
		Inspect: func(ev *session.Event, _ inspect.Options) string { return inspectEvent(ev) },
	})
	m.rpcClass = lang.NewClass(m.engine, lang.ClassSpec[*rpc]{
		Name:    "RPC",
		Methods: []lang.Method[*rpc]{method(m, "on", m.onService), method(m, "off", m.offService)},
		Fields:  []lang.Field[*rpc]{field(m, "services", m.listServices), field(m, "ports", m.listPorts)},
		Inspect: func(r *rpc, _ inspect.Options) string { return r.inspect() },
	})
}

func (m *instance) defineKernel() {
	m.kernel = lang.NewClass(m.engine, lang.ClassSpec[*kernelObject]{
		Name: "Kernel",
		Methods: []lang.Method[*kernelObject]{
			method(m, "launch", m.launch),
			method(m, "bind", m.bind),
			method(m, "occupancy", m.occupancy),
			method(m, "explain", m.explainText),
			method(m, "debug", m.debug),
		},
		Fields: []lang.Field[*kernelObject]{
			field(m, "warnings", m.kernelWarnings),
			value(m, "name", func(k *kernelObject) any { return k.name }),
			value(m, "source", func(k *kernelObject) any { return k.text }),
		},
		Inspect: func(k *kernelObject, _ inspect.Options) string { return inspectKernel(k) },
		Row:     kernelRow,
		JSON:    withoutJSON[*kernelObject]("Kernel", "write what identifies it, such as k.name or k.source"),
	})
}

func (m *instance) defineLibrary() {
	m.library = lang.NewClass(m.engine, lang.ClassSpec[*libraryObject]{
		Name: "Library",
		Methods: []lang.Method[*libraryObject]{
			method(m, "kernel", m.libraryKernel),
			method(m, "global", m.libraryGlobal),
			method(m, "address", m.libraryAddress),
			promised(m, "unregister", m.unregister),
		},
		Fields: []lang.Field[*libraryObject]{
			value(m, "label", func(l *libraryObject) any { return l.Label() }),
			field(m, "images", m.libraryImages),
			field(m, "entries", m.libraryEntries),
			field(m, "kernels", m.libraryKernels),
		},
		Inspect: func(l *libraryObject, _ inspect.Options) string {
			return inspectLibrary(l)
		},
		AsyncDispose: func(l *libraryObject) (goja.Value, error) { return m.unregister(l, goja.FunctionCall{}) },
	})
	m.native = lang.NewClass(m.engine, lang.ClassSpec[*nativeKernel]{
		Name:    "LibraryKernel",
		Methods: []lang.Method[*nativeKernel]{method(m, "launch", m.launchNative), method(m, "occupancy", m.occupancyNative)},
		Fields: []lang.Field[*nativeKernel]{
			value(m, "name", func(k *nativeKernel) any { return k.name }),
		},
		Inspect: func(k *nativeKernel, _ inspect.Options) string {
			return fmt.Sprintf("Kernel %s%s of library %q", k.name, k.parameters(), k.library.Label())
		},
	})
}

func (m *instance) defineBuffer() {
	m.buffer = lang.NewClass(m.engine, lang.ClassSpec[*bufferObject]{
		Name: "Buffer",
		Methods: append([]lang.Method[*bufferObject]{
			promised(m, "read", m.read),
			method(m, "readSync", m.readSync),
			chained(m, "write", m.write),
			chained(m, "fill", m.fill),
			method(m, "copyTo", m.copyTo),
			method(m, "clone", m.clone),
			method(m, "view", m.view),
			promised(m, "readRect", m.readRect),
			chained(m, "writeRect", m.writeRect),
			method(m, "free", func(b *bufferObject, _ goja.FunctionCall) (goja.Value, error) { return nil, b.Free() }),
		}, m.bufferMethods()...),
		Fields: []lang.Field[*bufferObject]{
			value(m, "label", func(b *bufferObject) any { return b.Label() }),
			field(m, "type", func(b *bufferObject) (goja.Value, error) { return m.typeObject(b.elem), nil }),
			field(m, "shape", func(b *bufferObject) (goja.Value, error) { return m.ints(b.Dims()), nil }),
			value(m, "length", func(b *bufferObject) any { return b.Dims()[0] }),
			value(m, "size", func(b *bufferObject) any { return b.Size() }),
			value(m, "kind", func(b *bufferObject) any { return b.Kind().String() }),
			value(m, "freed", func(b *bufferObject) any { return b.Freed() }),
			field(m, "address", m.bufferAddress),
			field(m, "device", func(b *bufferObject) (goja.Value, error) { return m.deviceObject(b.Device()), nil }),
		},
		Inspect: func(b *bufferObject, o inspect.Options) string { return m.inspectBuffer(b, o) },
		Row:     bufferRow,
		JSON:    withoutJSON[*bufferObject]("Buffer", "its elements are on the device: write JSON.stringify(Array.from(await x.read()))"),
		Dispose: func(b *bufferObject) error { return m.explain(b.Free()) },
	})
}

func (m *instance) ints(list []int) goja.Value {
	items := make([]any, len(list))
	for i, n := range list {
		items[i] = n
	}
	return m.vm.NewArray(items...)
}
