package conform

import (
	"bytes"
	"math"
	"os"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var memoryCases = []testCase{
	{"memory/kinds", memoryKinds},
	{"memory/sizes", memorySizes},
	{"memory/empty", memoryEmpty},
	{"memory/too-large", memoryTooLarge},
	{"memory/contract", memoryContract},
	{"memory/freed", memoryFreed},
	{"memory/free-in-flight", memoryFreeInFlight},
	{"memory/views", memoryViews},
	{"memory/mappings", memoryMappings},
}

func memoryKinds(t *T) {
	data := randomBytes(4096)
	for _, kind := range []offload.MemoryKind{offload.DeviceMemory, offload.HostMemory, offload.SharedMemory} {
		b, err := t.device.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: sized(4096), Kind: kind})
		if offload.CodeOf(err) == offload.Unsupported && kind != offload.DeviceMemory {
			continue
		}
		t.check(err)
		if b.Kind() != kind {
			t.Errorf("%v memory is of kind %v", kind, b.Kind())
		}
		equal(t, kind.String()+" memory at first", contents[uint8](t, b), make([]uint8, 4096))
		mapped := b.Mapped()
		if kind != offload.DeviceMemory && mapped == nil && t.device.Info().Features.HostVisible {
			t.Errorf("the host does not see %v memory, although the device has the feature hostVisible", kind)
		}
		if mapped != nil {
			if at := uintptr(unsafe.Pointer(&mapped[0])); at%64 != 0 {
				t.Errorf("%v memory starts at %#x, which is not aligned to 64 bytes", kind, at)
			}
			copy(mapped, data)
			equal(t, "mapped "+kind.String()+" memory", contents[uint8](t, b), data)
		}
		t.check(session.Write(t.ctx, b, 0, data))
		equal(t, kind.String()+" memory", contents[uint8](t, b), data)
		t.free(b)
	}
}

func memorySizes(t *T) {
	sizes := []int{1, 2, 3, 63, 64, 65, 4095, 4096, 4097, 1<<20 - 1, 1 << 20, 1<<20 + 1}
	var buffers []*session.Buffer
	for i, n := range sizes {
		b := t.buffer(offload.U8, n)
		buffers = append(buffers, b)
		t.check(t.defaultQueue().Fill(b, []byte{byte(i + 1)}))
	}
	for i, b := range buffers {
		equal(t, "a buffer beside others", contents[uint8](t, b), bytes.Repeat([]byte{byte(i + 1)}, sizes[i]))
	}
}

func memoryEmpty(t *T) {
	q := t.queue()
	a, b := t.buffer(offload.F32, 0), t.buffer(offload.F32, 3, 0, 2)
	t.check(q.Write(a, 0, nil))
	t.check(q.Read(nil, b, 0))
	t.check(q.Fill(a, make([]byte, 4)))
	t.check(q.Copy(a, b))
	ids := t.buffer(offload.I32, 0)
	t.launch(q, t.kernel("ids"), config(0), session.Buf(ids))
	t.check(q.Sync(t.ctx))
}

func memoryTooLarge(t *T) {
	for _, dims := range [][]int{{math.MaxInt32, math.MaxInt32}, {1 << 20, 1 << 20, 1 << 20}} {
		_, err := t.device.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: dims})
		t.refused("a buffer that no machine has", err, offload.InvalidSize, offload.OutOfResources)
	}
	for _, kind := range []offload.MemoryKind{offload.DeviceMemory, offload.HostMemory} {
		_, err := t.device.Contract().Allocate(1<<50, kind)
		t.refused("a petabyte of "+kind.String()+" memory", err, offload.InvalidSize, offload.OutOfResources, offload.Unsupported)
	}
	// The device still works.
	b := bufferOf(t, int32(5))
	equal(t, "a buffer after that", contents[int32](t, b), []int32{5})
}

