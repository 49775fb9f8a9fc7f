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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExchange kills or freezes a worker at a random time while it copies from and to another one, or adds buffers with it. The script loses
// that worker alone, within the usual time, and the other one goes on.
func TestExchange(t *testing.T) {
	orepl, runs := binary(t), 1
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 20
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		launcher string
		signal   syscall.Signal
		env      []string
	}{
		{"mpirun.openmpi", syscall.SIGKILL, nil},
		{"mpirun.openmpi", syscall.SIGSTOP, nil},
		{"mpirun.mpich", syscall.SIGSTOP, nil},
		{"mpirun.mpich", syscall.SIGSTOP, []string{"OREPL_MPI_SILENCE=off"}},
	} {
		if _, err := exec.LookPath(c.launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for i := range 2 * runs {
			point, victim := time.Duration(r.IntN(100))*time.Millisecond, 1+r.IntN(2)
			script := []string{"exchange.js", "reduce.js"}[i%2]
			t.Run(fmt.Sprintf("%s/%s/%v/%d%v", script, c.launcher, c.signal, victim, c.env), func(t *testing.T) {
				exchange(t, exec.Command(orepl, "mpirun", "--launcher", c.launcher, "-n", "2", "testdata/"+script), c.env, c.signal, victim, point)
			})
		}
	}
}

// exchange runs a script and signals one of its workers some time after the script says that it is running.
func exchange(t *testing.T, cmd *exec.Cmd, env []string, signal syscall.Signal, victim int, point time.Duration) {
	id := strconv.FormatUint(rand.Uint64(), 36)
	cmd.Env = append(append(os.Environ(), env...), mark+"="+id)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(t, cmd.Start())
	late := time.AfterFunc(jobTime, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if must(t, err); line != "running\n" {
		t.Fatalf("the script says %s", line)
	}
	pid := worker(t, id, victim)
	time.Sleep(point)
	must(t, syscall.Kill(pid, signal))
	rest, _ := io.ReadAll(lines)
	_ = cmd.Wait()
	if !late.Stop() {
		t.Errorf("the script hangs")
	}
	text := string(rest)
	if strings.Contains(text, "silent for 10s") {
		t.Errorf("the loss was found late")
	}
	if signal == syscall.SIGKILL && strings.Contains(text, "has sent nothing") {
		t.Errorf("the end of the process was found by its silence")
	}
	if !strings.Contains(text, fmt.Sprintf("mpi:%d/cpu:0 device-lost\n", victim)) || !strings.Contains(text, fmt.Sprintf("mpi:%d/cpu:0 goes on 7\n", 3-victim)) {
		t.Errorf("after the loss of rank %d it says\n%s%s", victim, text, errs.Bytes())
	}
}

// worker returns the process of a rank.
func worker(t *testing.T, id string, rank int) int {
	t.Helper()
	for _, pid := range ranks(t, id) {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		must(t, err)
		for _, name := range []string{"PMI_RANK", "OMPI_COMM_WORLD_RANK"} {
			if bytes.Contains(environment, fmt.Appendf(nil, "\x00%s=%d\x00", name, rank)) {
				return pid
			}
		}
	}
	t.Fatalf("there is no rank %d", rank)
	return 0
}
