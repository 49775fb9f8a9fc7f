package session_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/session"
)

// TestCollectionWaitsForCleanups collects a buffer while the cleanup of another object delays that of the buffer.
func TestCollectionWaitsForCleanups(t *testing.T) {
	p := adder()
	p.limit = 1 << 12
	s := open(t, p)
	d := device(t, s, "cpu")
	for range 3 {
		for range runtime.GOMAXPROCS(0) { // at least as many as goroutines that run cleanups
			runtime.AddCleanup(new([16]int), func(d time.Duration) { time.Sleep(d) }, 100*time.Millisecond)
		}
		runtime.GC()
		buffer(t, d, 700)
		check(t, defaultQueue(t, d).Sync(ctx))
	}
}

// TestUnreachableBuffers checks that buffers that a program does not free are collected though the heap does not grow.
func TestUnreachableBuffers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	d := device(t, open(t, adder()), "cpu")
	const size, count = 4 << 20, 300
	for range count {
		buffer(t, d, size/4)
	}
	if m := d.Memory(); m.Peak > size*count/2 {
		t.Errorf("%d of %d bytes were in use at a time", m.Peak, size*count)
	}
}

// TestFreedInUse checks that a program which frees buffers does not take much memory by running ahead of the device, and that
// allocations go on while the device waits for the program. Allocations that waited in vain on a busy machine are excused.
func TestFreedInUse(t *testing.T) {
	const ahead, patience = 16 << 20, 50 * time.Millisecond // of retired.List.KeepPace
	gate := make(chan struct{})
	param := []offload.Param{i32Buffer("y", true)}
	p := adder()
	p.kernels["nap"] = hostKernel{info: offload.KernelInfo{Name: "nap", Params: param}, run: func([]offload.Arg, *queue.Stop) error {
		time.Sleep(200 * time.Microsecond)
		return nil
	}}
	p.kernels["wait"] = hostKernel{info: offload.KernelInfo{Name: "wait", Params: param}, run: func([]offload.Arg, *queue.Stop) error {
		<-gate
		return nil
	}}
	s := open(t, p)
	d := device(t, s, "cpu")
	use := func(name string, bytes int) (took time.Duration) {
		begin := time.Now()
		b := buffer(t, d, bytes/4)
		took = time.Since(begin)
		check(t, defaultQueue(t, d).Launch(must(kernel(t, s, d, name).Bind(session.Config{Size: []int{1}}, session.Buf(b)))(t)))
		check(t, b.Free())
		return took
	}
	for attempt := 1; ; attempt++ {
		late, most := false, int64(0)
		for range 50 {
			late = use("nap", 1<<20) >= patience || late
			most = max(most, d.Memory().Allocated)
		}
		check(t, defaultQueue(t, d).Sync(ctx))
		if most <= ahead {
			break
		}
		if !late || attempt == 100 {
			t.Fatalf("%d bytes were in use at a time", most)
		}
	}
	for range 20 {
		use("wait", 4<<20)
	}
	close(gate)
	check(t, defaultQueue(t, d).Sync(ctx))
}
