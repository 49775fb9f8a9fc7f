//go:build linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// folder is that of the command orepl, built by the first test that needs it.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "orepl-faults-"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} { // programs that tests start must not inherit that they are ignored
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

var built = sync.OnceValue(func() error {
	cmd := exec.Command("go", "build", "-o", filepath.Join(folder, "orepl"), "../../cmd/orepl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	return nil
})

// binary returns the path of the command.
func binary(t *testing.T) string {
	t.Helper()
	must(t, built())
	return filepath.Join(folder, "orepl")
}
