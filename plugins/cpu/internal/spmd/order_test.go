package spmd

import (
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

const orderKernel = `orepl-ir 2

kernel k(x: i32[*], y: u32[*], z: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: u64 = clock
  %2: i32 = load x[%0]
  FENCE
  %3: i32 = load z[%0]
  pause
  %4: i32 = add %2, %3
  store x[%0], %4
  %5: u64 = clock
  %6: u64 = sub %5, %1
  %7: u32 = wrap %6
  store y[%0], %7
  return
}
`

// TestFences checks that fences and pauses are emitted in order with the loads around them. A fence of the group needs
// no instruction.
func TestFences(t *testing.T) {
	loads := regexp.MustCompile(`vmovups [yz]mm\d+, [yz]mmword ptr \[r\w+ \+ r\w+\*4`)
	for _, target := range allTargets {
		for fence, code := range map[string]string{"fence.acquire.device": "mfence", "fence.both.system": "mfence", "fence.release.group": ""} {
			text := listing(t, parse(t, strings.Replace(orderKernel, "FENCE", fence, 1)), target, 2)
			at, hint := strings.Index(text, "mfence"), strings.Index(text, "pause")
			if (at >= 0) != (code != "") || hint < at {
				t.Errorf("%s, %s: mfence at %d, pause at %d", target.Name, fence, at, hint)
			}
			if at >= 0 && (!loads.MatchString(text[:at]) || !loads.MatchString(text[at:hint])) {
				t.Errorf("%s, %s: no load on one side of the fence:\n%s", target.Name, fence, text)
			}
		}
	}
}

// TestClock checks that an item's clock does not decrease, and that it agrees with the interpreter's.
func TestClock(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, gang := range []int{1, 4} {
			p, err := Compile(parse(t, strings.Replace(orderKernel, "FENCE", "fence.both.device", 1)), plan.Options{Features: target.Features, Gang: gang})
			if err != nil {
				t.Fatal(err)
			}
			const n = 1000
			x, y, z := make([]uint32, n), make([]uint32, n), make([]uint32, n)
			for i := range n {
				x[i], z[i] = uint32(i), 7
			}
			before := interp.Clock()
			runBuffers(t, p, x, y, z)
			took := interp.Clock() - before
			for i := range n {
				if x[i] != uint32(i)+7 || uint64(y[i]) > took {
					t.Fatalf("gang %d, item %d: %d, and %d ns of a launch of %d ns", gang, i, x[i], y[i], took)
				}
			}
		}
	})
}
