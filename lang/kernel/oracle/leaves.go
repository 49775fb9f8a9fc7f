package oracle

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/lower/leaf"
)

// maxLeafSteps is the maximum number of leaf instructions per launch. The largest random kernels need more than 10^8.
const maxLeafSteps = 4_000_000_000

// lowered lowers source, the case's kernel before or after optimization, for a target and returns the group size for the run.
// If known is set, lowering may rely on the group size and on other properties of the launch.
func (c *Case) lowered(source *ir.Kernel, target *lower.Target, known bool) (k *lower.Kernel, group [3]int, err error) {
	o := lower.Options{SubgroupSize: c.SubgroupSize, Unchecked: c.Unchecked, Observes: c.Kernel.ObservesGroup()}
	group = c.GroupSize
	if !o.Observes {
		group = [3]int{16, 2, 1} // an arbitrary group size
		if known && c.Size[1] == 1 && c.Size[2] == 1 {
			group = [3]int{32, 1, 1}
		}
	}
	o.MaxGroup = group[0] * group[1] * group[2]
	if known {
		o.GroupSize, o.Whole = group, true
		for axis, n := range group {
			o.Whole = o.Whole && c.Size[axis]%n == 0
		}
		o.Unpolled = analysis.FindWork(source) != nil
		o.Lockstep = true
	}
	k, err = lower.Lower(source, target, o)
	return k, group, err
}

// outcome returns the outcome of a launch of a lowered kernel. data and records hold the contents of the buffers and the
// records after the launch. calls holds the errors of failed calls. It returns an error if prints were lost.
func (c *Case) outcome(k *lower.Kernel, group [3]int, data [][]byte, records []uint32, calls *lower.Calls) (*Outcome, error) {
	out := &Outcome{Data: data}
	fault, prints, lost := k.Read(records, lower.Geometry{Size: c.Size, GroupSize: group})
	if lost > 0 {
		return nil, fmt.Errorf("%d prints do not fit in the records", lost)
	}
	for _, p := range prints {
		out.Prints = append(out.Prints, Print{Site: p.Site, Item: p.Item, Text: p.Text})
	}
	if fault != nil {
		out.Fault = &Fault{Kind: fault.Kind, Site: fault.Site, Item: fault.Item, Text: fault.Text}
		if fault.Array != nil {
			out.Fault.Array, out.Fault.Axis = fault.Array.Name, fault.Axis
			out.Fault.Index, out.Fault.Extent = fault.Index()
		}
		if err := calls.Err(fault); err != nil {
			out.Fault.Text = err.Error()
		}
	}
	return out, nil
}

// host returns a function that serves one call of a launch on every third invocation, so that waiting is tested.
func host(calls *lower.Calls) func() {
	turn := 0
	return func() {
		if turn++; turn%3 != 0 {
			return
		}
		if call, ok := calls.Next(); ok {
			bits, err := serve(call.Service, call.Args)
			calls.Answer(call, bits, err)
		}
	}
}

// records returns the records of a launch, with space for prints if the kernel prints.
func records(k *lower.Kernel) []uint32 {
	for _, m := range k.Messages {
		if m.Kind == "" && m.Service == "" {
			return k.NewRecords(1 << 18)
		}
	}
	return k.NewRecords(0)
}

// Leaves lowers the case's kernel for a target and runs it in the leaf interpreter. If known is set, lowering may rely on the
// group size and on other properties of the launch.
func (c *Case) Leaves(target *lower.Target, known bool) (*Outcome, error) {
	k, group, err := c.lowered(c.Kernel, target, known)
	if err != nil {
		return nil, err
	}
	m := &ir.Module{Kernels: []*ir.Kernel{k.IR}, Records: k.IR.Records()}
	for _, s := range k.IR.Sites {
		for s.File >= len(m.Files) {
			m.Files = append(m.Files, fmt.Sprint("file", len(m.Files)))
		}
	}
	if err := m.VerifyLowered(); err != nil {
		return nil, err
	}
	_, data := c.Bind(words)
	l := &leaf.Launch{Size: c.Size, GroupSize: group, Records: records(k), Steps: maxLeafSteps}
	for i := range c.Args {
		l.Args = append(l.Args, leaf.Arg{Bits: c.Args[i].Bits, Data: data[i], Dims: c.Args[i].Dims})
	}
	calls := k.Calls(l.Records)
	l.Host = host(calls)
	if err := leaf.Run(k, target, l); err != nil {
		return nil, err
	}
	return c.outcome(k, group, data, l.Records, calls)
}

// CompareLeaves runs the case in the leaf interpreter and in the IR interpreter, which keeps the fault of the same item. It
// returns the first outcome, and how the second differs, or "" if the outcomes agree.
func (c *Case) CompareLeaves(target *lower.Target, known bool) (out *Outcome, diff string, err error) {
	got, err := c.Leaves(target, known)
	if err != nil {
		return nil, "", err
	}
	diff, err = c.compareInterp(got)
	return got, diff, err
}

// compareInterp runs the case in the interpreter, which keeps the fault of the same item as got. It returns the difference from
// got, or "" if there is none.
func (c *Case) compareInterp(got *Outcome) (diff string, err error) {
	watch := *c
	if got.Fault != nil {
		watch.Watch = &got.Fault.Item
	}
	want, err := watch.Interp(interp.Options{IgnoreProofs: true})
	if err != nil {
		return "", err
	}
	return c.Diff(want, got), nil
}
