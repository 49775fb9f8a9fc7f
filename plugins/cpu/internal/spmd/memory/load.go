package memory

import (
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Load emits a Load with the checks of its indices, and records the registers of its result.
func (l *Memory) Load(in *ir.Instr) {
	if l.loadColumn(in) {
		return
	}
	p := l.memRefOf(in)
	r := in.Result()
	if p.access == broadcast {
		l.loadOne(in, p)
		return
	}
	n := l.VectorsOf(r.Type)
	if r.Type == ir.Bool {
		n = l.GangRegs
	}
	if p.oneRow {
		n /= l.GangRegs
	}
	l.noteNarrow(in, &p)
	out := vcode.NewVecs(l.Func, n)
	partly := p.access == contiguous && p.mask != nil && p.Size < 4 && !l.Target.HasMasks
	if partly && l.Spec.Is2D() {
		l.scatterRow(&p)
		partly = false
	}
	perReg := l.BytesOfVector(p.Size)
	if p.access == contiguous && p.below == 0 && l.Uses[r.ID].Loop == nil { // a load in a loop uses another line in each iteration
		l.prefetchRow(&p, n*perReg)
	}
	if p.access == contiguous && p.below == 0 {
		l.prefetchLoop(in, &p, n*perReg)
	}
	var rows []vcode.Mem
	if p.access == contiguous {
		rows = l.registersOf(&p, n)
	}
	for i, d := range out {
		m := l.PartMask(p.mask, i, r.Type.Size())
		switch {
		case partly:
			l.loadPart(&p, i, d, rows[i], m)
		case p.perRow:
			l.Def(lanes.Sized(p.Size, amd64.VBROADCASTSS, amd64.VBROADCASTSD), d.Z(), rows[i].At())
		case p.access == contiguous:
			l.LoadRow(p.Scalar, d, rows[i], m)
		default:
			l.Gather(&p, i, d, m)
		}
	}
	if p.oneRow {
		out = slices.Repeat(out, l.GangRegs)
	}
	if r.Type != ir.Bool {
		l.Set(r, values.Value{Vec: out})
		return
	}
	masks := l.NewMasks(l.GangRegs)
	for i, d := range masks {
		l.Def(amd64.VPTESTMD, d.K(), out[i].Z(), out[i].Z())
	}
	l.Set(r, values.Value{Masks: masks})
}

// pageBytes is the least size of a page of memory, in bytes.
const pageBytes = 4096

// loadPart emits the load of register i of narrow adjacent elements under a mask, for targets without masks of narrow elements.
// If a lane is active and the vector crosses no page, all of it can be read, since its page can be. Other vectors are gathered.
func (l *Memory) loadPart(p *MemRef, i int, d vcode.Reg, m vcode.Mem, mask vcode.Reg) {
	apart, done := l.NewLabel(), l.NewLabel()
	l.Use(amd64.KORTESTW, mask.K(), mask.K())
	l.Jump(amd64.JE, apart)
	at := l.NewGPR()
	l.Def(amd64.LEA, at.G8(), m.At())
	l.Mod(amd64.AND, at.G4(), vcode.Imm(pageBytes-1))
	l.Use(amd64.CMP, at.G4(), vcode.Imm(int64(pageBytes-l.BytesOfVector(p.Size))))
	l.Jump(amd64.JA, apart)
	whole := l.NewVec()
	l.LoadRow(p.Scalar, whole, m, 0)
	l.Def(amd64.VMOVDQA32, d.Z(), whole.Z()).Zeroed(mask)
	l.Bind(done)
	l.Cold(func() {
		l.Bind(apart)
		mark, lanes := len(l.Undo), *p
		l.scatterRow(&lanes)
		l.Gather(&lanes, i, d, mask)
		l.Jump(amd64.JMP, done)
		l.Forget(mark)
	})
}

// Gather emits a load of the scattered elements of register i into d, for the lanes of a mask (0: all). Other lanes become 0.
func (l *Memory) Gather(p *MemRef, i int, d vcode.Reg, mask vcode.Reg) {
	uni := l.Flat(p.Uni)
	if p.Size == 4 && mask == 0 && !l.Target.HasMasks && l.Options.Model.SplitGathers {
		l.LoadEach(uni, vcode.Part(p.Offs, i), p.Scale, d)
		return
	}
	l.Def(amd64.VPXORD, d.Z(), d.Z(), d.Z())
	m := l.Spoilt(mask)
	if p.Size == 8 {
		offs := l.HalfOffsets(p.Offs, i)
		uni.Index, uni.IndexSize, uni.Scale = offs, 32, p.Scale
		l.GatherInto(amd64.VPGATHERDQ, d, uni, m)
		return
	}
	offs := vcode.Part(p.Offs, i)
	if p.Size == 4 {
		uni.Index, uni.IndexSize, uni.Scale = offs, 64, p.Scale
		l.GatherInto(amd64.VPGATHERDD, d, uni, m)
		return
	}
	// Smaller elements are extracted from the enclosing aligned words, which are on the same page.
	first, base, bytes := l.NewGPR(), l.NewGPR(), l.NewVec()
	l.Def(amd64.LEA, first.G8(), uni.At())
	l.Def(amd64.MOV, base.G8(), first.G8())
	l.Mod(amd64.AND, base.G8(), vcode.Imm(-4))
	l.Mod(amd64.AND, first.G4(), vcode.Imm(3))
	start := l.Splat(first, ir.I32)
	if p.Scale > 1 {
		l.Def(amd64.VPSLLD, bytes.Z(), offs.Z(), vcode.Imm(int64(bits.TrailingZeros8(p.Scale))))
		l.Op2(amd64.VPADDD, bytes, bytes, start, 4)
	} else {
		l.Op2(amd64.VPADDD, bytes, offs, start, 4)
	}
	word, count := l.NewVec(), l.NewVec()
	l.Op2(amd64.VPANDD, word, bytes, l.Constant(^uint64(3), 4), 4)
	l.Op2(amd64.VPANDD, count, bytes, l.Constant(3, 4), 4)
	l.Def(amd64.VPSLLD, count.Z(), count.Z(), vcode.Imm(3))
	raw := l.NewVec()
	l.Def(amd64.VPXORD, raw.Z(), raw.Z(), raw.Z())
	l.GatherInto(amd64.VPGATHERDD, raw, vcode.Mem{Base: base, Index: word, IndexSize: 64, Scale: 1}, m)
	l.Op2(amd64.VPSRLVD, raw, raw, count, 4)
	up := int64(32 - 8*p.Size)
	switch p.Scalar {
	case ir.BF16:
		l.Def(amd64.VPSLLD, d.Z(), raw.Z(), vcode.Imm(16))
	case ir.F16:
		h := l.NewVec()
		l.Def(amd64.VPMOVDW, h.Y(), raw.Z())
		l.Def(amd64.VCVTPH2PS, d.Z(), h.Y())
	default:
		l.Def(amd64.VPSLLD, raw.Z(), raw.Z(), vcode.Imm(up))
		op := amd64.VPSRLD
		if p.Scalar == ir.I8 || p.Scalar == ir.I16 {
			op = amd64.VPSRAD
		}
		l.Def(op, d.Z(), raw.Z(), vcode.Imm(up))
	}
}

// loadOne emits a load of one element for all lanes. In unchecked code, an access out of bounds loads 0.
func (l *Memory) loadOne(in *ir.Instr, p MemRef) {
	r := in.Result()
	m := p.Uni
	if p.inside != 0 {
		a, zero := l.NewGPR(), l.NewGPR()
		l.Def(amd64.LEA, a.G8(), m.At())
		l.Def(amd64.LEA, zero.G8(), vcode.CtxMem(abi.CtxZero, 8).At())
		l.Use(amd64.TEST, p.inside.G4(), p.inside.G4())
		l.Mod(amd64.CMOVE, a.G8(), zero.G8())
		m = vcode.Mem{Base: a}
	}
	switch p.Scalar {
	case ir.F32, ir.F64, ir.F16, ir.BF16:
		d := l.NewVec()
		switch p.Scalar {
		case ir.F32:
			l.Def(amd64.VBROADCASTSS, d.Z(), m.At())
		case ir.F64:
			l.Def(amd64.VBROADCASTSD, d.Z(), m.At())
		case ir.F16:
			h := l.NewVec()
			l.Def(amd64.VPBROADCASTW, h.Y(), m.At())
			l.Def(amd64.VCVTPH2PS, d.Z(), h.Y())
		default:
			l.Def(amd64.VPBROADCASTW, d.Z(), m.At())
			l.Def(amd64.VPSLLD, d.Z(), d.Z(), vcode.Imm(16))
		}
		l.setLoaded(r, values.Value{Vec: []vcode.Reg{d}})
		return
	}
	d := l.NewGPR()
	m.Size = uint8(p.Size)
	switch p.Scalar {
	case ir.Bool:
		l.Use(amd64.CMP, m.At(), vcode.Imm(0))
		l.Def(amd64.SETNE, d.G(1))
		l.Def(amd64.MOVZX, d.G4(), d.G(1))
	case ir.U8, ir.U16:
		l.Def(amd64.MOVZX, d.G4(), m.At())
	case ir.I8, ir.I16:
		l.Def(amd64.MOVSX, d.G4(), m.At())
	default:
		l.Def(amd64.MOV, d.G(p.Size), m.At())
	}
	l.setLoaded(r, values.Value{G: d})
}

// setLoaded records the value of an element that is loaded once for all lanes, even if the analysis considers it varying.
func (l *Memory) setLoaded(r *ir.Value, v values.Value) {
	if l.IsUniform(r) {
		l.Set(r, v)
		return
	}
	if r.Type == ir.Bool {
		m := l.MaskOf(v.G)
		masks := make([]vcode.Reg, l.GangRegs)
		for i := range masks {
			masks[i] = m
		}
		l.Set(r, values.Value{Masks: masks})
		return
	}
	if v.Vec == nil {
		v.Vec = []vcode.Reg{l.Splat(v.G, r.Type)}
	}
	full := make([]vcode.Reg, l.VectorsOf(r.Type))
	for i := range full {
		full[i] = v.Vec[0]
	}
	l.Vals[r.ID] = values.Value{Vec: full}
}
