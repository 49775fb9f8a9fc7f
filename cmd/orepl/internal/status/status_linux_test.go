package status

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

// TestFirst kills processes one after the other, of which the first has ended by itself according to the file.
func TestFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	var text string
	var list []*exec.Cmd
	for rank := range 4 {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		list = append(list, cmd)
		text += fmt.Sprintf("begun %d %d\n", rank, cmd.Process.Pid)
	}
	text += fmt.Sprintf("ended %d\n0\n107 lost\nlost\n5", list[3].Process.Pid)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Read(path)
	if !slices.Equal(r.Codes, []int{0, 107}) || !r.Lost || len(r.Ranks) != 4 || len(r.Ended) != 1 {
		t.Errorf("the file was read as %+v", r)
	}
	w := NewWatch(path)
	if lost, ok := w.Await(t.Context(), 3); !lost || !ok {
		t.Errorf("awaiting the scripts returned %v, %v", lost, ok)
	}
	for _, rank := range []int{3, 2, 0} {
		if err := list[rank].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = list[rank].Wait()
	}
	if !w.AwaitEnds(t.Context(), 3) {
		t.Error("the processes have not ended")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w.AwaitEnds(ctx, 4) {
		t.Error("a fourth process has ended")
	}
	if _, k := w.Stop(); k == nil || k.Rank != 2 || k.PID != list[2].Process.Pid {
		t.Errorf("the first process was %+v, not that of rank 2", k)
	}
}

// TestAwait writes the statuses of two scripts while another goroutine waits for them.
func TestAwait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(job.StatusVariable, path)
	w := NewWatch(path)
	ended := make(chan bool)
	go func() {
		lost, ok := w.Await(t.Context(), 2)
		ended <- ok && !lost
	}()
	for code := range 2 {
		select {
		case <-ended:
			t.Fatalf("the wait ended after %d of 2 scripts", code)
		case <-time.After(20 * time.Millisecond):
		}
		if err := add(fmt.Sprint(code)); err != nil {
			t.Fatal(err)
		}
	}
	if !<-ended {
		t.Error("the wait reported a loss")
	}
	if r, k := w.Stop(); k != nil || len(r.Codes) != 2 {
		t.Errorf("the end is %+v, %v", r, k)
	}
}

// TestCutOff reports a loss of which only a worker tells, as one that the network has cut off: it counts once the script has ended.
func TestCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	script := exec.Command("sleep", "60")
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("begun 0 %d\nbegun 1 %d\nlost\n", script.Process.Pid, os.Getpid())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWatch(path)
	defer w.Stop()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if lost, ok := w.Await(short, 1); lost || ok {
		t.Errorf("while the script runs: %v, %v", lost, ok)
	}
	_, _ = script.Process.Kill(), script.Wait()
	if lost, ok := w.Await(t.Context(), 1); !lost || !ok {
		t.Errorf("after its end: %v, %v", lost, ok)
	}
}
