//go:build !nonative

package process

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const endFirst = "OREPL_TEST_END_FIRST_THREAD"

// init ends the first thread of a process that TestFirstThread starts, while another thread waits for its end.
func init() {
	if os.Getenv(endFirst) == "" {
		return
	}
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() || hasEnded(os.Getpid()) {
		os.Exit(3)
	}
	go func() {
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
			if hasEnded(os.Getpid()) {
				os.Exit(0)
			}
		}
		os.Exit(4)
	}()
	_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
}

// TestFirstThread checks that the end of a process's first thread is seen, which remains as a zombie.
func TestFirstThread(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), endFirst+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
