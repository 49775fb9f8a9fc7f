package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Input is the value of a pipeline's input or parameter, in host memory.
type Input struct {
	Name   string
	Type   contract.Type // element type
	Dims   []int         // outermost first; nil for a number
	Data   []byte        // elements; they must not change until Run returns
	Number any           // a float64, int64, *big.Int, bool, or string for a parameter; nil for a buffer
}

// Output is the destination of a result in host memory.
type Output struct {
	Name string
	Type contract.Type
	// Store returns memory for a result with these extents. The pipeline writes to it until Run returns.
	Store func(dims []int) ([]byte, error)
}

// Run runs the pipeline once. Runs must not overlap. Errors of the script and its kernels become diagnostics with positions. The
// error is a [*Refusal] if a value or an output does not fit the declaration, or if the script refuses a value. If ctx is done, the
// error is the same as for an interrupted script. Outputs are stored only after success of the script and its kernels. Run does not
// access the host's memory after it returns. The contexts of functions that the script calls have the key mark. If a run with the
// same parameters and shapes was recorded, its launches are issued and the script is not called.
func (p *Pipeline) Run(ctx context.Context, mark any, in []Input, out []Output) (failed error) {
	defer func() { failed = p.located(failed) }()
	if wrong := p.check(in, out); len(wrong) > 0 {
		return &Refusal{joined(p.withNumbers(ctx, in, wrong))}
	}
	q, err := p.m.queues.DefaultOf(p.device)
	if err != nil {
		return err
	}
	p.refused = false
	if run := p.recorded(in); run != nil {
		if err = p.replay(ctx, q, run, in, out); err != nil && p.refused {
			err = &Refusal{err}
		}
		return err
	}
	ctx = context.WithValue(ctx, mark, true)
	defer func() {
		if p.refused || diag.Code(failed) == CodeRefused && !lang.WasCut(ctx, failed) {
			failed = &Refusal{failed}
		}
		if err := p.m.Engine.Flush(); failed == nil {
			failed = err
		}
		p.tape.End(repeats(ctx, failed), failed)
	}()
	p.m.queues.Restart()
	if _, err = p.m.Engine.Await(ctx, func(*goja.Runtime) (goja.Value, error) {
		p.m.kernels.RecordTo(p.tape)
		p.tape.Begin(q)
		v, err := p.start(q, in)
		if err == nil {
			if !lang.IsPromise(v) { // all launches are known, even if one of them fails
				p.tape.End(true, nil)
			}
			v, err = p.finish(q, v, out)
		}
		if _, thrown := err.(*goja.Exception); thrown { // the engine finds its place
			return v, err
		}
		return v, p.m.Explain(err)
	}); err != nil {
		_ = q.Sync(ctx) // the queue may still access host memory
	}
	return p.explain(ctx, err)
}

// Begin begins a run within a call of the engine. It returns a promise of the end, or nil if the run has ended.
func (p *Pipeline) Begin(in []Input, out []Output) (goja.Value, error) {
	if wrong := p.check(in, out); len(wrong) > 0 {
		return nil, p.m.explainAll(wrong)
	}
	q, err := p.m.queues.DefaultOf(p.device)
	if err != nil {
		return nil, err
	}
	v, err := p.start(q, in)
	if err == nil {
		v, err = p.finish(q, v, out)
	}
	return v, p.m.Explain(err)
}

// Elements returns the type of the elements of an input or output, or false for a number and an unknown name.
func (p *Pipeline) Elements(name string) (element.Type, bool) {
	if at := cmp.Or(find(p.inputs, name), find(p.outputs, name)); at != nil && (at.rank > 0 || find(p.inputs, name) == nil) {
		return at.elem, true
	}
	return element.Type{}, false
}

// Refusal is the error of a run with a value or an output that does not fit the pipeline. An error of the script with the code
// [CodeRefused] becomes one, too.
type Refusal struct{ error }

func (r *Refusal) Unwrap() error { return r.error }

// Is reports whether the target is [ErrRefused].
func (r *Refusal) Is(target error) bool { return target == ErrRefused }

