//go:build linux

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

const reducing = `
import { collective, device, f32 } from 'offload'
const list = [1, 2, 3].map(rank => device('mpi:' + rank + '/cpu:0'))
const sums = [100, 40000, 1 << 20].map(n => list.map(d => d.buffer(f32, n).fill(0)))
const pairs = [...list, ...list].map(d => d.buffer(f32, 1000).fill(0))
await Promise.all(list.map(d => d.queue.sync()))
console.log('running')
for (;;) {
  for (const buffers of sums) collective.allReduce(buffers)
  collective.allReduce(pairs, 'sum', { order: 'any' })
  for (const [first, ...others] of [...sums, sums[2].toReversed()]) {
    collective.broadcast(first, others)
    const halves = others.map((b, i) => i > 0 ? b.view(first.length >> 1) : b.view(0, first.length >> 1))
    collective.gather(first, halves)
    collective.scatter(first, halves)
  }
  await Promise.all([...sums.flat(), ...pairs].map(b => b.read(0, 1)))
}
`

const (
	lostCode = 107             // of a script that fails
	lossTime = 3 * time.Second // from a fault to the message that names the lost worker
	soonTime = 3 * time.Second // from a fault to the end of the job
	soonRuns = 3               // of which one meets soonTime: the machine may be busy
	overTime = 6 * time.Second // from a fault to the end of the job, on a busy machine
	hangTime = 9 * time.Second // of a launcher that hangs
)

// TestReductionLost kills or stops one of three workers at a random time of collective operations, whose script does not expect
// it. The script names a lost worker in time, the job fails, and it leaves neither processes nor files.
func TestReductionLost(t *testing.T) {
	orepl, script, runs := binary(t), filepath.Join(t.TempDir(), "script.js"), 1
	must(t, os.WriteFile(script, []byte(reducing), 0o600))
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 25
	}
	if n, err := strconv.Atoi(os.Getenv("OREPL_FAULTS")); err == nil {
		runs = n
	}
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			for i := range runs {
				t.Run(fmt.Sprintf("%s/%v/%d", launcher, signal, i), func(t *testing.T) {
					var took time.Duration
					for range soonRuns {
						if took = reductionLost(t, orepl, launcher, script, signal); took <= soonTime {
							return
						}
					}
					t.Errorf("each of %d jobs took more than %v to end, the last one %v", soonRuns, soonTime, took)
				})
			}
		}
	}
}

// reductionLost runs one job and returns the time from the signal to its end.
func reductionLost(t *testing.T, orepl, launcher, script string, signal syscall.Signal) time.Duration {
	point, victim := time.Duration(rand.Int64N(int64(60*time.Millisecond))), 1+rand.IntN(3)
	id, files := strconv.FormatUint(rand.Uint64(), 36), t.TempDir()
	cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "3", script)
	cmd.Env = append(os.Environ(), mark+"="+id, "TMPDIR="+files)
	in, out, err := os.Pipe()
	must(t, err)
	defer in.Close()
	cmd.Stdout, cmd.Stderr = out, out
	must(t, cmd.Start())
	_ = out.Close()
	late := time.AfterFunc(jobTime, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(in)
	if line, err := lines.ReadString('\n'); line != "running\n" {
		rest, _ := io.ReadAll(lines)
		_ = cmd.Wait()
		t.Fatalf("the script says %q, %v\n%s", line, err, rest)
	}
	_, shared := find(t, id, "orepl\x00worker\x00")
	pid := worker(t, id, victim)
	time.Sleep(point)
	must(t, syscall.Kill(pid, signal))
	failed, told := time.Now(), time.Duration(0)
	var text bytes.Buffer
	for err == nil {
		var line string
		line, err = lines.ReadString('\n')
		if text.WriteString(line); told == 0 && (strings.Contains(line, "device-lost") || strings.Contains(line, "BAD TERMINATION")) {
			told = time.Since(failed)
		}
	}
	_ = cmd.Wait()
	ended := time.Since(failed)
	if !late.Stop() {
		t.Error("the job did not end")
	}
	byLauncher := launcher == "mpirun.mpich" && signal == syscall.SIGKILL && strings.Contains(text.String(), "BAD TERMINATION")
	named := regexp.MustCompile(fmt.Sprintf(`\b(mpi:%[1]d/cpu:0: (the device (is|has been) lost: connection: )?the connection|process of rank %[1]d\b|worker %[1]d cannot be reached)`, victim)).Match(text.Bytes())
	if told == 0 || told > lossTime || !byLauncher && !named {
		t.Errorf("the loss of rank %d is named after %v", victim, told)
	}
	if strings.Contains(text.String(), "library crashed") { // MPICH's UCX calls abort in a process that copies from one that has died
		t.Error("the job tells of a crash")
	}
	if code := cmd.ProcessState.ExitCode(); code != lostCode && !(byLauncher && code > 0) {
		t.Errorf("the job ends with %v", cmd.ProcessState)
	}
	if ended > overTime {
		t.Errorf("the job ended after %v", ended)
	}
	if list := processes(t, id, ""); len(list) > 0 {
		t.Errorf("processes are left: %v", list)
	}
	if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
		t.Errorf("files %v are left, %v", left, err)
	}
	if _, err := os.Stat(shared); shared == "" || err == nil {
		t.Errorf("shared memory %q is left", shared)
	}
	t.Logf("rank %d has a fault at %v, which is named after %v; the job ended after %v with %v\n%s", victim, point, told.Round(time.Millisecond), ended.Round(time.Millisecond), cmd.ProcessState, text.Bytes())
	return ended
}

// TestLauncherHangs runs a launcher that neither ends nor heeds SIGTERM after all processes have ended with a loss, as Open MPI's does at
// times. The command ends it before the time for jobs whose processes still run.
func TestLauncherHangs(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	launcher, script := filepath.Join(dir, "launcher"), filepath.Join(dir, "script.js")
	must(t, os.WriteFile(launcher, []byte("#!/bin/sh\n[ \"$1\" = --version ] && { echo HYDRA; exit; }\ntrap '' TERM\nfor rank in 0 1; do\n"+
		"  pid=$(sh -c 'echo $$')\n  printf 'begun %s %s\\nended %s\\n' $rank $pid $pid >>$"+job.StatusVariable+"\ndone\n"+
		"echo '107 lost' >>$"+job.StatusVariable+"\nexec sleep 1000\n"), 0o700))
	must(t, os.WriteFile(script, nil, 0o600))
	began := time.Now()
	code, text := limited(t, exec.Command(orepl, "mpirun", "--launcher", launcher, script))
	if code != lostCode || time.Since(began) > hangTime {
		t.Errorf("the job ended after %v with code %d\n%s", time.Since(began), code, text)
	}
}
