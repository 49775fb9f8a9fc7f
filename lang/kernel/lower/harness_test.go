package lower_test

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

func newTarget(t testing.TB, name string, leaves ...string) *lower.Target {
	t.Helper()
	target, err := lower.NewTarget(name, leaves...)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// targets returns targets with no optional leaf, with all of them, and with those of real devices.
func targets(t testing.TB) []*lower.Target {
	return []*lower.Target{
		newTarget(t, "leaf-only", "calls"),
		newTarget(t, "everything", "everything"),
		newTarget(t, "opencl", "mulhi", "wide indices", "clock", "rem.f32", "rem.f64", "atomic.add.i32", "atomic.add.u32", "atomic.min.i32", "atomic.max.u32", "atomic.xor.u32"),
		newTarget(t, "ptx", "calls", "nested jumps", "clock", "pause", "extension.dot4", "subgroup.ballot", "subgroup.shuffle", "subgroup.shuffle_up", "subgroup.shuffle_down", "div.f32",
			"sqrt.f32", "ctz", "atomic.add.u32", "load.f16", "store.f16", "quant.f16"),
	}
}

// compare runs a case in the leaf interpreter and in the interpreter. It returns the first's outcome, and the difference of both
// or "". If the leaf interpreter fails, it returns nil and the error.
func compare(c *oracle.Case, target *lower.Target, known bool) (*oracle.Outcome, string) {
	out, diff, err := c.CompareLeaves(target, known)
	if err != nil {
		return nil, err.Error()
	}
	return out, diff
}
