// Package images implements register() of the module 'offload': libraries of device images, and their kernels.
package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/bindings/offloadjs/occupancy"
	"github.com/orepl/orepl/bindings/offloadjs/queues"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the libraries of images that one engine registers.
type Module struct {
	*script.Script
	session *session.Session
	reach   *reach.Devices
	types   *types.Module
	devices *devices.Module
	queues  *queues.Module
	buffers *buffers.Module
	kernels *launch.Module

	class  *lang.Class[*Library]
	native *lang.Class[*nativeKernel]
	bound  []session.Arg // memory that launches reuse
}

// New defines the classes of libraries and of their kernels.
func New(s *script.Script, on *session.Session, d *reach.Devices, r launch.Rooms, k *launch.Module) *Module {
	m := &Module{Script: s, session: on, reach: d, types: r.Types, devices: r.Devices, queues: r.Queues, buffers: r.Buffers, kernels: k}
	m.define()
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor(), m.native.Constructor()}
}

// Library is a registered library of images.
type Library struct {
	*session.Library
}

// nativeKernel is a kernel of a library.
type nativeKernel struct {
	library   *Library
	name      string
	signature *contract.Signature // nil if the image describes its kernels
	params    []libraryParam
}

// names returns the names of the parameters. A parameter without a name has its number, from 1 on.
func (k *nativeKernel) names() []string {
	list := make([]string, len(k.params))
	for i := range k.params {
		if list[i] = k.params[i].name; list[i] == "" {
			list[i] = strconv.Itoa(i + 1)
		}
	}
	return list
}

// Register implements offload.register(path | bytes, {label}?), which returns a promise of the library.
func (m *Module) Register(call goja.FunctionCall) (goja.Value, error) {
	const op = "register"
	o := m.Options.Parse(op, call.Argument(1), "label")
	label := o.Text("label")
	if o.Err != nil {
		return nil, o.Err
	}
	allow := session.RegisterOptions{Owner: m.queues.Owner(), AllowNative: m.Engine.AllowNative, AllowRead: func(path string) (string, error) { return m.Engine.ReadPath(path) }}
	allow.Read = func(path string) ([]byte, error) {
		return lang.AsLoaded(m.Engine, "register "+path, func() ([]byte, error) { return m.Engine.Options().Disk().ReadFile(path) })
	}
	source := call.Argument(0)
	if name, ok := element.Exported(source).(string); ok {
		path, err := m.Engine.ReadPath(name)
		if err != nil {
			return nil, err
		}
		return m.registering(func(ctx context.Context) (*session.Library, error) {
			lib, err := m.session.RegisterFile(ctx, label, path, allow)
			if err != nil && errors.Is(err, fs.ErrNotExist) && contract.CodeOf(err) == contract.NotFound {
				err = m.Engine.ReadError(op, name, path, errors.Unwrap(err)) // unwrapped, since Explain prefers device errors
			}
			return lib, err
		}), nil
	}
	data, ok := m.Engine.Bytes(source)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a path or bytes, not %s", convert.Describe(source))
	}
	data = append([]byte(nil), data...)
	if label == "" {
		label = "image"
	}
	return m.registering(func(ctx context.Context) (*session.Library, error) {
		return m.session.Register(ctx, label, data, allow)
	}), nil
}

func (m *Module) registering(register func(context.Context) (*session.Library, error)) goja.Value {
	return m.Async(nil, "register", func(ctx context.Context) (func() (goja.Value, error), error) {
		lib, err := register(ctx)
		if err != nil {
			return nil, err
		}
		return func() (goja.Value, error) { return m.class.New(&Library{lib}), nil }, nil
	})
}

// unregister implements library.unregister(), which returns a promise.
func (m *Module) unregister(l *Library, _ goja.FunctionCall) (goja.Value, error) {
	return m.Async(nil, "unregister", func(ctx context.Context) (func() (goja.Value, error), error) {
		return nil, l.Unregister(ctx)
	}), nil
}

