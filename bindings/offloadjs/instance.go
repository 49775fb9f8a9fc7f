package offloadjs

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/library"
	"github.com/orepl/orepl/bindings/offloadjs/manual"
	"github.com/orepl/orepl/bindings/offloadjs/multi"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/replay"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/runtime/session"
)

var (
	typeBool   = reflect.TypeFor[bool]()
	typeBigInt = reflect.TypeFor[*big.Int]()
)

// instance holds the module's state in one engine.
type instance struct {
	env  *Environment
	opts ModuleOptions
	*script.Script
	classes

	reach       *reach.Devices
	devices     map[*session.Device]*goja.Object // one script object per device
	queues      map[*session.Queue]*goja.Object
	ownQueues   map[*session.Device]*session.Queue // default queues of this engine
	printQueues map[*session.Device]*session.Queue // queues of printQueue
	types       map[ir.Type]*goja.Object
	captures
	quota quota
	counts
	rpc     *service.Registry
	uses    map[*session.Queue]*loop.Scope
	lastUse use
	used    *library.Uses

	scratch
}

// captures holds the state of the conversion of captured variables.
type captures struct {
	helpers  map[*lang.FunctionInfo]*kernel.Source
	passed   map[*bufferObject]string // parameters that pass captured buffers to an initialiser
	reads    *captureList             // records the compilation's reads of captured objects; may be nil
	language []*goja.Object           // global objects that the kernel language also defines
}

// counts holds counters of the script's objects and running operations.
type counts struct {
	records    int          // types declared by struct()
	hosts      int          // host functions that wait for the event loop
	thenMethod goja.Value   // the method then of events; nil until first use
	rehearsal  *rehearsal   // nil unless a pipeline is being checked
	tape       *replay.Tape // of the pipeline that ran last
}

// scratch holds memory that launches reuse, and caches.
type scratch struct {
	announced map[string]bool // platforms whose first compilation was announced
	checked   *goja.Object    // the last validated options object
	parsed    parsedOptions   // of the last launch whose options have a key
	key       []byte
	argBuffer []kernel.Arg
	bound     []session.Arg
}

// classes holds the module's classes.
type classes struct {
	typ        *lang.Class[element.Type]
	device     *lang.Class[*session.Device]
	buffer     *lang.Class[*bufferObject]
	pinned     *lang.Class[*session.PinnedHost]
	queue      *lang.Class[*session.Queue]
	event      *lang.Class[*session.Event]
	kernel     *lang.Class[*kernelObject]
	library    *lang.Class[*libraryObject]
	native     *lang.Class[*nativeKernel]
	pipeline   *lang.Class[*Pipeline]
	trace      *lang.Class[*itemTrace]
	boundClass *lang.Class[*boundLaunch]
}

// ModuleOptions configures the module for the embedding program.
type ModuleOptions struct {
	// OwnQueues creates default queues per engine, for programs whose engines share devices.
	OwnQueues bool
	// Owner names the engine in spans of the session's hook.
	Owner string
	// Services lists Go functions that kernels can call. [service.Check] must have accepted them.
	Services []service.Host
	// Extensions add methods to buffers and devices.
	Extensions []Extension
}

// Module returns the module 'offload' with its documentation.
func Module(env *Environment, opts ModuleOptions) bindings.Module {
	return bindings.Module{
		Module: lang.Module{
			Name:          "offload",
			Instantiate:   func(e *lang.Engine) (*goja.Object, error) { return newInstance(env, opts, e).exports() },
			PromptGlobals: promptGlobals(),
		},
		Help:    "Devices, buffers, queues, kernels and libraries of device images.",
		Types:   declarations(opts.Extensions),
		Entries: extended(manual.Entries(), opts.Extensions),
	}
}

func newInstance(env *Environment, opts ModuleOptions, e *lang.Engine) *instance {
	m := &instance{
		env: env, opts: opts, reach: reach.New(env.session, e), Script: script.New(e), quota: quota{owner: env.session.NewOwner(opts.Owner)},
		devices:  map[*session.Device]*goja.Object{},
		queues:   map[*session.Queue]*goja.Object{},
		captures: captures{helpers: map[*lang.FunctionInfo]*kernel.Source{}},
		types:    map[ir.Type]*goja.Object{},
		uses:     map[*session.Queue]*loop.Scope{},
	}
	e.OnFailure(m.abandon)
	e.OnQuiet(m.settle)
	m.used = library.NewUses(env.libraries)
	e.OnClose(m.used.Close) // runs after closeQueues
	e.OnClose(m.closeQueues)
	e.OnClose(func() { env.session.EndOwner(m.quota.owner) })
	m.rpc = service.New(m.Script, env.session, m.asType, opts.Services)
	m.defineClasses()
	for _, name := range []string{"Math", "Atomics", "Number", "Boolean", "isNaN", "isFinite"} {
		if o, ok := m.VM.GlobalObject().Get(name).(*goja.Object); ok {
			m.language = append(m.language, o)
		}
	}
	return m
}

