//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestPinHost checks that copies of pinned memory of the caller pass no other block, and that memory is released after them.
func TestPinHost(t *testing.T) {
	s := newStandIn(t)
	p := s.open(t)
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const size = 9 << 20 // more than the blocks of one transfer
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7)
	}
	want := bytes.Clone(data)
	m := allocate(t, d, size)
	uploads := func() (n int) {
		if err := errors.Join(q.Submit(offload.Span{Memory: m, Size: size}, data), q.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		for _, call := range s.calls() {
			if call == "cuMemcpyHtoDAsync" {
				n++
			}
		}
		return n
	}
	pinner := d.(offload.HostPinner)
	release, err := pinner.PinHost(data)
	if err != nil {
		t.Fatal(err)
	}
	s.calls()
	if n := uploads(); n != 1 {
		t.Errorf("%d copies of pinned memory", n)
	}
	_, err = pinner.PinHost(data[size/2:])
	checkError(t, "memory that is pinned", err, offload.InvalidArgument, "pinned already")
	clear(data)
	if err := q.Retrieve(data, offload.Span{Memory: m, Size: size}); err != nil { // release waits for it
		t.Fatal(err)
	}
	if err := errors.Join(q.Sync(t.Context()), release()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Error("the copied bytes differ")
	}
	if n := uploads(); n < 2 {
		t.Errorf("%d copies of memory that is not pinned", n)
	}
	for range 20 { // releases race with copies
		release, err := pinner.PinHost(data)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := q.Submit(offload.Span{Memory: m, Size: size}, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	s.fail("cuMemHostRegister", 2, 0)
	_, err = pinner.PinHost(data)
	checkError(t, "no memory", err, offload.OutOfResources, "OUT_OF_MEMORY")
	if _, err = pinner.PinHost(data); err != nil { // the device releases it
		t.Fatal(err)
	}
	s.calls()
	if err := errors.Join(q.Sync(t.Context()), m.Free(), q.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.calls(), "cuMemHostUnregister") {
		t.Error("the device left memory pinned")
	}
	s.checkLive(t)
}
