package vcode

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

func TestText(t *testing.T) {
	f := NewFunc(&AVX512, amd64.New(amd64.ForAVX512))
	v, m, g := f.NewVec(), f.NewMask(), f.NewGPR()
	shared := f.NewSharedGPR()
	end := f.NewLabel()
	f.Mark(KindLoopBegin)
	f.Def(amd64.VADDPS, v.Z(), v.Z(), f.Constant(1, 4).Z()).Under(m)
	f.Def(amd64.VMOVUPS, v.Z(), Mem{Base: shared, Index: g, Scale: 4, Disp: 8}.At()).Zeroed(m)
	f.Use(amd64.XADD, FrameMem(16, 4).At(), g.G4()).Lock = true
	f.Use(amd64.CMP, Phys(amd64.RAX), Imm(-3))
	f.Jump(amd64.JL, end)
	f.Def(amd64.MOV, g.G8(), g.G8()).Drop()
	f.Trap(Trap{Kind: TrapEval, Uses: []Reg{v, m}, Defs: []Reg{g}})
	f.Mark(KindLoopEnd)
	f.Comment(7)
	f.Declare(v)
	f.Bind(end)
	const want = `    0 	loop {
    1 	vaddps v1:512 {k2} <-> v1:512, cv5:512
    2 	vmovups v1:512 {k2}{z} <- [@r4 + 4*r3 + 8]
    3 	lock xadd [r15 + 16], r3:32
    4 	cmp rax, -3
    5 	jl L1
    7 	trap 0 eval uses (v1 k2) defs (r3)
    8 	}
    9 	# site 7
   10 	declare v1
   11 L1:
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
