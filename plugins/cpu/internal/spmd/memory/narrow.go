package memory

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Stores of bytes and words compute their values in 16-bit lanes if that suffices and the values come from loads of bytes
// and words. A register then holds twice as many items. Equal values in 32-bit lanes become dead code if they have no other
// use.

// narrowState holds the state of lowering narrow stores.
type narrowState struct {
	sources  map[*ir.Value]narrowSource // loads for narrow stores
	narrowed map[*ir.Value][]vcode.Reg  // values in lanes of 16 bits
	Epoch    int                        // number of lowered instructions that are neither loads nor pure, and may change memory
}

// narrowSource is a load whose elements can be reloaded in 16-bit lanes.
type narrowSource struct {
	uni   vcode.Mem
	elem  ir.Type
	block *ir.Block
	epoch int // Epoch at the load; memory may have changed if Epoch is greater now
}

// isNarrow reports whether an element type is an integer of 8 or 16 bits.
func isNarrow(t ir.Type) bool { return t == ir.U8 || t == ir.I8 || t == ir.U16 || t == ir.I16 }

// isNarrowRow reports whether all lanes of an even number of registers access adjacent narrow elements of memory that items
// share.
func (l *Memory) isNarrowRow(p *MemRef) bool {
	return p.array != nil && p.array.Space != ir.Private && isNarrow(p.Scalar) && p.access == contiguous && p.mask == nil && p.below == 0 &&
		!l.Spec.Is2D() && l.GangRegs%2 == 0
}

// noteNarrow records the address of a load for narrow stores, if [Memory.isNarrowRow] accepts its operand.
func (l *Memory) noteNarrow(in *ir.Instr, p *MemRef) {
	if !l.isNarrowRow(p) {
		return
	}
	if l.sources == nil {
		l.sources, l.narrowed = map[*ir.Value]narrowSource{}, map[*ir.Value][]vcode.Reg{}
	}
	r := in.Result()
	l.sources[r] = narrowSource{p.Uni, p.Scalar, l.InBlock, l.Epoch}
	l.Undo = append(l.Undo, func() { delete(l.sources, r) })
}

// storeNarrow emits a store from 16-bit lanes if possible, and reports whether it did.
func (l *Memory) storeNarrow(v *ir.Value, p *MemRef) bool {
	if len(l.sources) == 0 || !l.isNarrowRow(p) || l.IsUniform(v) {
		return false
	}
	s := narrowSpans{l: l, seen: map[*ir.Value]span{}}
	r, ok := s.of(v, 0)
	if !ok {
		return false
	}
	words := l.words(v)
	n := l.GangRegs / 2
	at := func(i int) vcode.Mem {
		m := p.Uni
		m.Disp += int32(i * 2 * l.Target.Lanes * p.Size)
		return m
	}
	switch {
	case p.Size == 2:
		for i := range n {
			l.Use(amd64.VMOVUPS, at(i).At(), vcode.Part(words, i).Z())
		}
	case l.Target.HasMasks:
		for i := range n {
			m := at(i)
			m.Size = 32
			l.Use(amd64.VPMOVWB, m.At(), vcode.Part(words, i).Z())
		}
	default:
		for i := 0; i < n; i += 2 {
			a, b := vcode.Part(words, i), vcode.Part(words, min(i+1, n-1))
			if !r.within(0, 255) { // packing would saturate
				a, b = l.lowBytes(a), l.lowBytes(b)
			}
			packed, d := l.NewVec(), l.NewVec()
			l.Def(amd64.VPACKUSWB, packed.Z(), a.Z(), b.Z())
			l.Def(amd64.VPERMQ, d.Z(), packed.Z(), vcode.Imm(0xd8))
			if i+1 < n {
				l.Use(amd64.VMOVUPS, at(i).At(), d.Z())
			} else {
				l.Use(amd64.VMOVUPS, at(i).At(), d.X())
			}
		}
	}
	return true
}

