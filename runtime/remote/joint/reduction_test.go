package joint

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// block is memory of the device below.
type block struct {
	offload.Memory
	data []byte
}

func (b *block) Bytes() []byte { return b.data }
func (b *block) Size() int64   { return int64(len(b.data)) }
func (b *block) Free() error   { return nil }

// adder is a device and its queue. Its kernel adds 32-bit integers.
type adder struct {
	offload.Device
	offload.Queue
}

func (adder) Allocate(n int64, _ offload.MemoryKind) (offload.Memory, error) {
	return &block{data: make([]byte, n)}, nil
}

func (adder) Launch(l *offload.Launch) error {
	at := func(a *offload.Arg) []byte { return a.Memory.Bytes()[a.Offset:] }
	for i := range l.Size[0] {
		y, x := at(&l.Args[0])[4*i:], at(&l.Args[1])[4*i:]
		binary.LittleEndian.PutUint32(y, binary.LittleEndian.Uint32(y)+binary.LittleEndian.Uint32(x))
	}
	return nil
}

func (adder) Exchange(dst, src offload.Span) error {
	copy(bytesOf(dst), bytesOf(src))
	return nil
}

func (adder) Sync(context.Context) error { return nil }

// wire is a link to another member's hall, whose bytes arrive when it is polled.
type wire struct {
	to      *Hall
	from    *wire // the link of the other member
	flying  []func() error
	awaited bool
}

func (w *wire) Send(operation uint64, p Part, data []byte) int64 {
	w.flying = append(w.flying, func() error { return w.to.Deliver(operation, p, 0, data) })
	return int64(len(w.flying))
}

func (w *wire) Sent(position int64) bool { return position == 0 || len(w.flying) == 0 }
func (w *wire) AwaitSent(int64)          { w.awaited = true }
func (w *wire) Poll()                    { w.from.deliver() }
func (w *wire) Drive(f func() bool) {
	for range 10 {
		if f() {
			return
		}
	}
}

func (w *wire) deliver() {
	for _, d := range w.flying {
		_ = d()
	}
	w.flying = nil
}

// pair returns the parts of two members in a reduction of n elements i and 10 i.
func pair(n int) (parts [2]*Reduction, memories [2]*block, wires [2]*wire) {
	halls := [2]*Hall{NewHall(), NewHall()}
	wires = [2]*wire{{to: halls[1]}, {to: halls[0]}}
	wires[0].from, wires[1].from = wires[1], wires[0]
	for i := range parts {
		memories[i] = &block{data: make([]byte, 4*n+4)}
		for k := range n {
			binary.LittleEndian.PutUint32(memories[i].data[4+4*k:], uint32(k*(1+9*i)))
		}
		o, _ := halls[i].Begin(7, []string{"0", "1"})
		parts[i] = &Reduction{Context: context.Background(), Operation: o, Number: 7, Member: i, Members: 2, Link: func(int) (Link, error) { return wires[i], nil },
			Device: adder{}, Queue: adder{}, Spares: new(Spares), Launch: offload.Launch{Args: []offload.Arg{{}}}, Memory: memories[i], Offset: 4, Count: int64(n), Width: 4}
	}
	return parts, memories, wires
}

// TestTry reduces on the calling goroutine as far as the bytes of the other member have arrived, and completes the rest.
func TestTry(t *testing.T) {
	for _, n := range []int{1, 3, wholeBytes / 4, wholeBytes/4 + 1} {
		parts, memories, wires := pair(n)
		whole := n <= wholeBytes/4
		if parts[0].Try() {
			t.Fatalf("%d elements: the first member needs no other", n)
		}
		if parts[1].Try() != whole {
			t.Errorf("%d elements: a reduction of whole memory ends by the second member's first try", n)
		}
		for i := 0; !whole && i < 4; i++ {
			if parts[i%2].Try() {
				break
			}
		}
		if err := errors.Join(parts[0].Run(), parts[1].Run()); err != nil {
			t.Fatal(err)
		}
		for i, m := range memories {
			for k := range n {
				if v := binary.LittleEndian.Uint32(m.data[4+4*k:]); v != uint32(11*k) {
					t.Fatalf("%d elements: element %d of member %d is %d", n, k, i, v)
				}
			}
			if len(parts[i].Spares.list) != 1 || !wires[i].awaited && !parts[i].ended {
				t.Errorf("%d elements: member %d has not ended", n, i)
			}
		}
	}
}

// TestDrop ends a reduction that has begun after its bytes are sent, and releases its memory once.
func TestDrop(t *testing.T) {
	parts, _, wires := pair(wholeBytes)
	r, released := parts[0], 0
	r.Release = func() {
		if released++; !wires[0].awaited {
			t.Error("the memory is released before its bytes are sent")
		}
	}
	if r.Try() {
		t.Fatal("the reduction needs no other member")
	}
	r.Drop()
	r.Drop()
	if released != 1 || len(r.Spares.list) != 1 {
		t.Errorf("released %d times, %d spares", released, len(r.Spares.list))
	}
	if to, _ := r.Operation.hall.Land(7, Part{1, operandStep}, 0, 4); to != nil {
		t.Error("bytes land after the end")
	}
}
