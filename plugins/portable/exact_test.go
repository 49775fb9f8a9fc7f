package portable

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// TestComparisonFails checks that a comparison that fails to run returns an error, and is repeated at the next kernel.
func TestComparisonFails(t *testing.T) {
	var a Arithmetic
	failure := offload.Errorf(offload.OutOfResources, "compile", "no memory")
	for n := range 2 {
		calls := 0
		err := a.Compare(nil, func(*ir.Kernel, offload.KernelInfo) (offload.Kernel, func() error, error) {
			calls++
			return nil, nil, failure
		}, func() { t.Error("the device counts as inexact") })
		if !errors.Is(err, failure) || offload.CodeOf(err) != offload.OutOfResources || calls != 1 || a.Inexact() != nil {
			t.Errorf("call %d: %v, %d kernels loaded, inexact: %v", n, err, calls, a.Inexact())
		}
	}
}
