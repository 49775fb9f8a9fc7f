// Package pipelines implements pipeline() of the module 'offload', and runs pipelines on the memory of Go programs.
package pipelines

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/bindings/offloadjs/params"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/bindings/offloadjs/queues"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/replay"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the class of pipelines of one engine.
type Module struct {
	*script.Script
	reach     *reach.Devices
	types     *types.Module
	devices   *devices.Module
	queues    *queues.Module
	buffers   *buffers.Module
	kernels   *launch.Module
	rpc       *service.Registry
	class     *lang.Class[*Pipeline]
	seat      *placement.Seat
	rehearsal *rehearsal // nil unless a pipeline is being checked
}

// New defines the class of pipelines. policy, which other engines share, chooses their devices; if it is nil, the scripts alone
// do.
func New(s *script.Script, d *reach.Devices, r launch.Rooms, k *launch.Module, policy *placement.Policy) *Module {
	m := &Module{Script: s, reach: d, types: r.Types, devices: r.Devices, queues: r.Queues, buffers: r.Buffers, kernels: k, rpc: r.RPC}
	if policy == nil {
		policy, _ = placement.New(placement.Wish{}) // cannot fail without lists
	}
	m.seat = policy.Seat()
	s.Engine.OnClose(m.seat.Leave)
	m.define()
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor()}
}

// Pipeline is a computation that a script declares with pipeline({…}): named parameters, inputs, outputs and temporaries, and a
// function that launches kernels over them. The host runs it repeatedly. Buffers are reused while their shapes do not change.
type Pipeline struct {
	m                            *Module
	name                         string // the name of the file that declares the pipeline
	device                       *session.Device
	choice                       placement.Choice
	inputs, outputs, temporaries []*port
	params                       []*port      // each has a param
	self                         *goja.Object // the declaration, which is the receiver of run
	run                          goja.Callable
	io                           *goja.Object // the argument of run
	declaration                  *declaration
	tape                         *replay.Tape // of runs that only launch; nil if run may do more
	refused                      bool         // the current run was refused
}

// port is a named parameter, input, output or temporary of a pipeline.
type port struct {
	name   string
	elem   element.Type
	rank   int           // rank of an input; 0 means a number
	dims   []int         // fixed extents of an output or temporary
	param  *params.Param // of a parameter; nil else
	extent goja.Callable // computes the extents of an output or temporary, instead of dims
	from   goja.Value    // the function of extent
	buffer *buffers.Buffer
	shape  []int // extents of buffer
	object *goja.Object
}

func (p *Pipeline) label() string { return p.name }

