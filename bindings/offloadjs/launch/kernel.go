// Package launch implements the kernels of the module 'offload': their compilation for the types of arguments, and their launches.
package launch

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/capture"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/notice"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/races"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Kernel is a kernel of the script, which is compiled for each signature it is launched with.
type Kernel struct {
	fn        *kernel.Function
	name      string
	text      string
	params    []string
	signature []kernel.Arg // nil if types are inferred from the arguments
	opts      kernel.Options
	exact     bool
	compiled  map[string]*specialization
	checked   map[string]*specialization // like compiled, for launches with checks: 'overflow'
	quiet     bool                       // suppress warnings of launches
	last      *specialization            // specialization of the last launch
	lastKey   []byte
	repeats   repeats
	captures  capture.List // captured values, which launches compare with the current ones
	compared  int          // launches of a script that compared them, at most comparedLaunches
}

// Params returns the names of the kernel's parameters after the item object.
func (k *Kernel) Params() []string { return k.params }

// specialization is a kernel compiled for one signature, with its program on each device.
type specialization struct {
	*kernel.Compiled
	types    []kernel.Arg                      // argument types of the signature
	scalars  []contract.Type                   // types of the scalar parameters
	library  *session.Library                  // nil until the first launch
	on       map[*session.Device]*session.Call // the program on each device that has run it, rebound for every launch
	shapes   *shapes                           // shapes of its launches; nil if the kernel does not observe groups
	calls    bool                              // the kernel calls services
	rows     map[int]bool                      // cached results of byRows, by parameter
	overflow *overflowTracker                  // nil with checks: 'overflow'
	races    *races.Tracker                    // nil with checks: 'overflow'
	analysed recent                            // launches that races has seen
	inexact  kerneldiag.List                   // warnings of arguments that a parameter's type changed
	told     bool                              // the compiler's warnings of changed numbers were printed
}

// Create implements kernel(fn, options?) and kernel(signature, fn, options?). With a signature the kernel is compiled now, else
// by its first launch.
func (m *Module) Create(call goja.FunctionCall) (goja.Value, error) {
	const op = "kernel"
	args := call.Arguments
	var signature *goja.Object
	if len(args) > 0 {
		if o, ok := args[0].(*goja.Object); ok {
			if _, callable := goja.AssertFunction(o); !callable {
				signature, args = o, args[1:]
			}
		}
	}
	if len(args) == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, op, "a function is missing").
			WithHint("write kernel((g, x) => { x[g.x] = … })")
	}
	found := convert.Describe(args[0])
	t, isType := m.types.Of(args[0])
	if isType {
		found = "the type " + t.String()
	}
	if _, callable := goja.AssertFunction(args[0]); !callable || isType {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a function, not %s", found).
			WithHint("write kernel((g, x) => { x[g.x] = … })")
	}
	var requested goja.Value
	if len(args) > 1 {
		requested = args[1]
	}
	k, err := m.parseKernel(args[0], "")
	if err != nil {
		return nil, err
	}
	o := m.Options.Parse(op, requested, option.KernelKeys...)
	if v := o.Get("real"); v != nil {
		t, ok := m.types.Of(v)
		if !ok || (t.Elem.Scalar != ir.F32 && t.Elem.Scalar != ir.F64) {
			o.Fail("real must be f32 or f64, not %s", convert.Describe(v))
		}
		k.opts.Real = t.Elem.Scalar
	}
	k.opts.NoContract = !o.Bool("contract", true)
	k.exact, k.quiet = o.Bool("exact", true), !o.Bool("warnings", true)
	if name := o.Text("name"); name != "" {
		k.name = name
	}
	if o.Err != nil {
		return nil, o.Err
	}
	k.opts.Name, k.opts.Warnings = k.name, true
	if signature != nil {
		if err := m.setSignature(k, signature); err != nil {
			return nil, err
		}
		// Compile now, so that errors have the position of the declaration.
		if _, err := m.specialize(k, k.signature, false); err != nil {
			return nil, err
		}
	} else {
		m.env.trackKernel(k)
	}
	return m.class.New(k), nil
}

func (m *Module) parseKernel(fn goja.Value, name string) (*Kernel, error) {
	src, info, err := m.capture.Source(fn)
	if err != nil {
		return nil, err
	}
	f, err := kernel.Parse(src)
	if err != nil {
		return nil, err
	}
	for _, candidate := range []string{name, f.Name(), info.Name, "kernel"} {
		if candidate != "" {
			name = candidate
			break
		}
	}
	return &Kernel{fn: f, name: name, text: src.Text, params: f.Params(), compiled: map[string]*specialization{}, checked: map[string]*specialization{}, exact: true,
		captures: m.capture.VariablesOf(info)}, nil
}

