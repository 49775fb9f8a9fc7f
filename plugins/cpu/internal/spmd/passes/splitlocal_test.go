package passes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// stored returns the values that the code stores to the frame, as hashes of the operations that compute them. A register
// that is read before it is written has no value.
func stored(t *testing.T, f *vcode.Func) (list []uint64) {
	t.Helper()
	values := map[vcode.Reg]uint64{}
	for i := range f.Insts {
		in := &f.Insts[i]
		hash, result := uint64(in.Op)+0x9e3779b97f4a7c15, vcode.Reg(0)
		f.Operands(in, func(r *vcode.Reg, as vcode.Role) {
			if as != vcode.RoleUse {
				result = *r
			}
			if as == vcode.RoleDef {
				return
			}
			v, ok := values[*r]
			switch {
			case ok:
			case f.Regs[*r].Elem != 0:
				v = uint64(*r)
			default:
				t.Fatalf("instruction %d of %d reads register %d, which has no value", i, len(f.Insts), *r)
			}
			hash = (hash ^ v) * 0x100000001b3
			hash ^= hash >> 29
			if in.Moves() {
				hash = v
			}
		})
		if result != 0 {
			values[result] = hash
		} else if in.N > 0 {
			list = append(list, hash)
		}
	}
	return list
}

// TestSplitLocal splits random straight-line code with values that are overwritten, completely or partly. The stored
// values do not change. Spilled values occur only in copies to and from spill slots, and in instructions that read
// memory.
func TestSplitLocal(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		target := []*vcode.Target{&vcode.AVX2, &vcode.AVX512}[seed%2]
		f := vcode.NewFunc(target, amd64.New(target.Features))
		f.FewRegs = seed%3 == 0
		var regs []vcode.Reg
		for range 20 + random.IntN(40) {
			regs = append(regs, f.NewVec())
		}
		any := func() vcode.Reg {
			if random.IntN(5) == 0 {
				return f.Constant(uint64(random.IntN(6)), 4)
			}
			return regs[random.IntN(len(regs))]
		}
		for i, r := range regs {
			f.Def(amd64.VMOVUPS, r.Y(), vcode.Mem{Fixed: abi.Frame, Disp: int32(32 * i)}.At())
		}
		for range 300 {
			d, a, b := regs[random.IntN(len(regs))], any(), any()
			switch random.IntN(6) {
			case 0:
				f.Mod(amd64.VFMADD231PS, d.Y(), a.Y(), b.Y()).Folds(2, 4)
			case 1:
				f.Use(amd64.VMOVUPS, vcode.Mem{Fixed: abi.Frame}.At(), d.Y())
			case 2:
				f.Def(amd64.VMOVDQA, d.Y(), a.Y()).Folds(1, 4)
			default:
				f.Def(amd64.VADDPS, d.Y(), a.Y(), b.Y()).Folds(2, 4)
			}
		}
		want := stored(t, f)
		SplitLocal(f)
		if got := stored(t, f); !slices.Equal(got, want) {
			t.Fatalf("seed %d: other values are stored", seed)
		}
		if f.FewRegs {
			continue
		}
		where := regalloc.Allocate(f)
		for r := range f.Regs {
			if v := &f.Regs[r]; r > 0 && v.Elem == 0 && !v.Spill && where.Phys[r] < 0 && len(f.AllMentions()[r]) > 0 {
				t.Fatalf("seed %d, %s: register %d is in memory for its whole life", seed, target.Name, r)
			}
		}
	}
}

// TestSplitLocalInLoop checks that values carried from the previous iteration are not split.
func TestSplitLocalInLoop(t *testing.T) {
	f := vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))
	again, sum := f.NewLabel(), f.NewVec()
	f.Mark(vcode.KindLoopBegin)
	f.Bind(again)
	var regs []vcode.Reg
	for i := range 40 {
		r := f.NewVec()
		regs = append(regs, r)
		f.Def(amd64.VMOVUPS, r.Y(), vcode.Mem{Fixed: abi.Frame, Disp: int32(32 * i)}.At())
	}
	f.Mod(amd64.VFMADD231PS, sum.Y(), regs[0].Y(), regs[1].Y()).Folds(2, 4)
	for _, r := range regs {
		f.Use(amd64.VMOVUPS, vcode.Mem{Fixed: abi.Frame}.At(), r.Y())
	}
	f.Jump(amd64.JNE, again)
	f.Mark(vcode.KindLoopEnd)
	n := len(f.Insts)
	SplitLocal(f)
	if len(f.Insts) == n {
		t.Error("nothing was split")
	}
	if n := len(f.AllMentions()[sum]); n != 1 {
		t.Errorf("the sum is mentioned by %d instructions, want 1", n)
	}
}

// TestSplitLocalOfDeclaredConstant checks that constants are not split if a pseudo-instruction mentions them.
func TestSplitLocalOfDeclaredConstant(t *testing.T) {
	for _, declared := range []bool{false, true} {
		f := vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))
		constant := f.NewVec()
		f.Regs[constant].Elem = 64
		if declared {
			f.Declare(constant)
		}
		var regs []vcode.Reg
		for range 40 {
			r := f.NewVec()
			regs = append(regs, r)
			f.Def(amd64.VADDPS, r.Y(), constant.Y(), constant.Y())
		}
		for _, r := range regs {
			f.Use(amd64.VMOVUPS, vcode.Mem{Fixed: abi.Frame}.At(), r.Y())
		}
		n := len(f.AllMentions()[constant])
		SplitLocal(f)
		if now := len(f.AllMentions()[constant]); (now == n) != declared {
			t.Errorf("declared %t: %d instructions mention the constant, before it %d", declared, now, n)
		}
	}
}
