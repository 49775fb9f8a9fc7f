package lower

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// MaxGroupItems is the maximum number of items of a group.
const MaxGroupItems = 1024

// Options configure [Lower].
type Options struct {
	SubgroupSize int    // 4, 8, 16, 32 or 64; 0 means 32
	MaxGroup     int    // maximum number of items per group; 0 means [MaxGroupItems]
	GroupSize    [3]int // group size of all launches, or zero if unknown
	Unchecked    bool   // only calls fault; an access out of bounds is undefined, a division by zero returns 0
	Whole        bool   // launches have only complete groups
	Unpolled     bool   // loops do not poll the stop word; all of them must terminate, as [analysis.FindWork] proves
	Lockstep     bool   // items of a group meet in every iteration of simple loops; pays where a processor runs groups as loops
	Observes     bool   // the kernel observed its groups before optimization, so prints are ordered by group
}

// Kernel is a lowered kernel.
type Kernel struct {
	IR           *ir.Kernel // valid by [ir.Module.VerifyLowered]; its last parameter is Records
	Source       *ir.Kernel // the source kernel
	Records      *ir.Array  // u32 words, which [Kernel.Read] decodes
	Messages     []Message  // by message index, with which a record of a print begins
	FaultWords   int        // words of the longest fault record
	observes     bool       // prints are ordered by group
	slotWords    int        // words per call slot; 0 if the kernel calls no service
	SubgroupSize int        // lanes of a subgroup
	MaxGroup     int        // maximum number of items per group
	Meets        bool       // the kernel has barriers, which all items of a group reach
}

// UnsupportedError reports that a kernel cannot be lowered, because of an operation, the kernel's size or the [Options].
type UnsupportedError struct {
	Kernel string
	Site   int // index in [ir.Kernel.Sites]; 0 if the cause is not one operation
	What   string
}

// Error returns the kernel's name and the cause.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: unsupported: %s", e.Kernel, e.What)
}

// Code returns "unsupported", an error code of runtime/offload.
func (e *UnsupportedError) Code() string { return "unsupported" }

// Lower rewrites a kernel of a verified module in leaves of a target. Calls of the device library must have been expanded by
// kernels.Library.Expand. The source kernel is not changed. Its proofs ([ir.Instr.Proved]) remove checks. The error is an
// [*UnsupportedError].
func Lower(k *ir.Kernel, target *Target, o Options) (*Kernel, error) {
	if o.SubgroupSize == 0 {
		o.SubgroupSize = 32
	}
	if o.MaxGroup == 0 {
		o.MaxGroup = MaxGroupItems
	}
	switch o.SubgroupSize {
	case 4, 8, 16, 32, 64:
	default:
		return nil, &UnsupportedError{k.Name, 0, fmt.Sprintf("subgroup size %d is not 4, 8, 16, 32 or 64", o.SubgroupSize)}
	}
	if o.MaxGroup < 1 || o.MaxGroup > MaxGroupItems {
		return nil, &UnsupportedError{k.Name, 0, fmt.Sprintf("groups of %d items; 1 to %d are possible", o.MaxGroup, MaxGroupItems)}
	}
	l := newLowering(k, target, o)
	if err := l.supported(); err != nil {
		return nil, err
	}
	l.begin()
	l.block(k.Body)
	if l.meets {
		if l.converges() != nil { // a group operation depends on a loop that items may leave separately
			l = newLowering(k, target, o)
			l.coupled = true
			l.begin()
			l.block(k.Body)
		}
		if err := l.converges(); err != nil {
			return nil, err
		}
		l.exchangeGroups()
	}
	if !target.NestedJumps() {
		l.singleLevel()
	}
	l.out.IR.Body.Instrs = slices.Concat(l.entry.Instrs, l.out.IR.Body.Instrs)
	l.sweep()
	l.out.IR.Renumber()
	if n := l.size(); n > ir.MaxInstrs || len(l.out.IR.Arrays) > ir.MaxArrays {
		return nil, &UnsupportedError{k.Name, 0, fmt.Sprintf("lowered it has %d instructions and %d arrays; %d and %d are possible", n, len(l.out.IR.Arrays), ir.MaxInstrs, ir.MaxArrays)}
	}
	return l.out, nil
}

// maxNesting is the maximum nesting of a source kernel. It reserves depth for the blocks that lowering adds: one per index of
// an access, and a few more.
const maxNesting = ir.MaxDepth - ir.MaxPath - 9