// setSignature sets the signature of k from an object such as {a: f32, x: [f32], m: [f32, 2]}. The object must have all
// parameters of k in their order, and no other property.
func (m *Module) setSignature(k *Kernel, o *goja.Object) error {
	const op = "kernel"
	keys := o.Keys()
	for _, key := range keys {
		if !slices.Contains(k.params, key) {
			return contract.Errorf(contract.InvalidArgument, op, "the signature has %q, which is no parameter", key).
				WithHint("the parameters are %s", strings.Join(k.params, ", "))
		}
	}
	for _, p := range k.params {
		v := o.Get(p)
		if v == nil {
			return contract.Errorf(contract.InvalidArgument, op, "the signature lacks the parameter %s", p).
				WithHint("write {%s: f32} for a number, {%s: [f32]} for a buffer", p, p)
		}
		arg, err := m.types.ParamType(v)
		if err != nil {
			return contract.Errorf(contract.InvalidArgument, op, "parameter %s: %v", p, err)
		}
		k.signature = append(k.signature, arg)
	}
	if !slices.Equal(keys, k.params) { // arguments and declarations are positional
		return contract.Errorf(contract.InvalidArgument, op, "the signature has the parameters in another order: %s", strings.Join(keys, ", ")).
			WithHint("write them in the order of the function, which is that of the launch: %s", strings.Join(k.params, ", "))
	}
	if k.signature == nil {
		k.signature = []kernel.Arg{}
	}
	return nil
}

// specialize returns the kernel compiled for argument types, from a cache if possible, and makes it k.last. With overflows set,
// integer overflow is a fault.
func (m *Module) specialize(k *Kernel, args []kernel.Arg, overflows bool) (*specialization, error) {
	key, compiled := m.key[:0], k.compiled
	if overflows {
		key, compiled = append(key, 'o'), k.checked
	}
	for i := range args {
		key = appendKey(key, &args[i])
	}
	m.key = key
	if k.last != nil && string(key) == string(k.lastKey) {
		return k.last, nil
	}
	s := compiled[string(key)]
	if s == nil {
		// Compilation may run getters of captured objects. A getter may launch kernels, which overwrite the scratch memory.
		args, key = slices.Clone(args), slices.Clone(key)
		code, err := m.compile(k, args, overflows)
		if err != nil {
			return nil, err
		}
		s = &specialization{Compiled: code, types: args, calls: len(code.Kernel.Services()) > 0, on: map[*session.Device]*session.Call{}}
		for i := range code.Params {
			t, _ := contract.ParseType(code.Params[i].Type.String())
			s.scalars = append(s.scalars, t)
		}
		if code.Kernel.ObservesGroup() {
			s.shapes = &shapes{}
		}
		compiled[string(key)] = s
		script.RecordInlined(m.Engine, k.name, code.Inlined)
		if !overflows {
			s.overflow, s.races = newOverflowTracker(k), &races.Tracker{}
			m.env.compiled(k.name, s)
		}
	}
	k.last, k.lastKey = s, append(k.lastKey[:0], key...)
	return s, nil
}

// appendKey appends the cache key of an argument's type. Records are distinguished by identity.
func appendKey(key []byte, a *kernel.Arg) []byte {
	key = append(key, byte(a.Kind), byte(a.Type), byte(a.Elem.Scalar), byte(a.Rank))
	if a.Elem.Record != nil {
		key = append(key, fmt.Sprintf("%p", a.Elem.Record)...)
	}
	return key
}

// kernelOn returns the specialization's call on a device. The first call for a device encodes, registers and loads the IR like
// any other image. It is an error if a service that the kernel calls is missing or differs, or an exact kernel is not exact on
// the device.
func (m *Module) kernelOn(k *Kernel, s *specialization, d *session.Device) (*session.Call, error) {
	if s.calls {
		if err := m.rpc.CheckCalls("launch", k.name, s.Compiled); err != nil {
			return nil, err
		}
	}
	if on := s.on[d]; on != nil {
		return on, nil
	}
	if s.library == nil {
		if err := m.use(s, k.name); err != nil {
			return nil, err
		}
	}
	if err := k.checkExact(d); err != nil {
		return nil, err
	}
	compiled := m.announce(d, k.name)
	on, err := s.library.Kernel(m.Engine.Running(), d, s.Kernel.Name)
	compiled()
	if err != nil {
		return nil, err
	}
	if err := k.checkExact(d); err != nil { // some devices determine exactness with their first kernel
		return nil, err
	}
	on.Retain(s) // graphs and recordings keep calls longer than the script does
	call := on.Unbound()
	s.on[d] = call
	return call, nil
}

