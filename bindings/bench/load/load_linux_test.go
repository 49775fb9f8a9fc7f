package load

import (
	"context"
	"os/exec"
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
