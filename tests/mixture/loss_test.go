//go:build linux

package mixture

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLosses kills, stops or terminates a worker at a random point of random programs. A program's reads are right, or the loss is
// reported before its end; no process remains.
func TestLosses(t *testing.T) {
	runs := 6
	if testing.Short() {
		runs = 2
	}
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 300
	}
	orepl := build(t)
	first, _ := strconv.Atoi(os.Getenv("OREPL_TEST_SEED"))
	signals := 0
	for seed := first; seed < first+runs; seed++ {
		if loseWorker(t, orepl, &spawned, uint64(seed)) {
			signals++
		}
		if t.Failed() {
			return
		}
	}
	if signals == 0 {
		t.Errorf("%d scripts ended before a worker could be lost", runs)
	}
}

// TestLossesOverMPI is TestLosses for workers of jobs.
func TestLossesOverMPI(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	orepl, runs := build(t), 3 // one for each signal
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 100
	}
	first, _ := strconv.Atoi(os.Getenv("OREPL_TEST_SEED"))
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil { // tests of plugins/mpi fail in CI without it
			t.Logf("not run: %v", err)
			continue
		}
		t.Run(launcher, func(t *testing.T) {
			t.Parallel() // most of the time passes in waits
			way := &workers{args: []string{"mpirun", "--launcher", launcher, "-n", "2"}, devices: []string{"mpi:1/cpu:0", "cpu", "mpi:2/cpu:0"}, fatal: launcher == "mpirun.mpich", patience: 20 * time.Second}
			signals := 0
			for seed := first; seed < first+runs && !t.Failed(); seed++ {
				if loseWorker(t, orepl, way, uint64(seed)) {
					signals++
				}
			}
			if signals == 0 {
				t.Errorf("%d scripts ended before a worker could be lost", runs)
			}
		})
	}
}

// workers is a way of starting a script with two workers.
type workers struct {
	args, env, devices []string
	fatal              bool          // the launcher ends the job when a worker dies
	patience           time.Duration // for workers after the command's end
}

var spawned = workers{args: []string{"run"}, env: []string{"OREPL_FAR=spawn,spawn"}, devices: []string{"far:0/cpu:0", "cpu", "far:1/cpu:0"}}

// signals are those by which a worker is lost.
var signals = []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM}

// loseWorker runs a few programs and loses a worker during one of them. It reports whether the worker existed then.
func loseWorker(t *testing.T, orepl string, way *workers, seed uint64) (signalled bool) {
	rng := rand.New(rand.NewPCG(seed, 5))
	devices := way.devices
	const programs = 5
	var list []Program
	for i := range uint64(programs) {
		list = append(list, Generate(seed*programs+i+1, len(devices)))
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "programs.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, orepl, append(append(slices.Clone(way.args), "testdata/run.js", file), devices...)...)
	cmd.Env = append(append(os.Environ(), "MIXTURE_LOSS=1"), way.env...)
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signal := signals[seed%uint64(len(signals))]
	during, delay, victim := rng.IntN(programs), time.Duration(rng.IntN(20_000))*time.Microsecond, rng.IntN(2)
	var workers []int
	var text strings.Builder
	begun := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if !strings.HasSuffix(lines.Text(), "begins") {
			continue
		}
		if begun++; begun == during+1 {
			time.Sleep(delay)
			if workers = workersOf(cmd.Process.Pid); len(workers) == 2 { // else the script has just ended
				signalled = syscall.Kill(workers[victim], signal) == nil
			}
		}
	}
	err = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	t.Logf("seed %d, %v: %s", seed, signal, complete.FindString(text.String()))
	whole := complete.MatchString(text.String()) && (code == 0 || code == lostCode)
	// A launcher that ends the job does so before a wrong result.
	if ended := way.fatal && signalled && signal != syscall.SIGSTOP && code != 0 && !wrong.MatchString(text.String()); !whole && !ended {
		t.Errorf("seed %d, %v after %v of program %d: %v\n%s%s", seed, signal, delay, during, err, tail(text.String()), tail(stderr.String()))
	}
	for _, pid := range workers {
		for end := time.Now().Add(way.patience); ; time.Sleep(10 * time.Millisecond) {
			state, _ := stateOf(pid)
			if state == "" || state == "Z" {
				break
			}
			if time.Now().After(end) {
				t.Errorf("seed %d: worker %d remains in state %s", seed, pid, state)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	return signalled
}

// wrong matches what the script says of a difference.
var wrong = regexp.MustCompile(`(?m)^program \d+[:,]`)

// lostCode is the exit code of a script whose device was lost.
const lostCode = 107

// workersOf returns the workers that a process or its children have started, in the order of their numbers.
func workersOf(ancestor int) (list []int) {
	parents := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			_, parents[pid] = stateOf(pid)
		}
	}
	for pid := range parents {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if words := strings.Split(string(line), "\x00"); len(words) < 2 || words[1] != "worker" {
			continue
		}
		for p := pid; p > 1; p, _ = strconv.Atoi(parents[p]) {
			if p == ancestor {
				list = append(list, pid)
			}
		}
	}
	slices.Sort(list)
	return list
}

// stateOf returns the state of a process and the number of its parent, empty if there is no such process.
func stateOf(pid int) (state, parent string) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	if fields := strings.Fields(rest); len(fields) > 1 {
		return fields[0], fields[1]
	}
	return "", ""
}
