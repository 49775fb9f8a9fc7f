package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDistributed runs the programs of examples/distributed on the CPU, on one, two and four workers, and on two workers of
// an MPI job with each launcher. The digests must be equal.
func TestDistributed(t *testing.T) {
	orepl := buildCommand(t)
	scripts, err := filepath.Glob("../examples/distributed/*.js")
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, script := range scripts {
		name := filepath.Base(script)
		if name == "devices.js" || name == "report.js" { // modules that the others import
			continue
		}
		programs++
		t.Run(name, func(t *testing.T) {
			want := printed(t, nil, orepl, "run", script, "cpu")
			for _, workers := range []int{1, 2, 4} {
				spawn := strings.TrimSuffix(strings.Repeat("spawn,", workers), ",")
				args := []string{"run", script}
				for i := range workers {
					id := "far:cpu:0" // the device of a single worker
					if workers > 1 {
						id = fmt.Sprintf("far:%d/cpu:0", i)
					}
					args = append(args, id)
				}
				if got := printed(t, []string{"OREPL_FAR=" + spawn}, orepl, args...); got != want {
					t.Errorf("%d workers: %q, want %q", workers, got, want)
				}
			}
			for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
				if _, err := exec.LookPath(launcher); err != nil { // tests of plugins/mpi fail in CI without it
					t.Logf("not run: there is no %s", launcher)
					continue
				}
				if got := printed(t, nil, orepl, "mpirun", "--launcher", launcher, "-n", "2", script, "mpi:1/cpu:0", "mpi:2/cpu:0"); got != want {
					t.Errorf("%s: %q, want %q", launcher, got, want)
				}
			}
		})
	}
	if programs != 4 {
		t.Errorf("%d programs were found", programs)
	}
}

// printed runs a program and returns the line that it prints.
func printed(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	if line := strings.TrimSpace(string(out)); strings.Contains(line, ": ") && !strings.Contains(line, "\n") {
		return line
	}
	t.Fatalf("%v printed\n%s%s", args, out, stderr.Bytes())
	return ""
}
