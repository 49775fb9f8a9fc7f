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
	ours, err := built(dir, "github.com/orepl/orepl/cmd/orepl")
	if err != nil {
		return err
	}
	theirs, err := built(dir, "github.com/orepl/orepl/tests/peers/bare")
	if err != nil {
		return err
	}
	script := filepath.Join(dir, "empty.js")
	if err := os.WriteFile(script, nil, 0o644); err != nil {
		return err
	}
	var peak float64 // MiB
	if _, err := r.pair("run empty.js", "ms", 41, process(&peak, ours, "run", script), process(nil, theirs)); err != nil {
		return err
	}
	own, err := ownMemory(ours, dir)
	if err != nil {
		return err
	}
	fmt.Printf("  peak memory of orepl run: %.1f MiB, with the pages of its file; %.1f MiB without\n", peak, float64(own)/1024)
	return nil
}

// built builds a command in a folder, and returns its path.
func built(dir, pkg string) (string, error) {
	out := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

// process returns a function that runs a command and returns its processor time in milliseconds. If peak is not nil, it becomes at
// least the command's peak memory in MiB.
func process(peak *float64, args ...string) func() (float64, error) {
	return func() (float64, error) {
		cmd := exec.Command(args[0], args[1:]...)
		if text, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%v: %w\n%s", args, err, text)
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && peak != nil {
			*peak = max(*peak, float64(usage.Maxrss)/1024)
		}
		return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() * 1e3, nil
	}
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
