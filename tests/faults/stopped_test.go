//go:build linux

package faults

import (
	"bufio"
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

	"github.com/orepl/orepl/runtime/job"
)

const endless = `
import { device, kernel, i32 } from 'offload'
const x = device('mpi:1/cpu:0').buffer(i32, 16)
const k = kernel((g, x) => { x[g.x] += 1 })
console.log('running')
for (;;) await k.launch({ size: 16 }, x)
`

// TestStoppedScript stops the script's process of a running job, or kills its launcher or orepl mpirun. The job ends soon, fails, and leaves neither
// processes nor files.
func TestStoppedScript(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	script := filepath.Join(dir, "script.js")
	must(t, os.WriteFile(script, []byte(endless), 0o600))
	for _, c := range []struct {
		name, victim, want string
		signal             syscall.Signal
	}{
		{"script", "orepl\x00run\x00", "a signal has stopped the process of rank 0", syscall.SIGSTOP},
		{"launcher", "mpirun.", "did not end by itself: signal: killed", syscall.SIGKILL},
		{"command", "orepl\x00mpirun\x00", "", syscall.SIGKILL},
	} {
		for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
			if _, err := exec.LookPath(launcher); err != nil {
				t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
				continue
			}
			t.Run(c.name+"/"+launcher, func(t *testing.T) {
				t.Parallel()
				id, files := strconv.FormatUint(rand.Uint64(), 36), t.TempDir()
				cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "2", script)
				cmd.Env = append(os.Environ(), mark+"="+id, "TMPDIR="+files)
				var errs bytes.Buffer
				cmd.Stderr, cmd.WaitDelay = &errs, time.Second
				out, err := cmd.StdoutPipe()
				must(t, err)
				must(t, cmd.Start())
				late := time.AfterFunc(jobTime, func() { _ = cmd.Process.Kill() })
				if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
					_ = cmd.Wait()
					t.Fatalf("the script says %q, %v\n%s", line, err, errs.Bytes())
				}
				victims, shared := find(t, id, c.victim)
				if len(victims) != 1 {
					t.Fatalf("%d processes have %q in their command", len(victims), c.victim)
				}
				must(t, syscall.Kill(victims[0], c.signal))
				_ = cmd.Wait()
				if !late.Stop() {
					t.Error("the job did not end")
				}
				if code := cmd.ProcessState.ExitCode(); code <= 0 && c.want != "" || !strings.Contains(errs.String(), c.want) {
					t.Errorf("code %d\n%s", code, errs.Bytes())
				}
				for end := time.Now().Add(lateTime); len(processes(t, id, "")) > 0; time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("processes are left: %v", processes(t, id, ""))
					}
				}
				if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
					t.Errorf("files %v are left, %v", left, err)
				}
				if _, err := os.Stat(shared); shared == "" || err == nil {
					t.Errorf("shared memory %q is left", shared)
				}
			})
		}
	}
}

// find returns the processes of a run whose command has a text, and the job's folder of shared memory.
func find(t *testing.T, id, text string) (list []int, shared string) {
	for _, pid := range processes(t, id, "") {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		environment, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		command, _, _ := bytes.Cut(line, []byte{0})
		if line = append([]byte(filepath.Base(string(command))), line[len(command):]...); bytes.HasPrefix(line, []byte(text)) {
			list = append(list, pid)
		}
		for variable := range bytes.SplitSeq(environment, []byte{0}) {
			if at, ok := bytes.CutPrefix(variable, []byte(job.SharedMemoryVariable+"=")); ok {
				shared = string(at)
			}
		}
	}
	return list, shared
}

// TestStoppedAtEnd stops a worker while its script, which has used it, ends. The launcher does not wait for it.
func TestStoppedAtEnd(t *testing.T) {
	orepl, script := binary(t), filepath.Join(t.TempDir(), "script.js")
	must(t, os.WriteFile(script, []byte("import { device, f32 } from 'offload'\nawait device('mpi:1/cpu:0').buffer(f32, 4).read()\nconsole.log('running')\nawait new Promise(end => setTimeout(end, 700))\n"), 0o600))
	for _, launcher := range []string{"mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none", "mpirun.mpich"} {
		line := strings.Fields(launcher)
		if _, err := exec.LookPath(line[0]); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		id := strconv.FormatUint(rand.Uint64(), 36)
		cmd := exec.Command(line[0], append(line[1:], "-np", "1", orepl, "run", script, ":", "-np", "2", orepl, "worker")...)
		cmd.Env = append(os.Environ(), mark+"="+id)
		cmd.WaitDelay = time.Second
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		late := time.AfterFunc(lateTime, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		if text, err := bufio.NewReader(out).ReadString('\n'); text != "running\n" {
			t.Errorf("%s: the script says %q, %v", line[0], text, err)
		}
		if workers, _ := find(t, id, "orepl\x00worker\x00"); len(workers) > 0 {
			_ = syscall.Kill(workers[0], syscall.SIGSTOP) // it may have ended
		}
		_ = cmd.Wait()
		if !late.Stop() {
			t.Errorf("%s: the job did not end", line[0])
		}
	}
}

// TestKilledEarly kills orepl mpirun before the processes of its job begin, or while they do. The job ends, and another one removes what is
// left of its files.
func TestKilledEarly(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	script := filepath.Join(dir, "script.js")
	must(t, os.WriteFile(script, []byte(endless), 0o600))
	empty := filepath.Join(dir, "empty.js")
	must(t, os.WriteFile(empty, nil, 0o600))
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for _, point := range []time.Duration{30 * time.Millisecond, 150 * time.Millisecond} {
			t.Run(fmt.Sprint(launcher, " after ", point), func(t *testing.T) {
				t.Parallel()
				id, files := strconv.FormatUint(rand.Uint64(), 36), t.TempDir()
				cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "2", script)
				cmd.Env = append(os.Environ(), mark+"="+id, "TMPDIR="+files)
				must(t, cmd.Start())
				time.Sleep(point)
				must(t, cmd.Process.Kill())
				_ = cmd.Wait()
				for end := time.Now().Add(jobTime); len(processes(t, id, "")) > 0; time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("processes are left: %v", processes(t, id, ""))
					}
				}
				left, err := os.ReadDir(files)
				must(t, err)
				for _, f := range left { // the next job removes those that are old enough
					old := time.Now().Add(-time.Hour)
					must(t, os.Chtimes(filepath.Join(files, f.Name()), old, old))
				}
				next := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "1", empty)
				next.Env = cmd.Env
				if out, err := next.CombinedOutput(); err != nil {
					t.Errorf("the next job: %v\n%s", err, out)
				}
				if left, err = os.ReadDir(files); err != nil || len(left) > 0 {
					t.Errorf("files %v are left, %v", left, err)
				}
			})
		}
	}
}
