package spmd

import (
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// maxColumns bounds the registers that a gang loads so.
const maxColumns = 16

// findColumnLoads gives the loads that are made so, with numbers.
func (l *analysis) findColumnLoads() {
	if !l.observe || !l.options.Whole || l.options.single || endsEarly(l.k, l.options.Unchecked) {
		return
	}
	var inGroup *opt.Affine
	changed := make([]int, len(l.k.Arrays)) // in which phase between barriers each array was last stored to
	phase := 0
	for _, in := range l.k.Body.Instrs {
		switch {
		case in.Op == ir.Barrier:
			phase++
		case in.Op != ir.Load:
			(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(in *ir.Instr) {
				if in.Array != nil && (in.Op == ir.Store || in.Op == ir.Atomic || in.Op == ir.Zero) {
					changed[in.Array.ID] = phase
				}
			})
		case in.Array.Space == ir.Shared && changed[in.Array.ID] < phase && len(l.columns)*l.w < maxColumns:
			if inGroup == nil {
				inGroup = opt.FindAffine(l.k, l.k.Uniformity(ir.Scope{}))
			}
			if l.loadsColumn(in, inGroup) {
				if l.columns == nil {
					l.columns = map[*ir.Instr]int{}
				}
				l.columns[in] = len(l.columns)
			}
		}
	}
}

// endsEarly reports whether some item may end before its kernel does.
func endsEarly(k *ir.Kernel, unchecked bool) bool {
	early := false
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Return, ir.Unreachable:
			early = early || in != k.Body.Terminator()
		case ir.Assert, ir.Call, ir.Uniform:
			early = true
		case ir.Div, ir.Rem:
			early = early || !unchecked && !in.IsPure()
		case ir.Load, ir.Store, ir.Atomic:
			early = early || !unchecked && in.Proved != allProved(in)
		}
	})
	return early
}

// allProved is the mark of an access all of whose indices are proved to be in bounds.
func allProved(in *ir.Instr) uint32 { return 1<<in.NumIndices() - 1 }

// loadsColumn reports whether lanes load elements that lie apart by the same distance everywhere, beside which those lie
// that the lanes of the row below load. The indices are proved to be in bounds, and made of what the launch brings alone.
func (l *analysis) loadsColumn(in *ir.Instr, inGroup *opt.Affine) bool {
	r := in.Resolve()
	if r.Scalar.Size() != 4 || in.Proved != allProved(in) || slices.ContainsFunc(r.Inner, func(n int) bool { return n != 0 }) {
		return false
	}
	for _, v := range in.Args[:in.NumIndices()] {
		if !ofLaunch(v, 0) || !l.computesLane0(v, 0, nil) {
			return false
		}
	}
	apart := stride(l.affine, in, 0)
	return apart != 0 && apart != 4 && max(apart, -apart) < vcode.MaxPeel && apart == stride(inGroup, in, 0) && stride(inGroup, in, 1) == 4
}

// ofLaunch reports whether a value is computed of constants, of what the launch brings, and of positions of items.
func ofLaunch(v *ir.Value, depth int) bool {
	in := v.Def
	if in == nil {
		return true // a scalar parameter, as no loop is around
	}
	if !in.IsPure() || in.Then != nil || depth > maxShadow {
		return false
	}
	return !slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return !ofLaunch(a, depth+1) })
}

