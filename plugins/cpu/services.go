package cpu

import (
	"context"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// services passes what a kernel asks of the host on.
type services struct {
	host   offload.Services
	kernel string
}

func (s *services) Print(_ int, item [3]int, text string) { s.host.Print(s.kernel, item, text) }

func (s *services) Call(name string, _ [3]int, args []interp.Scalar, _ ir.Type) (uint64, error) {
	bits := make([]uint64, len(args))
	for i, a := range args {
		bits[i] = a.Bits
	}
	return s.host.Call(context.Background(), name, bits)
}
