package spmd

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// code is a kernel in machine code, with what Go needs to know of it.
type code struct {
	bytes     []byte
	listing   string
	layout    layout
	arrays    []*ir.Array
	regs      []vreg
	where     *allocation // of regs
	traps     []trap
	groups    []*ir.Instr   // group operations
	constants map[vr]uint64 // elements of constants
	resume    int           // offset of the code that goes on after a trap; 0 if there are none
	ends      []int
	frame     int // bytes of a gang's frame
	context   int // bytes of the context
	shared    int // where registers that gangs share begin in it
	lanes     int // of a gang
	width     int // items of a gang in a row, and rows
	height    int
	target    *target
	small     bool
	batchRow  int  // bytes of a row that groups load together in a round; 0 if groups do no rounds together
	band      int  // rows of the bands in which gangs go down columns; 0 if they go along rows
	barrier   bool // the kernel has barriers or group operations: gangs of a group run by turns
}

// maxBoth is the number of instructions up to which gangs with all lanes get code of their own.
const maxBoth = 600

// generate makes the code of a kernel for one launch shape.
func generate(k *ir.Kernel, options Options, list func(site int) string) (c *code, err error) {
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(unsupported)
			if !ok {
				panic(p)
			}
			c, err = nil, u.err
		}
	}()
	if options.Model == nil {
		options.Model = uarch.Generic()
	}
	work := options.Workspace
	if work == nil {
		work = new(Workspace)
	}
	room := work.take(options.Features)
	asm := &room.asm
	if list != nil {
		asm.StartListing()
	}
	k, times := repeated(k, options)
	l := &lowerer{
		fn: &fn{t: options.target, few: options.few, asm: asm, room: &room.scratch, regs: append(room.regs, vreg{}), insts: room.insts, spare: room.spare, consts: map[constKey]vr{}},
		k:  k, options: options, w: options.Gang, observe: k.ObservesGroup() || options.Observes,
		vals: make([]value, k.NumValues()), hoisted: map[*ir.Instr]bool{}, pitches: map[pitchKey]vr{}, wide: map[vr]vr{}, rows: map[string]vr{},
		checked: map[checkKey]bool{}, times: times,
	}
	l.u = k.Uniformity(gangScope(options.stacked))
	l.affine = opt.FindAffine(k, l.u)
	l.nans = opt.FindNaNs(k)
	l.gatherUses()
	l.outputs = findOutputs(k)
	if !options.stacked {
		l.chooseWalk()
	}
	l.findColumnLoads()
	l.place0()
	l.stop = asm.NewLabel()
	done := asm.NewLabel()
	l.shared = true
	l.prologue()
	if l.options.single {
		l.overSingles(done)
	} else if l.observe {
		l.overGroups(done)
	} else {
		l.overRows(done)
	}
	if options.stacked {
		l.fn.shareEqual()
	}
	if l.t == &avx2 {
		if err := expandAVX2(l.fn); err != nil {
			return nil, &UnsupportedError{Kernel: k.Name, What: err.Error()}
		}
	}
	l.fn.moveInvariants(l.observe)
	l.fn.reduceStrength(l.observe)
	l.fn.sweep()
	l.fn.coalesce()
	l.fn.foldLoads(options.single)
	l.fn.turnJumps()
	fresh := l.begin // the next group
	if l.batch != nil {
		fresh = 0 // other groups of the batch may wait then
	}
	l.fn.splitAtBarriers(l.advance, l.start, fresh)
	where := l.fn.allocate()

	c = &code{layout: l.layout, arrays: k.Arrays, traps: l.traps, lanes: l.gang(), width: l.width(), height: l.height(), target: l.t, small: l.small, band: l.band, barrier: len(l.resumes) > 0, batchRow: l.batchBytes()}
	c.frame = l.layout.frame + int(where.frameBytes)
	c.shared = l.layout.size
	c.context = l.layout.size + int(where.sharedBytes)
	trapLabel := asm.NewLabel()
	w := &writer{f: l.fn, where: where, asm: asm, trap: trapLabel, shared: int32(c.shared), frame: int32(l.layout.frame), comment: list}
	asm.Emit(amd64.MOV, regContext, amd64.RDI)
	asm.Emit(amd64.MOV, regFrame, amd64.Mem{Base: regContext, Disp: ctxFrame})
	for _, r := range l.order {
		if where.phys[r] >= 0 {
			w.load(r, w.machine(r, uint8(l.t.bytes())))
		}
	}
	w.write()
	asm.Bind(l.stop)
	asm.Bind(done)
	if options.stores == kindPast {
		asm.Emit(amd64.SFENCE)
	}
	asm.Emit(amd64.MOV, amd64.Mem{Base: regContext, Disp: ctxStatus, Size: 4}, amd64.Imm(0))
	asm.Emit(amd64.VZEROUPPER)
	asm.Emit(amd64.RET)
	var resume amd64.Label
	if len(l.traps) > 0 {
		resume = emitTrap(asm, l.t, trapLabel)
	}
	if c.bytes, err = asm.Finish(); err != nil {
		if l.t == &avx2 { // an instruction that it lacks and that has no expansion
			return nil, &UnsupportedError{Kernel: k.Name, What: fmt.Sprintf("%s: %v", l.t.name, err)}
		}
		return nil, fmt.Errorf("kernel %s: %w: %s", k.Name, err, w.failed)
	}
	c.groups = l.groups
	if len(c.traps) > 0 {
		c.regs, c.where, c.constants = slices.Clone(l.regs), where, map[vr]uint64{}
		for key, r := range l.consts {
			c.constants[r] = key.bits
		}
	}
	c.resume, _ = asm.Offset(resume)
	for i := range c.traps {
		at := -1
		if c.traps[i].end != 0 {
			at, _ = asm.Offset(c.traps[i].end)
		}
		c.ends = append(c.ends, at)
	}
	c.listing = asm.Listing()
	work.give(room, l.fn)
	return c, nil
}

