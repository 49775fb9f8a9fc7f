//go:build linux

package faults

import (
	"bufio"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWorkerSocket ends workers by signals. A worker removes its socket unless it is killed, and the next one replaces a socket that
// is left, but not that of a worker that serves, nor a file of another kind.
func TestWorkerSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM} {
		cmd := serve(t, path)
		if text := refused(t, path); !strings.Contains(text, "address already in use") {
			t.Errorf("a second worker says %s", text)
		}
		conn, err := net.Dial("unix", path) // a client that does not greet
		must(t, err)
		must(t, cmd.Process.Signal(signal))
		late := time.AfterFunc(endTime, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		if !late.Stop() {
			t.Errorf("%v: the worker did not end", signal)
		}
		_ = conn.Close()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch _, err := os.Lstat(path); {
		case signal == syscall.SIGKILL:
			must(t, err)
		case !os.IsNotExist(err):
			t.Errorf("%v: the socket is left, %v", signal, err)
		case signal == syscall.SIGINT && status.ExitStatus() != 0 || signal != syscall.SIGINT && status.ExitStatus() != 128+int(signal):
			t.Errorf("%v: the worker ends with %v", signal, cmd.ProcessState)
		}
	}
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if text := refused(t, path); !strings.Contains(text, "address already in use") {
		t.Errorf("a worker says %s", text)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeType != 0 {
		t.Errorf("the file is now %v, %v", info, err)
	}
}

// TestWorkerBeyondMachine starts workers with a token in a file or a variable. They do not show the token, show an address that scripts can
// use, and warn if other machines can read what passes.
func TestWorkerBeyondMachine(t *testing.T) {
	const token = "a token of this test"
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	for _, c := range []struct {
		listen, env string
		warns       bool
	}{
		{"tcp:0.0.0.0:0", "OREPL_TOKEN=" + token, true},
		{"tcp:[::]:0", "OREPL_TOKEN_FILE=" + file, true},
		{"tls:0.0.0.0:0", "OREPL_TOKEN_FILE=" + file, false},
		{"tcp:127.0.0.1:0", "OREPL_TOKEN=" + token, false},
		{"tcp:0.0.0.0:0", "", true},
	} {
		t.Run(c.listen+" "+c.env, func(t *testing.T) {
			cmd := exec.Command(binary(t), "worker", "--listen", c.listen)
			cmd.Env = append(os.Environ(), c.env)
			out, err := cmd.StdoutPipe()
			must(t, err)
			var errs strings.Builder
			cmd.Stderr = &errs
			must(t, cmd.Start())
			defer cmd.Process.Kill()
			line, err := bufio.NewReader(out).ReadString('\n')
			must(t, err)
			line = strings.TrimSpace(line)
			devices := exec.Command(binary(t), "devices")
			devices.Env = append(os.Environ(), c.env, line)
			list, err := devices.CombinedOutput()
			if err != nil || !strings.Contains(string(list), "far:cpu:0") {
				t.Errorf("with %s, devices are %s, %v", line, list, err)
			}
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			_ = cmd.Wait()
			said := line + "\n" + errs.String()
			if strings.Contains(said, token) || strings.Contains(said, "0.0.0.0") || strings.Contains(said, "[::]") || (c.env == "") != strings.Contains(line, "#") {
				t.Errorf("the worker says %s", said)
			}
			if warns := strings.Contains(said, "is not encrypted") && strings.Contains(said, "write --listen tls:"); warns != c.warns {
				t.Errorf("warns: %v, the worker says %s", warns, said)
			}
			if names := strings.Contains(said, "which scripts take from OREPL_TOKEN"); names == (c.env == "") {
				t.Errorf("names the source of the token: %v, the worker says %s", names, said)
			}
		})
	}
}

// serve starts a worker at a socket and waits until it listens.
func serve(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary(t), "worker", "--listen", "unix:"+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	if !strings.HasPrefix(line, "OREPL_FAR=unix:"+path+"#") {
		t.Fatalf("the worker says %s", line)
	}
	return cmd
}

// refused starts a worker that cannot listen, and returns what it says.
func refused(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(binary(t), "worker", "--listen", "unix:"+path).CombinedOutput()
	if err == nil {
		t.Error("the worker ends without an error")
	}
	return string(out)
}
