//go:build unix

package far_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// TestFrozen stops a worker during a command and a wait for an event. Both must end with a lost device after the default
// time limit. Another worker must go on, and no process may remain.
func TestFrozen(t *testing.T) {
	usual := os.Getenv(silence.Variable)
	t.Setenv(silence.Variable, "")
	p, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(t.Context())
	must(t, err)
	frozen := worker(t)
	t.Setenv(silence.Variable, usual)
	others, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(t.Context())
	must(t, err)
	d := p.Devices()[0]
	m, err := d.Allocate(1<<20, offload.DeviceMemory)
	must(t, err)
	q, err := d.NewQueue(offload.QueueOptions{})
	must(t, err)
	must(t, q.Sync(t.Context()))
	must(t, frozen.Signal(syscall.SIGSTOP))
	must(t, q.Retrieve(make([]byte, 1<<20), offload.Span{Memory: m, Size: 1 << 20}))
	ev, err := q.Record()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := ev.Sync(ctx); offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the event ended with %v", err)
	}
	if err := d.(offload.Losable).LostError(); !strings.Contains(err.Error(), "has sent nothing for 1.8s") {
		t.Errorf("the reason is %v", err)
	}
	other, err := others.Devices()[0].Allocate(64, offload.DeviceMemory)
	must(t, err)
	must(t, other.Free())
	must(t, others.Close())
	must(t, q.Close())
	must(t, p.Close())
	if err := frozen.Signal(syscall.Signal(0)); err == nil {
		t.Error("the worker is still there")
	}
}

// TestSilenceSetting checks the error of an invalid time.
func TestSilenceSetting(t *testing.T) {
	for _, text := range []string{"soon", "1ms", "-5s"} {
		t.Setenv(silence.Variable, text)
		_, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(t.Context())
		if offload.CodeOf(err) != offload.InvalidArgument || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
