package passes

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestSinkStopsAtJumps checks that a load used after a jump and at its target stays before the jump. A load with one
// use moves to it.
func TestSinkStopsAtJumps(t *testing.T) {
	f := vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))
	both, one, sum := f.NewVec(), f.NewVec(), f.NewVec()
	target := f.NewLabel()
	f.Def(amd64.VBROADCASTSS, both.Y(), vcode.FrameMem(0, 4).At())
	f.Def(amd64.VBROADCASTSS, one.Y(), vcode.FrameMem(4, 4).At())
	f.Jump(amd64.JNE, target)
	f.Def(amd64.VADDPS, sum.Y(), both.Y(), one.Y())
	f.Use(amd64.VMOVUPS, vcode.FrameMem(64, 32).At(), sum.Y())
	f.Bind(target)
	f.Use(amd64.VMOVUPS, vcode.FrameMem(32, 32).At(), both.Y())
	FoldLoads(f, true)
	var order []vcode.Reg
	for i := range f.Insts {
		switch in := &f.Insts[i]; in.Op {
		case amd64.VBROADCASTSS:
			order = append(order, in.Args[0].Reg)
		case amd64.JNE:
			order = append(order, 0)
		}
	}
	if len(order) != 3 || order[0] != both || order[1] != 0 || order[2] != one {
		t.Errorf("the loads and the jump are in the order %v, want %v:\n%s", order, []vcode.Reg{both, 0, one}, f)
	}
}
