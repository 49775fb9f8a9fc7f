package spmd

import (
	"bytes"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestWorkspaceLeavesNothing compiles several kernels with one workspace, and checks that the code equals that of a new
// workspace.
func TestWorkspaceLeavesNothing(t *testing.T) {
	var work vcode.Workspace
	for range 2 {
		for _, b := range barrierKernels[:5] {
			k := optimized(rank2(t, b.text, ir.F32))
			for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
				compile := func(w *vcode.Workspace) *exec.Code {
					c, err := generate(k, plan.Options{Features: target.Features, Target: target, Workspace: w}, Spec{Gang: 2}, nil)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				if old, fresh := compile(&work), compile(nil); !bytes.Equal(old.Bytes, fresh.Bytes) {
					t.Errorf("%s, %s: the code depends on what was compiled before", b.name, target.Name)
				}
			}
		}
	}
}
