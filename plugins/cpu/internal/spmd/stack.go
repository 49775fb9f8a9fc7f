package spmd

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// A stacked gang has its registers one below the other: each is a row of items, and the next one the row below. Where it
// depends on both coordinates how often an item goes through a loop, items of such a block leave it at more similar times
// than those of one long row do, and fewer lanes wait for others.

// gangScope is the scope of what is the same in a gang.
func gangScope(stacked bool) ir.Scope {
	return ir.Scope{Lockstep: true, UniformAxis: [3]bool{false, !stacked, true}}
}

// width is how many items of a gang lie in a row.
func (l *analysis) width() int {
	if l.options.stacked {
		return l.options.target.Lanes
	}
	return l.gang()
}

// height is how many rows a gang has.
func (l *analysis) height() int { return l.gang() / l.width() }

// prepareStacked makes what compiles the kernel for stacked gangs, if they pay and the compiler is free to choose.
func (p *Program) prepareStacked(free bool) {
	if p.observes {
		return
	}
	o := p.options
	if o.Gang = o.stack; o.Gang == 0 && free && p.options.Gang > 1 {
		o.Gang = stackRows(p.kernel, o.target, p.options.Gang)
	}
	if o.Gang == 0 {
		return
	}
	p.rows, o.stacked = o.Gang, true
	p.stacked = sync.OnceValue(func() *Program { return newProgram(p.kernel, o) })
}

// stackRows is how many rows the stacked gangs of a kernel have whose other gangs have so many registers; 0 if they do not
// pay. They do if items leave a loop by both coordinates, there is room for as many registers, and buffers are accessed so
// that rows of a register's length do: only outside loops, or at places that a whole gang shares. What is seen in the order
// of items had better go along rows.
func stackRows(k *ir.Kernel, t *vcode.Target, gang int) int {
	var loops []*ir.Instr
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Loop {
			loops = append(loops, in)
		}
	})
	if len(loops) == 0 {
		return 0
	}
	along, down := k.Uniformity(gangScope(false)), k.Uniformity(ir.Scope{Lockstep: true, UniformAxis: [3]bool{true, false, true}})
	if rows := reusingRows(loops, along, down, k, t, gang); rows > 0 {
		return rows
	}
	if !slices.ContainsFunc(loops, func(in *ir.Instr) bool { return along.Diverges(in) && down.Diverges(in) }) {
		return 0
	}
	rows, affine, fits := chooseGang(k, t, true), opt.FindAffine(k, along), true
	for _, loop := range loops {
		loop.Then.Walk(func(in *ir.Instr) { fits = fits && (!accesses(in) || allSame(in, along) && allSame(in, down)) })
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && in.Op != ir.Print && in.Op != ir.Call && (!accesses(in) || !far(stride(affine, in, 0)))
	})
	if !fits || rows < gang {
		return 0
	}
	return rows
}

// reusingRows returns how many rows gangs have that load less than ones in a single row do, as in a product of matrices:
// all loops are uniform, and of what they load some elements are the same along a row and others in all rows. It is 0 for
// other kernels.
func reusingRows(loops []*ir.Instr, along, down *ir.Uniformity, k *ir.Kernel, t *vcode.Target, gang int) int {
	if gang < 4 {
		return 0
	}
	affine := opt.FindAffine(k, k.Uniformity(gangScope(true)))
	sums, perRow, oneRow, fits := 0, 0, 0, true
	for _, loop := range loops {
		fits = fits && !along.Diverges(loop) && !down.Diverges(loop)
		for _, p := range loop.Then.Params {
			if along.Value(p) == ir.Varying || down.Value(p) == ir.Varying {
				sums++
			}
		}
		loop.Then.Walk(func(in *ir.Instr) {
			switch {
			case !accesses(in) || allSame(in, along) && allSame(in, down):
			case in.Op != ir.Load || in.Type().Size() < 4:
				fits = false
			case allSame(in, along):
				perRow++
			case allSame(in, down) && stride(affine, in, 0) == int64(in.Type().Size()):
				oneRow++
			default:
				fits = false
			}
		})
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && in.Op != ir.Print && in.Op != ir.Call && (!accesses(in) || !far(stride(affine, in, 0)))
	})
	switch {
	case !fits || perRow == 0 || oneRow == 0:
		return 0
	case t.HasMasks || sums > 1:
		return 4
	}
	return 8
}

// accesses reports whether an instruction accesses elements that are not an item's own.
func accesses(in *ir.Instr) bool {
	return in.Array != nil && in.Array.Space != ir.Private && in.Op != ir.Extent
}

// allSame reports whether all indices of an access are the same.
func allSame(in *ir.Instr, u *ir.Uniformity) bool {
	for _, v := range in.Args[:in.NumIndices()] {
		if u.Value(v) == ir.Varying {
			return false
		}
	}
	return true
}

// stacks reports whether a launch is of stacked gangs: its rows and columns leave hardly more lanes empty so.
func (p *Program) stacks(g *interp.Launch) bool {
	if p.stacked == nil || g.Size[0] <= 0 || g.Size[1] <= 0 || g.Size[2] <= 0 {
		return false
	}
	lanes, gang := p.options.target.Lanes, p.options.Gang
	return p.options.stack > 0 || 8*p.rows*gangsOf(g.Size, lanes, p.rows) <= 9*gang*gangsOf(g.Size, lanes*gang, 1)
}

// gangsOf is how many gangs a launch has, of so many items in each of so many rows.
func gangsOf(size [3]int, width, height int) int {
	return ((size[0]-1)/width + 1) * ((size[1]-1)/height + 1) * size[2]
}