// promptGlobals returns the exports that are globals at a prompt.
func promptGlobals() []string {
	names := []string{"offload", "device", "devices", "kernel", "struct", "register", "live", "platforms", "pipeline", "pool", "rpc", "collective", "args"}
	for _, t := range element.ScalarTypes {
		names = append(names, t.String())
	}
	return names
}

// exports returns the module's exports object.
func (m *instance) exports() (*goja.Object, error) {
	if err := m.refuseElements(); err != nil {
		return nil, err
	}
	o, several := m.VM.NewObject(), multi.New(m.Script, Host{m})
	for _, f := range []struct {
		name string
		fn   func(goja.FunctionCall) (goja.Value, error)
	}{
		{"device", m.findDevice}, {"devices", m.listDevices}, {"kernel", m.newKernel}, {"struct", m.newStruct},
		{"register", m.Engine.Promised(m.Explained(m.register))}, {"live", m.live}, {"platforms", m.platforms}, {"pipeline", m.newPipeline}, {"pool", several.NewPool},
	} {
		if err := o.Set(f.name, m.Function(f.name, f.fn)); err != nil {
			return nil, err
		}
	}
	for _, t := range element.ScalarTypes {
		if err := o.Set(t.String(), m.typeObject(element.Type{Elem: ir.Elem{Scalar: t}})); err != nil {
			return nil, err
		}
	}
	rpcClass := m.rpc.Class()
	for _, c := range []*goja.Object{
		m.typ.Constructor(), m.device.Constructor(), m.buffer.Constructor(), m.queue.Constructor(), m.event.Constructor(),
		m.kernel.Constructor(), m.library.Constructor(), m.native.Constructor(), m.pipeline.Constructor(),
		m.trace.Constructor(), rpcClass.Constructor(), m.boundClass.Constructor(), m.classes.pinned.Constructor(),
	} {
		if err := o.Set(c.Get("name").String(), c); err != nil {
			return nil, err
		}
	}
	if err := o.Set("rpc", rpcClass.New(m.rpc)); err != nil {
		return nil, err
	}
	if err := several.Exports(func(name string, v *goja.Object) error { return o.Set(name, v) }); err != nil {
		return nil, err
	}
	for _, x := range m.opts.Extensions {
		if x.Exports != nil {
			for name, v := range x.Exports(Host{m}) {
				_ = o.Set(name, v) // cannot fail on a new plain object
			}
		}
	}
	var args []any // copied, because the script may modify the array
	for _, arg := range m.Engine.Options().Args {
		args = append(args, arg)
	}
	return o, o.Set("args", m.VM.NewArray(args...))
}

func (m *instance) asType(v goja.Value) (element.Type, bool) { return m.typ.Of(v) }
func (m *instance) asDevice(v goja.Value) *session.Device    { d, _ := m.device.Of(v); return d }
func (m *instance) asQueue(v goja.Value) *session.Queue      { q, _ := m.queue.Of(v); return q }
func (m *instance) asBuffer(v goja.Value) *bufferObject      { b, _ := m.buffer.Of(v); return b }

// typeObject returns the script object of an element type. Each scalar type has one object.
func (m *instance) typeObject(t element.Type) *goja.Object {
	if t.Elem.Record != nil {
		return m.typ.New(t)
	}
	o := m.types[t.Elem.Scalar]
	if o == nil {
		o = m.typ.New(t)
		m.types[t.Elem.Scalar] = o
	}
	return o
}

func (m *instance) deviceObject(d *session.Device) *goja.Object {
	o := m.devices[d]
	if o == nil {
		o = m.device.New(d)
		m.devices[d] = o
		if notice := d.Info().Notice; notice != "" {
			m.Engine.Warn(d.ID()+": "+notice, "")
		}
	}
	return o
}

func (m *instance) queueObject(q *session.Queue) *goja.Object {
	o := m.queues[q]
	if o == nil {
		o = m.queue.New(q)
		m.queues[q] = o
	}
	return o
}

// isLanguageName reports whether a captured global object is one that the kernel language also defines.
func (m *instance) isLanguageName(o *goja.Object) bool {
	for _, known := range m.language {
		if o == known {
			return true
		}
	}
	return false
}

// capturedFunction converts a function in an object's field for the kernel compiler.
func (m *instance) capturedFunction(o *goja.Object) (any, error) {
	info, err := m.Engine.FunctionInfo(o)
	if err != nil {
		return nil, err
	}
	if info.Native {
		return nil, nativeError(info.Name)
	}
	return m.sourceOf(info), nil
}
