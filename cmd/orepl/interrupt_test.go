package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Ctrl-C ends a script that waits for room in a queue which an endless kernel holds, and names the kernel.
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
	if err := os.Symlink(exe, orepl); err != nil { // the test binary is the command under this name
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
	time.Sleep(300 * time.Millisecond) // it has filled the queue, most likely
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
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
