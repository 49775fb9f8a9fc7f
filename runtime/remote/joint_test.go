package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

const reducer = `orepl-ir 1
kernel reduce(y: f32[*], x: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load y[%0]
  %2: f32 = load x[%0]
  %3: f32 = add %1, %2
  %4: f32 = quant.f32 %3
  store y[%0], %4
  return
}
`

// jointTest is three devices with the kernel reduce, a queue each, and memory of elements.
type jointTest struct {
	*testing.T
	devices []offload.Device
	kernels []offload.Kernel
	queues  []offload.Queue
	kill    func(int)
}

func newJointTest(t *testing.T) *jointTest {
	j := &jointTest{T: t}
	j.devices, _, j.kill = peers(t)
	j.open()
	return j
}

// open loads the kernel and makes the queues.
func (j *jointTest) open() {
	m, err := ir.ParseText("sum", reducer)
	j.must(err)
	data, err := m.MarshalBinary()
	j.must(err)
	for _, d := range j.devices {
		p, err := d.Load(j.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
		j.must(err)
		k, err := p.Kernel("reduce")
		j.must(err)
		q, err := d.NewQueue(offload.QueueOptions{})
		j.must(err)
		j.kernels, j.queues = append(j.kernels, k), append(j.queues, q)
	}
}

func (j *jointTest) must(err error) {
	j.Helper()
	if err != nil {
		j.Fatal(err)
	}
}

func (j *jointTest) memory(device int, values []float32) offload.Memory {
	m, err := j.devices[device].Allocate(int64(4*len(values)), offload.DeviceMemory)
	j.must(err)
	data, err := binary.Append(nil, binary.LittleEndian, values)
	j.must(err)
	j.must(j.queues[device].Submit(offload.Span{Memory: m, Size: m.Size()}, data))
	return m
}

// launch issues a part.
func (j *jointTest) launch(q offload.Queue, device int, m offload.Memory, with offload.Joint) error {
	n := int(m.Size() / 4)
	a := offload.Arg{Type: offload.F32, Memory: m, Dims: [3]int32{int32(n)}}
	return q.Launch(&offload.Launch{Kernel: j.kernels[device], Size: [3]int{n, 1, 1}, Args: []offload.Arg{a, a}, Joint: with})
}

// join returns a joint launch of devices in an order.
func (j *jointTest) join(order ...int) offload.Joint {
	var list []offload.Device
	for _, i := range order {
		list = append(list, j.devices[i])
	}
	return list[0].(offload.Joiner).Join(list)
}

// short is a time limit for what must not wait for ever.
func (j *jointTest) short() context.Context {
	ctx, cancel := context.WithTimeout(j.Context(), 20*time.Second)
	j.Cleanup(cancel)
	return ctx
}

// TestJoint adds memory of two and three servers in every order, with several launches in flight, and compares the bits with sums in that
// order.
func TestJoint(t *testing.T) {
	j := newJointTest(t)
	first, second := j.join(0, 1).(*together), j.join(0, 1).(*together)
	if j.join(0, 0) != nil || first.number == second.number {
		t.Error("a device takes part twice, or two launches have one number")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 1000, 16384, 16385, 20003, 400003} {
		for _, order := range [][]int{{0, 1}, {2, 0}, {0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
			const rounds = 3
			var want [][]float32
			memories := make([][]offload.Memory, rounds)
			for round := range rounds {
				sum := make([]float32, n)
				for i, device := range order {
					values := make([]float32, n)
					for k := range values {
						values[k] = float32(r.NormFloat64()) * float32(math.Exp(float64(r.IntN(20))))
						if i == 0 {
							sum[k] = values[k]
						} else {
							sum[k] += values[k]
						}
					}
					memories[round] = append(memories[round], j.memory(device, values))
				}
				want = append(want, sum)
			}
			for round := range rounds {
				with := j.join(order...)
				for i, device := range order {
					j.must(j.launch(j.queues[device], device, memories[round][i], with))
				}
			}
			for round := range rounds {
				for i, device := range order {
					data, got := make([]byte, 4*n), make([]float32, n)
					j.must(j.queues[device].Retrieve(data, offload.Span{Memory: memories[round][i], Size: int64(4 * n)}))
					j.must(j.queues[device].Sync(j.short()))
					_, err := binary.Decode(data, binary.LittleEndian, got)
					j.must(err)
					if !slices.Equal(got, want[round]) {
						t.Errorf("%d elements, order %v, round %d: device %d differs", n, order, round, device)
					}
					j.must(memories[round][i].Free())
				}
			}
		}
	}
}

// hosts is a plugin that counts host functions of queues.
type hosts struct {
	offload.Plugin
	count atomic.Int64
}

type (
	hostsPlatform struct {
		offload.Platform
		h *hosts
	}
	hostsDevice struct {
		offload.Device
		h *hosts
	}
	hostsQueue struct {
		offload.Queue
		h *hosts
	}
)

func (h *hosts) Open(ctx context.Context) (offload.Platform, error) {
	p, err := h.Plugin.Open(ctx)
	return hostsPlatform{p, h}, err
}

func (p hostsPlatform) Devices() []offload.Device {
	return []offload.Device{hostsDevice{p.Platform.Devices()[0], p.h}}
}

func (d hostsDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	return hostsQueue{q, d.h}, err
}

func (q hostsQueue) Host(run func() error) error {
	q.h.count.Add(1)
	return q.Queue.Host(run)
}

// TestJointAtOnce reduces few bytes on queues without other commands. No goroutine of the servers waits for them; commands that follow
// at once, and the end of the memory, do.
func TestJointAtOnce(t *testing.T) {
	h := &hosts{Plugin: cpu.New(cpu.Options{})}
	j := &jointTest{T: t}
	j.devices, _, j.kill = peersOf(t, h, new(atomic.Int64))
	j.open()
	const rounds, n = 20, 1000
	sum := float32(0)
	for round := range rounds {
		var memories []offload.Memory
		with := j.join(0, 1, 2)
		for i := range j.devices {
			memories = append(memories, j.memory(i, slices.Repeat([]float32{float32(i + 1)}, n)))
			j.must(j.queues[i].Sync(j.short()))
		}
		if round == 1 { // the links are open
			h.count.Store(0)
		}
		for i, m := range memories {
			j.must(j.launch(j.queues[i], i, m, with))
		}
		for i, m := range memories {
			j.must(j.queues[i].Sync(j.short()))
			data := make([]byte, 4)
			j.must(j.queues[i].Retrieve(data, offload.Span{Memory: m, Offset: 4*n - 4, Size: 4}))
			j.must(j.queues[i].Sync(j.short()))
			sum += math.Float32frombits(binary.LittleEndian.Uint32(data))
			j.must(m.Free())
		}
	}
	if got := h.count.Load(); sum != rounds*3*6 || got > 0 {
		t.Errorf("the sums are %v, and %d host functions ran", sum, got)
	}
	a, b := j.memory(0, make([]float32, n)), j.memory(1, make([]float32, n))
	for i := range 2 {
		j.must(j.queues[i].Sync(j.short()))
	}
	for _, how := range []string{"a record", "a fill", "the end of the memory", "the end of the queue"} {
		with := j.join(0, 1)
		j.must(j.launch(j.queues[0], 0, a, with))
		switch how {
		case "a record":
			_, err := j.queues[0].Record()
			j.must(err)
		case "a fill":
			j.must(j.queues[0].Fill(offload.Span{Memory: a, Size: 4}, []byte{0, 0, 128, 63}))
		case "the end of the memory":
			j.must(a.Free())
		default:
			go func() { _ = j.queues[0].Close() }()
		}
		j.must(j.launch(j.queues[1], 1, b, with))
		if err := j.queues[1].Sync(j.short()); err != nil {
			t.Errorf("%s follows: %v", how, err)
		}
		if how != "the end of the queue" {
			if err := j.queues[0].Sync(j.short()); err != nil {
				t.Errorf("%s follows: %v", how, err)
			}
		}
		if how == "the end of the memory" {
			a = j.memory(0, make([]float32, n))
		}
	}
}

// TestJointFails ends the parts of a launch of which one is not issued, is dropped before it begins, or is cancelled. The devices can be used
// afterwards.
func TestJointFails(t *testing.T) {
	j := newJointTest(t)
	for _, n := range []int{10, 100000} {
		values := make([]float32, n)
		a, b := j.memory(0, values), j.memory(1, values)
		usable := func(what string) {
			t.Helper()
			with := j.join(0, 1)
			j.must(j.launch(j.queues[0], 0, a, with))
			j.must(j.launch(j.queues[1], 1, b, with))
			for i := range 2 {
				if err := j.queues[i].Sync(j.short()); err != nil {
					t.Fatalf("after %s: %v", what, err)
				}
			}
		}
		with := j.join(0, 1)
		j.must(j.launch(j.queues[0], 0, a, with))
		with.Fail(errors.New("the buffer was freed"))
		if err := j.queues[0].Sync(j.short()); err == nil || !strings.Contains(err.Error(), "the buffer was freed") {
			t.Errorf("a part that is not issued: %v", err)
		}
		usable("a part that is not issued")

		other, err := j.devices[1].NewQueue(offload.QueueOptions{})
		j.must(err)
		hold := make(chan struct{})
		j.must(other.Host(func() error { <-hold; return nil }))
		with = j.join(0, 1)
		j.must(j.launch(j.queues[0], 0, a, with))
		j.must(j.launch(other, 1, b, with))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = other.Sync(ctx)
		close(hold)
		_ = other.Sync(j.short())
		if err := j.queues[0].Sync(j.short()); offload.CodeOf(err) != offload.Cancelled {
			t.Errorf("a part that is dropped: %v", err)
		}
		usable("a part that is dropped")

		with = j.join(0, 1)
		j.must(j.launch(j.queues[0], 0, a, with))
		_ = j.queues[0].Sync(ctx)
		j.must(j.launch(j.queues[1], 1, b, with))
		if err := j.queues[1].Sync(j.short()); err == nil {
			t.Error("a part succeeds although the other one is cancelled")
		}
		_ = j.queues[0].Sync(j.short())
		usable("a part that is cancelled")
	}
}

// TestJointLost kills a server at random points of joint launches: all parts end, with a loss unless they were complete, and the other devices
// can be used.
func TestJointLost(t *testing.T) {
	for round := range 6 {
		j := newJointTest(t)
		n := 100 << (2 * (round % 4))
		var memories []offload.Memory
		for i := range j.devices {
			memories = append(memories, j.memory(i, make([]float32, n)))
		}
		time.AfterFunc(time.Duration(rand.IntN(10000))*time.Microsecond, func() { j.kill(1) })
		var err error
		for err == nil {
			with := j.join(0, 1, 2)
			for i, m := range memories {
				if e := j.launch(j.queues[i], i, m, with); e != nil {
					with.Fail(e)
					err = e
				}
			}
			for _, q := range j.queues {
				if e := q.Sync(j.short()); e != nil {
					err = e
				}
			}
		}
		if offload.CodeOf(err) != offload.DeviceLost {
			t.Errorf("the launch failed with %v", err)
		}
		with := j.join(2, 0)
		j.must(j.launch(j.queues[0], 0, memories[0], with))
		j.must(j.launch(j.queues[2], 2, memories[2], with))
		for _, i := range []int{0, 2} {
			if err := j.queues[i].Sync(j.short()); err != nil {
				t.Errorf("the other devices: %v", err)
			}
		}
	}
}
