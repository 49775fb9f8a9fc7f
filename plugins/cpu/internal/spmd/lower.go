package spmd

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// UnsupportedError says what the compiler does not have that a kernel needs.
type UnsupportedError struct {
	Kernel string
	Site   int // position in [ir.Kernel.Sites]
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: not compiled to vector code: %s", e.Kernel, e.What)
}

// analysis is what the compiler knows of a kernel and has decided for it before it emits instructions.
type analysis struct {
	k       *ir.Kernel
	options Options
	w       int // vector registers that hold a 32-bit value of a gang
	observe bool
	u       *ir.Uniformity
	affine  *opt.Affine
	nans    *opt.NaNs
	outputs outputs
	uses    []useInfo           // by value
	carried map[int][]*ir.Instr // by value: the continues that pass it to the next iteration
	times   map[*ir.Instr]int   // by loop: by how much it was unrolled
	band    int                 // rows of a band in column-major order; 0 for row-major order
	tiles   map[*ir.Instr]int   // the stores by transpose tiles, with their numbers
	columns map[*ir.Instr]int   // the transposed loads, with their numbers
}

// analyse analyses a kernel whose loops were unrolled, and makes the decisions that lowering follows.
func analyse(k *ir.Kernel, options Options, times map[*ir.Instr]int) *analysis {
	a := &analysis{k: k, options: options, w: options.Gang, observe: k.ObservesGroup() || options.Observes, times: times,
		u: k.Uniformity(gangScope(options.stacked)), nans: opt.FindNaNs(k), outputs: findOutputs(k)}
	a.affine = opt.FindAffine(k, a.u)
	a.gatherUses()
	if !options.stacked {
		a.chooseWalk()
	}
	a.findColumnLoads()
	return a
}

// gridBuilder emits what concerns several gangs of a work-group.
type gridBuilder interface {
	// barrier emits a barrier, or the wait for a group operation by its number from 1.
	barrier(op int)
	// groupOp emits a group operation.
	groupOp(in *ir.Instr)
	// inRounds returns the only exit of a loop that is to be interleaved, or nil.
	inRounds(loop *ir.Instr) *ir.Instr
	// beginRounds begins an interleaved loop, and returns the values of its parameters in the first iteration.
	beginRounds(loop, exit *ir.Instr) entry
	// nextInRound emits the end of an iteration, and reports whether it did.
	nextInRound(in *ir.Instr) bool
	// leaveRounds emits the exit of an interleaved loop.
	leaveRounds(in *ir.Instr)
}

// builder emits the loops over the rows, groups and gangs of a launch.
type builder struct {
	*lowerer
	start, advance         amd64.Label // where a gang of a group starts, and where the next gang continues
	begin, dispatch, ended amd64.Label // of a group: its begin, the dispatch of its gangs, and its end
	resumes                []amd64.Label
	batch                  *rounds     // the interleaved loop that the groups of a batch run together; nil if there is none
	groups                 []*ir.Instr // the group operations
	grouped                bool
	grouping               *ir.Uniformity // within whole groups; nil until it is needed
}

// newLowerer returns a lowerer that appends to a function.
func newLowerer(f *vcode.Func, a *analysis) *lowerer {
	return &lowerer{Func: f, analysis: a, vals: make([]value, a.k.NumValues()), hoisted: map[*ir.Instr]bool{},
		pitches: map[pitchKey]vcode.Reg{}, wide: map[vcode.Reg]vcode.Reg{}, rows: map[string]vcode.Reg{}, checked: map[checkKey]bool{}}
}

// lowerer turns a kernel into instructions on virtual registers.
type lowerer struct {
	*vcode.Func
	*analysis
	grid gridBuilder
	vals []value
	site int

	inBlock *ir.Block   // that is emitted
	cur     []vcode.Reg // the mask of active lanes, by register; nil if all are
	scopes  []*scope
	round   *rounds     // the loop in rounds around the present place
	dead    amd64.Label // where to go when no lane is left in the present block
	end     amd64.Label // the end of the gang

	layout  abi.Layout
	fetched map[*ir.Instr]bool // the stores whose lines are fetched before, see fetchStored
	item    itemVal            // what gangs know of their items
	hoisted map[*ir.Instr]bool
	undo    []func() // what is known only in the present block
	small   bool     // addresses need buffers to be below 2 GiB
	stop    amd64.Label

	bases   []vcode.Reg // of arrays, by ID
	pitches map[pitchKey]vcode.Reg
	wide    map[vcode.Reg]vcode.Reg // indices extended to 64 bits
	rows    map[string]vcode.Reg    // bases of addresses, see rowOf
	key     []byte                  // of the last of them that was looked for
	checked map[checkKey]bool
}

