//go:build linux

package silence

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pipe is a stream to a process.
type pipe struct {
	io.ReadWriteCloser
	pid int
}

func (p pipe) PID() int { return p.pid }

// start starts a command, on the first core that this process may use.
func start(t *testing.T, name string, args ...string) *os.Process {
	t.Helper()
	cmd := exec.Command(name, args...)
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

// TestStarved checks that a process that waits for a core is not silent meanwhile, and that one is that sleeps or is stopped.
func TestStarved(t *testing.T) {
	const loop = "while :; do :; done"
	starved, sleeping := start(t, "sh", "-c", loop), start(t, "sleep", "1000")
	if err := unix.Setpriority(unix.PRIO_PROCESS, starved.Pid, 19); err != nil {
		t.Fatal(err)
	}
	start(t, "sh", "-c", loop)
	s, q := NewMeter(pipe{pid: starved.Pid}), NewMeter(pipe{pid: sleeping.Pid})
	const ticks = 10
	ticked := func() (a, b time.Duration) {
		for range ticks {
			time.Sleep(Tick)
			a, b = s.Tick(1), q.Tick(1)
		}
		return a, b
	}
	s.Tick(1) // the first read
	q.Tick(1)
	if a, b := ticked(); a > 3*Tick || b < (ticks-3)*Tick {
		t.Errorf("after %d ticks, the busy process is silent for %v, and the sleeping one for %v", ticks, a, b)
	}
	if s.Tick(2) != 0 {
		t.Error("a read does not end the silence")
	}
	if err := starved.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !s.Stopped() { // the signal waits for a core, too
		time.Sleep(time.Millisecond)
	}
	if a, _ := ticked(); a < (ticks-2)*Tick || !s.Stopped() || q.Stopped() {
		t.Errorf("after %d ticks, the stopped process is silent for %v (stopped: %v, the other: %v)", ticks, a, s.Stopped(), q.Stopped())
	}
}

// TestPatience checks that waiting for a core delays the end of a silence by a limited time.
func TestPatience(t *testing.T) {
	m := NewMeter(pipe{pid: os.Getpid()})
	m.Tick(0)
	m.waited = patience
	before := m.Tick(0)
	if after := m.Tick(0); after != before+Tick {
		t.Errorf("the silence grows from %v to %v", before, after)
	}
}