// silentCompile is the time after which the first compilation of a platform is announced.
const silentCompile = time.Second

// announce tells a person at a terminal that a platform's driver compiles its first kernel, unless done is called within
// silentCompile. It does nothing for the CPU and for later kernels of a platform.
func (m *Module) announce(d *session.Device, kernel string) (done func()) {
	if d.Platform().Name == "cpu" || m.announced[d.Platform().Name] { // this program compiles for the CPU at once
		return func() {}
	}
	if m.announced == nil {
		m.announced = map[string]bool{}
	}
	m.announced[d.Platform().Name] = true
	return notice.After(m.Engine.Options().Stderr, silentCompile,
		fmt.Sprintf("%s compiles the kernel %s; the first one of a driver can take some seconds", d.ID(), kernel))
}

// checkExact returns an error for an exact kernel on a device without exact arithmetic.
func (k *Kernel) checkExact(d *session.Device) error {
	if !k.exact || d.Info().Features.Exact {
		return nil
	}
	return contract.Errorf(contract.Unsupported, "launch", "the kernel must give the language's exact bits, and the device cannot").
		On(d.ID(), k.name).WithHint("write kernel(fn, { exact: false }) to accept the device's rounding")
}

// Options holds the parsed options of a launch.
type Options struct {
	session.Config
	Label         string
	Queue, Device goja.Value
	Overflows     bool // the option checks is 'overflow'
}

// parsedOptions are the launch options that were parsed last, with the key of their object. known is false if there are none.
type parsedOptions struct {
	known bool
	key   option.Key
	cfg   Options
}

// ParseOptions parses the launch options in the first argument. whole is the default size. If it is nil, the size is required.
// native states that the kernel is one of an image, which accepts the options of [option.Set.Native]. The property names of the
// object that was validated last are not validated again.
func (m *Module) ParseOptions(name string, call goja.FunctionCall, whole []int, native bool) (Options, error) {
	return m.parseOptions(name, m.Caller(), call, whole, native)
}

func (m *Module) parseOptions(name string, at contract.Position, call goja.FunctionCall, whole []int, native bool) (Options, error) {
	const op = "launch"
	cfg := Options{Config: session.Config{Pos: at, Services: m.rpc.Printing()}}
	if len(call.Arguments) == 0 {
		return cfg, contract.Errorf(contract.InvalidArgument, op, "the launch options are missing").On("", name).
			WithHint("write launch({size: n}, …)")
	}
	obj, isObject := call.Arguments[0].(*goja.Object)
	key, keyed := option.Key{}, false
	if isObject && whole == nil && !native {
		if key, keyed = m.Options.KeyOf(obj, "queue", "device"); keyed && m.parsed.known && key.Equal(&m.parsed.key) {
			same := m.parsed.cfg
			same.Pos, same.Services = cfg.Pos, cfg.Services
			return same, nil
		}
	}
	seen := isObject && obj == m.checked // a loop often passes the same object, so skip validation of its names
	o := &option.Set{Op: op, Obj: obj}
	if !seen {
		o = m.Options.Parse(op, call.Arguments[0], option.LaunchKeys...)
	}
	if !seen || native {
		if only := o.Native(&cfg.Config); o.Err == nil && !only {
			m.checked = obj
		}
	}
	cfg.GroupSize, cfg.Size, cfg.Timeout = o.Extents("groupSize"), m.sizeOption(o), o.Milliseconds("timeout")
	groups := o.Extents("groups")
	switch {
	case o.Err != nil:
	case groups != nil && cfg.Size != nil:
		o.Fail("give size or groups, not both")
	case groups != nil && cfg.GroupSize == nil:
		o.Fail("groups needs groupSize")
		o.Hint("write { groups: 4, groupSize: 64 }, or { size: 256 } and leave the groups to the device")
	case groups != nil:
		cfg.Size = make([]int, max(len(groups), len(cfg.GroupSize)))
		for i := range cfg.Size {
			n, size := element.Axis(groups, i), element.Axis(cfg.GroupSize, i)
			if size > 0 && n > math.MaxInt32/size {
				o.Fail("%d groups of %d along %c are more than %d work-items", n, size, "xyz"[i], math.MaxInt32)
			}
			cfg.Size[i] = n * size
		}
	case cfg.Size == nil && whole != nil:
		cfg.Size = whole
	case cfg.Size == nil:
		o.Fail("size is missing")
		o.Hint("write { size: n }, the number of work-items, or { size: buffer } for an item of each of its elements")
	}
	switch o.OneOf("checks", "on", "off", "races", "overflow") {
	case "off":
		cfg.Checks = contract.ChecksOff
	case "races":
		cfg.Checks = contract.ChecksRaces
	case "overflow":
		cfg.Overflows = true
	}
	cfg.Label, cfg.Queue, cfg.Device = o.Text("label"), o.Get("queue"), o.Get("device")
	if keyed && o.Err == nil {
		m.parsed = parsedOptions{true, key, cfg}
	}
	if o.Err != nil && m.buffers.Of(call.Arguments[0]) != nil {
		return cfg, contract.Errorf(contract.InvalidArgument, op, "the first argument is a buffer, but must be the launch options").On("", name).
			WithHint("write launch({size: n}, …)")
	}
	return cfg, script.WithLabel(o.Err, name)
}