type pitchKey struct{ array, inner int }

// value is where the value of an instruction is. A uniform integer or condition is in g, a uniform float in one vector.
type value struct {
	g      vcode.Reg
	vec    []vcode.Reg
	masks  []vcode.Reg
	test   *ir.Instr // a condition that is not computed before it is used
	shadow vcode.Reg // of an affine value: that of lane 0
}

// useInfo is what is known of the uses of a value.
type useInfo struct {
	count   int
	onlyFMA bool      // only as operands of fused multiply-adds
	by      *ir.Instr // the last that uses it
	again   bool      // that is in a loop in which the value is not made
	loop    *ir.Instr // around the definition; of a loop's parameter that loop
	vector  bool      // as an operand of an instruction on vectors
}

// itemVal holds the registers that say where the gang is.
type itemVal struct {
	x     vcode.Reg // global position of lane 0
	y     vcode.Reg // and on y, of stacked gangs
	local vcode.Reg // local position of lane 0 on x
}

type unsupported struct{ err *UnsupportedError }

// refuse gives the kernel up.
func (l *lowerer) refuse(format string, args ...any) {
	panic(unsupported{&UnsupportedError{Kernel: l.k.Name, Site: l.site, What: fmt.Sprintf(format, args...)}})
}

func (l *analysis) uniform(v *ir.Value) bool { return l.u.Value(v) != ir.Varying }

// gatherUses finds how values are used.
func (l *analysis) gatherUses() {
	l.uses, l.carried = make([]useInfo, l.k.NumValues()), map[int][]*ir.Instr{}
	for i := range l.uses {
		l.uses[i].onlyFMA = true
	}
	l.gatherBlock(l.k.Body, nil)
}

func (l *analysis) gatherBlock(b *ir.Block, loop *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		l.gatherInstr(in, loop)
		inside := loop
		if in.Op == ir.Loop {
			inside = in
			for _, p := range in.Then.Params {
				l.uses[p.ID].loop = in
			}
		}
		l.gatherBlock(in.Then, inside)
		l.gatherBlock(in.Else, inside)
	}
}

func (l *analysis) gatherInstr(in, loop *ir.Instr) {
	varying := false
	for _, r := range in.Results {
		varying = varying || !l.uniform(r)
		l.uses[r.ID].loop = loop
	}
	if in.Op == ir.Continue {
		for _, a := range in.Args {
			l.carried[a.ID] = append(l.carried[a.ID], in)
		}
	}
	n := 0
	if in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Atomic {
		n = in.NumIndices()
		for _, a := range in.Args[:n] {
			varying = varying || !l.uniform(a)
		}
	}
	for i, a := range in.Args {
		u := &l.uses[a.ID]
		u.count++
		u.onlyFMA = u.onlyFMA && in.Op == ir.FMA
		u.by, u.again = in, u.loop != loop
		switch in.Op {
		case ir.Yield, ir.Break, ir.Continue, ir.Loop, ir.If:
		default:
			u.vector = u.vector || varying && i >= n
		}
	}
}

// tests reports whether a condition is used once, as that of an if or in an operation whose result is such a condition:
// it is computed there.
func (l *analysis) tests(v *ir.Value) bool {
	u := &l.uses[v.ID]
	if u.count != 1 || u.again {
		return false
	}
	switch u.by.Op {
	case ir.If:
		return true
	case ir.And, ir.Or, ir.Not:
		return v.Type == ir.Bool && l.tests(u.by.Result())
	}
	return false
}

// body emits the kernel's code for one gang, active by mask.
func (l *lowerer) body(mask []vcode.Reg, end amd64.Label) {
	l.cur, l.end, l.dead = mask, end, end
	l.scopes = l.scopes[:0]
	if n := l.layout.Dirty * l.gang(); n > 0 {
		l.clear(vcode.FrameMem(abi.FrameHead, 0), n, l.Constant(0, 4))
	}
	l.block(l.k.Body)
}

// block emits the instructions of a block but for those of the kernel's body that were hoisted.
func (l *lowerer) block(b *ir.Block) {
	mark := len(l.undo)
	line := -1
	outer := l.inBlock
	l.inBlock = b
	defer func() { l.inBlock = outer }()
	for i, in := range l.inOrder(b) {
		if b == l.k.Body && l.hoisted[in] {
			continue
		}
		l.site = in.Site
		if in.Site > 0 && in.Op != ir.Const && in.Site < len(l.k.Sites) && (l.k.Sites[in.Site].Line != line || in.Op == ir.Atomic) && in.Op != ir.Item {
			line = l.k.Sites[in.Site].Line
			l.Comment(in.Site)
		}
		if in.Op == ir.Barrier && b == l.k.Body {
			l.fetchStored(b.Instrs[i+1:])
		}
		l.instr(in)
	}
	l.forget(mark)
}

