package pool

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

const adder = `orepl-ir 1
kernel reduce(y: i32[*], x: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = load y[%0]
  %2: i32 = load x[%0]
  %3: i32 = add %1, %2
  store y[%0], %3
  return
}
`

// adding returns a library with the kernel reduce.
func adding(ctx context.Context, s *session.Session) (*session.Library, error) {
	m, err := ir.ParseText("sum", adder)
	if err != nil {
		return nil, err
	}
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return s.Register(ctx, "sum", data)
}

// TestCollective copies and adds buffers of two devices from Go.
func TestCollective(t *testing.T) {
	ctx := context.Background()
	s := session.Open(session.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{Devices: 2})}})
	defer s.Close(ctx)
	buffer := func(device string, values ...int32) *session.Buffer {
		d, err := s.Device(ctx, device)
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.NewBuffer(session.BufferOptions{Type: contract.I32, Elem: 4, Dims: []int{len(values)}})
		if err != nil {
			t.Fatal(err)
		}
		q, err := d.Queue()
		if err == nil {
			data, _ := binary.Append(nil, binary.LittleEndian, values)
			err = q.Write(b, 0, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	check := func(what string, b *session.Buffer, want ...int32) {
		t.Helper()
		q, err := b.Device().Queue()
		data, got := make([]byte, b.Size()), make([]int32, b.Len())
		if err == nil {
			err = q.Read(data, b, 0)
		}
		if err == nil {
			err = q.Sync(ctx)
		}
		if err == nil {
			_, err = binary.Decode(data, binary.LittleEndian, got)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := NewCollective(ctx)
	whole := buffer("cpu:0", 1, 2, 3, 4, 5)
	copies := []*session.Buffer{buffer("cpu:1", 0, 0, 0, 0, 0), buffer("cpu:0", 0, 0, 0, 0, 0), buffer("cpu:1", 0, 0, 0, 0, 0)}
	try(c.Broadcast(whole, copies))
	for _, b := range copies {
		check("broadcast", b, 1, 2, 3, 4, 5)
	}
	parts := []*session.Buffer{buffer("cpu:1", 0, 0), buffer("cpu:0", 0), buffer("cpu:1", 0, 0)}
	try(c.Scatter(whole, parts))
	check("scatter", parts[0], 1, 2)
	check("scatter", parts[1], 3)
	check("scatter", parts[2], 4, 5)
	try(c.Gather(copies[0], []*session.Buffer{parts[2], parts[1], parts[0]}))
	check("gather", copies[0], 4, 5, 3, 1, 2)
	try(c.AllReduce(append(copies, whole), func() (*session.Library, error) { return adding(ctx, s) }))
	for _, b := range append(copies, whole) {
		check("allReduce", b, 7, 11, 12, 13, 17)
	}
	launches, temporaries := 0, 0
	c.Launch = func(q *session.Queue, call *session.Call) error { launches++; return q.Launch(call) }
	c.NewBuffer = func(d *session.Device, o session.BufferOptions) (*session.Buffer, error) {
		temporaries++
		return d.NewBuffer(o)
	}
	c.AnyOrder = true // the devices combine their own buffers, of which only the last sum needs a copy of another device's
	mixed := []*session.Buffer{buffer("cpu:0", 1), buffer("cpu:1", 10), buffer("cpu:0", 100), buffer("cpu:1", 1000), buffer("cpu:1", 10000)}
	try(c.AllReduce(mixed, func() (*session.Library, error) { return adding(ctx, s) }))
	for _, b := range mixed {
		check("allReduce in any order", b, 11111)
	}
	if launches != 4 || temporaries != 2 {
		t.Errorf("%d launches and %d temporaries", launches, temporaries)
	}
	for _, err := range []error{c.Broadcast(whole, parts), c.Scatter(whole, parts[1:]), c.AllReduce([]*session.Buffer{whole, parts[0]}, nil)} {
		if contract.CodeOf(err) != contract.InvalidSize && contract.CodeOf(err) != contract.InvalidArgument {
			t.Errorf("%v", err)
		}
	}
}

// TestOverlap compares views of one buffer, with an empty one between two that overlap.
func TestOverlap(t *testing.T) {
	ctx := context.Background()
	s := session.Open(session.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer s.Close(ctx)
	d, err := s.Device(ctx, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := d.NewBuffer(session.BufferOptions{Type: contract.I32, Dims: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	view := func(from, n int64) *session.Buffer {
		b, err := part(whole, from, n)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		list []*session.Buffer
		want bool
	}{
		{[]*session.Buffer{view(0, 5), view(5, 5)}, false},
		{[]*session.Buffer{view(0, 6), view(5, 5)}, true},
		{[]*session.Buffer{whole, view(1, 0)}, false},
		{[]*session.Buffer{view(0, 8), view(1, 0), view(4, 2)}, true},
	} {
		if got := overlap(c.list); got != c.want {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}