// lowBytes returns the words of a with their high bytes cleared.
func (l *Memory) lowBytes(a vcode.Reg) vcode.Reg {
	d := l.NewVec()
	l.Def(amd64.VPANDD, d.Z(), a.Z(), l.Constant(0x00ff00ff, 4).Z())
	return d
}

// narrowOps are 16-bit instructions whose results equal the low 16 bits of those of 32 bits.
var narrowOps = later.Value[map[ir.Op]amd64.Op]{Make: func() map[ir.Op]amd64.Op {
	return map[ir.Op]amd64.Op{
		ir.Add: amd64.VPADDW, ir.Sub: amd64.VPSUBW, ir.Mul: amd64.VPMULLW, ir.And: amd64.VPANDD, ir.Or: amd64.VPORD, ir.Xor: amd64.VPXORD,
	}
}}

// words returns registers with the low 16 bits of a value that [narrowSpans.of] accepts.
func (l *Memory) words(v *ir.Value) []vcode.Reg {
	if c, ok := plan.SmallConst(v); ok {
		return []vcode.Reg{l.Constant(uint64(uint16(c))*0x10001, 4)}
	}
	if regs, ok := l.narrowed[v]; ok {
		return regs
	}
	in := v.Def
	out := vcode.NewVecs(l.Func, l.GangRegs/2)
	switch in.Op {
	case ir.Load:
		l.loadWords(v, out)
	case ir.Wrap, ir.Bitcast:
		out = l.words(in.Args[0])
	case ir.Shl, ir.Shr:
		a := l.words(in.Args[0])
		c, _ := plan.SmallConst(in.Args[1])
		op := amd64.VPSLLW
		if in.Op == ir.Shr {
			op = amd64.VPSRLW
			if s := (narrowSpans{l: l, seen: map[*ir.Value]span{}}); !s.unsigned(in.Args[0]) {
				op = amd64.VPSRAW
			}
		}
		l.eachWord(out, func(i int, d vcode.Reg) { l.Def(op, d.Z(), vcode.Part(a, i).Z(), vcode.Imm(c)) })
	default:
		a, b, op := l.words(in.Args[0]), l.words(in.Args[1]), narrowOps.Get()[in.Op]
		c, known := plan.SmallConst(in.Args[1])
		switch {
		case in.Op == ir.Mul && known && c > 0 && c < 1<<15 && c&(c-1) == 0:
			l.eachWord(out, func(i int, d vcode.Reg) {
				l.Def(amd64.VPSLLW, d.Z(), vcode.Part(a, i).Z(), vcode.Imm(int64(bits.TrailingZeros64(uint64(c)))))
			})
		default:
			l.eachWord(out, func(i int, d vcode.Reg) { l.Def(op, d.Z(), vcode.Part(a, i).Z(), vcode.Part(b, i).Z()) })
		}
	}
	l.narrowed[v] = out
	l.Undo = append(l.Undo, func() { delete(l.narrowed, v) })
	return out
}

func (l *Memory) eachWord(out []vcode.Reg, emit func(i int, d vcode.Reg)) {
	for i, d := range out {
		emit(i, d)
	}
}

// loadWords emits loads of the elements of the source v into out, extended to 16 bits.
func (l *Memory) loadWords(v *ir.Value, out []vcode.Reg) {
	s := l.sources[v]
	for i, d := range out {
		m := s.uni
		m.Disp += int32(i * 2 * l.Target.Lanes * s.elem.Size())
		switch s.elem {
		case ir.U8:
			m.Size = 32
			l.Def(amd64.VPMOVZXBW, d.Z(), m.At())
		case ir.I8:
			m.Size = 32
			l.Def(amd64.VPMOVSXBW, d.Z(), m.At())
		default:
			l.Def(amd64.VMOVUPS, d.Z(), m.At())
		}
	}
}

// span is the range of an integer's values. anySpan stands for an unknown range.
type span struct{ lo, hi int64 }

