package orepl_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestColdStart bounds the processor time of a program that loads a pipeline with five kernels and runs it once. Some machines take 20
// times as long for a page fault as others: there the bound is a multiple of the time of a program which only evaluates a sum in the
// interpreter. On an idle machine with cheap ones the program takes less than 20 ms.
func TestColdStart(t *testing.T) {
	const most, mostTimes = 50, 6 // milliseconds, and the multiple
	dir := t.TempDir()
	for program, source := range map[string]string{"cold": "./testdata/cold", "bare": "./tests/peers/bare"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, program), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run := func(program, want string) float64 {
		cmd := exec.Command(filepath.Join(dir, program))
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() * 1e3
	}
	var cold, bare, ratios []float64
	for range 30 {
		a, b := run("cold", "2.6457512\n"), run("bare", "")
		cold, bare, ratios = append(cold, a), append(bare, b), append(ratios, a/b)
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/4] // other processes disturb some
	t.Logf("at least %.1f ms of processor time, and %.1f ms of the program with only the interpreter; ratio %.2f", slices.Min(cold), slices.Min(bare), ratio)
	if least := slices.Min(cold); least > most && ratio > mostTimes {
		t.Errorf("it takes %.1f ms of processor time, more than %d, and %.2f times that of the program with only the interpreter, more than %d", least, most, ratio, mostTimes)
	}
}

// TestColdBytes bounds the bytes that the program of TestColdStart allocates on a processor with AVX2, whose code takes more than that for
// AVX-512. The first garbage collection, which takes a seventh of the processor time, begins at a heap of about 4 MB. The runtime also counts
// the unused part of memory that a processor caches.
func TestColdBytes(t *testing.T) {
	const most = 3_250_000
	program := filepath.Join(t.TempDir(), "cold")
	build := exec.Command("go", "build", "-o", program, "./testdata/cold")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	least := math.MaxInt
	for range 5 { // a workspace of the compiler that another thread has used is made again
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "COLD_BYTES=1", "GOMAXPROCS=2", "OREPL_DEBUG=cpu-features=avx2")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, found := strings.CutPrefix(string(out), "2.6457512\n")
		bytes, err := strconv.Atoi(strings.TrimSpace(text))
		if !found || err != nil {
			t.Fatalf("it prints %q", out)
		}
		least = min(least, bytes)
	}
	if t.Logf("%d bytes", least); least > most {
		t.Errorf("it allocates %d bytes, more than %d", least, most)
	}
}
