package regalloc

import (
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// random returns a random function with vectors, constants, general purpose registers, loops and barriers.
func random(rng *rand.Rand, target *vcode.Target) *vcode.Func {
	f := vcode.NewFunc(target, amd64.New(target.Features))
	f.FewRegs = rng.IntN(3) == 0
	var vecs, gprs []vcode.Reg
	depth := 0
	pick := func(list []vcode.Reg) vcode.Reg { return list[rng.IntN(len(list))] }
	for range 150 {
		shared, first := rng.IntN(8) == 0, len(f.Regs)
		switch n := rng.IntN(10); {
		case n < 2 || len(vecs) == 0 || len(gprs) == 0:
			v, g := f.NewVec(), f.NewGPR()
			f.Def(amd64.VPXORD, v.Z(), v.Z(), v.Z())
			f.Def(amd64.MOV, g.G8(), vcode.Imm(1))
			vecs, gprs = append(vecs, v), append(gprs, g)
		case n < 5:
			f.Def(amd64.VPADDD, pick(vecs).Z(), pick(vecs).Z(), pick(vecs).Z()).Folds(2, 4)
		case n < 6:
			f.Def(amd64.VPADDD, pick(vecs).Z(), pick(vecs).Z(), f.Constant(uint64(rng.IntN(5)), 4).Z()).Folds(2, 4)
		case n < 7:
			f.Use(amd64.VMOVUPS, vcode.Mem{Base: pick(gprs), Index: pick(gprs), IndexSize: 8, Scale: 4}.At(), pick(vecs).Z())
		case n < 8:
			f.Mod(amd64.ADD, pick(gprs).G8(), pick(gprs).G8())
		case n < 9 && depth < 3:
			f.Mark(vcode.KindLoopBegin)
			depth++
		case depth > 0:
			f.Mark(vcode.KindLoopEnd)
			depth--
		default:
			f.Mark(vcode.KindBarrier)
		}
		for i := first; i < len(f.Regs); i++ {
			f.Regs[i].Shared = f.Regs[i].Shared || shared
		}
	}
	for ; depth > 0; depth-- {
		f.Mark(vcode.KindLoopEnd)
	}
	return f
}

// TestAllocate checks random allocations: overlapping live ranges share neither a machine register nor a spill slot, and no
// machine register keeps a gang's value across a barrier.
func TestAllocate(t *testing.T) {
	spilled := 0
	for seed := range uint64(300) {
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			f := random(rand.New(rand.NewPCG(seed, 1)), target)
			a := Allocate(f)
			ranges, barriers := f.LiveRanges(), f.Barriers() // of the registers that the allocation added, too
			for r := 1; r < len(f.Regs); r++ {
				live, v := ranges[r], f.Regs[r]
				if live.Start < 0 {
					continue
				}
				if a.Phys[r] < 0 && v.Elem == 0 {
					spilled++
					limit := a.FrameBytes
					if v.Shared {
						limit = a.SharedBytes
					}
					if a.Slot[r] < 0 || a.Slot[r] >= limit {
						t.Errorf("seed %d, %s: register %d has slot %d of %d bytes", seed, target.Name, r, a.Slot[r], limit)
					}
				}
				for _, at := range barriers {
					if a.Phys[r] >= 0 && !v.Shared && live.Start < at && at <= live.End {
						t.Errorf("seed %d, %s: register %d is in a machine register across the barrier at %d", seed, target.Name, r, at)
					}
				}
				for s := 1; s < r; s++ {
					other, w := ranges[s], f.Regs[s]
					if other.Start < 0 || other.End < live.Start || live.End < other.Start || v.Class != w.Class {
						continue
					}
					if a.Phys[r] >= 0 && a.Phys[r] == a.Phys[s] {
						t.Errorf("seed %d, %s: registers %d and %d overlap in machine register %d", seed, target.Name, s, r, a.Phys[r])
					}
					if a.Phys[r] < 0 && a.Phys[s] < 0 && v.Elem+w.Elem == 0 && v.Shared == w.Shared && a.Slot[r] == a.Slot[s] {
						t.Errorf("seed %d, %s: registers %d and %d overlap in slot %d", seed, target.Name, s, r, a.Slot[r])
					}
				}
			}
		}
	}
	if spilled < 1000 {
		t.Errorf("only %d registers were spilled", spilled)
	}
}

// TestIntermediates checks that each spilled sum of a loop is written once in each iteration, though three instructions compute its
// next value.
func TestIntermediates(t *testing.T) {
	f := vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))
	base, sums := f.NewGPR(), vcode.NewVecs(f, 40)
	f.Def(amd64.MOV, base.G8(), vcode.Imm(1))
	for _, s := range sums {
		f.Def(amd64.VPXOR, s.Y(), s.Y(), s.Y())
	}
	f.Mark(vcode.KindLoopBegin)
	begin := len(f.Insts)
	for _, s := range sums {
		for range 3 {
			f.Def(amd64.VADDPS, s.Y(), s.Y(), s.Y()).Folds(2, 4)
		}
	}
	end := len(f.Insts)
	f.Mark(vcode.KindLoopEnd)
	for i, s := range sums {
		f.Use(amd64.VMOVUPS, vcode.Mem{Base: base, Disp: int32(32 * i)}.At(), s.Y())
	}
	a := Allocate(f)
	spilled := 0
	for _, s := range sums {
		if a.Phys[s] >= 0 {
			continue
		}
		spilled++
		writes := 0
		for i := begin; i < end; i++ {
			if in := &f.Insts[i]; in.Kind == vcode.KindOp && in.Args[0].Reg == s {
				writes++
			}
		}
		if writes != 1 {
			t.Errorf("sum %d is written %d times", s, writes)
		}
	}
	if spilled < 20 {
		t.Errorf("only %d sums were spilled", spilled)
	}
}