// prepared is a validated launch: arguments, queue, and the kernel compiled for both.
type prepared struct {
	*specialization
	queue *session.Queue
	call  *session.Call
	args  []session.Arg
}

// prepare validates a call of launch, bind, occupancy or debug, and compiles the kernel for it. The arguments are in scratch
// memory, valid until the next launch.
func (m *Module) prepare(op string, k *Kernel, cfg *Options, values []goja.Value) (p prepared, err error) {
	if len(values) != len(k.params) {
		return p, k.countError(op, len(values))
	}
	var backing [8]*buffers.Buffer
	args, passed, err := m.argTypes(k, values, backing[:0])
	if err != nil {
		return p, err
	}
	if p.queue, err = m.queues.Choose(op, cfg.Queue, cfg.Device, deviceOf(passed)); err != nil {
		return p, script.WithLabel(err, k.name)
	}
	if p.specialization, err = m.specialize(k, args, cfg.Overflows); err != nil {
		return p, m.hintOfOrder(k, args, err)
	}
	if p.call, err = m.kernelOn(k, p.specialization, p.queue.Device()); err != nil {
		return p, err
	}
	if err := p.checkAxes(k.name, cfg.Size, passed); err != nil {
		return p, err
	}
	p.args, err = m.bindArgs(k, p.specialization, values, passed)
	return p, err
}

// mostExchanged is the number of a kernel's parameters up to which hintOfOrder looks for exchanged arguments.
const mostExchanged = 8

// hintOfOrder returns err with the hint that two arguments of different kinds are exchanged, if the kernel compiles with them in the
// other order. Otherwise it returns err.
func (m *Module) hintOfOrder(k *Kernel, args []kernel.Arg, err error) error {
	var list kerneldiag.List
	if !errors.As(err, &list) || len(args) > mostExchanged {
		return err
	}
	for i := range args {
		for j := range i {
			if args[i].Kind == args[j].Kind {
				continue
			}
			other := slices.Clone(args)
			other[i], other[j] = other[j], other[i]
			if _, wrong := m.compile(k, other, false); wrong != nil {
				continue
			}
			first := *list[0]
			first.Rewrite = fmt.Sprintf("exchange the arguments %s and %s: the launch takes them in the order %s", k.params[j], k.params[i], strings.Join(k.params, ", "))
			return append(kerneldiag.List{&first}, list[1:]...)
		}
	}
	return err
}

// launch implements kernel.launch(options, ...arguments).
func (m *Module) launch(k *Kernel, call goja.FunctionCall) (goja.Value, error) {
	event, err := m.launchKernel(k, call)
	if err != nil && m.refused != nil {
		return m.refused(err)
	}
	return event, err
}

