package queue

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

func TestRectCopies(t *testing.T) {
	q := newQueue(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		extent := [3]int64{rng.Int64N(6), rng.Int64N(4), rng.Int64N(3)}
		side := func() (data []byte, offset int64, p pitches) {
			p.row = extent[0] + rng.Int64N(4)
			p.slice = p.row*extent[1] + rng.Int64N(5)
			offset = rng.Int64N(9)
			data = make([]byte, offset+p.slice*extent[2]+p.row+8)
			for i := range data {
				data[i] = byte(rng.IntN(256))
			}
			return data, offset, p
		}
		src, from, sp := side()
		dst, to, dp := side()
		want := append([]byte(nil), dst...)
		for z := range extent[2] {
			for y := range extent[1] {
				copy(want[to+z*dp.slice+y*dp.row:][:extent[0]], src[from+z*sp.slice+y*sp.row:])
			}
		}
		device := func(data []byte, offset int64, p pitches) offload.Rect {
			return offload.Rect{Memory: &block{data: data}, Offset: offset, RowPitch: p.row, SlicePitch: p.slice}
		}
		host := func(data []byte, offset int64, p pitches) offload.HostRect {
			return offload.HostRect{Data: data, Offset: offset, RowPitch: p.row, SlicePitch: p.slice}
		}
		switch rng.IntN(3) {
		case 0:
			must(t, q.SubmitRect(device(dst, to, dp), host(src, from, sp), extent))
		case 1:
			must(t, q.RetrieveRect(host(dst, to, dp), device(src, from, sp), extent))
		default:
			must(t, q.ExchangeRect(device(dst, to, dp), device(src, from, sp), extent))
		}
		must(t, q.Sync(background))
		if string(dst) != string(want) {
			t.Fatalf("a box of %v, pitches %v and %v: got %v, want %v", extent, dp, sp, dst, want)
		}
	}
}

func TestRectCopiesRefused(t *testing.T) {
	q := newQueue(t)
	data := make([]byte, 100)
	for _, c := range []struct {
		name   string
		offset int64
		p      pitches
		extent [3]int64
	}{
		{"negative offset", -1, pitches{10, 100}, [3]int64{1, 1, 1}},
		{"offset beyond the end", 101, pitches{10, 100}, [3]int64{1, 1, 1}},
		{"offset that overflows", math.MaxInt64, pitches{10, 100}, [3]int64{1, 1, 1}},
		{"row beyond the end", 95, pitches{10, 100}, [3]int64{6, 1, 1}},
		{"rows beyond the end", 0, pitches{10, 100}, [3]int64{1, 11, 1}},
		{"slices beyond the end", 0, pitches{10, 50}, [3]int64{1, 1, 3}},
		{"rows that overlap", 0, pitches{4, 50}, [3]int64{5, 2, 1}},
		{"slices that overlap", 0, pitches{10, 10}, [3]int64{5, 2, 2}},
		{"negative extent", 0, pitches{10, 50}, [3]int64{1, -1, 1}},
		{"negative pitch", 0, pitches{-10, 50}, [3]int64{1, 2, 1}},
		{"count that overflows", 0, pitches{10, 50}, [3]int64{1, math.MaxInt64, 1}},
		{"pitch that overflows", 0, pitches{math.MaxInt64, math.MaxInt64}, [3]int64{1, 3, 3}},
	} {
		good := offload.HostRect{Data: make([]byte, 1000), RowPitch: 10, SlicePitch: 100}
		bad := offload.Rect{Memory: &block{data: data}, Offset: c.offset, RowPitch: c.p.row, SlicePitch: c.p.slice}
		if err := q.SubmitRect(bad, good, c.extent); offload.CodeOf(err) != offload.InvalidSize {
			t.Errorf("%s: got %v", c.name, err)
		}
		if err := q.RetrieveRect(good, bad, c.extent); offload.CodeOf(err) != offload.InvalidSize {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	gone := offload.Rect{Memory: &block{data: data, freed: true}, RowPitch: 10, SlicePitch: 100}
	if err := q.ExchangeRect(gone, gone, [3]int64{1, 1, 1}); offload.CodeOf(err) != offload.Closed {
		t.Errorf("freed memory: got %v", err)
	}
}
