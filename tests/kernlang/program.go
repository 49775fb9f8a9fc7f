package kernlang

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/irpage"
	"github.com/orepl/orepl/tests/ondevice"
)

// Arg is an argument of a launch.
type Arg struct {
	kernel.Arg
	Value float64 // of a scalar: a Number, integer, or 0 and 1 for bool
	Data  []byte  // of a buffer: its contents, which runs leave alone
	Dims  []int32 // of a buffer
}

// Program is a kernel's text with a launch of it.
type Program struct {
	Text      string
	Scope     map[string]any // what the kernel captures, as [kernel.Source] has it
	Args      []Arg
	Options   kernel.Options
	Size      [3]int
	GroupSize [3]int // zero: the language's default
	Unchecked bool
}

// Compile compiles the program's kernel. The error is a diag.List.
func (p *Program) Compile() (*kernel.Compiled, error) {
	f, err := kernel.Parse(&kernel.Source{Text: p.Text, Capture: func(name string) (any, error) {
		if err, ok := p.Scope[name].(error); ok {
			return nil, err
		}
		return p.Scope[name], nil
	}})
	if err != nil {
		return nil, err
	}
	args := make([]kernel.Arg, len(p.Args))
	for i := range p.Args {
		args[i] = p.Args[i].Arg
	}
	return f.Compile(args, p.Options)
}

// launch makes the oracle's case of the compiled program.
func (p *Program) launch(c *kernel.Compiled, k *ir.Kernel) (*oracle.Case, error) {
	l := &oracle.Case{Kernel: k, Size: p.Size, GroupSize: p.GroupSize, Unchecked: p.Unchecked}
	for i := range l.Size {
		l.Size[i] = max(l.Size[i], 1)
	}
	if l.GroupSize == [3]int{} {
		l.GroupSize = defaultGroup(l.Size)
	}
	for i, a := range p.Args {
		if a.Kind == kernel.Buffer {
			l.Args = append(l.Args, oracle.Arg{Data: a.Data, Dims: a.Dims})
			continue
		}
		if a.Kind == kernel.Number {
			if err := c.Params[i].CheckNumber(a.Value); err != nil {
				return nil, err
			}
		}
		t := c.Params[i].Type
		bits := ir.FloatBits(t, a.Value)
		if !t.IsFloat() {
			bits = ir.IntBits(t, int64(a.Value))
		}
		l.Args = append(l.Args, oracle.Arg{Bits: bits})
	}
	return l, nil
}

// defaultGroup returns the language's default group size for launches without one.
func defaultGroup(size [3]int) [3]int {
	switch {
	case size[2] > 1:
		return [3]int{8, 8, 4}
	case size[1] > 1:
		return [3]int{16, 16, 1}
	}
	return [3]int{256, 1, 1}
}

// Runner runs programs. It is used by one goroutine at a time.
type Runner struct {
	library *kernels.Library
	node    *oracle.Node    // nil: there is none
	targets []*lower.Target // of the leaf-only back end
	runs    int

	device  *ondevice.Runner // nil: there is none
	refused int              // kernels that the device lacks features for
}

// NewRunner starts node, if there is one. With OREPL_KERNLANG_OPENCL=1 programs run on the first OpenCL device, too.
func NewRunner() (*Runner, error) {
	library, err := kernels.New()
	if err != nil {
		return nil, err
	}
	node, err := oracle.StartNode()
	if errors.Is(err, oracle.ErrNoNode) {
		err = nil
	}
	r := &Runner{library: library, node: node}
	for _, leaves := range [][]string{
		{"calls", "clock"},
		{"calls", "clock", "nested jumps", "div.f32", "sqrt.f32", "atomic.add.u32", "subgroup.ballot", "subgroup.shuffle", "subgroup.shuffle_up", "subgroup.shuffle_down"},
	} {
		target, unknown := lower.NewTarget(fmt.Sprintf("with %d optional leaves", len(leaves)), leaves...)
		if unknown != nil {
			return nil, unknown
		}
		r.targets = append(r.targets, target)
	}
	if os.Getenv("OREPL_KERNLANG_OPENCL") == "1" {
		err = errors.Join(err, r.OnDevice(opencl.New(opencl.Options{})))
	}
	return r, err
}

// HasNode reports whether programs run under node too.
func (r *Runner) HasNode() bool { return r.node != nil }

// Close ends node and closes the device.
func (r *Runner) Close() (err error) {
	if r.device != nil {
		err = r.device.Close()
	}
	if r.node != nil {
		err = errors.Join(err, r.node.Close())
	}
	return err
}

// OnDevice has programs run on the first device of a plugin, too.
func (r *Runner) OnDevice(p offload.Plugin) (err error) {
	r.device, err = ondevice.Open(context.Background(), p)
	return err
}

// Result holds the outputs of a program for every way to run it.
type Result struct {
	*oracle.Outcome
	Compiled *kernel.Compiled
	Case     *oracle.Case // its kernel is as the front end made it, with the library's functions in it
}

// A DifferenceError says that two ways to run a program gave different results.
type DifferenceError struct{ Ways, What string }

// Error tells the difference.
func (e *DifferenceError) Error() string { return e.Ways + " differ: " + e.What }

