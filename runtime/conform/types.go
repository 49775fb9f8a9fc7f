package conform

import (
	"encoding/binary"
	"math"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var typeCases = []testCase{
	{"types/storage", typesStorage},
	{"types/scalars", typesScalars},
	{"types/small", typesSmall},
	{"types/arithmetic", typesArithmetic},
	{"types/records", typesRecords},
}

// typesStorage loads and stores every type and compares the bits.
func typesStorage(t *T) {
	const n = 4099
	q := t.defaultQueue()
	for typ := offload.Bool; typ <= offload.F64; typ++ {
		if typ == offload.F64 && !t.device.Info().Features.F64 {
			continue
		}
		src, dst := t.buffer(typ, n), t.buffer(typ, n)
		data := randomBytes(n * typ.Size())
		tame(typ, data)
		t.check(q.Write(src, 0, data))
		t.launch(q, t.kernel("copy_"+typ.String()), config(n), session.Buf(src), session.Buf(dst))
		got := make([]byte, len(data))
		t.check(q.Read(got, dst, 0))
		t.check(q.Sync(t.ctx))
		equal(t, "copied "+typ.String(), got, data)
	}
}

// tame turns random bytes into valid values: bools become 0 or 1, and floats are finite.
func tame(typ offload.Type, data []byte) {
	size := typ.Size()
	for i := 0; i < len(data); i += size {
		top := &data[i+size-1]
		switch typ {
		case offload.Bool:
			data[i] &= 1
		case offload.F16:
			if *top&0x7C == 0x7C {
				*top &^= 0x40
			}
		case offload.BF16, offload.F32, offload.F64:
			if *top&0x7F == 0x7F {
				*top &^= 0x40
			}
		}
	}
}

func typesScalars(t *T) {
	if !t.device.Info().Features.F64 {
		t.skipf("the device lacks the feature f64")
	}
	a, b, c, d, e := t.buffer(offload.I32, 1), t.buffer(offload.U32, 1), t.buffer(offload.I64, 1), t.buffer(offload.U64, 1), t.buffer(offload.F32, 1)
	f, h := t.buffer(offload.F64, 1), t.buffer(offload.Bool, 1)
	for _, v := range []struct {
		a int32
		b uint32
		c int64
		d uint64
		e float32
		f float64
		h bool
	}{
		{math.MinInt32, math.MaxUint32, math.MinInt64, math.MaxUint64, math.MaxFloat32, math.SmallestNonzeroFloat64, true},
		{-1, 1 << 31, -1, 1 << 63, math.SmallestNonzeroFloat32, math.Pi, false},
		{0x1234567, 0x89ABCDEF, 0x123456789ABCDEF, 0xFEDCBA9876543210, float32(math.Copysign(0, -1)), math.Inf(-1), true},
	} {
		t.run("scalars", sized(1), session.I32(v.a), session.U32(v.b), session.I64(v.c), session.U64(v.d), session.F32(v.e), session.F64(v.f), session.Bool(v.h),
			session.Buf(a), session.Buf(b), session.Buf(c), session.Buf(d), session.Buf(e), session.Buf(f), session.Buf(h))
		equal(t, "i32", contents[int32](t, a), []int32{v.a})
		equal(t, "u32", contents[uint32](t, b), []uint32{v.b})
		equal(t, "i64", contents[int64](t, c), []int64{v.c})
		equal(t, "u64", contents[uint64](t, d), []uint64{v.d})
		equal(t, "bits of f32", []uint32{math.Float32bits(contents[float32](t, e)[0])}, []uint32{math.Float32bits(v.e)})
		equal(t, "bits of f64", []uint64{math.Float64bits(contents[float64](t, f)[0])}, []uint64{math.Float64bits(v.f)})
		equal(t, "bool", contents[bool](t, h), []bool{v.h})
	}
}

// typesSmall stores f32 values to the small float types.
func typesSmall(t *T) {
	x := []float32{0, 1, -1.5, 300.75, -32769, 65535.5, 70000, 1e10, float32(math.NaN()), 0.1, 2049, 65504, 65520, 1e-8}
	f16 := []uint16{0, 0x3C00, 0xBE00, 0x5CB3, 0xF800, 0x7C00, 0x7C00, 0x7C00, 0x7E00, 0x2E66, 0x6800, 0x7BFF, 0x7C00, 0}
	bf16 := []uint16{0, 0x3F80, 0xBFC0, 0x4396, 0xC700, 0x4780, 0x4789, 0x5015, 0x7FC0, 0x3DCD, 0x4500, 0x4780, 0x4780, 0x322C}
	n := len(x)
	var want struct {
		a []bool
		b []int8
		c []uint8
		d []int16
		e []uint16
	}
	for _, v := range x {
		i := saturate(v)
		want.a = append(want.a, v > 0)
		want.b, want.c = append(want.b, int8(i)), append(want.c, uint8(i))
		want.d, want.e = append(want.d, int16(i)), append(want.e, uint16(i))
	}
	buf := func(typ offload.Type) *session.Buffer { return t.buffer(typ, n) }
	a, b, c, d, e := buf(offload.Bool), buf(offload.I8), buf(offload.U8), buf(offload.I16), buf(offload.U16)
	f, h := buf(offload.F16), buf(offload.BF16)
	t.run("small", sized(n), session.Buf(a), session.Buf(b), session.Buf(c), session.Buf(d), session.Buf(e), session.Buf(f), session.Buf(h), session.Buf(bufferOf(t, x...)))
	equal(t, "bool", contents[bool](t, a), want.a)
	equal(t, "i8", contents[int8](t, b), want.b)
	equal(t, "u8", contents[uint8](t, c), want.c)
	equal(t, "i16", contents[int16](t, d), want.d)
	equal(t, "u16", contents[uint16](t, e), want.e)
	equal(t, "f16", halves(t, f, 0x7C00), f16)
	equal(t, "bf16", halves(t, h, 0x7F80), bf16)
}

// halves returns the bits of 16-bit floats, with one pattern for all NaNs. infinity is the bits of the type's infinity.
func halves(t *T, b *session.Buffer, infinity uint16) []uint16 {
	v, err := b.View(session.ViewOptions{Type: offload.U16, Dims: sized(int(b.Len()))})
	t.check(err)
	list := contents[uint16](t, v)
	for i, bits := range list {
		if bits&0x7FFF > infinity {
			list[i] = map[uint16]uint16{0x7C00: 0x7E00, 0x7F80: 0x7FC0}[infinity]
		}
	}
	return list
}

// saturate computes the language's i32() of a float on the host.
func saturate(v float32) int32 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	}
	return int32(v)
}

