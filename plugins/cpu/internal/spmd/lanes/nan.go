package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Unordered emits the mask d of the lanes in which a or b, floats of size bytes, is NaN.
func (g *Gang) Unordered(d, a, b vcode.Reg, size int) {
	g.Def(Sized(size, amd64.VCMPPS, amd64.VCMPPD), d.K(), a.Z(), b.Z(), vcode.Cmp(amd64.CmpUnordered)).Folds(2, size)
}

// Canonicalize emits a copy of a, with elements of e bytes, in which each NaN is the canonical one. quiet means that a has no
// signalling NaNs.
func (g *Gang) Canonicalize(d, a vcode.Reg, e int, quiet bool) {
	nan := g.Constant(canonicalNaN(e), e)
	switch {
	case !g.Target.HasMasks:
		odd := g.NewMask()
		g.Unordered(odd, a, a, e)
		g.Def(amd64.VMOVDQA64, d.Z(), a.Z()).Folds(1, 0)
		g.Def(Sized(e, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), d.Z(), nan.Z()).Folds(2, e).Mask = odd
	case quiet: // the minimum by VRANGEPS of a NaN and a number is the number, and of two NaNs the first
		g.Def(Sized(e, amd64.VRANGEPS, amd64.VRANGEPD), d.Z(), nan.Z(), a.Z(), vcode.Imm(4))
	default:
		g.Def(amd64.VMOVDQA64, d.Z(), nan.Z()).Folds(1, 0)
		g.Mod(Sized(e, amd64.VFIXUPIMMPS, amd64.VFIXUPIMMPD), d.Z(), a.Z(), g.Constant(keepNaNs, e).Z(), vcode.Imm(0)).Folds(2, e)
	}
}

// keepNaNs is the table of a VFIXUPIMM that replaces all but NaNs by the source. It has a 4-bit response for each class of
// floats, quiet and signalling NaNs first: 0 keeps the destination, 1 takes the source.
const keepNaNs = 0x11111100

func canonicalNaN(size int) uint64 {
	if size == 8 {
		return ir.NaN64
	}
	return uint64(ir.NaN32)
}
