package offloadjs

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/capture"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/images"
	"github.com/orepl/orepl/bindings/offloadjs/itemtrace"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/bindings/offloadjs/manual"
	"github.com/orepl/orepl/bindings/offloadjs/multi"
	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/bindings/offloadjs/queues"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/session"
)

// instance holds the module's rooms in one engine.
type instance struct {
	*script.Script
	opts      ModuleOptions
	session   *session.Session
	reach     *reach.Devices
	rpc       *service.Registry
	types     *types.Module
	devices   *devices.Module
	queues    *queues.Module
	buffers   *buffers.Module
	capture   *capture.Module
	traces    *itemtrace.Module
	kernels   *launch.Module
	images    *images.Module
	pipelines *pipelines.Module
	locals    map[any]any // see Host.Local
}

// ModuleOptions configures the module for the embedding program.
type ModuleOptions struct {
	// OwnQueues creates default queues per engine, for programs whose engines share devices.
	OwnQueues bool
	// Owner names the engine in spans of the session's hook.
	Owner string
	// Services lists Go functions that kernels can call. [service.Check] must have accepted them.
	Services []service.Host
	// Placement chooses the devices of pipelines; nil: the script alone does.
	Placement *placement.Policy
	// Extensions add methods to buffers and devices, and exports to the module.
	Extensions []Extension
}

// Module returns the module 'offload' with its documentation.
func Module(env *launch.Environment, opts ModuleOptions) bindings.Module {
	return bindings.Module{
		Module: lang.Module{
			Name: "offload",
			Instantiate: func(e *lang.Engine) (*goja.Object, error) {
				m, err := newInstance(env, opts, e)
				if err != nil {
					return nil, err
				}
				return m.exports()
			},
			PromptGlobals: promptGlobals(),
		},
		Help:    "Devices, buffers, queues, kernels and libraries of device images.",
		Types:   declarations(opts.Extensions),
		Entries: func() []bindings.Entry { return extended(manual.Entries(), opts.Extensions) },
	}
}

func newInstance(env *launch.Environment, opts ModuleOptions, e *lang.Engine) (*instance, error) {
	m := &instance{opts: opts, session: env.Session(), reach: reach.New(env.Session(), e), Script: script.New(e)}
	owner := env.Session().NewOwner(opts.Owner)
	used := env.NewUses()
	e.OnClose(used.Close) // runs after the queues are closed
	m.types = types.New(m.Script)
	m.rpc = service.New(m.Script, env.Session(), m.types.Of, opts.Services)
	m.devices = devices.New(m.Script, m.reach)
	m.queues = queues.New(m.Script, queues.Config{Reach: m.reach, Devices: m.devices, RPC: m.rpc, Owner: owner, Own: opts.OwnQueues})
	e.OnClose(func() { env.Session().EndOwner(owner) })
	m.buffers = buffers.New(m.Script, m.types, m.devices, m.queues, m.rpc)
	m.capture = capture.New(m.Script, m.types, m.buffers)
	m.traces = itemtrace.New(m.Script)
	rooms := launch.Rooms{Types: m.types, Devices: m.devices, Queues: m.queues, Buffers: m.buffers, Capture: m.capture, Traces: m.traces, RPC: m.rpc}
	m.kernels = launch.New(m.Script, env, used, rooms)
	m.images = images.New(m.Script, env.Session(), m.reach, rooms, m.kernels)
	m.pipelines = pipelines.New(m.Script, m.reach, rooms, m.kernels, opts.Placement)
	m.devices.Define(slices.Concat(m.buffers.DeviceMethods(), m.queues.DeviceMethods(), m.deviceMethods()), m.queues.DeviceField())
	m.queues.Define(script.Method(m.Script, "launch", m.kernels.QueueLaunch))
	return m, m.buffers.Define(m.kernels.Initialise, m.bufferMethods(), m)
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
	o, several := m.VM.NewObject(), multi.New(m.Script, Host{m})
	for _, f := range []struct {
		name string
		fn   func(goja.FunctionCall) (goja.Value, error)
	}{
		{"device", m.devices.Find}, {"devices", m.devices.List}, {"kernel", m.kernels.Create}, {"struct", m.types.NewStruct},
		{"register", m.Engine.Promised(m.Explained(m.images.Register))}, {"live", m.live}, {"platforms", m.devices.Platforms}, {"pipeline", m.pipelines.Create}, {"pool", several.NewPool},
	} {
		if err := o.Set(f.name, m.Function(f.name, f.fn)); err != nil {
			return nil, err
		}
	}
	for _, t := range element.ScalarTypes {
		if err := o.Set(t.String(), m.types.ObjectOf(element.Type{Elem: ir.Elem{Scalar: t}})); err != nil {
			return nil, err
		}
	}
	rpcClass := m.rpc.Class()
	for _, c := range slices.Concat(m.types.Constructors(), m.devices.Constructors(), m.queues.Constructors(), m.buffers.Constructors(),
		m.kernels.Constructors(), m.traces.Constructors(), m.images.Constructors(), m.pipelines.Constructors(), []*goja.Object{rpcClass.Constructor()}) {

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
