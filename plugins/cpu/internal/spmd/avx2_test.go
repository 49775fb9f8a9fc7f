package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TestWhatAVX2Lacks expands instructions of AVX-512 for AVX2 that have no expansion: the kernel is given up for each, by
// name. Beside them stand such as have one.
func TestWhatAVX2Lacks(t *testing.T) {
	for _, c := range []struct {
		name   string
		lacks  amd64.Op // 0 if there is an expansion
		toward func(f *fn, v, m, g vr)
	}{
		{"a store of some lanes", 0, func(f *fn, v, m, _ vr) { f.use(amd64.VMOVUPS, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a store of some doubles", 0, func(f *fn, v, m, _ vr) { f.use(amd64.VMOVUPD, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a store of some bytes", amd64.VPMOVDB, func(f *fn, v, m, _ vr) { f.use(amd64.VPMOVDB, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a load of some lanes", 0, func(f *fn, v, m, _ vr) { f.def(amd64.VMOVUPS, z(v), at(mem{fixed: regFrame})).zeroed(m) }},
		{"a load of some bytes", amd64.VPMOVZXBD, func(f *fn, v, m, _ vr) { f.def(amd64.VPMOVZXBD, z(v), at(mem{fixed: regFrame})).zeroed(m) }},
		{"a mask from memory", amd64.KMOVW, func(f *fn, _, m, _ vr) { f.def(amd64.KMOVW, k(m), at(mem{fixed: regFrame, size: 2})) }},
		{"a mask to memory", 0, func(f *fn, _, m, _ vr) { f.use(amd64.KMOVW, at(mem{fixed: regFrame, size: 2}), k(m)) }},
		{"bytes in a register", amd64.VPMOVDB, func(f *fn, v, _, _ vr) { f.def(amd64.VPMOVDB, x(v), z(v)) }},
		{"words in a register", 0, func(f *fn, v, _, _ vr) { f.def(amd64.VPMOVDW, y(v), z(v)) }},
		{"a choice by bits", 0, func(f *fn, v, _, _ vr) { f.mod(amd64.VPTERNLOGD, z(v), z(v), z(v), imm(0xca)) }},
		{"another function of bits", amd64.VPTERNLOGD, func(f *fn, v, _, _ vr) { f.mod(amd64.VPTERNLOGD, z(v), z(v), z(v), imm(0xcb)) }},
		{"the lesser", 0, func(f *fn, v, _, _ vr) { f.def(amd64.VRANGEPS, z(v), z(v), z(v), imm(4)) }},
		{"the greater", 0, func(f *fn, v, _, _ vr) { f.def(amd64.VRANGEPD, z(v), z(v), z(v), imm(5)) }},
		{"the lesser by magnitude", amd64.VRANGEPS, func(f *fn, v, _, _ vr) { f.def(amd64.VRANGEPS, z(v), z(v), z(v), imm(6)) }},
		{"never", amd64.VPCMPD, func(f *fn, v, m, _ vr) { f.def(amd64.VPCMPD, k(m), z(v), z(v), imm(3)) }},
		{"always", amd64.VPCMPUD, func(f *fn, v, m, _ vr) { f.def(amd64.VPCMPUD, k(m), z(v), z(v), imm(7)) }},
		{"always, of 64 bits", amd64.VPCMPUQ, func(f *fn, v, m, _ vr) { f.def(amd64.VPCMPUQ, k(m), z(v), z(v), imm(7)) }},
	} {
		f := newFunc(&avx2, amd64.New(amd64.ForAVX2))
		c.toward(f, f.vec(), f.mask(), f.gpr())
		err := expandAVX2(f)
		switch {
		case c.lacks == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.lacks != 0 && (err == nil || !strings.Contains(err.Error(), "no AVX2 expansion for "+c.lacks.String())):
			t.Errorf("%s: the error is %v, want one that names %v", c.name, err, c.lacks)
		}
	}
}
