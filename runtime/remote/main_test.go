package remote

import (
	"os"
	"testing"
)

// TestMain lets servers be silent for a minute: on a busy machine their goroutines may wait for seconds.
func TestMain(m *testing.M) {
	if os.Getenv(SilenceVariable) == "" {
		_ = os.Setenv(SilenceVariable, "1m")
	}
	os.Exit(m.Run())
}
