package conform

import (
	"bytes"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var copyCases = []testCase{
	{"copy/round-trip", copyRoundTrip},
	{"copy/random", copyRandom},
	{"copy/patterns", copyPatterns},
	{"copy/rectangles", copyRectangles},
	{"copy/256-mib", copy256MiB},
	{"copy/through-host", copyThroughHost},
	{"copy/between-devices", copyBetweenDevices},
}

func copyRoundTrip(t *T) {
	q := t.queue()
	for _, n := range []int{1, 3, 17, 255, 4096, 65537, 1<<20 + 5} {
		src, dst := randomBytes(n), make([]byte, n)
		a, b := t.buffer(offload.U8, n), t.buffer(offload.U8, n)
		t.check(q.Write(a, 0, src))
		t.check(q.Copy(b, a))
		t.check(q.Read(dst, b, 0))
		t.check(q.Sync(t.ctx))
		equal(t, "what came back", dst, src)
	}
}

// copyRandom applies random copies at unaligned offsets to two buffers and to two slices, and compares them.
func copyRandom(t *T) {
	const n = 70001
	rng := random()
	q := t.queue()
	noise := randomBytes(n)
	var dev [2]*session.Buffer
	var host [2][]byte
	for i := range dev {
		dev[i], host[i] = t.buffer(offload.U8, n), make([]byte, n)
	}
	view := func(b *session.Buffer, at, size int) *session.Buffer {
		v, err := b.View(session.ViewOptions{Start: int64(at), Dims: sized(size)})
		t.check(err)
		return v
	}
	for range 300 {
		i := rng.IntN(2)
		at := rng.IntN(n)
		size := rng.IntN(min(n-at, 1+rng.IntN(n))) + 1
		switch rng.IntN(4) {
		case 0:
			t.check(q.Write(dev[i], int64(at), noise[n-size:]))
			copy(host[i][at:], noise[n-size:])
		case 1:
			pattern := noise[at%100:][:1]
			t.check(q.Fill(view(dev[i], at, size), pattern))
			copy(host[i][at:], bytes.Repeat(pattern, size))
		case 2:
			from := rng.IntN(n - size + 1)
			t.check(q.Copy(view(dev[i], at, size), view(dev[1-i], from, size)))
			copy(host[i][at:at+size], host[1-i][from:])
		case 3:
			got := make([]byte, size)
			t.check(q.Read(got, dev[i], int64(at)))
			t.check(q.Sync(t.ctx))
			equal(t, "a part", got, host[i][at:at+size])
		}
	}
	for i := range dev {
		got := make([]byte, n)
		t.check(q.Read(got, dev[i], 0))
		t.check(q.Sync(t.ctx))
		equal(t, "the whole", got, host[i])
	}
}

func copyPatterns(t *T) {
	q := t.queue()
	noise := randomBytes(16)
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, count := range []int{1, 2, 7, 1000, 300001} {
			b := t.bufferWith(session.BufferOptions{Elem: 16, Dims: sized((count*size + 15) / 16)})
			t.check(q.Fill(b, noise[:size]))
			got := make([]byte, b.Size())
			t.check(q.Read(got, b, 0))
			t.check(q.Sync(t.ctx))
			equal(t, "a pattern", got, bytes.Repeat(noise[:size], len(got)/size))
			t.free(b)
		}
	}
}

func copyRectangles(t *T) {
	rng := random()
	q := t.queue()
	dims := [3]int{5, 7, 11}
	const n = 5 * 7 * 11
	var dev [2]*session.Buffer
	var host [2][]int32
	for i := range dev {
		dev[i], host[i] = t.buffer(offload.I32, dims[0], dims[1], dims[2]), make([]int32, n)
	}
	each := func(origin, extent []int, fn func(at int)) {
		for z := range extent[0] {
			for y := range extent[1] {
				for x := range extent[2] {
					fn(((origin[0]+z)*dims[1]+origin[1]+y)*dims[2] + origin[2] + x)
				}
			}
		}
	}
	next := int32(0)
	for range 60 {
		extent, origin, from := make([]int, 3), make([]int, 3), make([]int, 3)
		for a, d := range dims {
			extent[a] = 1 + rng.IntN(d)
			origin[a], from[a] = rng.IntN(d-extent[a]+1), rng.IntN(d-extent[a]+1)
		}
		i := rng.IntN(2)
		rect := session.Rect{Origin: origin, Extent: extent}
		switch rng.IntN(3) {
		case 0:
			var dense []int32
			each(origin, extent, func(at int) {
				next++
				dense = append(dense, next)
				host[i][at] = next
			})
			t.check(q.WriteRect(dev[i], rect, session.Bytes(dense)))
			t.check(q.Sync(t.ctx)) // dense belongs to the queue until then
		case 1:
			t.check(q.CopyRect(dev[i], origin, dev[1-i], session.Rect{Origin: from, Extent: extent}))
			var values []int32
			each(from, extent, func(at int) { values = append(values, host[1-i][at]) })
			each(origin, extent, func(at int) { host[i][at], values = values[0], values[1:] })
		case 2:
			var want []int32
			each(origin, extent, func(at int) { want = append(want, host[i][at]) })
			got := make([]int32, len(want))
			t.check(q.ReadRect(session.Bytes(got), dev[i], rect))
			t.check(q.Sync(t.ctx))
			equal(t, "a rectangle", got, want)
		}
	}
	for i := range dev {
		equal(t, "the whole", contents[int32](t, dev[i]), host[i])
	}
}

