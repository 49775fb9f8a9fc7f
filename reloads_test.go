package orepl_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
)

// TestReloads reloads a pipeline with a kernel of its own for each version while callers run it: no run fails, each version computes its own result, and neither
// the heap, nor goroutines, nor objects of the session grow.
func TestReloads(t *testing.T) {
	reloads := 60
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		reloads = 10_000
	}
	version := func(n int) *orepl.Texts {
		return &orepl.Texts{"main.js": fmt.Sprintf(`import { pipeline, kernel, f32 } from 'offload'
const scale = kernel((g, x, y) => { y[g.x] = x[g.x] + %d })
export default pipeline({ device: 'cpu', inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { scale.launch({ size: x.length }, x, y) } })`, n)}
	}
	rt := open(t)
	files := &versions{}
	files.now.Store(version(0))
	done := make(chan error, 1)
	w, err := rt.Watch(t.Context(), "main.js", orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: files}, Instances: 2}, Interval: time.Millisecond,
		Canary: orepl.Data{"x": []float32{1}}, OnReload: func(err error) { done <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	var load sync.WaitGroup
	var stop atomic.Bool
	var least, runs atomic.Int64 // version that later runs have at least, and runs
	for range 3 {
		load.Go(func() {
			for !stop.Load() {
				from := least.Load()
				var y []float32
				err := w.Run(context.Background(), orepl.Data{"x": []float32{0, 0}}, orepl.Data{"y": &y})
				if to := least.Load() + 1; err != nil || len(y) != 2 || y[1] < float32(from) || y[1] > float32(to) {
					t.Errorf("a run between versions %d and %d: %v, %v", from, to, y, err)
					return
				}
				runs.Add(1)
				time.Sleep(time.Millisecond)
			}
		})
	}
	type state struct {
		heap                uint64
		goroutines, objects int
	}
	look := func() (s state) {
		time.Sleep(50 * time.Millisecond) // replaced versions close
		var m runtime.MemStats
		for range 3 { // finalizers need more than one collection
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return state{m.HeapAlloc, runtime.NumGoroutine(), len(rt.Session().Live())}
	}
	var early state
	start := time.Now()
	for n := 1; n <= reloads && !t.Failed(); n++ {
		files.now.Store(version(n))
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("reload %d: %v", n, err)
			}
			least.Store(int64(n))
		case <-time.After(time.Minute):
			t.Fatalf("reload %d did not happen", n)
		}
		if n == reloads/3 {
			early = look()
		}
	}
	took := time.Since(start)
	late := look()
	stop.Store(true)
	load.Wait()
	t.Logf("%d reloads in %v under %d runs; heap %d KiB after a third, %d KiB at the end; %d and %d goroutines; %d and %d objects",
		reloads, took.Round(time.Millisecond), runs.Load(), early.heap>>10, late.heap>>10, early.goroutines, late.goroutines, early.objects, late.objects)
	const spare = 8 << 20
	if late.heap > early.heap+spare || late.goroutines > early.goroutines+20 || late.objects > early.objects+20 {
		t.Error("something grows")
	}
	if err := w.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if live := rt.Session().Live(); len(live) > 0 {
		t.Errorf("%d objects are left, such as %v", len(live), live[0])
	}
}
