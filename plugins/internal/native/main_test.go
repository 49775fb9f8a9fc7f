package native

import (
	"fmt"
	"os"
	"testing"

	"github.com/orepl/orepl/plugins/internal/process"
)

// TestMain checks all signal handlers after the tests, which load images and their libraries.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := process.CheckSignals(); err != nil {
		fmt.Println("signals:", err)
		code = 1
	}
	os.Exit(code)
}
