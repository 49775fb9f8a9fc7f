//go:build linux

package faults

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// reachTime is a time limit for the end of a job whose machine is not reached.
const reachTime = 30 * time.Second

// TestUnreachableHost starts jobs on a machine that ssh does not reach. They end soon with its name, and leave no process.
func TestUnreachableHost(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\necho \"$*\" >>"+filepath.Join(dir, "calls")+"\necho 'ssh: connect to host: No route to host' >&2\nexit 255\n"), 0o700))
	script := filepath.Join(dir, "a.js")
	must(t, os.WriteFile(script, []byte("import { devices } from 'offload'\nimport { mpi } from 'mpi'\nconsole.log(devices().length, mpi.size)"), 0o600))
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for _, args := range [][]string{{"-n", "2", "--hosts", "nowhere.invalid"}, {"-n", "2", "--spmd", "--hosts", "nowhere.invalid"}} {
			t.Run(launcher+" "+strings.Join(args, " "), func(t *testing.T) {
				id := strconv.FormatUint(rand.Uint64(), 36)
				cmd := exec.Command(orepl, append(append([]string{"mpirun", "--launcher", launcher}, args...), script)...)
				cmd.Env = append(os.Environ(), mark+"="+id, "PATH="+dir+":"+os.Getenv("PATH"))
				began := time.Now()
				code, text := limited(t, cmd)
				if took := time.Since(began); took > reachTime {
					t.Errorf("the job ended after %v", took)
				}
				if code == 0 || launcher == "mpirun.mpich" && !strings.Contains(text, "the launcher cannot reach nowhere.invalid") {
					t.Errorf("the job ended with %d\n%s", code, text)
				}
				calls, err := os.ReadFile(filepath.Join(dir, "calls"))
				must(t, err)
				must(t, os.Remove(filepath.Join(dir, "calls")))
				if !strings.Contains(string(calls), "-o ConnectTimeout=10") || !strings.Contains(string(calls), "nowhere") {
					t.Errorf("ssh was called with %s", calls)
				}
				for end := time.Now().Add(lateTime); len(processes(t, id, "")) > 0; time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("processes are left: %v", processes(t, id, ""))
					}
				}
			})
		}
	}
}
