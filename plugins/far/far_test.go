package far_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// TestMain lets this test binary also run as a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "host" {
		host()
	}
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		suffer()
		_ = remote.Serve(context.Background(), standard{}, cpu.New(cpu.Options{}))
		os.Exit(0)
	}
	if os.Getenv(silence.Variable) == "" {
		_ = os.Setenv(silence.Variable, "1m") // a worker may wait for seconds on a busy machine
	}
	os.Exit(m.Run())
}

type standard struct{}

func (standard) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (standard) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (standard) Close() error                { return os.Stdin.Close() }

var _ io.ReadWriteCloser = standard{}

// TestSpawned runs a part of the conformance suite on a worker that the plugin starts.
func TestSpawned(t *testing.T) {
	plugin := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}})
	match := func(name string) bool {
		ok, _ := filepath.Match("launch/*", name)
		return ok || name == "copy/round-trip" || name == "queue/order"
	}
	results, err := conform.Run(t.Context(), plugin, "far:cpu:0", conform.Options{Match: match})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) < 5 {
		t.Errorf("%d cases", len(results))
	}
	for _, r := range results {
		if r.Status != conform.Passed {
			t.Errorf("%s: %v\n%s", r.Name, r.Status, strings.Join(r.Output, "\n"))
		}
	}
}

// TestKilled kills a worker during endless copies. The end of the stream must make the device lost, its commands must end,
// and freeing and closing must succeed.
func TestKilled(t *testing.T) {
	p, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(t.Context())
	must(t, err)
	d := p.Devices()[0]
	m, err := d.Allocate(64<<20, offload.DeviceMemory)
	must(t, err)
	q, err := d.NewQueue(offload.QueueOptions{})
	must(t, err)
	host := make([]byte, m.Size())
	copied, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			for range 4 {
				err = errors.Join(err, q.Submit(offload.Span{Memory: m, Size: m.Size()}, host))
			}
			if err = errors.Join(err, q.Sync(t.Context())); err != nil {
				ended <- err
				return
			}
			if n == 0 {
				close(copied)
			}
		}
	}()
	select {
	case <-copied:
	case err := <-ended:
		t.Fatal(err)
	}
	must(t, worker(t).Kill())
	within := time.After(30 * time.Second) // less than the time limit of silence
	select {
	case err := <-ended:
		if offload.CodeOf(err) != offload.DeviceLost {
			t.Errorf("the queue ended with %v", err)
		}
	case <-within:
		t.Fatal("the commands do not end")
	}
	select {
	case <-d.(offload.Losable).Lost():
	case <-within:
		t.Fatal("the device is not lost")
	}
	if err := d.(offload.Losable).LostError(); strings.Contains(err.Error(), "has sent nothing") {
		t.Errorf("the reason is %v", err)
	}
	if _, err := d.Allocate(1, offload.DeviceMemory); offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("an allocation gave %v", err)
	}
	must(t, m.Free())
	must(t, q.Close())
	must(t, p.Close())
}

// worker returns a running child process of this one.
func worker(t *testing.T) *os.Process {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		tasks, err := filepath.Glob("/proc/self/task/*/children")
		must(t, err)
		if len(tasks) == 0 {
			t.Skip("the system does not list children of processes")
		}
		for _, f := range tasks {
			data, err := os.ReadFile(f)
			if err != nil {
				continue // the thread has ended
			}
			for _, word := range strings.Fields(string(data)) {
				pid, err := strconv.Atoi(word)
				must(t, err)
				child, err := os.FindProcess(pid)
				must(t, err)
				return child
			}
		}
	}
	t.Fatal("this process has no children")
	return nil
}

// kill kills a process and waits until it has ended.
func kill(t *testing.T, p *os.Process) {
	t.Helper()
	must(t, p.Kill())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		if err != nil {
			return // its parent has waited for it
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs 30 s after its kill: %s", p.Pid, stat)
		}
	}
}

// TestWrongWorkers checks the errors of invalid lists of workers.
func TestWrongWorkers(t *testing.T) {
	for worker, want := range map[string]string{"localhost:80": "no address of a worker", "spawn:/nonexistent": "no such file", "tcp:127.0.0.1:1#x": "refused"} {
		_, err := far.New(far.Options{Workers: []string{worker}}).Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", worker, err)
		}
	}
	t.Setenv(far.Variable, " spawn , tcp:127.0.0.1:1#x,")
	if o := far.FromEnvironment(); len(o.Workers) != 2 || o.Workers[0] != "spawn" {
		t.Error(o)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