// CodeRefused is the code with which a script says that an error is the fault of the run's caller.
const CodeRefused = "refused"

// ErrRefused is the error that errors.Is finds in each Refusal.
var ErrRefused = errors.New("an input, parameter or output does not fit the pipeline")

// Refuse returns an error, unless it is nil, as a Refusal.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{err}
}

// finish waits for v, the result of the script's function, and for the queue, and stores the outputs. It returns a promise if
// commands of the queue may wait for the event loop.
func (p *Pipeline) finish(q *session.Queue, v goja.Value, out []Output) (goja.Value, error) {
	e := p.m.Engine
	if !lang.IsPromise(v) && !p.m.queues.MayNeedScript() {
		return nil, p.store(e.Running(), q, out)
	}
	promise, resolve, _ := e.VM().NewPromise() // holds nothing, so that a script's promise that can no longer settle ends the run
	e.Settled(v, func(err error) {
		end := e.Rejected
		if err == nil {
			end = func(error) goja.Value {
				return p.m.Async(nil, "the results of "+p.name, func(ctx context.Context) (func() (goja.Value, error), error) {
					return nil, p.store(ctx, q, out)
				})
			}
		}
		_ = resolve(end(err)) // cannot fail for a promise
	})
	return e.VM().ToValue(promise), nil
}

// store waits for the queue and copies the outputs to host memory. It copies nothing after a failure.
func (p *Pipeline) store(ctx context.Context, q *session.Queue, out []Output) error {
	if err := q.Sync(ctx); err != nil || len(out) == 0 {
		return err
	}
	err := p.retrieve(q, out)
	return cmp.Or(err, q.Sync(ctx))
}

// explain converts an error to a diagnostic of the script, on the engine's goroutine. It returns nil, and errors with a position, as
// they are. If the end of ctx cancelled the commands, it returns the error of that end.
func (p *Pipeline) explain(ctx context.Context, err error) error {
	var known *diag.Diagnostic
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && diag.Code(err) == string(contract.Cancelled): // a queue reports Cancelled for any cause
		if ended := lang.EndOf(ctx); ended.ID != diag.Code(err) {
			return ended
		}
	case errors.As(err, &known) && known.Position.IsValid():
		return err
	}
	explained := err
	if failed := p.m.Engine.Do(context.WithoutCancel(ctx), func(*goja.Runtime) error { explained = p.m.Explain(err); return nil }); failed != nil {
		return err
	}
	return explained
}

// located adds the place of the function run to the error of a limit that has none, such as one that ended a wait.
func (p *Pipeline) located(err error) error {
	d, ok := err.(*diag.Diagnostic)
	if !ok || d.Position.IsValid() {
		return err
	}
	switch contract.Code(d.ID) {
	case contract.Timeout, contract.OutOfResources, "out-of-memory", "iterations":
		placed := *d
		script.Place(p.m.Engine, &placed, script.Position(p.declaration.place("run")), 1)
		return &placed
	}
	return err
}

// placed adds the place of a port's declaration to an error of its memory that has no position. Other errors are returned
// unchanged.
func (p *Pipeline) placed(err error, name string) error {
	e, ok := err.(*contract.Error)
	if !ok || script.Position(e.Pos).IsValid() {
		return err
	}
	placed := *e
	placed.Pos = p.placeOf(name)
	return &placed
}

// misfit is an error of a value of a run.
type misfit struct {
	name string // of the input, parameter or output
	*contract.Error
}

// joined returns one error for all misfits.
func joined(wrong []misfit) error {
	if len(wrong) == 1 {
		return wrong[0].Error
	}
	all := make([]error, len(wrong))
	for i := range wrong {
		all[i] = wrong[i].Error
	}
	return errors.Join(all...)
}

