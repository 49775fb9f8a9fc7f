//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptOfAFullQueue checks that Ctrl-C ends a script that waits for room in a queue held by an endless kernel, and
// names the kernel.
func TestInterruptOfAFullQueue(t *testing.T) {
	dir := t.TempDir()
	const script = `import { device, kernel, i32 } from 'offload'
const x = device('cpu').buffer(i32, 1)
const k = kernel((g, x) => { while (x[0] == 0) { x[0] = 0 } })
console.log('started')
for (let i = 0; i < 5000; i++) k.launch({ size: 1 }, x)
console.log('not stopped')
`
	if err := os.WriteFile(filepath.Join(dir, "flood.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(dir, "orepl")
	if err := os.Symlink(exe, orepl); err != nil { // the test binary acts as the command under this name
		t.Fatal(err)
	}
	cmd := exec.Command(orepl, "run", "flood.js")
	cmd.Dir = dir
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the script did not start")
	}
	awaitWork(t, cmd.Process.Pid, 500*time.Millisecond) // by then the queue is full, and the endless kernel runs
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer overdue.Stop()
	if lines.Scan() {
		t.Errorf("the script went on: %s", lines.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
	for _, part := range []string{"stopped with Ctrl-C [interrupted]", "kernel k was running on cpu, launched here", "--> flood.js:5:"} {
		if !strings.Contains(told.String(), part) {
			t.Errorf("no %q in:\n%s", part, &told)
		}
	}
}

// TestIgnoredSignals sends an interrupt to a script, and SIGHUP to a worker, that were started to ignore it, as by nohup. Both go on.
func TestIgnoredSignals(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(dir, "orepl")
	if err := os.Symlink(exe, orepl); err != nil { // the test binary acts as the command under this name
		t.Fatal(err)
	}
	const script = `import fs from 'fs'
console.log('started')
while (!await fs.exists('go-on')) await new Promise(done => setTimeout(done, 5))
console.log('ended')
`
	if err := os.WriteFile(filepath.Join(dir, "wait.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(command string) (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.Command("sh", "-c", "trap '' INT HUP; exec ./orepl "+command)
		cmd.Dir = dir
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		overdue := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		t.Cleanup(func() { overdue.Stop() })
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatalf("%s did not start", command)
		}
		return cmd, lines
	}
	cmd, lines := start("run wait.js")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "ended" {
		t.Errorf("the script was stopped: %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	cmd, lines = start("worker --listen tcp:127.0.0.1:0")
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM} { // the second one ends it
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("the worker ended with %d", code)
	}
}

// awaitWork waits until a process has used processor time d. Where the system does not report it, it waits for that time.
func awaitWork(t *testing.T, pid int, d time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond // resolution of Linux's statistics
	began := time.Duration(-1)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(tick) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			time.Sleep(d)
			return
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // the third field follows the name
		ticks, _ := strconv.Atoi(fields[11])                                      // time in user mode
		used := time.Duration(ticks) * tick
		if began < 0 {
			began = used
		}
		if used-began >= d {
			return
		}
	}
	t.Fatal("the process does not work")
}

// TestInterruptWithIsolation checks that a script with and without isolation ends in the same way, if the signal goes to all
// processes or to one.
func TestInterruptWithIsolation(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "endless.js"), []byte("console.log('started')\nfor (;;);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(dir, "orepl")
	if err := os.Symlink(exe, orepl); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, option := range []string{"--isolate=false", "--isolate"} {
		for _, all := range []bool{false, true} {
			cmd := exec.Command(orepl, "run", option, "endless.js")
			cmd.Dir = dir
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var errors bytes.Buffer
			cmd.Stderr = &errors
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if lines := bufio.NewScanner(out); !lines.Scan() {
				t.Fatal("the script did not start")
			}
			process := cmd.Process.Pid
			if all {
				process = -process
			}
			if err := syscall.Kill(process, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			overdue := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			_ = cmd.Wait()
			overdue.Stop()
			told[fmt.Sprint(cmd.ProcessState.ExitCode(), " ", errors.String())] = true
		}
	}
	for text := range told {
		if len(told) > 1 || !strings.Contains(text, "130 error: stopped with Ctrl-C [interrupted]") {
			t.Errorf("it ended with %s", text)
		}
	}
}
