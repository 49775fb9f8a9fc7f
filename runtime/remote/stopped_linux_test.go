package remote

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// TestStoppedBeforeAnswer dials a process of this machine that has been stopped. The client finds it by its connection.
func TestStoppedBeforeAnswer(t *testing.T) {
	t.Setenv(silence.Variable, "1s")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	_, err = NewPlugin("x", func(context.Context) (io.ReadWriteCloser, error) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		accepted, err := l.Accept()
		if err != nil {
			return nil, err
		}
		file, err := accepted.(*net.TCPConn).File()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command("sleep", "1000")
		cmd.ExtraFiles = []*os.File{file}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		_, _ = accepted.Close(), file.Close()
		return c, cmd.Process.Signal(syscall.SIGSTOP)
	}).Open(t.Context())
	if offload.CodeOf(err) != offload.DeviceLost || !strings.Contains(err.Error(), "a signal has stopped its process") {
		t.Errorf("opening ended after %v with %v", time.Since(began), err)
	}
}
