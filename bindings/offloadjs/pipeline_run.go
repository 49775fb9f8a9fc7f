package offloadjs

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Input is the value of a pipeline's input, in host memory.
type Input struct {
	Name   string
	Type   contract.Type // element type
	Dims   []int         // outermost first; nil for a number
	Data   []byte        // elements; they must not change until Run returns
	Number any           // a float64, int64, *big.Int or bool; nil for a buffer
}

// Output is the destination of a result in host memory.
type Output struct {
	Name string
	Type contract.Type
	// Store returns memory for a result with these extents. The pipeline writes to it until Run returns.
	Store func(dims []int) ([]byte, error)
}

// Run runs the pipeline once. Runs must not overlap. Errors of the script and its kernels become diagnostics with positions.
// If ctx is done, the error is the same as for an interrupted script. Outputs are stored only after success of the script and
// its kernels. Run does not access the host's memory after it returns.
func (p *Pipeline) Run(ctx context.Context, in []Input, out []Output) (failed error) {
	if err := p.check(in, out); err != nil {
		return err
	}
	q, err := p.m.defaultQueue(p.device)
	if err != nil {
		return err
	}
	defer func() {
		if err := p.m.engine.Flush(); failed == nil {
			failed = err
		}
	}()
	_, err = p.m.engine.Await(ctx, func(*goja.Runtime) (goja.Value, error) {
		v, err := p.start(q, in)
		return v, p.m.explain(err)
	})
	// Wait even after an error, because the queue may still access host memory. A failed kernel leaves no result, so read the
	// outputs on success only.
	if synced := q.Sync(ctx); err == nil {
		err = synced
	}
	if err == nil && len(out) > 0 {
		err = p.retrieve(q, out)
		if synced := q.Sync(ctx); err == nil {
			err = synced
		}
	}
	return p.explain(ctx, err)
}

// explain converts an error to a diagnostic of the script, on the engine's goroutine.
func (p *Pipeline) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && diag.Code(err) == string(contract.Cancelled): // a queue reports Cancelled for any cause
		if ended := lang.Ended(context.Cause(ctx)); ended.ID != diag.Code(err) {
			return ended
		}
	}
	explained := err
	if failed := p.m.engine.Do(context.WithoutCancel(ctx), func(*goja.Runtime) error { explained = p.m.explain(err); return nil }); failed != nil {
		return err
	}
	return explained
}

// check validates inputs and outputs against the declaration.
func (p *Pipeline) check(in []Input, out []Output) error {
	for i := range in {
		at := find(p.inputs, in[i].Name)
		if at == nil {
			return p.unknown("input", in[i].Name, p.inputs)
		}
		if err := p.fits(at, &in[i]); err != nil {
			return err
		}
	}
	for _, at := range p.inputs {
		if !hasInput(in, at.name) {
			return p.fail("the input %q is missing", at.name).WithHint("the inputs are %s", names(p.inputs))
		}
	}
	for i := range out {
		at := find(p.outputs, out[i].Name)
		if at == nil {
			return p.unknown("output", out[i].Name, p.outputs)
		}
		if !at.holds(out[i].Type) {
			return p.fail("the output %q is %s, not of %s", at.name, at.typeName(), out[i].Type)
		}
	}
	return nil
}

// unknown returns the error for a name that the pipeline does not declare.
func (p *Pipeline) unknown(kind, name string, known []*port) error {
	e := p.fail("there is no %s %q", kind, name)
	if len(known) == 0 {
		return e.WithHint("the pipeline has no %ss", kind)
	}
	all := make([]string, len(known))
	for i, at := range known {
		all[i] = at.name
	}
	return e.WithHint("%sthe %ss are %s", didYouMean(name, all), kind, names(known))
}

func (p *Pipeline) fits(at *port, in *Input) error {
	switch {
	case at.rank == 0 && in.Dims != nil:
		return p.fail("the input %q is a number, not an array", at.name)
	case at.rank == 0:
		return nil
	case in.Dims == nil:
		return p.fail("the input %q is %s, not a number", at.name, at.typeName())
	case !at.holds(in.Type):
		return p.fail("the input %q is %s, not of %s", at.name, at.typeName(), in.Type)
	case len(in.Dims) != at.rank:
		return p.fail("the input %q needs %s, but has %d", at.name, plural(at.rank, "dimension"), len(in.Dims)).
			WithHint("give the extents too: orepl.Array[T]{Data: …, Shape: []int{…}}")
	}
	size := at.elem.size()
	for _, d := range in.Dims {
		size *= d
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

func hasInput(in []Input, name string) bool {
	for i := range in {
		if in[i].Name == name {
			return true
		}
	}
	return false
}

// start writes the inputs and calls the script's function run.
func (p *Pipeline) start(q *session.Queue, in []Input) (goja.Value, error) {
	for i := range in {
		at := find(p.inputs, in[i].Name)
		if at.rank == 0 {
			number := p.m.vm.ToValue(in[i].Number)
			if _, err := scalarBits(at.elem.elem.Scalar, number); err != nil {
				return nil, p.fail("the input %q: %v", at.name, err)
			}
			if err := p.io.Set(at.name, number); err != nil {
				return nil, err
			}
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
	return p.run(p.self, p.io)
}

// retrieve enqueues copies of the outputs to host memory.
func (p *Pipeline) retrieve(q *session.Queue, out []Output) error {
	for i := range out {
		at := find(p.outputs, out[i].Name)
		if at.buffer.Freed() {
			return p.fail("the script freed the output %q", at.name)
		}
		data, err := out[i].Store(at.buffer.Dims())
		if err != nil {
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
