package orepl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestColdStart bounds the processor time of a program that loads a pipeline with five kernels and runs it once. On an idle machine
// it takes less than 20 ms.
func TestColdStart(t *testing.T) {
	program := filepath.Join(t.TempDir(), "cold")
	build := exec.Command("go", "build", "-o", program, "./testdata/cold")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	processor, elapsed := time.Hour, time.Hour
	for range 30 { // other processes disturb some
		cmd := exec.Command(program)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		elapsed = min(elapsed, time.Since(start))
		if err != nil || string(out) != "2.6457512\n" {
			t.Fatalf("%v\n%s", err, out)
		}
		processor = min(processor, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	t.Logf("processor time %v, elapsed %v", processor, elapsed)
	if processor > 50*time.Millisecond {
		t.Errorf("it takes %v of processor time", processor)
	}
}
