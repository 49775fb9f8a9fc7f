package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// startup compares the processor time of whole processes. It prints the peak memory of ours, and what ownMemory returns.
func startup(r *report) error {
	dir, err := os.MkdirTemp("", "orepl-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := func(name, pkg string) (string, error) {
		out := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", pkg, err, text)
		}
		return out, nil
	}
	ours, err := build("orepl", "github.com/orepl/orepl/cmd/orepl")
	if err != nil {
		return err
	}
	theirs, err := build("bare", "github.com/orepl/orepl/tests/peers/bare")
	if err != nil {
		return err
	}
	script := filepath.Join(dir, "empty.js")
	if err := os.WriteFile(script, nil, 0o644); err != nil {
		return err
	}
	var peak int64 // KiB
	run := func(args ...string) func() (float64, error) {
		return func() (float64, error) {
			cmd := exec.Command(args[0], args[1:]...)
			if text, err := cmd.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%v: %w\n%s", args, err, text)
			}
			took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && args[0] == ours {
				peak = max(peak, usage.Maxrss)
			}
			return took.Seconds() * 1e3, nil
		}
	}
	if _, err := r.pair("run empty.js", "ms", 41, run(ours, "run", script), run(theirs)); err != nil {
		return err
	}
	own, err := ownMemory(ours, dir)
	if err != nil {
		return err
	}
	fmt.Printf("  peak memory of orepl run: %.1f MiB, with the pages of its file; %.1f MiB without\n", float64(peak)/1024, float64(own)/1024)
	return nil
}

// ownMemory returns the memory in KiB of a process that runs a script which only reads this figure. It excludes the pages of
// files, which processes share.
func ownMemory(orepl, dir string) (int64, error) {
	const script = "import { readText } from 'fs'\nconsole.log((await readText('/proc/self/status')).match(/^RssAnon:\\s*(\\d+) kB/m)[1])\n"
	name := filepath.Join(dir, "memory.js")
	if err := os.WriteFile(name, []byte(script), 0o644); err != nil {
		return 0, err
	}
	text, err := exec.Command(orepl, "run", name).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("reading the memory: %w\n%s", err, text)
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