// Run runs the program in all ways. The error is a diag.List if the program does not compile and a [*DifferenceError]
// if they do not agree.
func (r *Runner) Run(p *Program) (*Result, error) {
	c, err := p.Compile()
	if err != nil {
		return nil, err
	}
	m := c.Module.Clone()
	if kernels.Needed(m) {
		if err := r.library.Expand(m); err != nil {
			return nil, err
		}
	}
	plain, err := p.launch(c, m.Kernels[0])
	if err != nil {
		return nil, err
	}
	want, err := plain.Interp(interp.Options{})
	if err != nil {
		return nil, fmt.Errorf("interpreter: %w", err)
	}
	res := &Result{want, c, plain}
	if err := r.optimized(p, c, m, res); err != nil {
		return nil, err
	}
	second, err := irpage.Run(plain)
	if err != nil {
		return nil, fmt.Errorf("evaluator: %w", err)
	}
	if d := plain.Diff(want, second); d != "" {
		return nil, &DifferenceError{"interpreter and evaluator", d}
	}
	if err := r.lowered(plain); err != nil {
		return nil, err
	}
	if err := r.onDevice(plain); err != nil {
		return nil, err
	}
	if r.node == nil {
		return res, nil
	}
	got, err := r.node.Run(plain)
	if err != nil {
		return nil, err
	}
	if d := plain.DiffNode(want, got); d != "" {
		return nil, &DifferenceError{"interpreter and node", d}
	}
	return res, nil
}

// lowered compares with what the kernel does in leaves, for one target after the other, and with what its PTX does.
func (r *Runner) lowered(c *oracle.Case) error {
	r.runs++
	target := r.targets[r.runs%len(r.targets)]
	_, diff, err := c.CompareLeaves(target, r.runs%3 == 0)
	switch {
	case err != nil:
		return fmt.Errorf("by leaves of target %s: %w", target.Name, err)
	case diff != "":
		return &DifferenceError{"interpreter and leaf-only back end", diff}
	}
	_, diff, err = c.ComparePTX(r.runs%2 == 0)
	switch {
	case err != nil:
		return fmt.Errorf("as PTX: %w", err)
	case diff != "":
		return &DifferenceError{"interpreter and PTX", diff}
	}
	return nil
}

// onDevice compares with what the kernel does on the device.
func (r *Runner) onDevice(c *oracle.Case) error {
	if r.device == nil {
		return nil
	}
	diff, err := r.device.Compare(context.Background(), c)
	switch {
	case offload.CodeOf(err) == offload.Unsupported && lacks(&r.device.Device.Info().Features, c.Kernel):
		r.refused++
	case err != nil:
		return fmt.Errorf("on %s: %w", r.device.Device.Info().Name, err)
	case diff != "" && !r.device.Device.Info().Features.Exact && (has(c.Kernel, ir.FMA) || has(c.Kernel, ir.Convert)):
		r.refused++ // such a device may round twice
	case diff != "":
		return &DifferenceError{"interpreter and " + r.device.Device.Info().Name, diff}
	}
	return nil
}

// has reports whether a kernel has an operation.
func has(k *ir.Kernel, op ir.Op) (found bool) {
	k.Body.Walk(func(in *ir.Instr) { found = found || in.Op == op })
	return found
}

// lacks reports whether a kernel uses a feature that a device does not have. Devices may be without a clock.
func lacks(f *offload.Features, k *ir.Kernel) (lacks bool) {
	k.Body.Walk(func(in *ir.Instr) {
		lacks = lacks || in.Op == ir.Clock || in.Op == ir.Call && !f.Calls || in.Type() == ir.F64 && !f.F64 || in.Op == ir.Atomic && in.Elem.Size() == 8 && !f.Atomics64
	})
	return lacks || !f.Exact
}

// optimized compares with what the optimized kernel does: first with every check in place, so that one wrongly proved
// away shows, then without those proved. A kernel that faults may report another of its faults.
func (r *Runner) optimized(p *Program, c *kernel.Compiled, m *ir.Module, want *Result) error {
	o := m.Clone()
	opt.Run(o, opt.Default, nil)
	if err := o.Verify(); err != nil {
		return &DifferenceError{"as written and optimized", "the optimized kernel is wrong: " + err.Error()}
	}
	l, err := p.launch(c, o.Kernels[0])
	if err != nil {
		return err
	}
	for _, ignore := range []bool{true, false} {
		got, err := l.Interp(interp.Options{IgnoreProofs: ignore})
		if err != nil {
			return fmt.Errorf("optimized: %w", err)
		}
		if (got.Fault == nil) != (want.Fault == nil) {
			return &DifferenceError{"as written and optimized", fmt.Sprintf("faults %+v and %+v", want.Fault, got.Fault)}
		}
		if got.Fault != nil && proved(o.Kernels[0], got.Fault) {
			return &DifferenceError{"as written and optimized", fmt.Sprintf("a check was proved away that fails: %+v", got.Fault)}
		}
		w, g := *want.Outcome, *got
		w.Fault, g.Fault = nil, nil
		if d := l.Diff(&w, &g); d != "" {
			return &DifferenceError{"as written and optimized", d}
		}
	}
	return nil
}

// proved reports whether every instruction that can have reported a fault has had the check proved away.
func proved(k *ir.Kernel, f *oracle.Fault) bool {
	bit := uint32(1) << f.Axis
	if f.Kind == interp.DivisionByZero.String() {
		bit = ir.ProvedDivisor
	}
	found, all := false, true
	k.Body.Walk(func(in *ir.Instr) {
		if in.Site == f.Site && (in.Array != nil || in.Op == ir.Div || in.Op == ir.Rem) {
			found, all = true, all && in.Proved&bit != 0
		}
	})
	return found && all
}