// forget drops what has become known since so many things were.
func (l *lowerer) forget(mark int) {
	for len(l.undo) > mark {
		l.undo[len(l.undo)-1]()
		l.undo = l.undo[:len(l.undo)-1]
	}
}

func (l *lowerer) instr(in *ir.Instr) {
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
		// Made where they are used.
	case ir.Load:
		l.load(in)
	case ir.Store:
		l.store(in)
	case ir.Zero:
		l.zero(in)
	case ir.Atomic:
		l.atomic(in)
	case ir.Barrier:
		l.grid.barrier(0)
	case ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup:
		l.grid.groupOp(in)
	case ir.Print, ir.Assert, ir.Call:
		l.service(in)
	case ir.Item:
		l.vals[in.Result().ID] = l.coordinate(in)
	case ir.Extent:
		r := l.NewGPR()
		l.Def(amd64.MOV, r.G4(), vcode.CtxMem(l.buffer(in.Array)+abi.BufDims+8*in.Axis, 4).At())
		l.set(in.Result(), value{g: r})
	default:
		l.compute(in)
	}
}

// set records the value of a result, and gives a uniform integer its vector at once if one is needed.
func (l *lowerer) set(v *ir.Value, val value) {
	l.vals[v.ID] = val
	if val.g != 0 && l.uses[v.ID].vector && v.Type != ir.Bool {
		l.vals[v.ID].vec = []vcode.Reg{l.splat(val.g, v.Type)}
	}
}

// splat spreads a general register over a vector.
func (l *lowerer) splat(r vcode.Reg, t ir.Type) vcode.Reg {
	d := l.NewVec()
	if t.Size() == 8 {
		l.Def(amd64.VPBROADCASTQ, d.Z(), r.G8())
	} else {
		l.Def(amd64.VPBROADCASTD, d.Z(), r.G4())
	}
	return d
}

// vector gives the vectors of a value: one if it is uniform.
func (l *lowerer) vector(v *ir.Value) []vcode.Reg {
	if in := v.Def; in != nil && in.Op == ir.Const {
		return []vcode.Reg{l.Constant(in.Bits, v.Type.Size())}
	}
	val := &l.vals[v.ID]
	if val.vec != nil {
		return val.vec
	}
	var d []vcode.Reg
	switch {
	case val.shadow != 0:
		d = l.fromShadow(v, val.shadow)
	case val.g != 0:
		d = []vcode.Reg{l.splat(val.g, v.Type)}
	default:
		panic(fmt.Sprintf("spmd: %v has no value", v))
	}
	val.vec = d
	l.undo = append(l.undo, func() { l.vals[v.ID].vec = nil })
	return d
}

// general gives the general register of a uniform integer or condition.
func (l *lowerer) general(v *ir.Value) vcode.Reg {
	if in := v.Def; in != nil && in.Op == ir.Const {
		r := l.NewGPR()
		l.moveImm(r, int64(in.Bits), v.Type)
		return r
	}
	val := &l.vals[v.ID]
	if val.test != nil {
		return l.truth(val.test)
	}
	if val.g == 0 {
		panic(fmt.Sprintf("spmd: %v is in no general register", v))
	}
	return val.g
}

func (l *lowerer) moveImm(r vcode.Reg, n int64, t ir.Type) {
	if n >= 0 && n < 1<<32 || t.Size() < 8 {
		l.Def(amd64.MOV, r.G4(), vcode.Imm(int64(uint32(n))))
	} else {
		l.Def(amd64.MOV, r.G8(), vcode.Imm(n))
	}
}

// regsOf is how many vectors a varying value of the type has.
func (l *analysis) regsOf(t ir.Type) int {
	if t.Size() == 8 {
		return 2 * l.w
	}
	return l.w
}

// variable makes registers that control flow assigns to a value.
func (l *lowerer) variable(v *ir.Value) value {
	switch {
	case l.uniform(v) && v.Type.IsFloat():
		return value{vec: []vcode.Reg{l.NewVec()}}
	case l.uniform(v):
		return value{g: l.NewGPR()}
	case v.Type == ir.Bool:
		return value{masks: l.NewMasks(l.w)}
	}
	val := value{vec: make([]vcode.Reg, l.regsOf(v.Type))}
	for i := range val.vec {
		val.vec[i] = l.NewVec()
	}
	return val
}