// memoryContract makes requests that a session never makes.
func memoryContract(t *T) {
	dev := t.device.Contract()
	for _, n := range []int64{0, -1, math.MinInt64} {
		_, err := dev.Allocate(n, offload.DeviceMemory)
		t.refused("allocating no bytes", err, offload.InvalidSize, offload.InvalidArgument)
	}
	m, err := dev.Allocate(100, offload.DeviceMemory)
	t.check(err)
	if m.Size() != 100 {
		t.Errorf("a block of 100 bytes has %d", m.Size())
	}
	q, err := dev.NewQueue(offload.QueueOptions{Label: "contract"})
	t.check(err)
	data := make([]byte, 50)
	for _, s := range []offload.Span{{Memory: m, Offset: 51, Size: 50}, {Memory: m, Offset: -1, Size: 50}, {Memory: m, Offset: math.MaxInt64, Size: 50},
		{Memory: m, Offset: 1 << 62, Size: 50}, {Offset: 0, Size: 50}} {
		t.refused("submit outside", q.Submit(s, data), offload.InvalidSize, offload.InvalidArgument, offload.InvalidDevice)
		t.refused("retrieve outside", q.Retrieve(data, s), offload.InvalidSize, offload.InvalidArgument, offload.InvalidDevice)
		t.refused("fill outside", q.Fill(s, []byte{1}), offload.InvalidSize, offload.InvalidArgument, offload.InvalidDevice)
		t.refused("exchange outside", q.Exchange(s, offload.Span{Memory: m, Size: 50}), offload.InvalidSize, offload.InvalidArgument, offload.InvalidDevice)
	}
	for _, pattern := range [][]byte{nil, make([]byte, 3), make([]byte, 17), make([]byte, 32)} {
		err := q.Fill(offload.Span{Memory: m, Size: 96}, pattern)
		t.refused("a pattern of a wrong size", err, offload.InvalidArgument, offload.InvalidSize, offload.Unsupported)
	}
	t.check(q.Sync(t.ctx))
	t.check(q.Close())
	t.check(m.Free())
}

func memoryFreed(t *T) {
	q := t.queue()
	b := bufferOf(t, int32(1), 2, 3)
	view, err := b.View(session.ViewOptions{Dims: sized(2)})
	t.check(err)
	call := t.bind(t.kernel("ids"), config(2), session.Buf(view))
	t.check(b.Free())
	t.refused("a second free", b.Free(), offload.Closed)
	for _, b := range []*session.Buffer{b, view} {
		t.refused("writing freed memory", q.Write(b, 0, make([]byte, 4)), offload.Closed)
		t.refused("reading freed memory", q.Read(make([]byte, 4), b, 0), offload.Closed)
		t.refused("filling freed memory", q.Fill(b, make([]byte, 4)), offload.Closed)
		t.refused("copying freed memory", q.Copy(b, t.buffer(offload.I32, int(b.Len()))), offload.Closed)
	}
	t.refused("a kernel on freed memory", q.Launch(call), offload.Closed)
	t.check(q.Sync(t.ctx))
}

// memoryFreeInFlight frees a buffer that a running kernel uses, and allocates the same size before the kernel ends.
func memoryFreeInFlight(t *T) {
	const n = 1 << 16
	k := t.kernel("spin")
	q, other := t.queue(), t.queue()
	for range 5 {
		b := t.buffer(offload.U32, n)
		t.launch(q, k, config(64), session.I32(20000), session.Buf(b))
		t.check(b.Free())
		again := t.bufferWith(session.BufferOptions{Type: offload.U32, Dims: sized(n), Queue: other})
		got := make([]uint32, n)
		t.check(other.Read(session.Bytes(got), again, 0))
		t.check(other.Sync(t.ctx))
		t.check(q.Sync(t.ctx))
		check := make([]uint32, n)
		t.check(other.Read(session.Bytes(check), again, 0))
		t.check(other.Sync(t.ctx))
		equal(t, "new memory", got, make([]uint32, n))
		equal(t, "new memory after the kernel", check, make([]uint32, n))
		t.free(again)
	}
}

func memoryViews(t *T) {
	b := t.buffer(offload.I32, 100)
	v, err := b.View(session.ViewOptions{Start: 10, Dims: sized(20)})
	t.check(err)
	inner, err := v.View(session.ViewOptions{Start: 5, Dims: sized(2, 3)})
	t.check(err)
	q := t.queue()
	t.check(q.Fill(v, []byte{1, 0, 0, 0}))
	t.check(q.Fill(inner, []byte{2, 0, 0, 0}))
	t.launch(q, t.kernel("ids"), config(3), session.Buf(v))
	t.check(q.Sync(t.ctx))
	want := make([]int32, 100)
	for i := 10; i < 30; i++ {
		want[i] = 1
	}
	copy(want[10:], []int32{1, 2, 3})
	for i := 15; i < 21; i++ {
		want[i] = 2
	}
	equal(t, "a buffer written through views", contents[int32](t, b), want)
}

// memoryMappings allocates and frees many times and checks that the number of memory mappings stays bounded.
func memoryMappings(t *T) {
	count := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.skipf("mappings cannot be counted here: %v", err)
		}
		return bytes.Count(maps, []byte("\n"))
	}
	cycle := func() {
		for i := range 200 {
			b, err := t.device.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: sized(1<<16 + i*8192)})
			t.check(err)
			t.check(b.Free())
		}
		t.check(t.defaultQueue().Sync(t.ctx))
	}
	cycle()
	before := count()
	cycle()
	if after := count(); after > before+50 {
		t.Errorf("%d mappings, %d before 200 buffers were made and freed", after, before)
	}
	if use := t.device.Memory(); use.Allocated != 0 {
		t.Errorf("%d bytes are allocated after all was freed", use.Allocated)
	}
}
