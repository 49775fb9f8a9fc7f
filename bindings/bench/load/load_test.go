package load

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// spin computes until it has used a processor for a time.
func spin(d time.Duration) (sum int) {
	for end := time.Now().Add(d); time.Now().Before(end); sum++ {
	}
	return sum
}

// TestOwn checks that what this process and those that it started compute is not that of others, on a machine with any load.
func TestOwn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux counts the time of processors")
	}
	m := Begin()
	if m.begun.total == 0 || m.begun.busy == 0 || m.begun.busy > m.begun.total {
		t.Fatalf("%+v", m.begun)
	}
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	child := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	sink := spin(200 * time.Millisecond)
	running := m.own() - m.begun.own
	_ = child.Wait() // the context stops it
	ended := m.own() - m.begun.own
	now := m.ticks()
	t.Logf("%v ticks own while the child ran, %v afterwards, of %v busy; others have %v %d", running, ended, now.busy-m.begun.busy, m.Share(), sink)
	if ended < running || ended == 0 || ended > now.busy-m.begun.busy+5 {
		t.Errorf("%v ticks own while the child ran, %v afterwards, of %v busy", running, ended, now.busy-m.begun.busy)
	}
	if s := m.Share(); s < 0 || s > 1 {
		t.Errorf("the share is %v", s)
	}
}

// TestShare computes shares from texts of the system.
func TestShare(t *testing.T) {
	files := map[string]string{
		"/proc/self/status": "Name:\tx\nCpus_allowed_list:\t0-1,3\n",
		"/proc/stat":        "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\ncpu2 100 0 0 0 0 0 0 0 0 0\ncpu3 0 0 0 100 0 0 0 0 0 0\n",
	}
	m := &Meter{read: func(path string) string { return files[path] }, pid: -1}
	m.begun = m.ticks()
	files["/proc/stat"] = "cpu0 20 10 10 90 0 5 5 0 0 0\ncpu1 0 0 0 120 20 0 0 10 0 0\ncpu2 900 0 0 0 0 0 0 0 0 0\ncpu3 0 0 0 150 0 0 0 0 0 0\n"
	// 40 + 10 ticks of 140 + 150 - 200 + 50 are busy; processor 2 is not for this process.
	if got, want := m.Share(), 50.0/140; got != want {
		t.Errorf("%v, not %v", got, want)
	}
	if parent, ticks := process("12 (a ) b) S 7 1 1 0 -1 4 0 0 0 0 1 2 3 4 20 0 1"); parent != 7 || ticks != 10 {
		t.Errorf("parent %d, %v ticks", parent, ticks)
	}
	if parent, ticks := process(""); parent != 0 || ticks != 0 {
		t.Errorf("parent %d, %v ticks", parent, ticks)
	}
	if s := (&Meter{read: func(string) string { return "" }}).Share(); s != 0 {
		t.Errorf("the share of an unknown system is %v", s)
	}
}
