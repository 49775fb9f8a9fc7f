package offloadjs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// libraryObject is a registered library of images.
type libraryObject struct {
	*session.Library
}

// nativeKernel is a kernel of a library.
type nativeKernel struct {
	library   *libraryObject
	name      string
	signature *contract.Signature // nil if the image describes its kernels
	params    []libraryParam
}

// names returns the names of the parameters, or their numbers.
func (k *nativeKernel) names() []string {
	list := make([]string, len(k.params))
	for i := range k.params {
		if list[i] = k.params[i].name; list[i] == "" {
			list[i] = strconv.Itoa(i + 1)
		}
	}
	return list
}

// register implements offload.register(path | bytes, {label}?), which returns a promise of the library.
func (m *instance) register(call goja.FunctionCall) (goja.Value, error) {
	const op = "register"
	o := m.Options.Parse(op, call.Argument(1), "label")
	label := o.Text("label")
	if o.Err != nil {
		return nil, o.Err
	}
	allow := session.RegisterOptions{Owner: m.quota.owner, AllowNative: m.Engine.AllowNative, AllowRead: func(path string) (string, error) { return m.Engine.ReadPath(path) }}
	allow.Read = func(path string) ([]byte, error) {
		return lang.AsLoaded(m.Engine, "register "+path, func() ([]byte, error) { return os.ReadFile(path) })
	}
	source := call.Argument(0)
	if name, ok := element.Exported(source).(string); ok {
		path, err := m.Engine.ReadPath(name)
		if err != nil {
			return nil, err
		}
		return m.registering(func(ctx context.Context) (*session.Library, error) {
			lib, err := m.env.session.RegisterFile(ctx, label, path, allow)
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
		return m.env.session.Register(ctx, label, data, allow)
	}), nil
}

func (m *instance) registering(register func(context.Context) (*session.Library, error)) goja.Value {
	return m.Async(nil, "register", func(ctx context.Context) (func() (goja.Value, error), error) {
		lib, err := register(ctx)
		if err != nil {
			return nil, err
		}
		return func() (goja.Value, error) { return m.classes.library.New(&libraryObject{lib}), nil }, nil
	})
}

// unregister implements library.unregister(), which returns a promise.
func (m *instance) unregister(l *libraryObject, _ goja.FunctionCall) (goja.Value, error) {
	return m.Async(nil, "unregister", func(ctx context.Context) (func() (goja.Value, error), error) {
		return nil, l.Unregister(ctx)
	}), nil
}

// libraryKernels implements library.kernels, the names of the kernels in the image for the best device.
func (m *instance) libraryKernels(l *libraryObject) (goja.Value, error) {
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

// libraryKernel implements library.kernel(name, signature?).
func (m *instance) libraryKernel(l *libraryObject, call goja.FunctionCall) (goja.Value, error) {
	const op = "kernel"
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected the kernel's name, not %s", convert.Describe(call.Argument(0))).On("", l.Label())
	}
	k := &nativeKernel{library: l, name: name}
	if sig, ok := call.Argument(1).(*goja.Object); ok {
		var err error
		if k.signature, k.params, err = m.librarySignature(name, sig); err != nil {
			return nil, err
		}
		return m.classes.native.New(k), nil
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
	return m.classes.native.New(k), nil
}

// on returns the kernel on a device.
func (k *nativeKernel) on(ctx context.Context, d *session.Device) (*session.Kernel, error) {
	if k.signature == nil {
		return k.library.Kernel(ctx, d, k.name)
	}
	return k.library.KernelAs(ctx, d, k.name, k.signature)
}

// launchNative implements kernel.launch(options, ...arguments) for a kernel of a library.
func (m *instance) launchNative(k *nativeKernel, call goja.FunctionCall) (goja.Value, error) {
	var whole []int
	if k.signature != nil && k.signature.Convention == contract.OutlinedOpenMP {
		whole = []int{1} // a target region is called once
	}
	cfg, err := m.launchConfig(k.name, call, whole, true)
	if err != nil {
		return nil, err
	}
	if cfg.overflows {
		return nil, contract.Errorf(contract.InvalidArgument, "launch", "checks: 'overflow' is for kernels of the script: what an image holds is compiled already").
			On("", k.name).WithHint("leave it out")
	}
	values, names := call.Arguments[1:], k.names()
	if len(values) != len(k.params) {
		return nil, countError("launch", k.name, names, len(values))
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
	q, err := m.queueFor("launch", cfg.queue, cfg.device, device)
	if err != nil {
		return nil, script.WithLabel(err, k.name)
	}
	on, err := k.on(m.Engine.Running(), q.Device())
	if err != nil {
		return nil, err
	}
	if err := m.start(q, on.Unbound(), cfg.Config, bound...); err != nil {
		return nil, err
	}
	return m.eventAfter(q, cfg.label)
}

// libraryGlobal implements library.global(name, device?), which returns a byte buffer over a global variable.
func (m *instance) libraryGlobal(l *libraryObject, call goja.FunctionCall) (goja.Value, error) {
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, "global", "expected the variable's name, not %s", convert.Describe(call.Argument(0))).On("", l.Label())
	}
	d, err := m.libraryDevice(l, call.Argument(1))
	if err != nil {
		return nil, err
	}
	b, err := l.Global(m.Engine.Running(), d, name)
	if err != nil {
		return nil, err
	}
	bytes, err := b.View(session.ViewOptions{Dims: []int{int(b.Size())}, Type: contract.U8, Elem: 1})
	if err != nil {
		return nil, err
	}
	return m.buffer.New(&bufferObject{m: m, Buffer: bytes, elem: element.Type{Elem: ir.Elem{Scalar: ir.U8}}}), nil
}

// libraryDevice returns the device in an argument, or else the best device that supports the library.
func (m *instance) libraryDevice(l *libraryObject, v goja.Value) (*session.Device, error) {
	if d := m.asDevice(v); d != nil {
		return d, nil
	}
	return m.reach.DeviceFor(m.Engine.Running(), l.Library)
}
