package passes

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestMergedWithDeclared coalesces a declared register with a copy of a value that is live before. The merged register must
// be live there, too.
func TestMergedWithDeclared(t *testing.T) {
	asm := amd64.New(amd64.ForAVX512)
	f := vcode.NewFunc(&vcode.AVX512, asm)
	advance, fresh := asm.NewLabel(), asm.NewLabel()
	kept, result, other, some := f.NewVec(), f.NewVec(), f.NewVec(), f.NewMask()
	f.Def(amd64.VPXORD, other.Z(), other.Z(), other.Z())
	f.Def(amd64.KXNORW, some.K(), some.K(), some.K())
	f.Declare(result)
	f.Def(amd64.VMOVDQA64, result.Z(), kept.Z())
	f.Def(amd64.VADDPS, result.Z(), other.Z(), other.Z()).Mask = some
	f.Use(amd64.VMOVUPS, vcode.Mem{Fixed: abi.Frame}.At(), result.Z())
	asked := []vcode.Reg{kept, result}
	g := f.FindLiveness(advance, fresh, asked)
	mergeCopied(g, asked)
	merged := f.Insts[5].Args[1].Reg
	if f.Insts[3].Kind != vcode.KindNone || merged != f.Insts[4].Args[0].Reg {
		t.Fatal("the registers were not merged")
	}
	for i := int32(1); i < 6; i++ {
		if k, _ := g.NumberOf(merged); !vcode.HasBit(g.LiveAt(i), k) {
			t.Errorf("the value is not in use before instruction %d", i)
		}
	}
}