// place0 lays the context and the frames out.
func (l *lowerer) place0() {
	y := &l.layout
	y.args = ctxArgs
	y.buffers = y.args + 8*len(l.k.Params)
	at := y.buffers + bufSize*len(l.k.Arrays)
	y.private, y.arrays, y.places = map[int]int{}, map[int]int{}, map[int]int{}
	private := 0
	for _, a := range l.k.Arrays {
		switch a.Space {
		case ir.Private:
			y.private[a.ID] = private
			private += (a.Bytes() + 7) &^ 7
		case ir.Shared:
			y.places[a.ID] = y.shared
			y.shared += (a.Bytes() + 63) &^ 63
			fallthrough
		case ir.Table:
			y.arrays[a.ID] = at
			at += 8
		}
	}
	if l.k.ReadsDirty() {
		y.dirty = private
	}
	y.columns = (at + 63) &^ 63
	y.size = y.columns + l.columnBytes()
	y.scratch = frameHead + private*l.gang()
	y.group = y.scratch + l.t.bytes()*scratchVectors
	y.lanes = l.gang()
	y.tiles = y.group + groupBytes(l.gang())
	y.frame = y.tiles + len(l.tiles)*l.w*l.tileBytes()
	if y.frame > 16<<20 {
		l.refuse("%d bytes of private arrays", private)
	}
}

// prologue emits what is the same for the whole launch.
func (l *lowerer) prologue() {
	scalars := l.k.Body.Params
	for i, p := range l.k.Params {
		if p.Array != nil {
			continue
		}
		v := scalars[0]
		scalars = scalars[1:]
		from := ctxMem(l.layout.args+8*i, v.Type.Size())
		switch {
		case v.Type.IsFloat():
			d := l.vec()
			from.size = 0
			l.def(sized(v.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), z(d), at(from))
			l.set(v, value{vec: []vr{d}})
		case v.Type == ir.Bool:
			d := l.gpr()
			from.size = 4
			l.def(amd64.MOV, g4(d), at(from))
			l.set(v, value{g: d})
		default:
			d := l.gpr()
			l.def(amd64.MOV, g(d, v.Type.Size()), at(from))
			l.set(v, value{g: d})
		}
	}
	used := make([]bool, len(l.k.Arrays))
	pitches := map[pitchKey]bool{}
	var order []pitchKey
	l.k.Body.Walk(func(in *ir.Instr) {
		if in.Array == nil || in.Op == ir.Extent || in.Op == ir.Zero {
			return
		}
		used[in.Array.ID] = true
		for _, n := range in.Resolve().Inner {
			key := pitchKey{in.Array.ID, n}
			if n > 0 && !pitches[key] {
				pitches[key] = true
				order = append(order, key)
			}
		}
	})
	l.bases = make([]vr, len(l.k.Arrays))
	for _, a := range l.k.Arrays {
		if !used[a.ID] || a.Space == ir.Private {
			continue
		}
		r := l.gpr()
		l.bases[a.ID] = r
		place := l.buffer(a) + bufBase
		if a.Space != ir.Global {
			place = l.layout.arrays[a.ID]
		}
		l.def(amd64.MOV, g8(r), at(ctxMem(place, 8)))
	}
	for _, key := range order {
		a := l.k.Arrays[key.array]
		r := l.gpr()
		l.def(amd64.MOV, g8(r), at(ctxMem(l.buffer(a)+bufDims+8*(a.Rank-1), 8)))
		for n := 2; n <= key.inner; n++ {
			l.mod(amd64.IMUL, g8(r), at(ctxMem(l.buffer(a)+bufDims+8*(a.Rank-n), 8)))
		}
		l.pitches[key] = r
	}
	l.hoist(func(in *ir.Instr) bool {
		return in.Op == ir.Extent || in.Op == ir.Item && (in.Item == ir.GlobalSize || in.Item == ir.GroupSize ||
			in.Item == ir.NumGroups || in.Item == ir.SubgroupSize)
	})
}