// loadColumn loads a column, and reports whether it did.
func (l *lowerer) loadColumn(in *ir.Instr) bool {
	n, ok := l.columns[in]
	if !ok || l.cur != nil {
		return false
	}
	gather, mine, done := l.NewLabel(), l.NewLabel(), l.NewLabel()
	r := in.Result()
	out := vcode.NewVecs(l.Func, l.w)
	l.Use(amd64.TEST, vcode.CtxMem(abi.CtxTogether, 4).At(), vcode.Imm(abi.TogetherColumns))
	l.Jump(amd64.JE, gather)
	row := l.NewGPR()
	l.Def(amd64.MOV, row.G4(), vcode.FrameMem(abi.FrameLocal+4, 4).At())
	l.Mod(amd64.AND, row.G4(), vcode.Imm(abi.ColumnGangs-1))
	l.Jump(amd64.JNE, mine)
	l.turnColumns(in, n)
	l.Bind(mine)
	l.Mod(amd64.SHL, row.G4(), vcode.Imm(int64(bits.TrailingZeros(uint(l.Target.Bytes())))))
	for i, d := range out {
		m := l.columnMem(n, i, 0)
		m.Index, m.IndexSize, m.Scale = row, 8, 1
		l.Def(amd64.VMOVUPS, d.Z(), m.At())
	}
	l.Bind(done)
	l.Cold(func() {
		l.Bind(gather)
		mark := len(l.undo)
		p := l.place(in)
		for i, d := range out {
			l.gather(&p, i, d, 0)
		}
		l.forget(mark)
		l.Jump(amd64.JMP, done)
	})
	l.set(r, value{vec: out})
	return true
}

// columnMem is where register i of a column is left for a gang.
func (l *lowerer) columnMem(n, i, gang int) vcode.Mem {
	return vcode.CtxMem(l.layout.Columns+((n*l.w+i)*abi.ColumnGangs+gang)*l.Target.Bytes(), 0)
}

// columnBytes is how much memory columns take in the context.
func (l *analysis) columnBytes() int {
	return len(l.columns) * l.w * abi.ColumnGangs * l.options.target.Bytes()
}

// turnColumns loads the rows in which the columns of the present gang and those after it lie, and leaves the columns.
func (l *lowerer) turnColumns(in *ir.Instr, n int) {
	mark := len(l.undo)
	r := in.Resolve()
	disp := int64(r.Offset)
	terms := make([]term, len(r.Strides))
	for i := range terms {
		terms[i] = term{v: in.Args[i], stride: int64(r.Strides[i])}
	}
	first := vcode.Mem{Base: l.base(in.Array)}
	l.sumFixed(in.Array, &first, terms, 1, &disp)
	apart := stride(l.affine, in, 0)
	if last := disp + apart*int64(l.gang()-1); int64(int32(disp)) != disp || int64(int32(last)) != last {
		l.refuse("an array of %d bytes", disp)
	}
	first.Disp = int32(disp)
	for i := range l.w {
		row := func(lane int) vcode.Mem {
			m := first
			m.Disp += int32(apart) * int32(l.Target.Lanes*i+lane)
			return m
		}
		// Rows of eight elements, of AVX-512 with the row four further down in the upper half.
		var quads [2][4]vcode.Reg
		for q := range quads {
			var rows [4]vcode.Reg
			for j := range rows {
				at0 := l.Target.Lanes/2*q + j
				rows[j] = l.NewVec()
				if l.Target.Bytes() == 4*abi.ColumnGangs {
					l.Def(amd64.VMOVUPS, rows[j].Z(), row(at0).At())
					continue
				}
				low, high := row(at0), row(at0+4)
				low.Size, high.Size = 4*abi.ColumnGangs, 4*abi.ColumnGangs
				half := l.NewVec()
				l.Def(amd64.VMOVUPS, half.Y(), low.At())
				l.Def(amd64.VINSERTF64X4, rows[j].Z(), half.Z(), high.At(), vcode.Imm(1))
			}
			quads[q] = l.turnQuads(rows)
		}
		for j := range 4 {
			a, b := quads[0][j], quads[1][j]
			left, right := amd64.VPERM2F128, amd64.VPERM2F128
			which := [2]int64{0x20, 0x31}
			if l.Target.Bytes() != 4*abi.ColumnGangs {
				left, right, which = amd64.VSHUFF32X4, amd64.VSHUFF32X4, [2]int64{0x88, 0xdd} // parts 0 and 2, or 1 and 3, of both
			}
			l.Use(amd64.VMOVUPS, l.columnMem(n, i, j).At(), l.shuffle(left, a, b, vcode.Imm(which[0])).Z())
			l.Use(amd64.VMOVUPS, l.columnMem(n, i, 4+j).At(), l.shuffle(right, a, b, vcode.Imm(which[1])).Z())
		}
	}
	l.forget(mark)
}
