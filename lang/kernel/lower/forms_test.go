package lower_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// TestForms compares every memory, group and version 2 operation on all types with the interpreter, on each target. Targets
// without a clock reject it.
func TestForms(t *testing.T) {
	for _, target := range targets(t) {
		for _, f := range irgen.Forms() {
			_, diff := compare(irgen.FormCase(f), target, false)
			if f.Op == ir.Clock && strings.Contains(diff, "a clock, which the target does not have") {
				continue
			}
			if diff != "" {
				t.Errorf("%s: %v: %s", target.Name, f, diff)
			}
		}
	}
}
