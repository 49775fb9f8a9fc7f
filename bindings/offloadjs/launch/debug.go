package launch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/itemtrace"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/overflow"
	"github.com/orepl/orepl/lang/kernel/trace"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// defaultTrace is the default limit of a trace: the total number of steps and events.
const defaultTrace = 10_000

// debugOptions holds the options of kernel.debug: those of a launch, and the trace's.
type debugOptions struct {
	launch Options
	item   [3]int
	limit  int
	print  bool
}

// debug implements kernel.debug({item, ...launch options}, ...arguments). It interprets one item on a copy of the buffers and
// returns a trace of its statements.
func (m *Module) debug(k *Kernel, call goja.FunctionCall) (goja.Value, error) {
	o, err := m.debugOptions(k, call)
	if err != nil {
		return nil, err
	}
	if err := m.queues.MayBlock("debug"); err != nil {
		return nil, err
	}
	values := call.Arguments[1:]
	p, err := m.prepare("debug", k, &o.launch, values) // reports the same errors as a launch
	if err != nil {
		return nil, err
	}
	if err := p.call.Rebind(o.launch.Config, p.args...); err != nil {
		return nil, err
	}
	command := p.call.Command()
	p.call.Unbind()
	for axis, n := range o.item {
		if n >= command.Size[axis] {
			return nil, contract.Errorf(contract.InvalidArgument, "debug", "item %v is outside of the size %v", o.item, command.Size).
				On("", k.name).WithHint("an item is counted from 0 along x, y and z")
		}
	}
	copies, err := m.copyArgs(p.queue, values, command.Args)
	if err != nil {
		return nil, err
	}
	opts := k.opts
	opts.Trace, opts.Warnings, opts.Branches = true, false, o.launch.Overflows
	compiled, err := k.fn.Compile(p.types, opts)
	if err != nil {
		return nil, err
	}
	if o.launch.Overflows {
		if err := overflow.Check(compiled); err != nil {
			return nil, err
		}
	}
	if err := kernels.New().Expand(compiled.Module); err != nil {
		return nil, err
	}
	l := interp.Launch{Size: command.Size, GroupSize: command.GroupSize, Args: copies, Unchecked: command.Checks == contract.ChecksOff}
	if l.GroupSize == [3]int{} {
		l.GroupSize = contract.DefaultGroupSize(l.Size)
	}
	if widths := p.queue.Device().Info().Limits.SubgroupSizes; len(widths) > 0 {
		l.SubgroupSize = widths[0]
	}
	t, err := m.traced(o, func(stop *atomic.Bool) (*trace.Trace, error) {
		l.Stop = stop
		return trace.Run(compiled, l, o.item, trace.Options{Races: command.Checks == contract.ChecksRaces, Limit: o.limit})
	})
	if err != nil {
		return nil, script.WithLabel(err, k.name)
	}
	out := itemtrace.NewTrace(t, k.name, o.item)
	if o.print {
		fmt.Fprintln(m.Engine.Options().Stdout, itemtrace.Format(out))
	}
	return m.traces.ObjectOf(out), nil
}

// traced runs an interpretation until it completes, the script ends, an interrupt occurs, or the timeout expires.
func (m *Module) traced(o debugOptions, run func(*atomic.Bool) (*trace.Trace, error)) (*trace.Trace, error) {
	ctx, cancel := m.Engine.Running(), context.CancelFunc(func() {})
	if o.launch.Timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, o.launch.Timeout, contract.Errorf(contract.Timeout, "debug",
			"the item did not end within %v", o.launch.Timeout.Round(time.Millisecond)))
	}
	defer cancel()
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	t, err := run(&stop)
	if err == nil && !t.Ended && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return t, err
}

func (m *Module) debugOptions(k *Kernel, call goja.FunctionCall) (debugOptions, error) {
	const op = "debug"
	d := debugOptions{limit: defaultTrace}
	requested, ok := call.Argument(0).(*goja.Object)
	if !ok || m.buffers.Of(requested) != nil {
		return d, contract.Errorf(contract.InvalidArgument, op, "the options are missing").On("", k.name).
			WithHint("write debug({item: 0, size: n}, …)")
	}
	o := m.Options.Parse(op, requested, append([]string{"item", "limit", "print"}, option.LaunchKeys...)...)
	item := o.Extents("item")
	if o.Err == nil && item == nil {
		o.Fail("item is missing")
	}
	copy(d.item[:], item)
	if v := o.Get("limit"); v != nil {
		n, err := element.Integer(v)
		if err != nil || n == 0 {
			o.Fail("limit must be a positive integer, not %s", convert.Describe(v))
		}
		d.limit = n
	}
	d.print = o.Bool("print", false)
	if o.Err != nil {
		return d, script.WithLabel(o.Err, k.name)
	}
	launch := m.VM.NewObject()
	for _, key := range requested.Keys() {
		if key != "item" && key != "limit" && key != "print" {
			_ = launch.Set(key, requested.Get(key)) // cannot fail on a new plain object
		}
	}
	call.Arguments = []goja.Value{launch}
	var err error
	d.launch, err = m.ParseOptions(k.name, call, nil, false)
	return d, err
}

// copyArgs copies the buffers of a launch to the interpreter's memory. Overlapping buffers overlap there too.
func (m *Module) copyArgs(q *session.Queue, values []goja.Value, args []contract.Arg) ([]interp.Arg, error) {
	type memory struct {
		low, high int64
		words     []uint64
	}
	memories := map[contract.Memory]*memory{}
	size := func(i int) int64 { return m.buffers.Of(values[i]).Size() }
	for i, a := range args {
		if a.Memory == nil {
			continue
		}
		mem := memories[a.Memory]
		if mem == nil {
			mem = &memory{low: a.Offset &^ 7, high: a.Offset + size(i)}
			memories[a.Memory] = mem
		}
		mem.low, mem.high = min(mem.low, a.Offset&^7), max(mem.high, a.Offset+size(i))
	}
	out := make([]interp.Arg, len(args))
	for i, a := range args {
		mem := memories[a.Memory]
		if mem == nil {
			out[i].Bits = a.Bits
			continue
		}
		if mem.words == nil {
			mem.words = make([]uint64, (mem.high-mem.low)/8+1)
		}
		base := unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem.words)), a.Offset-mem.low)
		out[i] = interp.Arg{Base: base, Bytes: int(size(i)), Dims: a.Dims}
		if err := q.Read(unsafe.Slice((*byte)(base), size(i)), m.buffers.Of(values[i]).Buffer, 0); err != nil {
			return nil, err
		}
	}
	return out, q.Sync(m.Engine.Running())
}
