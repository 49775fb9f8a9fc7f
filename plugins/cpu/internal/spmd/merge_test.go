package spmd

import (
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TestMergedWithDeclared declares a register that takes the value of another one, which is in use from before: both in one
// register are in use there, too.
func TestMergedWithDeclared(t *testing.T) {
	asm := amd64.New(amd64.ForAVX512)
	f := newFunc(&avx512, asm)
	advance, fresh := asm.NewLabel(), asm.NewLabel()
	kept, result, other, some := f.vec(), f.vec(), f.vec(), f.mask()
	f.def(amd64.VPXORD, z(other), z(other), z(other))
	f.def(amd64.KXNORW, k(some), k(some), k(some))
	f.add(inst{kind: kindDeclare, x: int32(result), fold: -1})
	f.def(amd64.VMOVDQA64, z(result), z(kept))
	f.def(amd64.VADDPS, z(result), z(other), z(other)).mask = some
	f.use(amd64.VMOVUPS, at(mem{fixed: regFrame}), z(result))
	asked := []vr{kept, result}
	g := f.findFlow(advance, fresh, asked)
	g.mergeCopied(asked)
	merged := f.insts[5].a[1].reg
	if f.insts[3].kind != kindNone || merged != f.insts[4].a[0].reg {
		t.Fatal("the registers were not merged")
	}
	for i := int32(1); i < 6; i++ {
		if k, _ := g.numberOf(merged); !has(g.liveAt(i), k) {
			t.Errorf("the value is not in use before instruction %d", i)
		}
	}
}