// Create implements pipeline({device, params, inputs, outputs, temporaries, run}).
func (m *Module) Create(call goja.FunctionCall) (goja.Value, error) {
	const op = "pipeline"
	if _, isObject := call.Argument(0).(*goja.Object); !isObject {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a declaration, not %s", convert.Describe(call.Argument(0))).
			WithHint("write pipeline({ inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { … } })")
	}
	d := m.declarationOf(call.Argument(0).(*goja.Object))
	o := d.Set
	p := &Pipeline{m: m, name: cmp.Or(filepath.Base(d.at.File), "pipeline"), self: o.Obj, io: m.VM.NewObject(), declaration: d}
	var ok bool
	if p.run, ok = goja.AssertFunction(o.Obj.Get("run")); !ok {
		d.fail(contract.Errorf(contract.InvalidArgument, op, "run must be a function, not %s", convert.Describe(o.Obj.Get("run"))).
			WithHint("write run({ x, y }) { … }"), "run")
	}
	var err error
	if wish, key, ok := d.wish(); ok {
		var warning string
		if p.device, p.choice, warning, err = m.seat.Choose(m.Engine.Running(), m.reach, wish); err != nil {
			d.fail(err, key)
		} else if warning != "" {
			m.Engine.Warn(warning, "")
		}
	}
	for _, part := range []struct {
		name string
		list *[]*port
		read func(*port, goja.Value) error
	}{{"params", &p.params, m.paramPort}, {"inputs", &p.inputs, m.inputPort}, {"outputs", &p.outputs, m.innerPort}, {"temporaries", &p.temporaries, m.innerPort}} {
		declared, ok := o.Get(part.name).(*goja.Object)
		if !ok {
			if v := o.Get(part.name); v != nil {
				d.fail(contract.Errorf(contract.InvalidArgument, op, "%s must be an object, not %s", part.name, convert.Describe(v)), part.name)
			}
			continue
		}
		for _, name := range declared.Keys() {
			if p.port(name) != nil || name == "device" || name == "queue" {
				d.fail(contract.Errorf(contract.InvalidArgument, op, "%s: the name %q is taken", part.name, name), part.name, name)
				continue
			}
			one := &port{name: name}
			if err := part.read(one, declared.Get(name)); err != nil {
				d.fail(one.wrong(part.name, err), part.name, name)
			}
			*part.list = append(*part.list, one)
		}
	}
	if fn, ok := o.Obj.Get("run").(*goja.Object); ok && p.run != nil {
		if n := fn.Get("length").ToInteger(); n > 1 {
			d.fail(contract.Errorf(contract.InvalidArgument, op, "run has %d parameters, and is called with one object", n).
				WithHint("write %s { … }", p.head()), "run")
		}
	}
	if err := d.failure(); err != nil {
		return nil, err
	}
	if err := p.io.Set("device", m.devices.ObjectOf(p.device)); err != nil {
		return nil, err
	}
	q, err := m.queues.DefaultOf(p.device)
	if err != nil {
		return nil, err
	}
	p.tape = p.tapeOf()
	return m.class.New(p), p.io.Set("queue", m.queues.ObjectOf(q))
}

// wrong returns the error of the port's declaration in a part such as inputs.
func (p *port) wrong(part string, err error) *contract.Error {
	text := err.Error()
	if own, ok := err.(*contract.Error); ok {
		text = own.Detail
	}
	e := contract.Errorf(contract.InvalidArgument, "pipeline", "%s.%s: %s", part, p.name, text)
	e.Hint = diag.Hint(err)
	return e
}

