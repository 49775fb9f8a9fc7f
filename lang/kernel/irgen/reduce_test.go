package irgen

import (
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestReduce reduces random kernels to the minimum that satisfies a condition on their instructions.
func TestReduce(t *testing.T) {
	const least = 5 // most instructions beside coordinates, such as three constants, a select and a return
	for _, op := range []ir.Op{ir.Loop, ir.Store, ir.Select} {
		reduced := 0
		for seed := range uint64(12) {
			k := Case(rand.New(rand.NewPCG(seed, 1)), Options{Size: 60, NoFaults: true}).Kernel
			has := func(k *ir.Kernel) (found bool) {
				k.Body.Walk(func(in *ir.Instr) { found = found || in.Op == op })
				return found
			}
			if !has(k) {
				continue
			}
			reduced++
			text := k.String()
			got := Reduce(k, has)
			if k.String() != text {
				t.Fatalf("seed %d: Reduce changed its operand", seed)
			}
			if err := Module(got).Verify(); err != nil || !has(got) {
				t.Fatalf("seed %d: %v in\n%v", seed, err, got)
			}
			items := 0
			got.Body.Walk(func(in *ir.Instr) {
				if in.Op == ir.Item {
					items++
				}
			})
			if n := countInstrs(got) - items; n > least {
				t.Errorf("seed %d: %d instructions beside coordinates, want at most %d, in\n%v", seed, n, least, got)
			}
		}
		if reduced == 0 {
			t.Errorf("no kernel has %v", op)
		}
	}
}