// depth returns the maximum depth of the blocks nested in b, or 0 if there are none.
func depth(b *ir.Block) (most int) {
	if b == nil {
		return 0
	}
	for _, in := range b.Instrs {
		if in.Then != nil {
			most = max(most, 1+depth(in.Then), 1+depth(in.Else))
		}
	}
	return most
}

// loopFacts describes the loops of a kernel.
type loopFacts struct {
	brief map[*ir.Instr]bool // loops without polls
	up    map[*ir.Value]bool // counters that are not negative; nil without [Target.WideIndices]
	after map[*ir.Instr]bool // instructions followed by a barrier; see findLockstep
}

// lowering is the state for lowering one kernel.
type lowering struct {
	emitter
	loopFacts
	from    *ir.Kernel
	options Options
	out     *Kernel

	uniform *ir.Uniformity
	values  map[*ir.Value]*ir.Value // lowered values, by source value
	targets map[*ir.Instr]*ir.Instr
	arrays  map[*ir.Array]*ir.Array

	meets   bool         // the kernel has group operations, so all items run to the end of the kernel
	group   [3]*ir.Value // position of the group
	local   [3]*ir.Value // position of the item in the group
	global  [3]*ir.Value // position of the item in the launch
	wide    [3]*ir.Value // global identifiers as i64, for addresses; nil without [Target.WideIndices]
	number  *ir.Value    // index of the item in its group
	items   *ir.Value    // items in a full group
	alive   variable     // the item is present and has neither faulted nor been stopped; see isAlive
	steady  bool         // all items are active throughout
	coupled bool         // items of a group leave all loops in the same iteration
	ticks   variable     // iterations of loops that items leave separately
	first   *firstStores
	around  []*ir.Instr // structured instructions around the current position
}

func newLowering(k *ir.Kernel, target *Target, o Options) *lowering {
	n := &ir.Kernel{Name: k.Name, Real: k.Real, Sites: slices.Clone(k.Sites), Body: &ir.Block{}}
	l := &lowering{from: k, options: o, values: map[*ir.Value]*ir.Value{}, targets: map[*ir.Instr]*ir.Instr{}, arrays: map[*ir.Array]*ir.Array{}}
	l.out = &Kernel{IR: n, Source: k, SubgroupSize: o.SubgroupSize, MaxGroup: o.MaxGroup, FaultWords: longestFault(k), slotWords: slotLength(k)}
	l.emitter = emitter{Builder: ir.Builder{Kernel: n, Block: n.Body}, target: target, taken: map[string]bool{}, consts: map[constant]*ir.Value{}}
	for _, p := range k.Params {
		l.taken[p.Name] = true
	}
	for _, a := range k.Arrays {
		l.taken[a.Name] = true
		c := *a
		if a.Space != ir.Global {
			c.ID = len(n.Arrays)
			n.Arrays = append(n.Arrays, &c)
		}
		l.arrays[a] = &c
	}
	scalars := k.Body.Params
	for _, p := range k.Params {
		if p.Array != nil {
			p.Array = l.arrays[p.Array]
		} else {
			v := n.NewValue(p.Type, nil)
			v.Name = scalars[0].Name
			n.Body.Params = append(n.Body.Params, v)
			l.values[scalars[0]] = v
			scalars = scalars[1:]
		}
		n.Params = append(n.Params, p)
	}
	l.out.Records = &ir.Array{Name: l.unique(".records"), Space: ir.Global, Elem: ir.Elem{Scalar: ir.U32}, Rank: 1}
	n.Params = append(n.Params, ir.Param{Name: l.out.Records.Name, Array: l.out.Records})
	var buffers []*ir.Array
	for _, p := range n.Params {
		if p.Array != nil {
			buffers = append(buffers, p.Array)
		}
	}
	n.Arrays = append(buffers, n.Arrays...)
	for i, a := range n.Arrays {
		a.ID = i
	}
	k.Body.Walk(func(in *ir.Instr) { l.meets = l.meets || in.Op.IsGroup() || in.Op == ir.Subgroup })
	l.out.observes = o.Observes || k.ObservesGroup()
	l.out.Meets = l.meets
	l.uniform = k.Uniformity(ir.Scope{})
	l.brief = analysis.BriefLoops(k, briefWork)
	if l.target.WideIndices() {
		l.up = analysis.CountersUp(k)
	}
	if o.Lockstep {
		l.after = l.findLockstep()
		l.out.Meets = l.meets || len(l.after) > 0
	}
	return l
}