// kernelsOf implements library.kernels, the names of the kernels in the image for the best device.
func (m *Module) kernelsOf(l *Library) (goja.Value, error) {
	var names []any
	d, err := m.reach.DeviceFor(m.Engine.Running(), l.Library)
	if err != nil {
		return nil, err
	}
	symbols, err := l.Symbols(m.Engine.Running(), d)
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if s.Kernel {
			names = append(names, s.Name)
		}
	}
	return m.VM.NewArray(names...), nil
}

// kernelOf implements library.kernel(name, signature?).
func (m *Module) kernelOf(l *Library, call goja.FunctionCall) (goja.Value, error) {
	const op = "kernel"
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected the kernel's name, not %s", convert.Describe(call.Argument(0))).On("", l.Label())
	}
	k := &nativeKernel{library: l, name: name}
	if sig, ok := call.Argument(1).(*goja.Object); ok {
		var err error
		if k.signature, k.params, err = m.parseSignature(name, sig); err != nil {
			return nil, err
		}
		return m.native.New(k), nil
	}
	// Without a signature, the image must describe the kernel's parameters.
	d, err := m.reach.DeviceFor(m.Engine.Running(), l.Library)
	if err != nil {
		return nil, err
	}
	on, err := l.Kernel(m.Engine.Running(), d, name)
	if err != nil {
		return nil, err
	}
	params := on.Info().Params
	if params == nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the image does not describe the kernel's parameters").On(d.ID(), name).
			WithHint("give the signature: lib.kernel(%q, {n: i32, x: [f32]})", name)
	}
	k.params = describedParams(params)
	if c := on.Info().Convention; c != contract.ConventionImage { // a native function that debug information describes
		k.signature = &contract.Signature{Params: params, Convention: c, Pos: m.Caller()}
	}
	return m.native.New(k), nil
}

// on returns the kernel on a device.
func (k *nativeKernel) on(ctx context.Context, d *session.Device) (*session.Kernel, error) {
	if k.signature == nil {
		return k.library.Kernel(ctx, d, k.name)
	}
	return k.library.KernelAs(ctx, d, k.name, k.signature)
}

// launchNative implements kernel.launch(options, ...arguments) for a kernel of a library.
func (m *Module) launchNative(k *nativeKernel, call goja.FunctionCall) (goja.Value, error) {
	var whole []int
	if s := k.signature; s != nil && (s.Convention == contract.OutlinedOpenMP || s.Convention == contract.PerLaunch) {
		whole = []int{1} // the function is called once
	}
	cfg, err := m.kernels.ParseOptions(k.name, call, whole, true)
	if err != nil {
		return nil, err
	}
	if cfg.Overflows {
		return nil, contract.Errorf(contract.InvalidArgument, "launch", "checks: 'overflow' is for kernels of the script: what an image holds is compiled already").
			On("", k.name).WithHint("leave it out")
	}
	values, names := call.Arguments[1:], k.names()
	if len(values) != len(k.params) {
		return nil, launch.CountError("launch", k.name, names, len(values))
	}
	bound := m.bound[:0]
	var device *session.Device
	for i, v := range values {
		arg, on, err := m.bindParam(&k.params[i], v)
		if err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, "launch", "argument %s: %v", names[i], err).On("", k.name)
		}
		if device == nil {
			device = on
		}
		bound = append(bound, arg)
	}
	m.bound = bound
	q, err := m.queues.Choose("launch", cfg.Queue, cfg.Device, device)
	if err != nil {
		return nil, script.WithLabel(err, k.name)
	}
	on, err := k.on(m.Engine.Running(), q.Device())
	if err != nil {
		return nil, err
	}
	if err := m.kernels.Start(q, on.Unbound(), cfg.Config, bound...); err != nil {
		return nil, err
	}
	return m.queues.EventAfter(q, cfg.Label)
}

