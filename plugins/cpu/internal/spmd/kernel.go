package spmd

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/emit"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/passes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// maxBoth is the number of instructions up to which gangs with all lanes get code of their own.
const maxBoth = 600

// generate makes the code of a kernel for one launch shape.
func generate(k *ir.Kernel, options Options, list func(site int) string) (c *exec.Code, err error) {
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
	f := &vcode.Func{Target: options.target, FewRegs: options.few, Asm: asm, Scratch: &room.scratch, Regs: append(room.regs, vcode.RegInfo{}),
		Insts: room.insts, Spare: room.spare, Consts: map[vcode.ConstKey]vcode.Reg{}}
	l, done := build(newLowerer(f, analyse(k, options, times)))
	if err := l.optimise(); err != nil {
		return nil, err
	}
	where := regalloc.Allocate(l.Func)
	out, err := emit.Func(l.Func, where, emit.Options{Layout: &l.layout, Done: []amd64.Label{l.stop, done}, Fence: options.stores == kindPast, Comment: list})
	switch {
	case err != nil && l.Target == &vcode.AVX2: // an instruction that it lacks and that has no expansion
		return nil, &UnsupportedError{Kernel: k.Name, What: fmt.Sprintf("%s: %v", l.Target.Name, err)}
	case err != nil:
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	c = &exec.Code{Params: k.Params, Observes: l.observe, Unchecked: options.Unchecked, Bytes: out.Bytes, Listing: out.Listing, Resume: out.Resume, Ends: out.Ends, Layout: l.layout, Arrays: k.Arrays, Traps: l.Traps, Groups: l.groups,
		Lanes: l.gang(), Width: l.width(), Height: l.height(), Target: l.Target, Small: l.small, Band: l.band, Barrier: len(l.resumes) > 0, BatchRow: l.batchBytes()}
	c.Frame = l.layout.Frame + int(where.FrameBytes)
	c.Shared = l.layout.Size
	c.Context = l.layout.Size + int(where.SharedBytes)
	if len(c.Traps) > 0 {
		c.Regs, c.Where, c.Constants = slices.Clone(l.Regs), where, map[vcode.Reg]uint64{}
		for key, r := range l.Consts {
			c.Constants[r] = key.Bits
		}
	}
	work.give(room, l.Func)
	return c, nil
}

// build emits the function of a kernel, and returns the label of its end.
func build(l *lowerer) (b *builder, done amd64.Label) {
	b = &builder{lowerer: l}
	l.grid = b
	b.place0()
	l.stop, done = l.NewLabel(), l.NewLabel()
	l.Shared = true
	b.prologue()
	switch {
	case l.options.single:
		b.overSingles(done)
	case l.observe:
		b.overGroups(done)
	default:
		b.overRows(done)
	}
	return b, done
}

// optimise runs the passes, and writes a dump after each one if that is asked for.
func (l *builder) optimise() error {
	in := passes.Input{Func: l.Func, Frames: l.observe, Stacked: l.options.stacked, Single: l.options.single,
		Advance: l.advance, Start: l.start, Fresh: l.begin}
	if l.batch != nil {
		in.Fresh = 0 // where this group begins, others of the batch may wait
	}
	d := dump{dir: l.options.Dump, name: dumpName(l.k, l.options)}
	d.write("lowered", l.Func)
	var done func(pass string)
	if d.dir != "" {
		done = func(pass string) { d.write(pass, l.Func) }
	}
	if err := passes.Run(&in, done); err != nil {
		return &UnsupportedError{Kernel: l.k.Name, What: err.Error()}
	}
	return d.err
}

// place0 lays the context and the frames out.
func (l *builder) place0() {
	y := &l.layout
	y.Args = abi.CtxArgs
	y.Buffers = y.Args + 8*len(l.k.Params)
	at := y.Buffers + abi.BufSize*len(l.k.Arrays)
	y.Private, y.Arrays, y.Places = map[int]int{}, map[int]int{}, map[int]int{}
	private := 0
	for _, a := range l.k.Arrays {
		switch a.Space {
		case ir.Private:
			y.Private[a.ID] = private
			private += (a.Bytes() + 7) &^ 7
		case ir.Shared:
			y.Places[a.ID] = y.Shared
			y.Shared += (a.Bytes() + 63) &^ 63
			fallthrough
		case ir.Table:
			y.Arrays[a.ID] = at
			at += 8
		}
	}
	if l.k.ReadsDirty() {
		y.Dirty = private
	}
	y.Columns = (at + 63) &^ 63
	y.Size = y.Columns + l.columnBytes()
	y.Scratch = abi.FrameHead + private*l.gang()
	y.Group = y.Scratch + l.Target.Bytes()*scratchVectors
	y.Lanes = l.gang()
	y.Tiles = y.Group + abi.GroupBytes(l.gang())
	y.Frame = y.Tiles + len(l.tiles)*l.w*l.tileBytes()
	if y.Frame > 16<<20 {
		l.refuse("%d bytes of private arrays", private)
	}
}

// prologue emits what is the same for the whole launch.
func (l *builder) prologue() {
	scalars := l.k.Body.Params
	for i, p := range l.k.Params {
		if p.Array != nil {
			continue
		}
		v := scalars[0]
		scalars = scalars[1:]
		from := vcode.CtxMem(l.layout.Args+8*i, v.Type.Size())
		switch {
		case v.Type.IsFloat():
			d := l.NewVec()
			from.Size = 0
			l.Def(sized(v.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), d.Z(), from.At())
			l.set(v, value{vec: []vcode.Reg{d}})
		case v.Type == ir.Bool:
			d := l.NewGPR()
			from.Size = 4
			l.Def(amd64.MOV, d.G4(), from.At())
			l.set(v, value{g: d})
		default:
			d := l.NewGPR()
			l.Def(amd64.MOV, d.G(v.Type.Size()), from.At())
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
	l.bases = make([]vcode.Reg, len(l.k.Arrays))
	for _, a := range l.k.Arrays {
		if !used[a.ID] || a.Space == ir.Private {
			continue
		}
		r := l.NewGPR()
		l.bases[a.ID] = r
		place := l.buffer(a) + abi.BufBase
		if a.Space != ir.Global {
			place = l.layout.Arrays[a.ID]
		}
		l.Def(amd64.MOV, r.G8(), vcode.CtxMem(place, 8).At())
	}
	for _, key := range order {
		a := l.k.Arrays[key.array]
		r := l.NewGPR()
		l.Def(amd64.MOV, r.G8(), vcode.CtxMem(l.buffer(a)+abi.BufDims+8*(a.Rank-1), 8).At())
		for n := 2; n <= key.inner; n++ {
			l.Mod(amd64.IMUL, r.G8(), vcode.CtxMem(l.buffer(a)+abi.BufDims+8*(a.Rank-n), 8).At())
		}
		l.pitches[key] = r
	}
	l.hoist(func(in *ir.Instr) bool {
		return in.Op == ir.Extent || in.Op == ir.Item && (in.Item == ir.GlobalSize || in.Item == ir.GroupSize ||
			in.Item == ir.NumGroups || in.Item == ir.SubgroupSize)
	})
}

func (l *lowerer) base(a *ir.Array) vcode.Reg { return l.bases[a.ID] }

func (l *lowerer) pitch(a *ir.Array, inner int) vcode.Reg { return l.pitches[pitchKey{a.ID, inner}] }

// hoist emits the instructions of the kernel's body that depend only on others that are already known and on items that
// root accepts, before gangs begin.
func (l *builder) hoist(root func(*ir.Instr) bool) {
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
func (l *builder) overRows(done amd64.Label) {
	width := l.width()
	shift := int64(bits.TrailingZeros(uint(width)))
	row := l.NewLabel()
	size := l.NewGPR()
	l.Def(amd64.MOV, size.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Func.Shared = false
	l.Mark(vcode.KindLoopBegin)
	l.Bind(row)
	if len(l.tiles) > 0 {
		x := l.NewGPR()
		l.Def(amd64.MOV, x.G4(), vcode.CtxMem(abi.CtxX, 4).At())
		l.beginTile(x)
	}
	if l.options.stacked {
		l.item.y = l.NewGPR()
		l.Def(amd64.MOV, l.item.y.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	}
	l.hoist(func(in *ir.Instr) bool { return in.Op == ir.Item && in.Item == ir.GlobalID && in.Axis > 0 })
	pos, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, pos.G4(), vcode.CtxMem(abi.CtxX, 4).At())
	if l.band > 0 {
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: pos, Disp: int32(width)}.At())
	} else {
		l.Def(amd64.MOV, last.G8(), vcode.CtxMem(abi.CtxLeft, 8).At())
		l.Mod(amd64.SHL, last.G8(), vcode.Imm(shift))
		l.Mod(amd64.ADD, last.G8(), pos.G8())
	}
	l.Use(amd64.CMP, last.G8(), size.G8())
	l.Mod(amd64.CMOVG, last.G8(), size.G8())
	l.item.x = pos

	count := 0
	l.k.Body.Walk(func(*ir.Instr) { count++ })
	next := l.NewLabel()
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
	l.Bind(next)
	if l.band > 0 {
		if len(l.tiles) > 0 {
			l.nextInTile()
		}
		l.nextInColumn(row, done)
	} else {
		l.nextRow(row, done, last, shift)
	}
	l.Mark(vcode.KindLoopEnd)
}

// narrows reports whether the gangs at the end of a row may have one register: where wide gangs have no places of their own
// in memory, and none does more than its neighbours.
func (l *analysis) narrows() bool {
	return l.w > 1 && !l.options.stacked && l.band == 0 && len(l.tiles) == 0 && len(l.columns) == 0
}

// wholeGangs emits the loop over the gangs of a row that have all their lanes, up to where fewer items are left.
func (l *builder) wholeGangs(pos, last vcode.Reg) {
	width := int64(l.width())
	top, end, tail := l.NewLabel(), l.NewLabel(), l.NewLabel()
	if l.options.stacked {
		l.jumpAtBottom(tail)
	}
	fits := func(jump amd64.Op, to amd64.Label) {
		t := l.NewGPR()
		l.Def(amd64.LEA, t.G8(), vcode.Mem{Base: pos, Disp: int32(width)}.At())
		l.Use(amd64.CMP, t.G8(), last.G8())
		l.Jump(jump, to)
	}
	fits(amd64.JG, tail)
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.body(nil, end)
	l.Bind(end)
	l.Mod(amd64.ADD, pos.G8(), vcode.Imm(width))
	l.poll()
	fits(amd64.JLE, top)
	l.Mark(vcode.KindLoopEnd)
	l.Bind(tail)
}

// lastGang emits the gang at the end of a row that lacks lanes, or all that are left of the row, one after the other.
func (l *builder) lastGang(pos, last vcode.Reg, next amd64.Label, several bool) {
	again, end := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(again)
	l.Use(amd64.CMP, pos.G8(), last.G8())
	l.Jump(amd64.JGE, next)
	l.body(l.inLaunch(pos, last), end)
	l.Bind(end)
	l.Mod(amd64.ADD, pos.G8(), vcode.Imm(int64(l.width())))
	if several {
		l.poll()
		l.Jump(amd64.JMP, again)
	}
	l.Mark(vcode.KindLoopEnd)
}

// nextRow goes on at the left of the next row, or below all of a stacked gang.
func (l *builder) nextRow(row, done amd64.Label, last vcode.Reg, shift int64) {
	n := l.NewGPR()
	l.Def(amd64.MOV, n.G4(), vcode.CtxMem(abi.CtxX, 4).At())
	l.Mod(amd64.SUB, last.G8(), n.G8())
	l.Mod(amd64.ADD, last.G8(), vcode.Imm(int64(l.width()-1)))
	l.Mod(amd64.SHR, last.G8(), vcode.Imm(shift))
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), last.G8())
	l.Jump(amd64.JLE, done)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxX, 4).At(), vcode.Imm(0))
	y := l.NewGPR()
	l.Def(amd64.MOV, y.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	l.Mod(amd64.ADD, y.G4(), vcode.Imm(int64(l.height())))
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), y.G4())
	l.Use(amd64.CMP, y.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Jump(amd64.JB, row) // it may be 2^31 and more
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), vcode.Imm(0))
	l.Use(amd64.ADD, vcode.CtxMem(abi.CtxZ, 4).At(), vcode.Imm(1))
	l.Jump(amd64.JMP, row)
}

