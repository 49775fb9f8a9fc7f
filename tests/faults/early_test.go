//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEarlyEnd starts jobs with a rank that ends or stops before the job is connected. Each job ends, fails, names the rank unless the
// launcher ended it, and leaves no process.
func TestEarlyEnd(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	script := filepath.Join(dir, "script.js")
	must(t, os.WriteFile(script, []byte("import { device } from 'offload'\ndevice('mpi:2/cpu:0')\n"), 0o600))
	for _, c := range []struct{ name, text string }{
		{"false", "exit 1"},
		{"true", "exit 0"},
		{"killed", "kill -KILL $$"},
		{"stopped", "kill -STOP $$; exec " + orepl + " worker"},
		{"memory", "ulimit -v 300000; exec " + orepl + " worker"},
		{"late", "sleep 1; exit 0"},
	} {
		bad := filepath.Join(dir, c.name)
		must(t, os.WriteFile(bad, []byte("#!/bin/sh\n"+c.text+"\n"), 0o700))
		for _, launcher := range []string{"mpirun.openmpi", "recovery", "mpirun.mpich"} {
			if brief := "mpirun.openmpi/true recovery/stopped mpirun.mpich/late mpirun.mpich/stopped"; os.Getenv("OREPL_TEST_LONG") != "1" && !strings.Contains(brief, launcher+"/"+c.name) {
				continue
			}
			t.Run(launcher+"/"+c.name, func(t *testing.T) {
				t.Parallel() // most of the time passes in waits
				line := []string{"-np", "1", orepl, "run", script, ":", "-np", "1", bad, ":", "-np", "1", orepl, "worker"}
				command := launcher
				if launcher != "mpirun.mpich" {
					line = append([]string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}, line...)
				}
				if launcher == "recovery" {
					command, line = "mpirun.openmpi", append([]string{"--enable-recovery"}, line...)
				}
				if _, err := exec.LookPath(command); err != nil {
					t.Skip(err) // tests of plugins/mpi fail in CI without it
				}
				code, text := limited(t, exec.Command(command, line...))
				if code == 0 && launcher != "recovery" {
					t.Errorf("the job ends with code 0\n%s", text)
				}
				if strings.Contains(text, "\x1b") {
					t.Errorf("it writes colors to a pipe: %q", text)
				}
				if !strings.Contains(text, "rank 1") && !strings.Contains(text, "BAD TERMINATION") && !strings.Contains(text, "non-zero exit code") {
					t.Errorf("it says\n%s", text)
				}
			})
		}
	}
}

// TestSignalledEarly kills, stops or ends by a signal a process of a job at a random time around its beginning. The job ends, and leaves no process.
func TestSignalledEarly(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	script := filepath.Join(dir, "script.js")
	must(t, os.WriteFile(script, []byte("import { device, f32 } from 'offload'\nconst d = device('mpi:1/cpu:0')\nawait d.buffer(f32, 100).read()\nconsole.log('read')\n"), 0o600))
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	runs := 1
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 100
	}
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for range runs {
			signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGHUP}[r.IntN(4)]
			point, victim := time.Duration(r.IntN(500))*time.Millisecond, r.IntN(3)
			t.Run(fmt.Sprintf("%s/%v of %d after %v", launcher, signal, victim, point), func(t *testing.T) {
				id := strconv.FormatUint(rand.Uint64(), 36)
				cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "2", script)
				cmd.Env = append(os.Environ(), mark+"="+id)
				sent := make(chan bool, 1)
				go func() {
					time.Sleep(point)
					list := ranks(t, id)
					if victim < len(list) {
						_ = syscall.Kill(list[victim], signal) // the process may have ended
					}
					sent <- victim < len(list)
				}()
				code, text := limited(t, cmd)
				if hit := <-sent; code == 0 && !strings.Contains(text, "read\n") || code != 0 && !hit {
					t.Errorf("signal sent: %v, code %d\n%s", hit, code, text)
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

// ranks returns the processes of a run that are ranks of its job.
func ranks(t *testing.T, id string) (list []int) {
	for _, pid := range processes(t, id, "") {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if (bytes.Contains(environment, []byte("PMI_RANK=")) || bytes.Contains(environment, []byte("OMPI_COMM_WORLD_RANK="))) && bytes.Contains(line, []byte("orepl")) {
			list = append(list, pid)
		}
	}
	return list
}

// limited runs a command that must end in time, and returns its exit code and what it says.
func limited(t *testing.T, cmd *exec.Cmd) (code int, text string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	must(t, cmd.Start())
	late := time.AfterFunc(jobTime, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	_ = cmd.Wait()
	if !late.Stop() {
		t.Errorf("the job did not end")
	}
	return cmd.ProcessState.ExitCode(), out.String()
}
