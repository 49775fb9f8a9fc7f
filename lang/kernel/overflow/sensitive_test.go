package overflow

import (
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestSensitive lists the arithmetic operations for which the low bits of integers suffice, and those of floats alone.
func TestSensitive(t *testing.T) {
	low := strings.Fields("const neg not clz ctz popcnt add sub mul and or xor shl shr select wrap bitcast " +
		"sqrt floor ceil trunc round rint fma quant math")
	v := &ir.Value{Type: ir.I32}
	for op := range ir.Op(255) {
		if !op.IsArith() {
			continue
		}
		in := &ir.Instr{Op: op, Args: []*ir.Value{v, v}, Results: []*ir.Value{{Type: ir.I64}}}
		if got, want := sensitive(in, v), !slices.Contains(low, op.String()); got != want {
			t.Errorf("sensitive(%v) = %v, want %v: edit flow.go, or the list of this test", op, got, want)
		}
	}
}
