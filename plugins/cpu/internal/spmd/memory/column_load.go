package memory

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// loadColumn emits a transposed load if the plan has one for the instruction and all lanes are active. It reports whether it did.
func (l *Memory) loadColumn(in *ir.Instr) bool {
	n, ok := l.Columns[in]
	if !ok || l.Cur != nil {
		return false
	}
	gather, mine, done := l.NewLabel(), l.NewLabel(), l.NewLabel()
	r := in.Result()
	out := vcode.NewVecs(l.Func, l.GangRegs)
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
		mark := len(l.Undo)
		p := l.memRefOf(in)
		for i, d := range out {
			l.Gather(&p, i, d, 0)
		}
		l.Forget(mark)
		l.Jump(amd64.JMP, done)
	})
	l.Set(r, values.Value{Vec: out})
	return true
}

// columnMem returns the memory operand of register i of the column that transposed load n has for a gang. It is in the worker's
// context. gang counts from the first of the abi.ColumnGangs gangs that share the loads.
func (l *Memory) columnMem(n, i, gang int) vcode.Mem {
	return vcode.CtxMem(l.Layout.Columns+((n*l.GangRegs+i)*abi.ColumnGangs+gang)*l.Target.Bytes(), 0)
}

// turnColumns emits the loads of the rows that contain the columns of the current gang and the next ones, transposes them,
// and stores the columns.
func (l *Memory) turnColumns(in *ir.Instr, n int) {
	mark := len(l.Undo)
	r := in.Resolve()
	disp := int64(r.Offset)
	terms := make([]term, len(r.Strides))
	for i := range terms {
		terms[i] = term{v: in.Args[i], stride: int64(r.Strides[i])}
	}
	first := vcode.Mem{Base: l.base(in.Array)}
	l.sumFixed(in.Array, &first, terms, 1, &disp)
	apart := analysis.Stride(l.Affine, in, 0)
	l.setDisp(&first, disp, apart*int64(l.Lanes()-1))
	for i := range l.GangRegs {
		row := func(lane int) vcode.Mem {
			m := first
			m.Disp += int32(apart) * int32(l.Target.Lanes*i+lane)
			return m
		}
		// Rows of eight elements. On AVX-512, the upper half of a vector has the row four further down.
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
			quads[q] = l.TurnQuads(rows)
		}
		for j := range 4 {
			a, b := quads[0][j], quads[1][j]
			left, right := amd64.VPERM2F128, amd64.VPERM2F128
			which := [2]int64{0x20, 0x31}
			if l.Target.Bytes() != 4*abi.ColumnGangs {
				left, right, which = amd64.VSHUFF32X4, amd64.VSHUFF32X4, [2]int64{0x88, 0xdd} // parts 0 and 2, or 1 and 3, of both
			}
			l.Use(amd64.VMOVUPS, l.columnMem(n, i, j).At(), l.Shuffle(left, a, b, vcode.Imm(which[0])).Z())
			l.Use(amd64.VMOVUPS, l.columnMem(n, i, 4+j).At(), l.Shuffle(right, a, b, vcode.Imm(which[1])).Z())
		}
	}
	l.Forget(mark)
}