func copy256MiB(t *T) {
	const n = 256 << 20
	if memory.Available() < 6*n || t.device.Info().MemoryBytes < 4*n {
		t.skipf("there is not enough memory")
	}
	q := t.queue()
	src := randomBytes(n)
	a, b := t.buffer(offload.U8, n), t.buffer(offload.U8, n)
	dst := make([]byte, n)
	t.check(q.Write(a, 0, src))
	t.check(q.Copy(b, a))
	t.check(q.Read(dst, b, 0))
	t.check(q.Sync(t.ctx))
	if !bytes.Equal(dst, src) {
		t.Errorf("what came back differs")
	}
	t.check(q.Fill(b, []byte{1, 2, 3, 4, 5, 6, 7, 8}[:1]))
	t.check(q.Read(dst, b, 0))
	t.check(q.Sync(t.ctx))
	if bytes.Count(dst, []byte{1}) != n {
		t.Errorf("a fill of 256 MiB is not complete")
	}
}

// copyThroughHost moves bytes from buffer to buffer through host memory that several commands of a queue share, without a wait.
func copyThroughHost(t *T) {
	q := t.queue()
	for _, rows := range []int{1, 16, 1 << 10, 80 << 10} {
		const columns = 64
		n := rows * columns
		a, b, c := t.buffer(offload.U8, rows, columns), t.buffer(offload.U8, rows, columns), t.buffer(offload.U8, rows, columns)
		first, second := randomBytes(n), randomBytes(n + 1)[1:]
		host, got, last := make([]byte, n), make([]byte, n), make([]byte, n)
		whole := session.Rect{Origin: []int{0, 0}, Extent: []int{rows, columns}}
		t.check(q.Write(a, 0, first))
		t.check(q.Write(b, 0, second))
		t.check(q.Read(host, a, 0))
		t.check(q.Write(c, 0, host)) // c = a
		t.check(q.ReadRect(host, b, whole))
		t.check(q.WriteRect(a, whole, host)) // a = b
		t.check(q.Read(host[:n/2], c, 0))
		t.check(q.Write(b, 0, host)) // b = the first half of c, and the second of b
		t.check(q.Read(got, c, 0))
		t.check(q.Read(last, b, 0))
		t.check(q.Sync(t.ctx))
		equal(t, "what a copy after a read wrote", got, first)
		equal(t, "what a copy after two reads wrote", last, append(bytes.Clone(first[:n/2]), second[n/2:]...))
		equal(t, "what a box wrote", contents[uint8](t, a), second)
		t.free(a)
		t.free(b)
		t.free(c)
	}
}

// copyBetweenDevices copies to another device and back. For a plugin with one device, the other device is its twin's.
func copyBetweenDevices(t *T) {
	var others []*session.Device
	for _, d := range t.session.Devices(t.ctx) {
		if d != t.device {
			others = append(others, d)
		}
	}
	if len(others) == 0 {
		t.skipf("the plugin has one device and cannot be opened twice")
	}
	src := randomBytes(20<<20 + 12345)
	a := bufferOf(t, src...)
	for _, d := range others {
		b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: sized(len(src))})
		t.check(err)
		t.cleanup(func() { t.free(b) })
		back := t.buffer(offload.U8, len(src))
		q := t.queue()
		t.check(q.Copy(b, a))
		t.check(q.Copy(back, b))
		t.check(q.Sync(t.ctx))
		equal(t, "what came back from "+d.ID(), contents[uint8](t, back), src)
	}
}