func (m *Module) launchKernel(k *Kernel, call goja.FunctionCall) (goja.Value, error) {
	at := m.Caller()
	n, known := markOf(at, &call)
	var e *repeated
	if known {
		if e = k.repeats.find(&n); e == nil {
			k.repeats.add(&n)
		} else if b := m.again("launch", e, &call); b != nil {
			return m.repeat(k, b)
		}
	}
	cfg, err := m.parseOptions(k.name, at, call, nil, false)
	if err != nil {
		return nil, err
	}
	p, err := m.prepare("launch", k, &cfg, call.Arguments[1:])
	if err != nil {
		return nil, err
	}
	if err := m.env.stopLaunch(k); err != nil {
		return nil, err
	}
	if e != nil && e.missed < mostMissed {
		if t := m.termsOf(&p, &cfg, &call); t != nil {
			b, err := m.boundOf(k, &p, &cfg, t)
			if err != nil {
				return nil, err
			}
			e.bound = weak.Make(b)
			m.warnOfLaunch(k, &p, &cfg, call.Arguments[1:])
			return m.repeat(k, b)
		}
	}
	if err := m.Start(p.queue, p.call, cfg.Config, p.args...); err != nil {
		return nil, err
	}
	m.tape.Describe(p.Kernel)
	if len(k.captures) > 0 {
		m.warnOfChanges(k)
	}
	if p.shapes != nil {
		p.shapes.note(cfg.Size, cfg.GroupSize)
	}
	m.warnOfLaunch(k, &p, &cfg, call.Arguments[1:])
	return m.queues.EventAfter(p.queue, cfg.Label)
}

// QueueLaunch implements queue.launch(kernel, options, ...arguments).
func (m *Module) QueueLaunch(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	k := call.Argument(0)
	o, ok := k.(*goja.Object)
	options, isObject := call.Argument(1).(*goja.Object)
	if _, isKernel := m.class.Of(k); !ok || !isKernel || !isObject {
		return nil, contract.Errorf(contract.InvalidArgument, "launch", "expected a kernel and launch options").
			On(q.Device().ID(), q.Label()).WithHint("write queue.launch(kernel, {size: n}, …)")
	}
	with := m.VM.NewObject()
	for _, key := range options.Keys() {
		_ = with.Set(key, options.Get(key)) // cannot fail on a new plain object
	}
	_ = with.Set("queue", m.queues.ObjectOf(q))
	launch, _ := goja.AssertFunction(o.Get("launch"))
	return launch(o, append([]goja.Value{with}, call.Arguments[2:]...)...)
}

// countError returns the error for a wrong number of arguments. For one extra argument, it suggests that the kernel lacks the
// item object, as in (x, y) => …. It does not if the first parameter is named g.
func (k *Kernel) countError(op string, requested int) error {
	err := CountError(op, k.name, k.params, requested)
	if item := k.fn.Item(); requested == len(k.params)+1 && item != "g" {
		err = err.WithHint("the first parameter, %s, is the item object: write (%s) => …", item, strings.Join(append([]string{"g", item}, k.params...), ", "))
	}
	return err
}

// CountError returns the error for a wrong number of arguments of a kernel. op is the method of the kernel.
func CountError(op, name string, params []string, requested int) *contract.Error {
	takes := "no arguments"
	switch len(params) {
	case 0:
	case 1:
		takes = "1 argument (" + params[0] + ")"
	default:
		takes = fmt.Sprintf("%d arguments (%s)", len(params), strings.Join(params, ", "))
	}
	were := fmt.Sprintf("%d were given", requested)
	if requested == 1 {
		were = "1 was given"
	}
	return contract.Errorf(contract.InvalidArgument, op, "the kernel takes %s, but %s", takes, were).On("", name).
		WithHint("the arguments follow the %s options: %s({size: n}%s)", op, op, strings.Join(append([]string{""}, params...), ", "))
}

// Start binds a call to its arguments, submits it to a queue, and adds it to the tape. If the kernel calls services, it keeps the
// event loop alive until the queue's commands complete.
func (m *Module) Start(q *session.Queue, c *session.Call, cfg session.Config, args ...session.Arg) error {
	defer c.Unbind() // the call outlives the launch and must not retain its buffers
	if c.Kernel().Info().CallsServices() {
		cfg.Services = m.rpc.On(q)
	}
	if err := c.Rebind(cfg, args...); err != nil {
		return err
	}
	if err := m.queues.Submit(q, c); err != nil {
		return err
	}
	if c.Kernel().Info().CallsServices() {
		m.rpc.ServeUntilDone(q)
	}
	m.tape.Add(q, c)
	return nil
}

