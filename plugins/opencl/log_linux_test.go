//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestLogs checks that a line in a driver's log is mapped to the statement of the script.
func TestLogs(t *testing.T) {
	m, err := ir.ParseText("test", "orepl-ir 1\nfile 0 \"a.js\"\nkernel k(x: f32[*]) real f32 {\n  site 0 = 0:1:1 \"\"\n  site 1 = 0:7:3 \"floor\"\n"+
		"  %1: i32 = item.global.x\n  %2: f32 = load x[%1]\n  %3: f32 = floor %2 !1\n  store x[%1], %3\n  return\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	target, err := clc.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(m.Kernels[0], target, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := clc.Emit(l)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Count(source[:strings.Index(source, "floor(")], "\n") + 1
	k := &kernel{Kernel: lowered.Kernel{Device: "opencl:0", Module: m, IR: m.Kernels[0]}, device: &device{Device: lowered.Device{ID: "opencl:0"}}}
	for _, log := range []string{"1 warning\n/tmp/x.cl:%d:14: error: no floor", "<kernel>:%d:3: error: no floor", "x.cl(%d): error: no floor"} {
		log = fmt.Sprintf(log, line)
		var e *offload.Error
		if !errors.As(k.refused(source, log, cl.Status(-11)), &e) || e.Pos.Line != 7 || e.Pos.Col != 3 || e.Hint == "" || !strings.Contains(e.Detail, "no floor") {
			t.Errorf("%s: %+v", log, e)
		}
	}
}
