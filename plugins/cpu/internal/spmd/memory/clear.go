package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Zero emits a Zero. outermost means that no Region, If or Loop is around it.
func (l *Memory) Zero(in *ir.Instr, outermost bool) {
	a := in.Array
	zero := l.Constant(0, 4)
	from := l.Layout.Private[a.ID] * l.Lanes()
	if l.Cur == nil || outermost {
		// All lanes are active, or inactive lanes never read the array.
		n := a.Bytes() * l.Lanes()
		l.Clear(vcode.Mem{Fixed: abi.Frame, Disp: int32(abi.FrameHead + from)}, n, zero)
		return
	}
	l.zeroLanes(a.Elem, a.Dims, vcode.Mem{Fixed: abi.Frame, Disp: int32(abi.FrameHead + from)})
}

// maxZeroed is the maximum number of stores for clearing an array for some lanes in straight-line code.
const maxZeroed = 32

// zeroLanes clears an array, or a field of a record, for the active lanes.
func (l *Memory) zeroLanes(e ir.Elem, dims []int, from vcode.Mem) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	size := int32(e.Size() * l.Lanes())
	if n == 1 || n*numScalars(e) <= maxZeroed {
		for range n {
			l.zeroElem(e, from)
			from.Disp += size
		}
		return
	}
	next, end, top := l.NewGPR(), l.NewGPR(), l.NewLabel()
	l.Def(amd64.LEA, next.G8(), from.At())
	from.Disp += int32(n) * size
	l.Def(amd64.LEA, end.G8(), from.At())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.zeroElem(e, vcode.Mem{Base: next})
	l.Mod(amd64.ADD, next.G8(), vcode.Imm(int64(size)))
	l.Use(amd64.CMP, next.G8(), end.G8())
	l.Jump(amd64.JB, top)
	l.Mark(vcode.KindLoopEnd)
}

// zeroElem clears one element for the active lanes.
func (l *Memory) zeroElem(e ir.Elem, to vcode.Mem) {
	if e.Record == nil {
		p := MemRef{access: contiguous, Scalar: e.Scalar, Size: e.Scalar.Size(), mask: l.Cur, Uni: to}
		l.storeLanes(&p, []vcode.Reg{l.Constant(0, max(p.Size, 4))})
		return
	}
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		at := to
		at.Disp += int32(f.Offset * l.Lanes())
		l.zeroLanes(f.Elem, f.Dims, at)
	}
}

// numScalars returns the number of scalars of an element.
func numScalars(e ir.Elem) int {
	if e.Record == nil {
		return 1
	}
	sum := 0
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		n := numScalars(f.Elem)
		for _, d := range f.Dims {
			n *= d
		}
		sum += n
	}
	return sum
}