// inLaunch gives the masks of the lanes whose positions from pos on are below a limit, and in rows of the launch.
func (l *builder) inLaunch(pos, limit vcode.Reg) []vcode.Reg {
	left := l.NewGPR()
	l.Def(amd64.MOV, left.G8(), limit.G8())
	l.Mod(amd64.SUB, left.G8(), pos.G8())
	if l.options.stacked {
		return l.inStack(left)
	}
	return l.firstLanes(left)
}

// firstLanes gives the masks of so many lanes.
func (l *lowerer) firstLanes(n vcode.Reg) []vcode.Reg {
	v := l.splat(n, ir.I32)
	out := l.NewMasks(l.w)
	for i, d := range out {
		l.Def(amd64.VPCMPD, d.K(), v.Z(), l.laneOffsets(i, 1).Z(), vcode.Imm(6)).Folds(2, 0) // greater
	}
	return out
}

// lanesFrom gives the vectors of what is in lane 0 as in a general register and grows from item to item.
func (l *lowerer) lanesFrom(r vcode.Reg, s opt.Strides) []vcode.Reg {
	first := l.splat(r, ir.I32)
	out := vcode.NewVecs(l.Func, l.w)
	for i, d := range out {
		l.op2(amd64.VPADDD, d, first, l.itemOffsets(i, s), 0)
	}
	return out
}

func (l *lowerer) stopped() amd64.Label { return l.stop }
