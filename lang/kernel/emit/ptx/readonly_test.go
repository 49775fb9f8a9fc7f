package ptx_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestReadOnly prints loads of a buffer that the kernel only loads.
func TestReadOnly(t *testing.T) {
	ints := kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}
	for script, readOnly := range map[string]bool{
		"(g, x, y) => { y[g.x] = x[g.x] }":                      true,
		"(g, x, y) => { y[g.x] = x[g.x]; x[g.x] = 1 }":          false,
		"(g, x, y) => { y[g.x] = x[0] + Atomics.add(x, 1, 2) }": false,
		"(g, x, y) => { y[g.x] = g.call('f', x[0]) | 0 }":       false,
	} {
		k := kernelOf(t, peer{script: script, args: []kernel.Arg{ints, ints}})
		for _, allowed := range []bool{false, true} {
			o := ptx.Options{Axes: 1}
			if allowed {
				o.ReadOnly = []bool{true, true}
			}
			text, err := o.Emit(k)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(text, "ld.global.nc.s32"); got != (readOnly && allowed) || strings.Contains(text, "st.global.nc") {
				t.Errorf("%s, %t: ld.global.nc: %t", script, allowed, got)
			}
			assemble(t, text)
		}
	}
}
