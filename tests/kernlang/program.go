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
	Value float64 // value of a scalar; 0 or 1 for bool
	Data  []byte  // contents of a buffer, which runs do not modify
	Dims  []int32 // dimensions of a buffer
}

// Program is a kernel's text with a launch.
type Program struct {
	Text      string
	Scope     map[string]any // captured values, as [kernel.Source] takes them
	Args      []Arg
	Options   kernel.Options
	Size      [3]int
	GroupSize [3]int // zero: the language's default
	Unchecked bool
}

// Compile compiles the program's kernel. Its error is a diag.List.
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

// launch returns the case of package oracle for the program, compiled as c, with the kernel k. A number that its type cannot
// hold is an error.
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

// defaultGroup returns the language's default group size.
func defaultGroup(size [3]int) [3]int {
	switch {
	case size[2] > 1:
		return [3]int{8, 8, 4}
	case size[1] > 1:
		return [3]int{16, 16, 1}
	}
	return [3]int{256, 1, 1}
}

// Runner runs programs. It is not safe for concurrent use.
type Runner struct {
	library *kernels.Library
	node    *oracle.Node    // nil if node is missing
	targets []*lower.Target // targets for lowering to leaves
	runs    int

	device  *ondevice.Runner // nil if there is none
	refused int              // number of kernels that the device rejected, or rounded differently
}

// NewRunner returns a runner, with node if it is installed. With OREPL_KERNLANG_OPENCL=1 programs also run on the first
// OpenCL device.
func NewRunner() (*Runner, error) {
	node, err := oracle.StartNode()
	if errors.Is(err, oracle.ErrNoNode) {
		err = nil
	}
	r := &Runner{library: kernels.New(), node: node}
	for _, leaves := range [][]string{
		{"calls", "clock"},
		{"calls", "clock", "nested jumps", "wide indices", "div.f32", "sqrt.f32", "atomic.add.u32", "subgroup.ballot", "subgroup.shuffle", "subgroup.shuffle_up", "subgroup.shuffle_down"},
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

// HasNode reports whether programs also run in node.
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

// OnDevice makes programs also run on the first device of a plugin.
func (r *Runner) OnDevice(p offload.Plugin) (err error) {
	r.device, err = ondevice.Open(context.Background(), p)
	return err
}

// Result has the outcome of a program, on which all implementations agree.
type Result struct {
	*oracle.Outcome
	Compiled *kernel.Compiled
	Case     *oracle.Case // with the unoptimized kernel, including library functions
}

// DifferenceError reports different results of two implementations.
type DifferenceError struct{ Ways, What string }

// Error returns the implementations and the difference.
func (e *DifferenceError) Error() string { return e.Ways + " differ: " + e.What }

// Run runs the program in all implementations. The error is a diag.List if the program does not compile, and a
// [*DifferenceError] if results differ.
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

// lowered compares the case with its lowered kernel for one of the targets, which change from run to run, and with its PTX.
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

// onDevice compares the outcomes on the device, if there is one, and in the interpreter. It counts rejected kernels, and
// differences by which an inexact device may round, in r.refused.
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
		r.refused++ // an inexact device may round twice
	case diff != "":
		return &DifferenceError{"interpreter and " + r.device.Device.Info().Name, diff}
	}
	return nil
}

// has reports whether a kernel has this operation.
func has(k *ir.Kernel, op ir.Op) (found bool) {
	k.Body.Walk(func(in *ir.Instr) { found = found || in.Op == op })
	return found
}

// lacks reports whether a device may refuse a kernel: it lacks exact arithmetic or a feature that the kernel uses. Any device
// may lack a clock.
func lacks(f *offload.Features, k *ir.Kernel) (lacks bool) {
	k.Body.Walk(func(in *ir.Instr) {
		lacks = lacks || in.Op == ir.Clock || in.Op == ir.Call && !f.Calls || in.Type() == ir.F64 && !f.F64 || in.Op == ir.Atomic && in.Elem.Size() == 8 && !f.Atomics64
	})
	return lacks || !f.Exact
}

// optimized compares the optimized kernel: first with all checks, which reveals wrong proofs, then without the proved ones.
// A kernel that faults may report another of its faults.
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

// proved reports whether the check that failed with f is proved in all instructions at the site of f. It is false if the site
// has none.
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
