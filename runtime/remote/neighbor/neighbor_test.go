//go:build linux

package neighbor

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// busy starts a process that needs a core all the time, on the first core that this process may use.
func busy(t *testing.T) *os.Process {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for i := 0; one.Count() == 0; i++ {
		if all.IsSet(i) {
			one.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(cmd.Process.Pid, &one); err != nil {
		t.Fatal(err)
	}
	return cmd.Process
}

// TestWaits checks that a process waits for a core beside others, and that a stopped, a sleeping and an ended one do not.
func TestWaits(t *testing.T) {
	starved := busy(t)
	if err := unix.Setpriority(unix.PRIO_PROCESS, starved.Pid, 19); err != nil {
		t.Fatal(err)
	}
	busy(t)
	sleeping := exec.Command("sleep", "1000")
	if err := sleeping.Start(); err != nil {
		t.Fatal(err)
	}
	for calm := 0; calm < 10; calm++ { // it waits for a core before it sleeps
		if time.Sleep(10 * time.Millisecond); state(folder(sleeping.Process.Pid)) != 'S' {
			calm = 0
		}
	}
	w, s := NewWaits(starved.Pid), NewWaits(sleeping.Process.Pid)
	const looks = 10
	waits, sleeps := 0, 0
	for range looks {
		time.Sleep(50 * time.Millisecond)
		if w.Look() {
			waits++
		}
		if s.Look() {
			sleeps++
		}
	}
	if waits < looks*8/10 || sleeps > looks/10 {
		t.Errorf("of %d looks, %d see that the busy process waits, and %d that the sleeping one does", looks, waits, sleeps)
	}
	if Stopped(starved.Pid) {
		t.Error("the busy process counts as stopped")
	}
	if err := starved.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !Stopped(starved.Pid) {
		time.Sleep(time.Millisecond)
	}
	w.Look()
	time.Sleep(50 * time.Millisecond)
	if w.Look() {
		t.Error("a stopped process waits")
	}
	_ = sleeping.Process.Kill()
	_ = sleeping.Wait()
	if s.Look() || Stopped(sleeping.Process.Pid) {
		t.Error("an ended process waits, or is stopped")
	}
}

// TestPeer finds the process at the other end of connections after it has accepted them, by either version of IP.
func TestPeer(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err)
			continue
		}
		to := l.Addr().String()
		if at == ":0" {
			_, port, _ := net.SplitHostPort(to)
			to = "127.0.0.1:" + port
		}
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		if got := Peer(c); got != 0 {
			t.Errorf("%s: process %d accepted the connection", at, got)
		}
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if got := Peer(c); got != os.Getpid() {
			t.Errorf("%s: the process that accepted is %d, want %d", at, got, os.Getpid())
		}
		_ = other.Close()
		_ = c.Close()
	}
	a, b := net.Pipe()
	defer b.Close()
	if got := Peer(a); got != 0 {
		t.Errorf("a pipe leads to process %d", got)
	}
}
