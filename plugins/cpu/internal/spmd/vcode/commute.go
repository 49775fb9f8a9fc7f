package vcode

import (
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// commutative are the operations whose last two sources may be swapped.
var commutative = later.Value[map[amd64.Op]bool]{Make: func() map[amd64.Op]bool {
	list := map[amd64.Op]bool{}
	for _, op := range []amd64.Op{
		amd64.VADDPS, amd64.VADDPD, amd64.VMULPS, amd64.VMULPD, amd64.VPADDB, amd64.VPADDW, amd64.VPADDD, amd64.VPADDQ,
		amd64.VPMULLW, amd64.VPMULLD, amd64.VPMULUDQ, amd64.VPMULDQ, amd64.VPAND, amd64.VPOR, amd64.VPXOR, amd64.VPANDD, amd64.VPORD,
		amd64.VPXORD, amd64.VPANDQ, amd64.VPORQ, amd64.VPXORQ, amd64.VPMAXSD, amd64.VPMAXUD, amd64.VPMAXSQ, amd64.VPMAXUQ, amd64.VPMINSD,
		amd64.VPMINUD, amd64.VPMINSQ, amd64.VPMINUQ, amd64.VFMADD231PS, amd64.VFMADD231PD, amd64.VFMSUB231PS, amd64.VFMSUB231PD,
		amd64.VFNMADD231PS, amd64.VFNMADD231PD, amd64.VFNMSUB231PS, amd64.VFNMSUB231PD,
	} {
		list[op] = true
	}
	return list
}}

// Commutes reports whether the last two register operands may be swapped, so that the one in memory comes last.
func (in *Inst) Commutes() bool {
	switch {
	case in.Fold != 2:
		return false
	case in.N == 4 && (in.Op == amd64.VCMPPS || in.Op == amd64.VCMPPD):
		p := amd64.Predicate(in.Imm)
		return p == amd64.CmpEQ || p == amd64.CmpNE || p == amd64.CmpUnordered || p == amd64.CmpOrdered
	}
	return in.N == 3 && commutative.Get()[in.Op]
}
