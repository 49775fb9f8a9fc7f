package plan

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// OneGangRegs returns the maximum number of registers of a gang that is a whole work-group. gang is the number of registers of
// other gangs. The result is 0 if the kernel has no barriers, reductions or scans, or has other group operations or a reduction
// of booleans.
func OneGangRegs(k *ir.Kernel, o *Options, gang int) int {
	ok := true
	waits, scans, loops, wide, bytes := false, false, false, false, 0
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Barrier:
			waits = true
		case ir.Reduce:
			waits = true
			ok = ok && in.Type() != ir.Bool
		case ir.Scan:
			waits, scans = true, true
		case ir.Uniform, ir.Subgroup:
			ok = false
		case ir.Loop:
			loops = true
		}
		for _, r := range in.Results {
			wide = wide || r.Type.Size() == 8
		}
	})
	for _, a := range k.Arrays {
		if a.Space == ir.Private {
			bytes += a.Bytes()
		}
	}
	if !waits || !ok {
		return 0
	}
	if o.WideGangs {
		return abi.MaxGangItems / o.Target.Lanes
	}
	switch {
	case scans || wide || bytes > 0:
		return gang
	case loops && onlyCounts(k):
		return abi.MaxGangItems / o.Target.Lanes
	case loops:
		return gang
	}
	return max(gang, widest(k, o.Target))
}

// widest returns the number of registers with which the live values of a kernel without loops mostly fit the machine registers.
// It is the maximum for kernels that only reduce what they load.
func widest(k *ir.Kernel, t *vcode.Target) int {
	u := k.Uniformity(gangScope(false))
	p := pressure{u: u, last: make([]int, k.NumValues()), born: make([]int, k.NumValues()), loops: true, depth: 1}
	p.number(k.Body)
	p.at = 0
	p.measure(k.Body)
	w := abi.MaxGangItems / t.Lanes
	if onlyReduces(k, u) {
		return w
	}
	for w > 1 && w*max(p.most, 1) > t.Vectors+vcode.ScratchVectors {
		w /= 2
	}
	return w
}

// onlyReduces reports whether all varying values of a kernel are loaded only to be reduced. Affine values and conditions do not
// count. The loaded values need not be live at once, since passes.FoldLoads sinks the loads.
func onlyReduces(k *ir.Kernel, u *ir.Uniformity) bool {
	ok := true
	affine := analysis.FindAffine(k, u)
	loaded := map[*ir.Value]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		for _, r := range in.Results {
			switch _, known := affine.Strides(r); {
			case u.Value(r) != ir.Varying || known || r.Type == ir.Bool:
			case in.Op == ir.Load:
				loaded[r] = true
			default:
				ok = false
			}
		}
		for i, a := range in.Args {
			ok = ok && (!loaded[a] || in.Op == ir.Reduce && i == 0)
		}
	})
	return ok
}

// onlyCounts reports whether a kernel counts elements in a shared array, as a histogram does. All its control flow must be
// uniform. Loaded elements may only be operands of atomic operations, or select counters by their bits. Such loops keep no values in
// vectors, since memory.Atomic reads the elements lane by lane.
func onlyCounts(k *ir.Kernel) bool {
	u := k.Uniformity(gangScope(false))
	affine := analysis.FindAffine(k, u)
	ok, counts := true, false
	loaded, places := map[*ir.Value]bool{}, map[*ir.Value]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		ok = ok && (in.Then == nil || !u.Diverges(in))
		for i, a := range in.Args {
			switch {
			case loaded[a]:
				ok = ok && (in.Op == ir.And && i == 0 || in.Op == ir.Atomic && i >= in.NumIndices())
			case places[a]:
				ok = ok && in.Op == ir.Atomic && i == 0 && in.NumIndices() == 1 && in.Array.Space == ir.Shared
				counts = true
			}
		}
		for _, r := range in.Results {
			switch _, known := affine.Strides(r); {
			case u.Value(r) != ir.Varying || known:
			case in.Op == ir.Load && r.Type.Size() == 4:
				loaded[r] = true
			case in.Op == ir.And && loaded[in.Args[0]] && isConst(in.Args[1]):
				places[r] = true
			case in.Op == ir.Atomic:
				loaded[r] = true
			default:
				ok = false
			}
		}
		if in.Then != nil {
			for _, v := range in.Then.Params {
				_, known := affine.Strides(v)
				ok = ok && (u.Value(v) != ir.Varying || known)
			}
		}
	})
	return ok && counts
}