// check returns all errors of inputs, parameters and outputs against the declaration, except those in the values of numbers and
// parameters.
func (p *Pipeline) check(in []Input, out []Output) (wrong []misfit) {
	fail := func(name string, err *contract.Error) {
		if err != nil {
			wrong = append(wrong, misfit{name, err})
		}
	}
	for i := range in {
		if at := p.taken(in[i].Name); at == nil {
			fail(in[i].Name, p.unknown("input", in[i].Name, slices.Concat(p.inputs, p.params)))
		} else {
			fail(at.name, p.fits(at, &in[i]))
		}
	}
	for _, at := range p.inputs {
		if indexOfInput(in, at.name) < 0 {
			fail(at.name, p.fail("the input %q is missing", at.name).WithHint("the inputs are %s", names(p.inputs)))
		}
	}
	for _, at := range p.params {
		if at.param.Default == nil && indexOfInput(in, at.name) < 0 {
			fail(at.name, p.fail("the parameter %q is missing, which has no default", at.name).WithHint("it is %s", at.param))
		}
	}
	for i := range out {
		at := find(p.outputs, out[i].Name)
		if at == nil {
			fail(out[i].Name, p.unknown("output", out[i].Name, p.outputs))
		} else if !at.holds(out[i].Type) {
			fail(at.name, p.fail("the output %q is %s, not of %s", at.name, at.typeName(), out[i].Type))
		}
	}
	return wrong
}

// unknown returns the error for a name that the pipeline does not declare.
func (p *Pipeline) unknown(kind, name string, known []*port) *contract.Error {
	e := p.fail("there is no %s %q", kind, name)
	if len(known) == 0 {
		return e.WithHint("the pipeline has no %ss", kind)
	}
	all := make([]string, len(known))
	for i, at := range known {
		all[i] = at.name
	}
	if near := option.DidYouMean(name, all); near != "" {
		e.Detail += ": " + strings.TrimSpace(near)
	}
	return e.WithHint("the %ss are %s", kind, names(known))
}

func (p *Pipeline) fits(at *port, in *Input) *contract.Error {
	_, isText := in.Number.(string)
	switch {
	case at.param != nil && in.Dims != nil:
		return p.fail("the parameter %q is of type %s, not an array", at.name, at.param.Type)
	case at.param != nil:
		return nil
	case at.rank == 0 && in.Dims != nil:
		return p.fail("the input %q is a number, not an array", at.name)
	case isText:
		return p.fail("the input %q is %s, not a text", at.name, at.typeName())
	case at.rank == 0:
		return nil
	case in.Dims == nil:
		return p.fail("the input %q is %s, not a number", at.name, at.typeName())
	case !at.holds(in.Type):
		return p.fail("the input %q is %s, not of %s", at.name, at.typeName(), in.Type)
	case len(in.Dims) != at.rank:
		return p.fail("the input %q needs %s, but has %d", at.name, spelling.Count(at.rank, "dimension"), len(in.Dims)).
			WithHint("give the extents too: orepl.Array[T]{Data: …, Shape: []int{…}}")
	}
	size, ok := at.elem.Size(), true
	for _, d := range in.Dims {
		if d > 0 && size > math.MaxInt/d {
			ok = false
		}
		size *= d
	}
	if !ok {
		return p.fail("the input %q of shape %v has more bytes than fit in memory", at.name, in.Dims)
	}
	if size != len(in.Data) {
		return p.fail("the input %q of shape %v has %d bytes, but %d were given", at.name, in.Dims, size, len(in.Data))
	}
	return nil
}

func (p *Pipeline) fail(format string, args ...any) *contract.Error {
	return contract.Errorf(contract.InvalidArgument, "run", format, args...).On(p.device.ID(), p.label())
}

func find(list []*port, name string) *port {
	for _, at := range list {
		if at.name == name {
			return at
		}
	}
	return nil
}

// taken returns the input or parameter with a name, or nil.
func (p *Pipeline) taken(name string) *port {
	return cmp.Or(find(p.inputs, name), find(p.params, name))
}

func indexOfInput(in []Input, name string) int {
	return slices.IndexFunc(in, func(i Input) bool { return i.Name == name })
}

