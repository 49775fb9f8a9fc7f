package portable

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// LaunchFacts are conditions on launches under which checks of a kernel are proved. A plugin compiles a second version of
// the kernel with [LaunchFacts.Prove], and runs it where [LaunchFacts.Hold] says so.
type LaunchFacts struct {
	size   []opt.SizeFact
	index  []opt.IndexFact // besides those
	params map[string]int  // positions of parameters
}

// FindLaunchFacts analyses an optimized kernel.
func FindLaunchFacts(k *ir.Kernel) *LaunchFacts {
	f := &LaunchFacts{size: opt.SizeFacts(k), params: make(map[string]int, len(k.Params))}
	f.index = opt.IndexFacts(k, &opt.Facts{Within: f.size})
	for i := range k.Params {
		f.params[k.Params[i].Name] = i
	}
	return f
}

// Any reports which of the two kinds of conditions the kernel has: on the launch's size, and on other indices.
func (f *LaunchFacts) Any() (size, index bool) { return len(f.size) > 0, len(f.index) > 0 }

// Hold reports which of the two kinds of conditions a launch meets. Those on indices are met only with those on the size.
func (f *LaunchFacts) Hold(g *interp.Launch) (size, index bool) {
	for _, s := range f.size {
		if int64(g.Size[s.Axis]) > f.value(g, opt.Term{Kind: opt.TermExtent, Axis: s.Extent, Name: s.Buffer}) {
			return false, false
		}
	}
	for i := range f.index {
		if !f.index[i].Holds(func(t opt.Term) int64 { return f.value(g, t) }) {
			return len(f.size) > 0, false
		}
	}
	return len(f.size) > 0, len(f.index) > 0
}

// value returns the value of a term for a launch.
func (f *LaunchFacts) value(g *interp.Launch, t opt.Term) int64 {
	switch t.Kind {
	case opt.TermSize:
		return int64(g.Size[t.Axis])
	case opt.TermGroupSize:
		return int64(g.GroupSize[t.Axis])
	case opt.TermGroups:
		return int64((g.Size[t.Axis]-1)/g.GroupSize[t.Axis] + 1)
	case opt.TermScalar:
		return int64(int32(g.Args[f.params[t.Name]].Bits))
	}
	return int64(g.Args[f.params[t.Name]].Dims[t.Axis])
}

// Prove returns a copy of the kernel with the proofs that the conditions on the size allow, and those on indices if index is
// true.
func (f *LaunchFacts) Prove(k *ir.Kernel, index bool) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone()
	facts := opt.Facts{Within: f.size}
	if index {
		facts.Index = f.index
	}
	opt.Run(m, opt.Default, &facts)
	return m.Kernels[0]
}
