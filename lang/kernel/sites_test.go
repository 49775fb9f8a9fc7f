package kernel

import (
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestSites checks that all instructions except blocks, jumps and constants have a source position.
func TestSites(t *testing.T) {
	files, _ := filepath.Glob("testdata/field/*.js")
	all, without := 0, map[ir.Op]int{}
	for _, file := range files {
		for _, c := range chunks(t, file) {
			out, err := c.compile()
			if err != nil {
				continue
			}
			out.Module.Kernels[0].Body.Walk(func(in *ir.Instr) {
				if in.Op == ir.Const || in.Op == ir.Region || in.Op.IsTerminator() {
					return
				}
				if all++; in.Site == 0 {
					without[in.Op]++
				}
			})
		}
	}
	n := 0
	for _, count := range without {
		n += count
	}
	if all < 700 || n > 0 {
		t.Errorf("of %d instructions %d have no site: %v", all, n, without)
	}
}