// typesArithmetic compares float results bit by bit: division and square root are correctly rounded.
func typesArithmetic(t *T) {
	const n = 10000
	x, want := make([]float32, n), make([]uint32, n)
	rng := random()
	for i := range x {
		v := float32(rng.ExpFloat64() * 100)
		x[i] = v
		sum := float32(math.Sqrt(float64(v))) + float32(float32(math.Floor(float64(v)))*2)
		want[i] = math.Float32bits(float32(sum) - float32(1/v))
	}
	y := t.buffer(offload.F32, n)
	t.run("math", sized(n), session.Buf(bufferOf(t, x...)), session.Buf(y))
	got := make([]uint32, n)
	for i, v := range contents[float32](t, y) {
		got[i] = math.Float32bits(v)
	}
	equal(t, "bits", got, want)
}

// typesRecords uses elements of the C layout {float x; float v[3]; uint32_t id;}.
func typesRecords(t *T) {
	const n, size = 100, 20
	le := binary.LittleEndian
	data, want := randomBytes(n*size), make([]byte, 0, n*size)
	for i := range n {
		e := data[i*size:][:size]
		le.PutUint32(e, math.Float32bits(float32(i)+0.5))
		want = append(want, e...)
		w := want[i*size:]
		le.PutUint32(w[8:], math.Float32bits(float32(2*i)+1))
		le.PutUint32(w[16:], le.Uint32(w[16:])+uint32(i))
	}
	b := t.bufferWith(session.BufferOptions{Elem: size, Dims: sized(n)})
	q := t.queue()
	t.check(q.Write(b, 0, data))
	t.launch(q, t.kernel("records"), config(n), session.Buf(b))
	got := make([]byte, len(data))
	t.check(q.Read(got, b, 0))
	t.check(q.Sync(t.ctx))
	equal(t, "records", got, want)
	_, err := t.kernel("records").Bind(config(n), session.Buf(t.bufferWith(session.BufferOptions{Elem: size + 4, Dims: sized(n)})))
	t.refused("records of another size", err, offload.InvalidArgument)
}
