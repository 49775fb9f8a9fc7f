package avx2

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestWhatAVX2Lacks checks that AVX-512 instructions without an expansion are errors that name them, and that others are
// expanded.
func TestWhatAVX2Lacks(t *testing.T) {
	for _, c := range []struct {
		name   string
		lacks  amd64.Op // 0 if there is an expansion
		toward func(f *vcode.Func, v, m, g vcode.Reg)
	}{
		{"a store of some lanes", 0, func(f *vcode.Func, v, m, _ vcode.Reg) {
			f.Use(amd64.VMOVUPS, vcode.Mem{Fixed: abi.Frame}.At(), v.Z()).Under(m)
		}},
		{"a store of some doubles", 0, func(f *vcode.Func, v, m, _ vcode.Reg) {
			f.Use(amd64.VMOVUPD, vcode.Mem{Fixed: abi.Frame}.At(), v.Z()).Under(m)
		}},
		{"a store of some bytes", amd64.VPMOVDB, func(f *vcode.Func, v, m, _ vcode.Reg) {
			f.Use(amd64.VPMOVDB, vcode.Mem{Fixed: abi.Frame}.At(), v.Z()).Under(m)
		}},
		{"a load of some lanes", 0, func(f *vcode.Func, v, m, _ vcode.Reg) {
			f.Def(amd64.VMOVUPS, v.Z(), vcode.Mem{Fixed: abi.Frame}.At()).Zeroed(m)
		}},
		{"a load of some bytes", amd64.VPMOVZXBD, func(f *vcode.Func, v, m, _ vcode.Reg) {
			f.Def(amd64.VPMOVZXBD, v.Z(), vcode.Mem{Fixed: abi.Frame}.At()).Zeroed(m)
		}},
		{"a mask from memory", amd64.KMOVW, func(f *vcode.Func, _, m, _ vcode.Reg) {
			f.Def(amd64.KMOVW, m.K(), vcode.Mem{Fixed: abi.Frame, Size: 2}.At())
		}},
		{"a mask to memory", 0, func(f *vcode.Func, _, m, _ vcode.Reg) {
			f.Use(amd64.KMOVW, vcode.Mem{Fixed: abi.Frame, Size: 2}.At(), m.K())
		}},
		{"bytes in a register", amd64.VPMOVDB, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Def(amd64.VPMOVDB, v.X(), v.Z()) }},
		{"words in a register", 0, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Def(amd64.VPMOVDW, v.Y(), v.Z()) }},
		{"a choice by bits", 0, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Mod(amd64.VPTERNLOGD, v.Z(), v.Z(), v.Z(), vcode.Imm(0xca)) }},
		{"another function of bits", amd64.VPTERNLOGD, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Mod(amd64.VPTERNLOGD, v.Z(), v.Z(), v.Z(), vcode.Imm(0xcb)) }},
		{"the lesser", 0, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Def(amd64.VRANGEPS, v.Z(), v.Z(), v.Z(), vcode.Imm(4)) }},
		{"the greater", 0, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Def(amd64.VRANGEPD, v.Z(), v.Z(), v.Z(), vcode.Imm(5)) }},
		{"the lesser by magnitude", amd64.VRANGEPS, func(f *vcode.Func, v, _, _ vcode.Reg) { f.Def(amd64.VRANGEPS, v.Z(), v.Z(), v.Z(), vcode.Imm(6)) }},
		{"never", amd64.VPCMPD, func(f *vcode.Func, v, m, _ vcode.Reg) { f.Def(amd64.VPCMPD, m.K(), v.Z(), v.Z(), vcode.Imm(3)) }},
		{"always", amd64.VPCMPUD, func(f *vcode.Func, v, m, _ vcode.Reg) { f.Def(amd64.VPCMPUD, m.K(), v.Z(), v.Z(), vcode.Imm(7)) }},
		{"always, of 64 bits", amd64.VPCMPUQ, func(f *vcode.Func, v, m, _ vcode.Reg) { f.Def(amd64.VPCMPUQ, m.K(), v.Z(), v.Z(), vcode.Imm(7)) }},
	} {
		f := vcode.NewFunc(&vcode.AVX2, amd64.New(amd64.ForAVX2))
		c.toward(f, f.NewVec(), f.NewMask(), f.NewGPR())
		err := Expand(f)
		switch {
		case c.lacks == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.lacks != 0 && (err == nil || !strings.Contains(err.Error(), "no AVX2 expansion for "+c.lacks.String())):
			t.Errorf("%s: the error is %v, want one that names %v", c.name, err, c.lacks)
		}
	}
}