func (l *lowerer) base(a *ir.Array) vr { return l.bases[a.ID] }

func (l *lowerer) pitch(a *ir.Array, inner int) vr { return l.pitches[pitchKey{a.ID, inner}] }

// hoist emits the instructions of the kernel's body that depend only on others that are already known and on items that
// root accepts, before gangs begin.
func (l *lowerer) hoist(root func(*ir.Instr) bool) {
	known := func(v *ir.Value) bool {
		in := v.Def
		return in == nil || in.Op == ir.Const || l.hoisted[in]
	}
	for _, in := range l.k.Body.Instrs {
		if l.hoisted[in] || in.Op == ir.Const || len(in.Results) != 1 || in.Then != nil {
			continue
		}
		ok := root(in)
		if !ok && in.Op != ir.Item && in.Op != ir.Extent && in.Op <= ir.Math && in.IsPure() && in.Proved == 0 && len(in.Args) > 0 &&
			(l.uniform(in.Results[0]) || l.options.stacked) {
			ok = true
			for _, a := range in.Args {
				ok = ok && known(a)
			}
		}
		if !ok {
			continue
		}
		l.hoisted[in] = true
		l.site = in.Site
		l.instr(in)
	}
	l.undo = l.undo[:0] // what is emitted here stays known
}

// overRows emits the loops over the rows of the launch and the gangs of each.
func (l *lowerer) overRows(done amd64.Label) {
	width := l.width()
	shift := int64(bits.TrailingZeros(uint(width)))
	row := l.label()
	size := l.gpr()
	l.def(amd64.MOV, g4(size), at(ctxMem(ctxSize, 4)))
	l.fn.shared = false
	l.mark(kindLoopBegin)
	l.bind(row)
	if len(l.tiles) > 0 {
		x := l.gpr()
		l.def(amd64.MOV, g4(x), at(ctxMem(ctxX, 4)))
		l.beginTile(x)
	}
	if l.options.stacked {
		l.item.y = l.gpr()
		l.def(amd64.MOV, g4(l.item.y), at(ctxMem(ctxY, 4)))
	}
	l.hoist(func(in *ir.Instr) bool { return in.Op == ir.Item && in.Item == ir.GlobalID && in.Axis > 0 })
	pos, last := l.gpr(), l.gpr()
	l.def(amd64.MOV, g4(pos), at(ctxMem(ctxX, 4)))
	if l.band > 0 {
		l.def(amd64.LEA, g8(last), at(mem{base: pos, disp: int32(width)}))
	} else {
		l.def(amd64.MOV, g8(last), at(ctxMem(ctxLeft, 8)))
		l.mod(amd64.SHL, g8(last), imm(shift))
		l.mod(amd64.ADD, g8(last), g8(pos))
	}
	l.use(amd64.CMP, g8(last), g8(size))
	l.mod(amd64.CMOVG, g8(last), g8(size))
	l.item.x = pos

	count := 0
	l.k.Body.Walk(func(*ir.Instr) { count++ })
	next := l.label()
	both := count*l.w <= maxBoth
	if both {
		l.wholeGangs(pos, last)
	}
	if both && l.narrows() {
		w := l.w
		l.w = 1
		l.wholeGangs(pos, last)
		l.lastGang(pos, last, next, false)
		l.w = w
	} else {
		l.lastGang(pos, last, next, !both || l.options.stacked) // of a stacked gang any may be at the bottom
	}
	l.bind(next)
	if l.band > 0 {
		if len(l.tiles) > 0 {
			l.nextInTile()
		}
		l.nextInColumn(row, done)
	} else {
		l.nextRow(row, done, last, shift)
	}
	l.mark(kindLoopEnd)
}

