package vcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TestOperands checks the registers, roles and order of operands of each form of instruction.
func TestOperands(t *testing.T) {
	f := NewFunc(&AVX512, amd64.New(amd64.ForAVX512))
	a, b, c, m, g, h := f.NewVec(), f.NewVec(), f.NewVec(), f.NewMask(), f.NewGPR(), f.NewGPR() // 1 … 6
	for _, test := range []struct {
		name, want string
		emit       func()
	}{
		{"definition", "1 def, 2 use, 3 use", func() { f.Def(amd64.VADDPS, a.Z(), b.Z(), c.Z()) }},
		{"accumulation", "1 mod, 2 use, 3 use", func() { f.Mod(amd64.VFMADD231PS, a.Z(), b.Z(), c.Z()) }},
		{"merging", "4 use, 1 mod, 2 use, 3 use", func() { f.Def(amd64.VADDPS, a.Z(), b.Z(), c.Z()).Under(m) }},
		{"zeroing", "4 use, 1 def, 2 use, 3 use", func() { f.Def(amd64.VADDPS, a.Z(), b.Z(), c.Z()).Zeroed(m) }},
		{"some lanes", "4 use, 1 def some, 2 use, 3 use", func() { f.Def(amd64.VADDPS, a.Z(), b.Z(), c.Z()).Mask = m }},
		{"comparison", "1 use, 2 use", func() { f.Use(amd64.VPTEST, a.Z(), b.Z()) }},
		{"load", "1 def, 5 use, 6 use", func() { f.Def(amd64.VMOVUPS, a.Z(), Mem{Base: g, Index: h, IndexSize: 8, Scale: 4}.At()) }},
		{"store", "5 use, 1 use", func() { f.Use(amd64.VMOVUPS, Mem{Base: g}.At(), a.Z()) }},
		{"machine register", "5 use", func() { f.Def(amd64.MOV, Phys(amd64.RAX), g.G8()) }},
		{"immediate", "5 mod", func() { f.Mod(amd64.ADD, g.G8(), Imm(1)) }},
		{"declaration", "1 declare", func() { f.Declare(a) }},
		{"trap", "1 use, 2 def", func() { f.Trap(Trap{Uses: []Reg{a}, Defs: []Reg{b}}) }},
		{"label", "", func() { f.Bind(f.NewLabel()) }},
		{"dropped", "", func() { f.Def(amd64.VADDPS, a.Z(), b.Z(), c.Z()).Drop() }},
	} {
		test.emit()
		in := &f.Insts[len(f.Insts)-1]
		var got []string
		f.Operands(in, func(r *Reg, as Role) {
			got = append(got, fmt.Sprint(*r, " ", [...]string{"use", "def", "def some", "mod", "declare"}[as]))
		})
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		f.Rename(in, func(r *Reg) { *r += 10 })
		f.Operands(in, func(r *Reg, _ Role) {
			if *r <= 10 {
				t.Errorf("%s: register %d is not renamed", test.name, *r)
			}
		})
	}
}

// TestLiveRanges checks that the range of a value live into a loop extends to the loop's end.
func TestLiveRanges(t *testing.T) {
	f := NewFunc(&AVX512, amd64.New(amd64.ForAVX512))
	outside, inside, unused := f.NewGPR(), f.NewGPR(), f.NewGPR()
	f.Def(amd64.MOV, outside.G8(), Imm(1)) // 0
	f.Mark(KindLoopBegin)
	f.Def(amd64.MOV, inside.G8(), outside.G8())
	f.Mod(amd64.ADD, inside.G8(), Imm(1))
	f.Mark(KindLoopEnd) // 4
	f.Mark(KindBarrier)
	ranges := f.LiveRanges()
	if r := ranges[outside]; r.Start != 1 || r.End != 8 || r.Weight != 2+10 {
		t.Errorf("the register that enters the loop: %+v", r)
	}
	if r := ranges[inside]; r.Start != 5 || r.End != 7 || r.Hint != outside {
		t.Errorf("the register in the loop: %+v", r)
	}
	if ranges[unused].Start != -1 {
		t.Error("an unused register is live")
	}
	if b := f.Barriers(); len(b) != 1 || b[0] != 10 {
		t.Errorf("barriers at %v", b)
	}
}

// TestLiveness checks the liveness of a value around a branch.
func TestLiveness(t *testing.T) {
	f := NewFunc(&AVX512, amd64.New(amd64.ForAVX512))
	x, y := f.NewGPR(), f.NewGPR()
	skip := f.NewLabel()
	f.Def(amd64.MOV, x.G8(), Imm(1)) // 0
	f.Use(amd64.CMP, x.G8(), Imm(2))
	f.Jump(amd64.JE, skip)
	f.Def(amd64.MOV, y.G8(), x.G8()) // 3
	f.Bind(skip)
	f.Use(amd64.CMP, y.G8(), Imm(0)) // 5
	g := f.FindLiveness(0, 0, []Reg{x, y})
	for i, want := range []uint64{2, 3, 3, 1, 2, 2, 0} {
		if got := g.LiveAt(int32(i))[0]; got != want {
			t.Errorf("before instruction %d the set is %b, want %b", i, got, want)
		}
	}
}