// supported returns an error for the first operation that has no lowering, or for blocks that nest too deep.
func (l *lowering) supported() (err error) {
	l.from.Body.Walk(func(in *ir.Instr) {
		what := ""
		switch in.Op {
		case ir.Math:
			what = fmt.Sprintf("function %s of the device library, which is not expanded", in.Fn)
		case ir.Lib:
			what = fmt.Sprintf("function %s of the device library, which is not expanded", in.Fn)
		case ir.Clock:
			if !l.target.Has("clock", ir.Void) {
				what = "a clock, which the target does not have"
			}
		case ir.Call:
			if !l.target.CallsHost() {
				what = fmt.Sprintf("a call of the host's service %s", in.Fn)
			}
		}
		if what != "" && err == nil {
			err = &UnsupportedError{l.from.Name, in.Site, what}
		}
	})
	if n := depth(l.from.Body); n > maxNesting && err == nil {
		err = &UnsupportedError{l.from.Name, 0, fmt.Sprintf("blocks nest %d deep; at most %d are possible", n, maxNesting)}
	}
	return err
}

// converges verifies that all items of a group, including absent and faulted ones, reach each group operation together. If they
// may not, it returns an [*UnsupportedError].
func (l *lowering) converges() error {
	k := l.out.IR
	body := *k.Body
	body.Instrs = slices.Concat(l.entry.Instrs, k.Body.Instrs)
	whole := *k
	whole.Body = &body
	for _, d := range whole.Uniformity(ir.Scope{Apart: l.out.Records}).Divergences() {
		return &UnsupportedError{l.from.Name, d.Instr.Site, fmt.Sprintf("%v is in control flow that items which had a fault may leave", d.Instr.Op)}
	}
	return nil
}

// begin emits the prologue: coordinates, cleared memory, and the end of absent items. In kernels with group operations it marks
// absent items as not alive instead.
func (l *lowering) begin() {
	e := &l.emitter
	for axis := range l.global {
		l.group[axis], l.local[axis] = e.item(ir.GroupID, axis), e.item(ir.LocalID, axis)
		size := e.item(ir.GroupSize, axis)
		l.global[axis] = e.add(e.mul(l.group[axis], size), l.local[axis])
		if l.target.WideIndices() {
			l.wide[axis] = e.add(e.mul(e.convert(ir.I64, l.group[axis]), e.convert(ir.I64, size)), e.convert(ir.I64, l.local[axis]))
		}
	}
	x, y, z := e.item(ir.GroupSize, 0), e.item(ir.GroupSize, 1), e.item(ir.GroupSize, 2)
	l.items = e.mul(e.mul(x, y), z)
	l.number = e.add(l.local[0], e.mul(x, e.add(l.local[1], e.mul(y, l.local[2]))))
	present := e.konst(ir.Bool, 1)
	for axis, at := range l.global {
		if l.options.Whole {
			break
		}
		// The last group of an axis may extend beyond 2^31.
		in := e.lt(e.wrap(ir.U32, at), e.wrap(ir.U32, e.item(ir.GlobalSize, axis)))
		present = e.and(present, in)
	}
	l.first = l.findFirstStores()
	l.clearShared()
	if l.from.ReadsDirty() {
		for _, a := range l.from.Arrays {
			if a.Space == ir.Private {
				l.clear(l.arrays[a], nil)
			}
		}
	}
	l.ticks = e.newVariable(".ticks", ir.I32)
	e.set(l.ticks, e.i32(0))
	if !l.meets {
		if !l.options.Whole {
			e.leave(e.not(present), ir.Return, nil)
		}
		return
	}
	l.steady = l.allSurvive()
	l.alive = e.newVariable(".alive", ir.Bool)
	e.set(l.alive, present)
	l.first.begin(l)
}

// allSurvive reports whether every item is known to be present, and neither faults nor can be stopped by the host.
func (l *lowering) allSurvive() bool {
	all := l.options.Whole
	l.from.Body.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Call, in.Op == ir.Loop && !l.options.Unpolled && !l.brief[in], !l.options.Unchecked && analysis.MayFault(in):
			all = false
		}
	})
	return all
}

// isAlive returns the condition that the item is present and has neither faulted nor been stopped.
func (l *lowering) isAlive() *ir.Value {
	if l.steady {
		return l.konst(ir.Bool, 1)
	}
	return l.get(l.alive)
}

