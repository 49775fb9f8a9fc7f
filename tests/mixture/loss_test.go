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
		if loseWorker(t, orepl, uint64(seed)) {
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

// loseWorker runs a few programs and loses a worker during one of them. It reports whether the worker existed then.
func loseWorker(t *testing.T, orepl string, seed uint64) (signalled bool) {
	rng := rand.New(rand.NewPCG(seed, 5))
	devices := []string{"far:0/cpu:0", "cpu", "far:1/cpu:0"}
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
	cmd := exec.CommandContext(ctx, orepl, append([]string{"run", "testdata/run.js", file}, devices...)...)
	cmd.Env = append(os.Environ(), "OREPL_FAR=spawn,spawn", "MIXTURE_LOSS=1")
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
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM}[rng.IntN(3)]
	during, delay, victim := rng.IntN(programs), time.Duration(rng.IntN(20_000))*time.Microsecond, rng.IntN(2)
	var workers []int
	var last string
	var text strings.Builder
	begun := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		fmt.Fprintln(&text, last)
		if !strings.HasSuffix(last, "begins") {
			continue
		}
		if begun++; begun == during+1 {
			time.Sleep(delay)
			if workers = children(cmd.Process.Pid); len(workers) == 2 { // else the script has just ended
				signalled = syscall.Kill(workers[victim], signal) == nil
			}
		}
	}
	err = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	t.Logf("seed %d, %v: %s", seed, signal, last)
	if !regexp.MustCompile(`^5 programs, \d+ reads, 0 wrong, \d with a lost device$`).MatchString(last) || code != 0 && code != lostCode {
		t.Errorf("seed %d, %v after %v of program %d: %v\n%s%s", seed, signal, delay, during, err, tail(text.String()), tail(stderr.String()))
	}
	for _, pid := range workers {
		if state, _ := stateOf(pid); state != "" && state != "Z" {
			t.Errorf("seed %d: worker %d remains in state %s", seed, pid, state)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return signalled
}

// lostCode is the exit code of a script whose device was lost.
const lostCode = 107

// children returns the processes that a process has started.
func children(parent int) (list []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if _, p := stateOf(pid); p == strconv.Itoa(parent) {
				list = append(list, pid)
			}
		}
	}
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
