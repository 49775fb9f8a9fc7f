package portable

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// LaunchFacts are conditions on launches that prove checks of a kernel. A plugin compiles a second variant with
// [LaunchFacts.Prove] for the launches that [LaunchFacts.Hold] reports.
type LaunchFacts struct {
	size   []opt.SizeFact
	index  []opt.IndexFact   // conditions besides size
	params map[string]int    // positions of parameters by name
	work   *analysis.Work    // nil if the number of instructions is unbounded
	scalar map[*ir.Value]int // positions of scalar parameters by value
}

// FindLaunchFacts returns the launch facts of an optimized kernel.
func FindLaunchFacts(k *ir.Kernel) *LaunchFacts {
	f := &LaunchFacts{size: opt.SizeFacts(k), params: make(map[string]int, len(k.Params))}
	f.index = opt.IndexFacts(k, &opt.Facts{Within: f.size})
	f.work, f.scalar = analysis.FindWork(k), map[*ir.Value]int{}
	for i := range k.Params {
		f.params[k.Params[i].Name] = i
		if k.Params[i].Array == nil {
			f.scalar[k.Body.Params[len(f.scalar)]] = i
		}
	}
	return f
}

// Any reports whether the kernel has conditions on the launch's size, and whether it has conditions on other indices.
func (f *LaunchFacts) Any() (size, index bool) { return len(f.size) > 0, len(f.index) > 0 }

// Hold reports whether a launch meets the conditions on the size, and whether it also meets those on other indices. A result is
// false if there are no such conditions.
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

// Bounded reports whether [LaunchFacts.Work] can bound launches.
func (f *LaunchFacts) Bounded() bool { return f.work != nil }

// Work returns an upper bound of the instructions that all work-items of a launch execute. ok is false if there is none, or if
// it exceeds an int64.
func (f *LaunchFacts) Work(g *interp.Launch) (n int64, ok bool) {
	if f.work == nil {
		return 0, false
	}
	n = f.work.Instrs(func(v *ir.Value) int64 {
		switch in := v.Def; {
		case in == nil:
			return int64(int32(g.Args[f.scalar[v]].Bits))
		case in.Op == ir.Const:
			return int64(int32(in.Bits))
		case in.Op == ir.Extent:
			return int64(g.Args[f.params[in.Array.Name]].Dims[in.Axis])
		case in.Item == ir.GlobalSize:
			return f.value(g, opt.Term{Kind: opt.TermSize, Axis: in.Axis})
		case in.Item == ir.GroupSize:
			return f.value(g, opt.Term{Kind: opt.TermGroupSize, Axis: in.Axis})
		default:
			return f.value(g, opt.Term{Kind: opt.TermGroups, Axis: in.Axis})
		}
	})
	for _, items := range g.Size {
		if n > math.MaxInt64/int64(max(items, 1)) {
			return 0, false
		}
		n *= int64(items)
	}
	return n, true
}

// Prove returns a copy of the kernel that is optimized under the conditions on the size. If index is set, the conditions on
// other indices hold, too.
func (f *LaunchFacts) Prove(k *ir.Kernel, index bool) *ir.Kernel {
	return Specialize(k, f.Facts(true, index))
}

// Facts returns the selected conditions, on the size and on indices.
func (f *LaunchFacts) Facts(size, index bool) (facts opt.Facts) {
	if size {
		facts.Within = f.size
	}
	if index {
		facts.Index = f.index
	}
	return facts
}

// Specialize returns a copy of the kernel optimized for launches that meet facts.
func Specialize(k *ir.Kernel, facts opt.Facts) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone()
	opt.Run(m, opt.Default, &facts)
	return m.Kernels[0]
}
