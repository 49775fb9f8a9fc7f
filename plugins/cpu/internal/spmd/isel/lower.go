package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Grid emits code that concerns several gangs of a work-group. Package grid implements it.
type Grid interface {
	// Barrier emits a barrier if op is 0, else the wait for the group operation with number op, counted from 1.
	Barrier(op int)
	// GroupOp emits a group operation.
	GroupOp(in *ir.Instr)
	// Interleaves returns the only exit of a loop that should be interleaved, or nil for other loops.
	Interleaves(loop *ir.Instr) *ir.Instr
	// BeginInterleaved emits the rounds of an interleaved loop. exit is the result of Interleaves. It returns the values of the
	// loop's parameters for the ordinary loop that follows.
	BeginInterleaved(loop, exit *ir.Instr) values.Entry
	// NextIteration ends an iteration; in is its Continue. It does nothing and returns false unless in continues an interleaved loop
	// and another iteration of the gang follows in the round.
	NextIteration(in *ir.Instr) bool
	// LeaveInterleaved emits the exit of an interleaved loop.
	LeaveInterleaved(in *ir.Instr)
}

// New returns a lowerer of an analysed kernel that appends instructions to f. The caller sets its Grid, Layout and
// Stop.
func New(f *vcode.Func, a *plan.Analysis) *Lowerer {
	return &Lowerer{Memory: memory.New(f, a), Hoisted: map[*ir.Instr]bool{}, jumps: findJumps(a.Kernel.Body, a.Uniform.Diverges)}
}

// Lowerer lowers the IR of a kernel to instructions on virtual registers, for one gang.
type Lowerer struct {
	memory.Memory
	Grid    Grid
	Scopes  []*Scope
	Dead    amd64.Label // the target of jumps that are taken if no lane is active
	Hoisted map[*ir.Instr]bool
	Stop    amd64.Label
	jumps   map[*ir.Instr]*jumps
}

// Body emits the kernel's code for one gang. The mask has the active lanes, nil for all. The code jumps to end when all lanes have
// ended.
func (l *Lowerer) Body(mask []vcode.Reg, end amd64.Label) {
	l.Cur, l.End, l.Dead = mask, end, end
	l.Scopes = l.Scopes[:0]
	if n := l.Layout.Dirty * l.Lanes(); n > 0 {
		l.Clear(vcode.FrameMem(abi.FrameHead, 0), n, l.Constant(0, 4))
	}
	l.Block(l.Kernel.Body)
}

// Block emits the instructions of a block, except hoisted ones.
func (l *Lowerer) Block(b *ir.Block) {
	mark := len(l.Undo)
	line := -1
	outer := l.InBlock
	l.InBlock = b
	defer func() { l.InBlock = outer }()
	for i, in := range l.inOrder(b) {
		if b == l.Kernel.Body && l.Hoisted[in] {
			continue
		}
		if in.Site > 0 && in.Op != ir.Const && in.Site < len(l.Kernel.Sites) && (l.Kernel.Sites[in.Site].Line != line || in.Op == ir.Atomic) && in.Op != ir.Item {
			line = l.Kernel.Sites[in.Site].Line
			l.Comment(in.Site)
		}
		if in.Op == ir.Barrier && b == l.Kernel.Body {
			l.FetchStored(b.Instrs[i+1:])
		}
		l.Instr(in)
	}
	l.Forget(mark)
}

// Instr emits an instruction, with the blocks in it. It emits nothing for a Const, which is emitted at its uses.
func (l *Lowerer) Instr(in *ir.Instr) {
	if in.Op != ir.Load && !in.IsPure() {
		defer func() { l.Epoch++ }()
	}
	switch in.Op {
	case ir.Region, ir.If, ir.Loop:
		l.structured(in)
	case ir.Yield:
		l.yield(in)
	case ir.Break, ir.Continue:
		l.leave(in)
	case ir.Return, ir.Unreachable:
		l.finish()
	case ir.Const:
		// Emitted at their uses.
	case ir.Load:
		l.Load(in)
	case ir.Store:
		l.Store(in)
	case ir.Zero:
		l.Zero(in, len(l.Scopes) == 0)
	case ir.Atomic:
		l.Atomic(in)
	case ir.Barrier:
		l.Grid.Barrier(0)
	case ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup:
		l.Grid.GroupOp(in)
	case ir.Print, ir.Assert, ir.Call, ir.Clock:
		l.Service(in)
	case ir.Fence:
		if in.Reach != ir.ReachGroup { // one thread runs all gangs of a group
			l.Use(amd64.MFENCE)
		}
	case ir.Pause:
		l.Use(amd64.PAUSE)
	case ir.Item:
		l.Vals[in.Result().ID] = l.Coordinate(in)
	case ir.Extent:
		r := l.NewGPR()
		l.Def(amd64.MOV, r.G4(), vcode.CtxMem(l.Buffer(in.Array)+abi.BufDims+8*in.Axis, 4).At())
		l.Set(in.Result(), values.Value{G: r})
	default:
		l.Evaluate(in)
	}
}