// narrows reports whether the gangs at the end of a row may have one register: where wide gangs have no places of their own
// in memory, and none does more than its neighbours.
func (l *lowerer) narrows() bool {
	return l.w > 1 && !l.options.stacked && l.band == 0 && len(l.tiles) == 0 && len(l.columns) == 0
}

// wholeGangs emits the loop over the gangs of a row that have all their lanes, up to where fewer items are left.
func (l *lowerer) wholeGangs(pos, last vr) {
	width := int64(l.width())
	top, end, tail := l.label(), l.label(), l.label()
	if l.options.stacked {
		l.jumpAtBottom(tail)
	}
	fits := func(jump amd64.Op, to amd64.Label) {
		t := l.gpr()
		l.def(amd64.LEA, g8(t), at(mem{base: pos, disp: int32(width)}))
		l.use(amd64.CMP, g8(t), g8(last))
		l.jump(jump, to)
	}
	fits(amd64.JG, tail)
	l.mark(kindLoopBegin)
	l.bind(top)
	l.body(nil, end)
	l.bind(end)
	l.mod(amd64.ADD, g8(pos), imm(width))
	l.poll()
	fits(amd64.JLE, top)
	l.mark(kindLoopEnd)
	l.bind(tail)
}

// lastGang emits the gang at the end of a row that lacks lanes, or all that are left of the row, one after the other.
func (l *lowerer) lastGang(pos, last vr, next amd64.Label, several bool) {
	again, end := l.label(), l.label()
	l.mark(kindLoopBegin)
	l.bind(again)
	l.use(amd64.CMP, g8(pos), g8(last))
	l.jump(amd64.JGE, next)
	l.body(l.inLaunch(pos, last), end)
	l.bind(end)
	l.mod(amd64.ADD, g8(pos), imm(int64(l.width())))
	if several {
		l.poll()
		l.jump(amd64.JMP, again)
	}
	l.mark(kindLoopEnd)
}

// nextRow goes on at the left of the next row, or below all of a stacked gang.
func (l *lowerer) nextRow(row, done amd64.Label, last vr, shift int64) {
	n := l.gpr()
	l.def(amd64.MOV, g4(n), at(ctxMem(ctxX, 4)))
	l.mod(amd64.SUB, g8(last), g8(n))
	l.mod(amd64.ADD, g8(last), imm(int64(l.width()-1)))
	l.mod(amd64.SHR, g8(last), imm(shift))
	l.use(amd64.SUB, at(ctxMem(ctxLeft, 8)), g8(last))
	l.jump(amd64.JLE, done)
	l.use(amd64.MOV, at(ctxMem(ctxX, 4)), imm(0))
	y := l.gpr()
	l.def(amd64.MOV, g4(y), at(ctxMem(ctxY, 4)))
	l.mod(amd64.ADD, g4(y), imm(int64(l.height())))
	l.use(amd64.MOV, at(ctxMem(ctxY, 4)), g4(y))
	l.use(amd64.CMP, g4(y), at(ctxMem(ctxSize+4, 4)))
	l.jump(amd64.JB, row) // it may be 2^31 and more
	l.use(amd64.MOV, at(ctxMem(ctxY, 4)), imm(0))
	l.use(amd64.ADD, at(ctxMem(ctxZ, 4)), imm(1))
	l.jump(amd64.JMP, row)
}

// inLaunch gives the masks of the lanes whose positions from pos on are below a limit, and in rows of the launch.
func (l *lowerer) inLaunch(pos, limit vr) []vr {
	left := l.gpr()
	l.def(amd64.MOV, g8(left), g8(limit))
	l.mod(amd64.SUB, g8(left), g8(pos))
	if l.options.stacked {
		return l.inStack(left)
	}
	return l.firstLanes(left)
}

// firstLanes gives the masks of so many lanes.
func (l *lowerer) firstLanes(n vr) []vr {
	v := l.splat(n, ir.I32)
	out := l.masks(l.w)
	for i, d := range out {
		l.def(amd64.VPCMPD, k(d), z(v), z(l.laneOffsets(i, 1)), imm(6)).folds(2, 0) // greater
	}
	return out
}

// lanesFrom gives the vectors of what is in lane 0 as in a general register and grows from item to item.
func (l *lowerer) lanesFrom(r vr, s opt.Strides) []vr {
	first := l.splat(r, ir.I32)
	out := newRegs(l.fn, l.w)
	for i, d := range out {
		l.op2(amd64.VPADDD, d, first, l.itemOffsets(i, s), 0)
	}
	return out
}

func (l *lowerer) stopped() amd64.Label { return l.stop }
