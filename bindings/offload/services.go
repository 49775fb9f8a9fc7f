package offload

import (
	"context"
	"fmt"

	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
)

// services is what device code asks of the script.
type services struct {
	engine *lang.Engine
}

// Print writes a line that a kernel printed, whole, to the script's output.
func (s *services) Print(_ string, _ [3]int, text string) {
	fmt.Fprintln(s.engine.Options().Stdout, text)
}

// Call refuses: no service is registered under any name.
func (s *services) Call(_ context.Context, name string, _ []uint64) (uint64, error) {
	return 0, contract.Errorf(contract.NotFound, "call", "no service is named %q", name)
}
