package spmd

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestBriefRunsAgain runs a prepared launch repeatedly, with faults. A panic of a service becomes an error of that run
// and does not affect later runs.
func TestBriefRunsAgain(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		x := compileExtreme(t, target, `(g, x) => { x[g.x + 3] += 1 }`, [3]int{40, 1, 1}, [3]int{40, 1, 1}, buffer(ir.I32, 1))
		var data [42]int32 // one too few
		x.bind(unsafe.Pointer(&data[0]), 4, len(data))
		v, units, err := x.program.Prepare(&x.launch)
		if err != nil {
			t.Fatal(err)
		}
		w := v.Acquire(&x.launch)
		defer v.Release(w)
		const runs = 4
		for run := range runs {
			traps := v.Code.Traps
			if run == 2 {
				v.Code.Traps = nil
			}
			fault, err := w.Run(0, units, true)
			v.Code.Traps = traps
			if run == 2 {
				if err == nil || !strings.HasPrefix(err.Error(), "panic: ") {
					t.Errorf("a trap that panics gives %v, %v", fault, err)
				}
				continue
			}
			if err != nil || fault == nil || fault.Index != 42 || fault.Item != [3]int{39, 0, 0} {
				t.Errorf("run %d: %+v, %v", run, fault, err)
			}
		}
		if data[3] != runs || data[2] != 0 {
			t.Errorf("after %d runs: %v", runs, data)
		}
	})
}
