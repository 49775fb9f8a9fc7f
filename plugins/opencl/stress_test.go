package opencl_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

const counting = `orepl-ir 1
kernel count(step %step.0: i32, x: i32[*]) real f32 {
  %1: i32 = item.global.x
  %2: i32 = load x[%1]
  %3: i32 = add %2, %step.0
  store x[%1], %3
  return
}
`

// image returns the image of a kernel's text.
func image(t testing.TB, text string) *offload.Image {
	t.Helper()
	m, err := ir.ParseText("test", text)
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return &offload.Image{Kind: offload.ImageIR, Data: data}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestManyQueues launches one kernel from 8 goroutines, each 500 times on its own queue.
func TestManyQueues(t *testing.T) {
	p := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	defer p.Close()
	d := p.Devices()[0]
	program := must[offload.Program](t)(d.Load(t.Context(), image(t, counting)))
	k := must[offload.Kernel](t)(program.Kernel("count"))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			const n, launches = 300, 500
			fail := func(err error) bool {
				if err != nil {
					t.Errorf("goroutine %d: %v", g, err)
				}
				return err != nil
			}
			q, err := d.NewQueue(offload.QueueOptions{})
			if fail(err) {
				return
			}
			m, err := d.Allocate(4*n, offload.DeviceMemory)
			if fail(err) {
				return
			}
			span, data := offload.Span{Memory: m, Size: 4 * n}, make([]byte, 4*n)
			if fail(q.Submit(span, data)) {
				return
			}
			l := &offload.Launch{Kernel: k, Size: [3]int{n, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Bits: uint64(g + 1)}, {Type: offload.I32, Memory: m, Dims: [3]int32{n}}}}
			for i := range launches {
				if fail(q.Launch(l)) || i%50 == 49 && fail(q.Sync(t.Context())) {
					return
				}
			}
			if fail(q.Retrieve(data, span)) || fail(q.Sync(t.Context())) {
				return
			}
			for i := range n {
				if got := int(binary.LittleEndian.Uint32(data[4*i:])); got != launches*(g+1) {
					t.Errorf("goroutine %d: element %d is %d", g, i, got)
					break
				}
			}
			fail(q.Close())
			fail(m.Free())
		})
	}
	all.Wait()
	if err := program.Unload(); err != nil {
		t.Error(err)
	}
}

// residentBytes returns the resident memory of the process.
func residentBytes(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var size, resident int
	if _, err := fmt.Fscan(strings.NewReader(string(data)), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * os.Getpagesize()
}

// TestBuildAndUnload builds, launches and unloads programs repeatedly, and checks that memory does not grow.
func TestBuildAndUnload(t *testing.T) {
	p := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	defer p.Close()
	d := p.Devices()[0]
	m := must[offload.Memory](t)(d.Allocate(400, offload.DeviceMemory))
	q := must[offload.Queue](t)(d.NewQueue(offload.QueueOptions{}))
	cycles := 200
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		cycles = 1000
	}
	cycle := func() {
		program := must[offload.Program](t)(d.Load(t.Context(), image(t, counting)))
		k := must[offload.Kernel](t)(program.Kernel("count"))
		l := &offload.Launch{Kernel: k, Size: [3]int{100, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Bits: 1}, {Type: offload.I32, Memory: m, Dims: [3]int32{100}}}}
		if err := q.Launch(l); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := program.Unload(); err != nil {
			t.Fatal(err)
		}
	}
	for range cycles / 4 {
		cycle()
	}
	const most = 4 << 20
	growth := most + 1
	for try := 0; try < 5 && growth > most; try++ { // growth of Go's heap or of the driver's threads does not repeat in every try
		before := residentBytes(t)
		for range cycles {
			cycle()
		}
		growth = residentBytes(t) - before
		t.Logf("%d cycles, %d bytes more", cycles, growth)
	}
	if growth > most {
		t.Errorf("%d cycles took %d bytes, %d each", cycles, growth, growth/cycles)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Free(); err != nil {
		t.Error(err)
	}
}
