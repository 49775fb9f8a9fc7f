package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TestWhatAVX2Lacks expands instructions of AVX-512 for AVX2 that have no expansion: the kernel is given up for each, by
// name. Beside them stand such as have one.
func TestWhatAVX2Lacks(t *testing.T) {
	for _, c := range []struct {
		name   string
		lacks  amd64.Op // 0 if there is an expansion
		toward func(l *lowerer, v, m, g vr)
	}{
		{"a store of some lanes", 0, func(l *lowerer, v, m, _ vr) { l.use(amd64.VMOVUPS, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a store of some doubles", 0, func(l *lowerer, v, m, _ vr) { l.use(amd64.VMOVUPD, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a store of some bytes", amd64.VPMOVDB, func(l *lowerer, v, m, _ vr) { l.use(amd64.VPMOVDB, at(mem{fixed: regFrame}), z(v)).under(m) }},
		{"a load of some lanes", 0, func(l *lowerer, v, m, _ vr) { l.def(amd64.VMOVUPS, z(v), at(mem{fixed: regFrame})).zeroed(m) }},
		{"a load of some bytes", amd64.VPMOVZXBD, func(l *lowerer, v, m, _ vr) { l.def(amd64.VPMOVZXBD, z(v), at(mem{fixed: regFrame})).zeroed(m) }},
		{"a mask from memory", amd64.KMOVW, func(l *lowerer, _, m, _ vr) { l.def(amd64.KMOVW, k(m), at(mem{fixed: regFrame, size: 2})) }},
		{"a mask to memory", 0, func(l *lowerer, _, m, _ vr) { l.use(amd64.KMOVW, at(mem{fixed: regFrame, size: 2}), k(m)) }},
		{"bytes in a register", amd64.VPMOVDB, func(l *lowerer, v, _, _ vr) { l.def(amd64.VPMOVDB, x(v), z(v)) }},
		{"words in a register", 0, func(l *lowerer, v, _, _ vr) { l.def(amd64.VPMOVDW, y(v), z(v)) }},
		{"a choice by bits", 0, func(l *lowerer, v, _, _ vr) { l.mod(amd64.VPTERNLOGD, z(v), z(v), z(v), imm(0xca)) }},
		{"another function of bits", amd64.VPTERNLOGD, func(l *lowerer, v, _, _ vr) { l.mod(amd64.VPTERNLOGD, z(v), z(v), z(v), imm(0xcb)) }},
		{"the lesser", 0, func(l *lowerer, v, _, _ vr) { l.def(amd64.VRANGEPS, z(v), z(v), z(v), imm(4)) }},
		{"the greater", 0, func(l *lowerer, v, _, _ vr) { l.def(amd64.VRANGEPD, z(v), z(v), z(v), imm(5)) }},
		{"the lesser by magnitude", amd64.VRANGEPS, func(l *lowerer, v, _, _ vr) { l.def(amd64.VRANGEPS, z(v), z(v), z(v), imm(6)) }},
		{"never", amd64.VPCMPD, func(l *lowerer, v, m, _ vr) { l.def(amd64.VPCMPD, k(m), z(v), z(v), imm(3)) }},
		{"always", amd64.VPCMPUD, func(l *lowerer, v, m, _ vr) { l.def(amd64.VPCMPUD, k(m), z(v), z(v), imm(7)) }},
		{"always, of 64 bits", amd64.VPCMPUQ, func(l *lowerer, v, m, _ vr) { l.def(amd64.VPCMPUQ, k(m), z(v), z(v), imm(7)) }},
	} {
		l := &lowerer{fn: &fn{t: &avx2, asm: amd64.New(amd64.ForAVX2), regs: []vreg{{}}, consts: map[constKey]vr{}}, k: &ir.Kernel{Name: "k"}}
		c.toward(l, l.vec(), l.mask(), l.gpr())
		said := refusal(func() { expandAVX2(l) })
		switch {
		case c.lacks == 0 && said != "":
			t.Errorf("%s: refused: %s", c.name, said)
		case c.lacks != 0 && !strings.Contains(said, "AVX2 has nothing for "+c.lacks.String()):
			t.Errorf("%s: refused for %q, want %v", c.name, said, c.lacks)
		}
	}
}

// refusal says why the lowering gives a kernel up; nothing if it does not.
func refusal(emit func()) (why string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unsupported:
			why = p.err.What
		default:
			why = fmt.Sprint(p)
		}
	}()
	emit()
	return ""
}