// clear emits stores of zero to all elements of an array. Each item clears the whole array if shared is nil. Otherwise the items
// of the group share the work.
func (l *lowering) clear(a *ir.Array, shared *ir.Value) {
	const unrolled = 64
	e := &l.emitter
	bytes, t := a.Bytes(), ir.U64
	for _, t = range []ir.Type{ir.U64, ir.U32, ir.U16, ir.U8} {
		if bytes%t.Size() == 0 && a.Elem.Align()%t.Size() == 0 {
			break
		}
	}
	zero := e.zero(t.Value())
	if shared == nil && bytes <= unrolled {
		for at := 0; at < bytes; at += t.Size() {
			e.store(t, a, e.int(ir.I64, int64(at)), zero)
		}
		return
	}
	start, step := e.zero(ir.I64), e.int(ir.I64, int64(t.Size()))
	if shared != nil {
		start = e.mul(e.convert(ir.I64, l.number), step)
		step = e.mul(e.convert(ir.I64, l.items), step)
	}
	e.loop(nil, []*ir.Value{start}, func(in *ir.Instr, p []*ir.Value) {
		e.leave(e.le(e.int(ir.I64, int64(bytes)), p[0]), ir.Break, in)
		e.store(t, a, p[0], zero)
		e.jump(ir.Continue, in, e.add(p[0], step))
	})
}

// clearShared clears the shared arrays that the kernel accesses, except those in l.first. A barrier follows if there are any.
func (l *lowering) clearShared() {
	any := false
	used := map[*ir.Array]bool{}
	l.from.Body.Walk(func(in *ir.Instr) { used[in.Array] = true })
	for _, a := range l.from.Arrays {
		if a.Space == ir.Shared && used[a] && !l.first.has(a) {
			l.clear(l.arrays[a], l.number)
			any = true
		}
	}
	if any {
		l.Op(ir.Barrier, ir.Void)
		l.out.Meets = true
	}
}

// sweep removes pure instructions, divisions and loads with unused results, and then dead variables and arrays.
func (l *lowering) sweep() {
	k := l.out.IR
	used := make([]bool, k.NumValues())
	var block func(b *ir.Block)
	block = func(b *ir.Block) {
		if b == nil {
			return
		}
		keep := len(b.Instrs)
		out := make([]*ir.Instr, keep)
		for i := len(b.Instrs) - 1; i >= 0; i-- {
			in := b.Instrs[i]
			if in.Op.IsPure() || in.Op == ir.Div || in.Op == ir.Rem || in.Op == ir.Load {
				live := false
				for _, r := range in.Results {
					live = live || used[r.ID]
				}
				if !live {
					continue
				}
			}
			for _, a := range in.Args {
				used[a.ID] = true
			}
			block(in.Else)
			block(in.Then)
			keep--
			out[keep] = in
		}
		b.Instrs = out[keep:]
	}
	for before := -1; before != l.size(); {
		before = l.size()
		clear(used)
		// operands of terminators and loops are marked before the visit, which runs backwards
		k.Body.Walk(func(in *ir.Instr) {
			if in.Op.IsTerminator() || in.Op == ir.Loop {
				for _, a := range in.Args {
					used[a.ID] = true
				}
			}
		})
		block(k.Body)
	}
	l.dropDeadVariables()
}

func (l *lowering) size() (n int) {
	l.out.IR.Body.Walk(func(*ir.Instr) { n++ })
	return n
}

// dropDeadVariables removes stores to private arrays that are never loaded, and all arrays without accesses except buffers.
func (l *lowering) dropDeadVariables() {
	k := l.out.IR
	loaded, used := map[*ir.Array]bool{}, map[*ir.Array]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Store {
			loaded[in.Array] = true
		}
	})
	var block func(b *ir.Block)
	block = func(b *ir.Block) {
		if b != nil {
			b.Instrs = slices.DeleteFunc(b.Instrs, func(in *ir.Instr) bool {
				return in.Op == ir.Store && in.Array.Space == ir.Private && !loaded[in.Array]
			})
			for _, in := range b.Instrs {
				if in.Array != nil {
					used[in.Array] = true
				}
				block(in.Then)
				block(in.Else)
			}
		}
	}
	block(k.Body)
	k.Arrays = slices.DeleteFunc(k.Arrays, func(a *ir.Array) bool { return a.Space != ir.Global && !used[a] })
	for i, a := range k.Arrays {
		a.ID = i
	}
}
