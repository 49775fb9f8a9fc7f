package remote

import (
	"os"
	"testing"

	"github.com/orepl/orepl/runtime/remote/silence"
)

// TestMain allows servers to be silent for a minute, since their goroutines may wait for seconds on a busy machine.
func TestMain(m *testing.M) {
	if os.Getenv(silence.Variable) == "" {
		_ = os.Setenv(silence.Variable, "1m")
	}
	os.Exit(m.Run())
}
