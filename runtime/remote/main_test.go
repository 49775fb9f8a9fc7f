package remote

import (
	"os"
	"testing"
)

// TestMain allows servers to be silent for a minute, since their goroutines may wait for seconds on a busy machine.
func TestMain(m *testing.M) {
	if os.Getenv(SilenceVariable) == "" {
		_ = os.Setenv(SilenceVariable, "1m")
	}
	os.Exit(m.Run())
}