// argTypes returns the compiler's descriptions of the arguments: those of the kernel's signature, if it has one. It also appends each
// argument's buffer, or nil, to passed.
func (m *Module) argTypes(k *Kernel, values []goja.Value, passed []*buffers.Buffer) ([]kernel.Arg, []*buffers.Buffer, error) {
	args := m.argBuffer[:0]
	for i, v := range values {
		b := m.buffers.Of(v)
		passed = append(passed, b)
		if k.signature != nil {
			continue
		}
		switch {
		case b != nil:
			args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: b.Elem.Elem, Rank: len(b.Dims())})
			continue
		case v == nil:
		default:
			switch v.ExportType() {
			case element.TypeInt64, element.TypeFloat64:
				args = append(args, kernel.Arg{Kind: kernel.Number})
				continue
			case typeBool:
				args = append(args, kernel.Arg{Kind: kernel.Bool})
				continue
			case typeBigInt:
				args = append(args, kernel.Arg{Kind: kernel.BigInt})
				continue
			}
		}
		return nil, nil, m.badArgument(k, i, v)
	}
	if k.signature != nil {
		return k.signature, passed, nil
	}
	m.argBuffer = args
	return args, passed, nil
}

func (m *Module) badArgument(k *Kernel, i int, v goja.Value) error {
	e := contract.Errorf(contract.InvalidArgument, "launch", "argument %s must be a buffer, a number, a boolean or a BigInt, not %s", k.params[i], convert.Describe(v)).
		On("", k.name)
	o, isObject := v.(*goja.Object)
	_, _, isTyped := element.TypedArray(v)
	switch {
	case isTyped:
		return e.WithHint("copy it to the device first: device().buffer(array)")
	case isObject && element.IsArray(v):
		return e.WithHint("copy it to the device first: device().buffer(Float32Array.from(array))")
	case isObject && o.ExportType() == reflect.TypeFor[*goja.Promise]():
		return e.WithHint("await the promise, and pass its result")
	}
	return e.WithHint("the arguments follow the launch options in the order of the parameters: %s", strings.Join(k.params, ", "))
}

// bindArgs converts the arguments to the parameter types of a specialization, and notes numbers that this changes. passed has
// the buffer of each argument, or nil. The result is in scratch memory, valid until the next launch.
func (m *Module) bindArgs(k *Kernel, s *specialization, values []goja.Value, passed []*buffers.Buffer) ([]session.Arg, error) {
	bound := m.bound[:0]
	for i, v := range values {
		p := &s.Params[i]
		if p.Rank > 0 {
			b := passed[i]
			if b == nil {
				return nil, contract.Errorf(contract.InvalidArgument, "launch", "argument %s must be a buffer of %s, not %s", p.Name, p.Elem, convert.Describe(v)).
					On("", k.name).WithHint("the arguments follow the launch options in the order of the parameters: %s", strings.Join(k.params, ", "))
			}
			if b.Elem.Elem != p.Elem {
				return nil, contract.Errorf(contract.InvalidArgument, "launch", "argument %s must be a buffer of %s, but %q is of %s",
					p.Name, p.Elem, b.Label(), b.Elem).On("", k.name).WithHint("make it with device().buffer(%s, …), or change the signature", p.Elem)
			}
			bound = append(bound, session.Buf(b.Buffer))
			continue
		}
		if x, err := element.Number(v); err == nil {
			if err := p.CheckNumber(x); err != nil {
				return nil, err
			}
			if d := p.Inexact(x); d != nil {
				m.noteInexact(k, s, d)
			}
		}
		bits, err := element.Bits(p.Type, v)
		if err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, "launch", "argument %s: %v", p.Name, err).On("", k.name).
				WithHint("the arguments follow the launch options in the order of the parameters: %s", strings.Join(k.params, ", "))
		}
		bound = append(bound, session.Bits(s.scalars[i], bits))
	}
	m.bound = bound
	return bound, nil
}

// use acquires the library of a specialization. The use ends when the engine closes or s is garbage-collected.
func (m *Module) use(s *specialization, name string) error {
	lib, err := m.env.libraries.Acquire(m.Engine.Running(), name, s.Module)
	if err != nil {
		return err
	}
	s.library = lib.Library
	m.used.Add(lib)
	runtime.AddCleanup(s, m.used.Drop, lib)
	return nil
}

var (
	typeBool   = reflect.TypeFor[bool]()
	typeBigInt = reflect.TypeFor[*big.Int]()
)
