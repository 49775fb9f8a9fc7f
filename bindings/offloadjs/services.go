package offloadjs

import (
	"context"
	"fmt"
	"sync"

	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
)

// services are the requests that the script's kernels may make of it.
type services struct {
	engine   *lang.Engine
	instance *instance

	mu sync.Mutex // held while a line is written: kernels print from several threads
}

// Print writes a line that a kernel printed, whole, to the script's output.
func (s *services) Print(m *contract.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.engine.Options().Stdout, m.Text)
}

// CheckService implements [contract.ServiceChecker].
func (s *services) CheckService(name string) error {
	_, err := s.instance.rpc.find(name)
	return err
}

// Call implements [contract.Services].
func (s *services) Call(ctx context.Context, r *contract.Request) (uint64, error) {
	return s.instance.serve(ctx, r)
}
