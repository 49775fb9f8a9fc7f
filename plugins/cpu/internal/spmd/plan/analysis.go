package plan

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// Lanes returns the number of lanes of a gang.
func (l *Analysis) Lanes() int { return l.Options.Target.Lanes * l.GangRegs }

// NumVectors returns the number of vector registers of a value: 1 if it is uniform, else [Analysis.VectorsOf] of its type.
func (l *Analysis) NumVectors(r *ir.Value) int {
	if l.IsUniform(r) {
		return 1
	}
	return l.VectorsOf(r.Type)
}

// GroupVectors returns the number of vectors that a value of this type takes in a gang's frame.
func (l *Analysis) GroupVectors(t ir.Type) int {
	if t.Size() == 8 {
		return 2 * l.GangRegs
	}
	return l.GangRegs
}

// Narrows reports whether the gangs at the end of a row may have a single register. This requires wide 1-D gangs in
// row-major order, without transposed stores or loads.
func (l *Analysis) Narrows() bool {
	return l.GangRegs > 1 && !l.Spec.Is2D() && l.Band == 0 && len(l.Tiles) == 0 && len(l.Columns) == 0
}

// Analysis holds the results of the analyses of a kernel and the decisions based on them.
type Analysis struct {
	Kernel   *ir.Kernel
	Options  Options
	Spec     Spec
	GangRegs int // vector registers that hold a 32-bit value of a gang
	Observes bool
	Uniform  *ir.Uniformity
	Affine   *analysis.Affine
	Nans     *analysis.NaNs
	outputs  Outputs
	Uses     []useInfo           // by value
	Carried  map[int][]*ir.Instr // by value: the continues that carry it to the next iteration
	Unrolled map[*ir.Instr]int   // by loop: the unroll factor
	Band     int                 // rows of a band in column-major order; 0 for row-major order
	Tiles    map[*ir.Instr]int   // the tile's number of each store that uses a transpose tile
	Columns  map[*ir.Instr]int   // the number of each transposed load
	Trim     Trim                // bounds of the items of a row that do something
}

// Analyse analyses a kernel after unrolling, and decides how to lower it. times has the unroll factors by loop. The caller sets
// Trim.
func Analyse(k *ir.Kernel, options Options, spec Spec, times map[*ir.Instr]int) *Analysis {
	a := &Analysis{Kernel: k, Options: options, Spec: spec, GangRegs: spec.Gang, Observes: k.ObservesGroup() || options.Observes, Unrolled: times,
		Uniform: k.Uniformity(gangScope(spec.Is2D())), Nans: analysis.FindNaNs(k), outputs: FindOutputs(k)}
	a.Affine = analysis.FindAffine(k, a.Uniform)
	a.gatherUses()
	if !spec.Is2D() {
		a.ChooseWalk()
	}
	a.findColumnLoads()
	return a
}

// IsUniform reports whether a value is equal in all lanes of a gang.
func (l *Analysis) IsUniform(v *ir.Value) bool { return l.Uniform.Value(v) != ir.Varying }

// VectorsOf returns the number of vectors of a varying value of this type.
func (l *Analysis) VectorsOf(t ir.Type) int {
	if t.Size() == 8 {
		return 2 * l.GangRegs
	}
	return l.GangRegs
}

// Width returns the number of items in a row of a gang.
func (l *Analysis) Width() int {
	if l.Spec.Is2D() {
		return l.Options.Target.Lanes
	}
	return l.Lanes()
}

// Height returns the number of rows of a gang.
func (l *Analysis) Height() int { return l.Lanes() / l.Width() }

// BytesOfVector returns the bytes that the elements of one register take in memory, if each has size bytes there.
func (l *Analysis) BytesOfVector(size int) int {
	if size == 8 {
		return l.Options.Target.Bytes()
	}
	return l.Options.Target.Lanes * size
}

// GroupOpInCode reports whether compiled code may compute a group operation itself, instead of calling Go by a trap. kind is
// the bit that CtxTogether must have for it.
func (l *Analysis) GroupOpInCode(in *ir.Instr) (kind int, ok bool) {
	switch in.Op {
	case ir.Reduce:
		return abi.TogetherAll, in.Type() != ir.Bool && l.IsUniform(in.Result())
	case ir.Scan, ir.Subgroup:
		return abi.TogetherSegments, true
	}
	return 0, false
}

// SegmentVectors returns the number of vectors of a segment of 32 items whose values have size bytes each.
func (l *Analysis) SegmentVectors(size int) int {
	return abi.SubgroupSize * size / l.Options.Target.Bytes()
}