// start sets the parameters, writes the inputs, makes the outputs and temporaries fit, clears the outputs, and calls the
// script's function run.
func (p *Pipeline) start(q *session.Queue, in []Input) (goja.Value, error) {
	if wrong := append(p.setParams(in), p.setNumbers(in)...); len(wrong) > 0 {
		p.refused = true
		if p.m.rehearsal != nil {
			for _, w := range wrong {
				w.Pos = p.placeOf(w.name)
			}
		}
		return nil, p.m.explainAll(wrong)
	}
	for i := range in {
		at := find(p.inputs, in[i].Name)
		if at == nil || at.rank == 0 { // set by setNumbers
			continue
		}
		if err := p.ensure(at, in[i].Dims); err != nil {
			return nil, err
		}
		if len(in[i].Data) > 0 {
			if err := q.Write(at.buffer.Buffer, 0, in[i].Data); err != nil {
				return nil, err
			}
		}
	}
	for _, list := range [][]*port{p.outputs, p.temporaries} {
		for _, at := range list {
			if err := p.shape(at); err != nil {
				return nil, err
			}
		}
	}
	if err := p.clear(q, nil); err != nil {
		return nil, err
	}
	return p.run(p.self, p.io)
}

// number returns a Go number as the script gets it: a BigInt for each integer of the types i64 and u64, even a small one, else
// a Number. Elements of buffers are converted alike. An integer for another type that no Number holds exactly is returned as a
// BigInt, which [port.bits] refuses. Booleans and texts remain what they are.
func (m *Module) number(t element.Type, x any) goja.Value {
	n := new(big.Int)
	switch v := x.(type) {
	case int64:
		n.SetInt64(v)
	case *big.Int:
		n = v
	case float64:
		if v != math.Trunc(v) || math.IsInf(v, 0) {
			return m.VM.ToValue(v)
		}
		big.NewFloat(v).Int(n)
	default:
		return m.VM.ToValue(x)
	}
	if t.Elem.Record == nil && (t.Elem.Scalar == ir.I64 || t.Elem.Scalar == ir.U64) {
		return m.VM.ToValue(n)
	}
	if _, isFloat := x.(float64); isFloat {
		return m.VM.ToValue(x)
	}
	if f, accuracy := new(big.Float).SetInt(n).Float64(); accuracy == big.Exact {
		return m.VM.ToValue(f)
	}
	return m.VM.ToValue(n)
}

// bits returns an error unless v, a number of the program, converts to the port's element type. Floats may be rounded.
func (at *port) bits(v goja.Value) error {
	t := at.elem.Elem.Scalar
	if n, ok := element.Exported(v).(*big.Int); ok {
		switch {
		case t == ir.I64 || t == ir.U64:
		case t == ir.Bool:
			return fmt.Errorf("expected true or false, not %v", n)
		case t.IsFloat():
			return fmt.Errorf("%v has more digits than %s holds: round it, as by float64", n, t)
		default:
			return fmt.Errorf("%v is outside the range of %s", n, t)
		}
	}
	_, err := element.Bits(t, v)
	return err
}

// retrieve enqueues copies of the outputs to host memory.
func (p *Pipeline) retrieve(q *session.Queue, out []Output) error {
	for i := range out {
		at := find(p.outputs, out[i].Name)
		if at.buffer.Freed() {
			return p.placed(p.fail("the script freed the output %q", at.name), at.name)
		}
		data, err := out[i].Store(at.shape)
		if err != nil {
			p.refused = true // the caller's destination does not fit
			if e := (*contract.Error)(nil); errors.As(err, &e) && e.Detail != "" {
				return p.fail("%s", e.Detail)
			}
			return p.fail("the output %q: %v", at.name, err)
		}
		if int64(len(data)) != at.buffer.Size() {
			return p.fail("the output %q of shape %v has %d bytes, but there is room for %d", at.name, at.buffer.Dims(), at.buffer.Size(), len(data))
		}
		if len(data) > 0 {
			if err := q.Read(data, at.buffer.Buffer, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Free frees the pipeline's buffers. It must not overlap a run.
func (p *Pipeline) Free() { p.free() }