var anySpan = span{-1 << 40, 1 << 40}

func (s span) within(lo, hi int64) bool { return lo <= s.lo && s.hi <= hi }

// narrowSpans computes the spans of values.
type narrowSpans struct {
	l    *Memory
	seen map[*ir.Value]span
}

// of returns the span of a value. ok reports whether 16-bit lanes can compute its low 16 bits. depth is the number of operations
// followed so far, 0 at first.
func (n *narrowSpans) of(v *ir.Value, depth int) (s span, ok bool) {
	if v.Type != ir.I32 && v.Type != ir.U32 {
		return s, false
	}
	if c, ok := plan.SmallConst(v); ok {
		return fitted(v.Type, span{c, c}), true
	}
	if s, ok := n.seen[v]; ok {
		return s, true
	}
	if v.Def == nil || depth > plan.MaxDepth || n.l.IsUniform(v) {
		return s, false
	}
	if s, ok = n.compute(v.Def, depth+1); ok {
		s = fitted(v.Type, s)
		n.seen[v] = s
	}
	return s, ok
}

// unsigned reports whether a value that [narrowSpans.of] accepts is known to fit in an unsigned integer of 16 bits.
func (n *narrowSpans) unsigned(v *ir.Value) bool {
	s, _ := n.of(v, 0)
	return s.within(0, 1<<16-1)
}

// fitted returns a span, or anySpan if the span exceeds the type's range.
func fitted(t ir.Type, s span) span {
	if lo, hi, _ := analysis.IntRange(t); !s.within(lo, hi) {
		return anySpan
	}
	return s
}

// compute is [narrowSpans.of] for the result of an instruction, except that the span may exceed the type's range.
func (n *narrowSpans) compute(in *ir.Instr, depth int) (s span, ok bool) {
	if in.Op == ir.Load {
		from, known := n.l.sources[in.Result()]
		if _, loaded := n.l.narrowed[in.Result()]; !known || !loaded && (from.block != n.l.InBlock || from.epoch != n.l.Epoch) {
			return s, false
		}
		lo, hi, _ := analysis.IntRange(from.elem)
		return span{lo, hi}, true
	}
	if len(in.Args) == 0 || len(in.Args) > 2 {
		return s, false
	}
	var x [2]span
	for i, a := range in.Args {
		if x[i], ok = n.of(a, depth); !ok {
			return s, false
		}
	}
	a, b := x[0], x[1]
	switch in.Op {
	case ir.Add:
		return span{a.lo + b.lo, a.hi + b.hi}, true
	case ir.Sub:
		return span{a.lo - b.hi, a.hi - b.lo}, true
	case ir.Mul:
		if !a.within(-1<<20, 1<<20) || !b.within(-1<<20, 1<<20) {
			return anySpan, true
		}
		p := [4]int64{a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi}
		return span{min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3])}, true
	case ir.And:
		switch {
		case a.lo >= 0 && b.lo >= 0:
			return span{0, min(a.hi, b.hi)}, true
		case a.lo >= 0:
			return span{0, a.hi}, true
		case b.lo >= 0:
			return span{0, b.hi}, true
		}
		return anySpan, true
	case ir.Or, ir.Xor:
		if a.lo < 0 || b.lo < 0 {
			return anySpan, true
		}
		return span{0, 1<<bits.Len64(uint64(max(a.hi, b.hi))) - 1}, true
	case ir.Wrap, ir.Bitcast:
		return a, true
	case ir.Shl, ir.Shr:
		c, known := plan.SmallConst(in.Args[1])
		if !known || c < 0 || c > 15 {
			return s, false
		}
		if in.Op == ir.Shl {
			return span{a.lo << c, a.hi << c}, true
		}
		signed := in.Args[0].Type.IsSigned() && a.within(-1<<15, 1<<15-1)
		return span{a.lo >> c, a.hi >> c}, signed || a.within(0, 1<<16-1)
	}
	return s, false
}