// jumpAtBottom jumps where a gang has rows below those of the launch.
func (l *builder) jumpAtBottom(tail amd64.Label) {
	bottom := l.NewGPR()
	l.Def(amd64.LEA, bottom.G8(), vcode.Mem{Base: l.item.y, Disp: int32(l.height())}.At())
	l.Use(amd64.CMP, bottom.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Jump(amd64.JA, tail) // it may be 2^31 and more
}

// inStack gives the masks of so many lanes of each row that is one of the launch.
func (l *builder) inStack(n vcode.Reg) []vcode.Reg {
	rows := l.NewGPR()
	l.Def(amd64.MOV, rows.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Mod(amd64.SUB, rows.G4(), l.item.y.G4())
	across, down := l.splat(n, ir.I32), l.splat(rows, ir.I32)
	out := l.NewMasks(l.w)
	l.Def(amd64.VPCMPD, out[0].K(), across.Z(), l.itemOffsets(0, opt.Strides{1}).Z(), vcode.Imm(6)).Folds(2, 0) // greater
	for i := 1; i < l.w; i++ {
		l.Def(amd64.VPCMPD, out[i].K(), down.Z(), l.itemOffsets(i, opt.Strides{0, 1}).Z(), vcode.Imm(6)).Folds(2, 0).Mask = out[0]
	}
	return out
}

// itemOffsets is the vector of what register i has more than lane 0 of a value that grows from item to item.
func (l *lowerer) itemOffsets(i int, s opt.Strides) vcode.Reg {
	if !l.options.stacked {
		return l.laneOffsets(i, int(s[0]))
	}
	data := make([]byte, 0, 64)
	for j := range int32(l.Target.Lanes) {
		data = binary.LittleEndian.AppendUint32(data, uint32(s[0]*j+s[1]*int32(i)))
	}
	return l.Pattern(data)
}

// span is how much the last lane of a gang has more than the first, of a value that grows from item to item: by little
// only, and never less from one lane to the next.
func (l *lowerer) span(s opt.Strides) (n int32, grows bool) {
	if s[0] < 0 || s[0] > vcode.MaxPeel || l.options.stacked && (s[1] < 0 || s[1] > vcode.MaxPeel) {
		return 0, false
	}
	if !l.options.stacked {
		return s[0] * int32(l.gang()-1), s[0] > 0
	}
	return s[0]*int32(l.width()-1) + s[1]*int32(l.height()-1), true
}

// rowsApart reports whether the rows of a gang lie a distance apart that does not depend on where the gang is, if lanes
// follow each other in each. The indices grow so little that none can wrap between lanes of which one is in bounds, see
// maxPeel.
func (l *lowerer) rowsApart(terms []term, size int) bool {
	if size < 4 && !l.Target.HasMasks {
		return false // lanes would have to be told apart, see scatterRow
	}
	for _, t := range terms {
		s, _ := l.affine.Strides(t.v)
		for _, n := range s[:2] {
			if most := int32(vcode.MaxPeel / l.Target.Lanes / 2); n > most || n < -most {
				return false
			}
		}
		if n := int64(s[1]) * t.stride; int64(int32(n)) != n {
			return false
		}
	}
	return true
}

// rowDistance gives how many bytes a row of a gang lies behind the one above.
func (l *lowerer) rowDistance(a *ir.Array, terms []term) vcode.Reg {
	sum, bytes := l.NewGPR(), int64(0)
	var pitched []vcode.Reg
	for _, t := range terms {
		s, _ := l.affine.Strides(t.v)
		switch n := int64(s[1]) * t.stride; {
		case n == 0:
		case t.inner == 0:
			bytes += n
		default:
			d := l.NewGPR()
			l.Def(amd64.IMUL, d.G8(), l.pitch(a, t.inner).G8(), vcode.Imm(n))
			pitched = append(pitched, d)
		}
	}
	l.moveImm(sum, bytes, ir.I64)
	for _, d := range pitched {
		l.Mod(amd64.ADD, sum.G8(), d.G8())
	}
	return sum
}

// registersOf returns the addresses of the n registers of an access in rows. Of four rows each is one, two or three
// distances behind the first, by an index register.
func (l *lowerer) registersOf(p *place, n int) []vcode.Mem {
	out := make([]vcode.Mem, n)
	row, perRow := p.uni, n
	var indices [4]vcode.Mem // what the addresses of four rows have beside their base
	if p.below != 0 {
		perRow = n / l.w
		row = l.flat(row)
		indices[1] = vcode.Mem{Index: p.below, IndexSize: 8, Scale: 1}
		indices[2] = vcode.Mem{Index: p.below, IndexSize: 8, Scale: 2}
		if l.w > 3 {
			three := l.NewGPR()
			l.Def(amd64.LEA, three.G8(), vcode.Mem{Base: p.below, Index: p.below, IndexSize: 8, Scale: 2}.At())
			indices[3] = vcode.Mem{Index: three, IndexSize: 8, Scale: 1}
		}
	}
	for i := range out {
		if i > 0 && i%(4*perRow) == 0 {
			next, above := l.NewGPR(), row
			above.Index, above.IndexSize, above.Scale = p.below, 8, 4
			l.Def(amd64.LEA, next.G8(), above.At())
			row = vcode.Mem{Base: next}
		}
		out[i] = row
		if p.below != 0 {
			x := &indices[i/perRow%4]
			out[i].Index, out[i].IndexSize, out[i].Scale = x.Index, x.IndexSize, x.Scale
		}
		if !p.perRow {
			out[i].Disp += int32(i % perRow * l.perReg(p.size))
		}
	}
	return out
}