// global implements library.global(name, device?), which returns a byte buffer over a global variable.
func (m *Module) global(l *Library, call goja.FunctionCall) (goja.Value, error) {
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, "global", "expected the variable's name, not %s", convert.Describe(call.Argument(0))).On("", l.Label())
	}
	d, err := m.deviceOf("global", l, call.Argument(1))
	if err != nil {
		return nil, script.WithLabel(err, l.Label())
	}
	b, err := l.Global(m.Engine.Running(), d, name)
	if err != nil {
		return nil, err
	}
	bytes, err := b.View(session.ViewOptions{Dims: []int{int(b.Size())}, Type: contract.U8, Elem: 1})
	if err != nil {
		return nil, err
	}
	return m.buffers.ObjectOf(bytes, element.Type{Elem: ir.Elem{Scalar: ir.U8}}, false), nil
}

// deviceOf returns the device that an argument is or whose id it is. For undefined and nil it is the best device that supports the
// library.
func (m *Module) deviceOf(op string, l *Library, v goja.Value) (*session.Device, error) {
	if v == nil || goja.IsUndefined(v) {
		return m.reach.DeviceFor(m.Engine.Running(), l.Library)
	}
	if d := m.devices.Of(v); d != nil {
		return d, nil
	}
	if id, ok := element.Exported(v).(string); ok {
		return m.reach.Device(m.Engine.Running(), id)
	}
	return nil, contract.Errorf(contract.InvalidArgument, op, "device must be a device or its id, not %s", convert.Describe(v))
}

// address implements library.address(name, device?), which returns a BigInt.
func (m *Module) address(l *Library, call goja.FunctionCall) (goja.Value, error) {
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, "address", "expected the symbol's name, not %s", convert.Describe(call.Argument(0))).On("", l.Label())
	}
	if err := m.buffers.AllowAddress(name); err != nil {
		return nil, err
	}
	d, err := m.deviceOf("address", l, call.Argument(1))
	if err != nil {
		return nil, script.WithLabel(err, l.Label())
	}
	at, err := l.Address(m.Engine.Running(), d, name)
	if err != nil {
		return nil, err
	}
	return m.VM.ToValue(new(big.Int).SetUint64(at)), nil
}

// occupancyNative implements libraryKernel.occupancy({groupSize, sharedBytes, device}?).
func (m *Module) occupancyNative(k *nativeKernel, call goja.FunctionCall) (goja.Value, error) {
	const op = "occupancy"
	o := m.Options.Parse(op, call.Argument(0), "groupSize", "sharedBytes", "device")
	group, shared, device := o.Extents("groupSize"), o.Integer("sharedBytes"), o.Get("device")
	if o.Err != nil {
		return nil, script.WithLabel(o.Err, k.name)
	}
	d, err := m.deviceOf(op, k.library, device)
	if err != nil {
		return nil, script.WithLabel(err, k.name)
	}
	on, err := k.on(m.Engine.Running(), d)
	if err != nil {
		return nil, err
	}
	facts, err := on.Occupancy(group, shared)
	if err != nil {
		return nil, err
	}
	return occupancy.Object(m.VM, facts)
}

func (m *Module) define() {
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*Library]{
		Name: "Library",
		Methods: []lang.Method[*Library]{
			script.Method(m.Script, "kernel", m.kernelOf),
			script.Method(m.Script, "global", m.global),
			script.Method(m.Script, "address", m.address),
			script.Promised(m.Script, "unregister", m.unregister),
		},
		Fields: []lang.Field[*Library]{
			script.Value(m.Script, "label", func(l *Library) any { return l.Label() }),
			script.Field(m.Script, "images", m.imagesOf),
			script.Field(m.Script, "entries", m.entriesOf),
			script.Field(m.Script, "kernels", m.kernelsOf),
		},
		Inspect: func(l *Library, _ inspect.Options) string {
			return m.inspectLibrary(l)
		},
		AsyncDispose: func(l *Library) (goja.Value, error) { return m.unregister(l, goja.FunctionCall{}) },
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