// port returns the port with a name, or nil.
func (p *Pipeline) port(name string) *port {
	for _, list := range [][]*port{p.params, p.inputs, p.outputs, p.temporaries} {
		if i := slices.IndexFunc(list, func(at *port) bool { return at.name == name }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// inputPort parses the declaration of an input: type for a number, [type] or [type, rank] for a buffer.
func (m *Module) inputPort(p *port, v goja.Value) error {
	if t, ok := m.types.Of(v); ok {
		if t.Elem.Record != nil {
			return fmt.Errorf("a record cannot be passed by value: write [%s] for a buffer", t)
		}
		p.elem = t
		return nil
	}
	arg, err := m.types.ParamType(v)
	if err != nil {
		return err
	}
	p.elem, p.rank = element.Type{Elem: arg.Elem}, arg.Rank
	return nil
}

// innerPort parses the declaration of an output or temporary: [type, extents] or [type, function of the inputs].
func (m *Module) innerPort(p *port, v goja.Value) error {
	const expected = "expected [type, extents] or [type, ({ input }) => extents]"
	if t, ok := m.types.Of(v); ok {
		return fmt.Errorf("%s, not %s without extents", expected, t)
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return fmt.Errorf("%s, not %s", expected, convert.Describe(v))
	}
	switch n := list.Get("length").ToInteger(); {
	case n < 2:
		return fmt.Errorf("%s, not an array of length %d", expected, n)
	case n > 2:
		return fmt.Errorf("%s, not an array of length %d: several extents are an array, as in [f32, [height, width]]", expected, n)
	}
	if p.elem, ok = m.types.Of(list.Get("0")); !ok {
		return fmt.Errorf("%s; %s is no type", expected, convert.Describe(list.Get("0")))
	}
	if p.extent, ok = goja.AssertFunction(list.Get("1")); ok {
		p.from = list.Get("1")
		return nil
	}
	var err error
	p.dims, err = element.Extents(list.Get("1"))
	return err
}

// ensure replaces the port's buffer unless the current one has these extents and is not freed. A replacement drops the recorded
// runs.
func (p *Pipeline) ensure(at *port, dims []int) error {
	live := at.buffer != nil && !at.buffer.Freed()
	if live && slices.Equal(at.buffer.Dims(), dims) {
		return nil
	}
	p.tape.Clear()
	if live {
		if err := at.buffer.Free(); err != nil {
			return err
		}
	}
	at.buffer = nil
	b, err := p.m.buffers.Allocate(p.device, session.BufferOptions{Label: at.name, Type: at.elem.Contract(), Elem: at.elem.Size(), Dims: dims})
	if err != nil {
		return p.placed(err, at.name)
	}
	at.shape = slices.Clone(dims)
	at.object = p.m.buffers.ObjectOf(b, at.elem, false)
	at.buffer = p.m.buffers.Of(at.object)
	return internals.Define(p.io, at.name, at.object)
}

// shape computes the extents of an output or temporary for the inputs of this run, and makes its buffer have them; see ensure.
func (p *Pipeline) shape(at *port) error {
	dims := at.dims
	if at.extent != nil {
		v, err := at.extent(p.self, p.io)
		if err != nil {
			return err
		}
		if dims, err = element.Extents(v); err != nil {
			wrong := contract.Errorf(contract.InvalidArgument, "pipeline", "the extents of %s: %v", at.name, err)
			wrong.Pos = p.placeOf(at.name)
			if p.m.buffers.Of(v) != nil {
				wrong.Detail = fmt.Sprintf("the extents of %s: the function returns a buffer", at.name)
				wrong.Hint = "return its shape, as in ({ x }) => x.shape"
			}
			return wrong
		}
	}
	return p.ensure(at, dims)
}

// free frees the buffers.
func (p *Pipeline) free() {
	for _, list := range [][]*port{p.inputs, p.outputs, p.temporaries} {
		for _, at := range list {
			if at.buffer != nil && !at.buffer.Freed() {
				_ = at.buffer.Free() // cannot fail, since the buffer is not freed yet
			}
		}
	}
}

func names(list []*port) string {
	var all []string
	for _, p := range list {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

func inspectPipeline(p *Pipeline) string {
	return fmt.Sprintf("Pipeline (%s) → (%s) on %s", names(slices.Concat(p.params, p.inputs)), names(p.outputs), p.device.ID())
}

func (m *Module) define() {
	list := func(get func(*Pipeline) []*port) func(*Pipeline) (goja.Value, error) {
		return func(p *Pipeline) (goja.Value, error) {
			var all []any
			for _, at := range get(p) {
				all = append(all, at.name)
			}
			return m.VM.NewArray(all...), nil
		}
	}
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*Pipeline]{
		Name: "Pipeline",
		Fields: []lang.Field[*Pipeline]{
			script.Field(m.Script, "params", list(func(p *Pipeline) []*port { return p.params })),
			script.Field(m.Script, "inputs", list(func(p *Pipeline) []*port { return p.inputs })),
			script.Field(m.Script, "outputs", list(func(p *Pipeline) []*port { return p.outputs })),
			script.Field(m.Script, "device", func(p *Pipeline) (goja.Value, error) { return m.devices.ObjectOf(p.device), nil }),
		},
		Inspect: func(p *Pipeline, _ inspect.Options) string { return inspectPipeline(p) },
	})
}

// typeName describes the type of the port's values.
func (at *port) typeName() string {
	if at.rank == 0 && at.extent == nil && at.dims == nil {
		return at.elem.String()
	}
	return fmt.Sprintf("an array of %s", at.elem)
}

// holds reports whether data of a contract type has the port's element layout. Bytes may hold records and booleans, and u16
// may hold f16 and bf16.
func (at *port) holds(t contract.Type) bool {
	return at.elem.Contract() == t || t == contract.U8 && (at.elem.Elem.Record != nil || at.elem.Elem.Scalar == ir.Bool) ||
		t == contract.U16 && (at.elem.Elem.Scalar == ir.F16 || at.elem.Elem.Scalar == ir.BF16)
}
