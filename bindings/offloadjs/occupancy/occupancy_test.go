package occupancy_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestScript reads the occupancy of kernels on the CPU, whose cores run one group each.
func TestScript(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "occupancy.js", `
		import { device, kernel, f32 } from 'offload'
		const dev = device('cpu'), x = dev.buffer(f32, 100)
		const k = kernel((g, a, x) => { x[g.x] = a })
		const o = k.occupancy({}, 1, x)
		console.log(o.groupItems === o.suggested, o.suggested <= o.most, o.most === dev.limits.groupItems, o.perComputeUnit, o.groups === dev.computeUnits, o.cooperativeGroups, o.multiple >= 1)
		console.log(k.occupancy({ size: 100, groupSize: [8, 4] }, 1, x).groupItems, (await x.read()).every(v => v === 0))
		for (const f of [() => k.occupancy({ groupSize: 0 }, 1, x), () => k.occupancy({ groupSize: 1e9 }, 1, x), () => k.occupancy({}, 1), () => k.occupancy(), () => k.occupancy({ group: 1 }, 1, x)])
			try { f(); console.log('accepted') } catch (e) { console.log(e.code, e.message) }
	`)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 7 || lines[0] != "true true true 1 true 0 true" || lines[1] != "32 true" {
		t.Fatalf("%s", out.String())
	}
	for i, want := range []string{"group size is 0", "group size along x is 1000000000", "arguments", "options", "there is no option \"group\""} {
		if line := lines[2+i]; !strings.HasPrefix(line, "invalid-") || !strings.Contains(line, want) {
			t.Errorf("%q is missing in %q", want, line)
		}
	}
}
