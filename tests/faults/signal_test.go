//go:build linux

package faults

import (
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

// TestSignalledJob sends the signals that end a process to orepl mpirun. It ends the launcher, removes its file, and exits with the
// signal's code.
func TestSignalledJob(t *testing.T) {
	dir := t.TempDir()
	orepl, launcher, started := binary(t), filepath.Join(dir, "launcher"), filepath.Join(dir, "started")
	text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && { echo HYDRA; exit; }\necho $$ >%[1]s.new && mv %[1]s.new %[1]s\nexec sleep 1000\n", started)
	must(t, os.WriteFile(launcher, []byte(text), 0o700))
	script := filepath.Join(dir, "script.js")
	must(t, os.WriteFile(script, nil, 0o600))
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		files := filepath.Join(dir, strconv.Itoa(int(signal)))
		must(t, os.Mkdir(files, 0o700))
		cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, script)
		cmd.Env = append(os.Environ(), "TMPDIR="+files)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		var data []byte
		for len(data) == 0 {
			time.Sleep(time.Millisecond)
			data, _ = os.ReadFile(started)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		must(t, err)
		must(t, os.Remove(started))
		must(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(signal) {
			t.Errorf("%v: %v\n%s", signal, cmd.ProcessState, out.Bytes())
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%v: the launcher is still there", signal)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
			t.Errorf("%v: files %v are left, %v", signal, left, err)
		}
	}
}
