package opencl_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

const sources = `typedef struct { float a; int n; } options;
kernel void axpy(float a, global const float *x, global float *y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
kernel void total(global const float *x, global float *out, local float *part) {
  int i = get_local_id(0);
  part[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int n = get_local_size(0) / 2; n > 0; n /= 2) {
    if (i < n) part[i] += part[i + n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) out[get_group_id(0)] = part[0];
}
kernel void scale(options o, global float4 *v) { v[get_global_id(0)] *= o.a + o.n; }
kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(global int *out) {
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);
}
kernel void picture(read_only image2d_t p) {}
`

// images is a program of the test's sources on the first device.
type images struct {
	t       *testing.T
	device  offload.Device
	queue   offload.Queue
	program offload.SignedProgram
}

func newImages(t *testing.T) *images {
	t.Helper()
	p := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	d := p.Devices()[0]
	img := &offload.Image{Kind: offload.ImageOpenCLC, Label: "sources.cl", Data: []byte(sources)}
	if err := p.CheckImage(img); err != nil {
		t.Fatal(err)
	}
	program := must[offload.Program](t)(d.Load(t.Context(), img))
	q := must[offload.Queue](t)(d.NewQueue(offload.QueueOptions{}))
	t.Cleanup(func() {
		if err := errors.Join(q.Close(), program.Unload(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return &images{t, d, q, program.(offload.SignedProgram)}
}

// floats allocates a buffer with the numbers 0, 1, 2 and so on.
func (m *images) floats(n int) offload.Memory {
	m.t.Helper()
	b := must[offload.Memory](m.t)(m.device.Allocate(int64(4*n), offload.DeviceMemory))
	m.t.Cleanup(func() { _ = b.Free() })
	var data []byte
	for i := range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)))
	}
	if err := errors.Join(m.queue.Submit(offload.Span{Memory: b, Size: b.Size()}, data), m.queue.Sync(m.t.Context())); err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *images) words(b offload.Memory) (list []uint32) {
	m.t.Helper()
	data := make([]byte, b.Size())
	if err := errors.Join(m.queue.Retrieve(data, offload.Span{Memory: b, Size: b.Size()}), m.queue.Sync(m.t.Context())); err != nil {
		m.t.Fatal(err)
	}
	for ; len(data) > 0; data = data[4:] {
		list = append(list, binary.LittleEndian.Uint32(data))
	}
	return list
}

func (m *images) run(l *offload.Launch) {
	m.t.Helper()
	if err := errors.Join(m.queue.Launch(l), m.queue.Sync(m.t.Context())); err != nil {
		m.t.Fatal(err)
	}
}

func (m *images) kernel(name string) offload.Kernel {
	m.t.Helper()
	return must[offload.Kernel](m.t)(m.program.(offload.Program).Kernel(name))
}

func buf(b offload.Memory) offload.Arg { return offload.Arg{Type: offload.F32, Memory: b} }

func f32(v float32) offload.Arg {
	return offload.Arg{Type: offload.F32, Bits: uint64(math.Float32bits(v))}
}

// TestOpenCLC launches kernels of OpenCL C whose parameters the driver reports.
func TestOpenCLC(t *testing.T) {
	m := newImages(t)
	list := m.program.(offload.Program).Symbols()
	if len(list) != 5 || list[0].Name != "axpy" || !list[0].Kernel {
		t.Errorf("%+v", list)
	}
	k := m.kernel("axpy")
	params := k.Info().Params
	if len(params) != 3 || params[0].Name != "a" || params[0].Type != offload.F32 || params[0].Buffer || !params[1].Buffer || params[1].Writes || !params[2].Writes {
		t.Errorf("%+v", params)
	}
	x, y := m.floats(1000), m.floats(1000)
	m.run(&offload.Launch{Kernel: k, Size: [3]int{1000, 1, 1}, Args: []offload.Arg{f32(2), buf(x), buf(y)}})
	for i, w := range m.words(y) {
		if got := math.Float32frombits(w); got != float32(3*i) {
			t.Fatalf("element %d: %v", i, got)
		}
	}
	half := buf(x)
	half.Offset = 2048
	m.run(&offload.Launch{Kernel: k, Size: [3]int{100, 1, 1}, Args: []offload.Arg{f32(1), half, buf(y)}})
	if got := math.Float32frombits(m.words(y)[3]); got != 515+9 {
		t.Errorf("from a view: %v", got)
	}

	out := m.floats(4)
	m.run(&offload.Launch{Kernel: m.kernel("total"), Size: [3]int{256, 1, 1}, GroupSize: [3]int{64, 1, 1}, SharedBytes: 256, Args: []offload.Arg{buf(x), buf(out)}})
	if got := math.Float32frombits(m.words(out)[1]); got != 6112 {
		t.Errorf("the sum of 64 to 127: %v", got)
	}
	m.run(&offload.Launch{Kernel: m.kernel("fixed"), Size: [3]int{16, 4, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: x}}})
	if got := m.words(x)[17]; got != 82 {
		t.Errorf("the group is %d, and must be 8×2", got)
	}
}

// TestSignedOpenCLC launches a kernel that takes a struct by value, by a signature.
func TestSignedOpenCLC(t *testing.T) {
	m := newImages(t)
	sig := &offload.Signature{Params: []offload.Param{{Elem: 8, Fields: []offload.Field{{Type: offload.F32}, {Type: offload.I32, Offset: 4}}}, {Buffer: true, Elem: 1}}}
	k := must[offload.Kernel](t)(m.program.KernelAs("scale", sig))
	v := m.floats(64)
	data := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5)), 1)
	m.run(&offload.Launch{Kernel: k, Size: [3]int{16, 1, 1}, Args: []offload.Arg{{Data: data}, buf(v)}})
	for i, w := range m.words(v) {
		if got := math.Float32frombits(w); got != 1.5*float32(i) {
			t.Fatalf("element %d: %v", i, got)
		}
	}
}

// TestRefusedOpenCLC makes invalid launches of OpenCL C kernels. Each must fail before the driver runs anything.
func TestRefusedOpenCLC(t *testing.T) {
	m := newImages(t)
	program := m.program.(offload.Program)
	refused := func(name string, err error, code offload.Code, part string) {
		t.Helper()
		if offload.CodeOf(err) != code || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	of := func(_ offload.Kernel, err error) error { return err }
	number, pointer := offload.Param{Type: offload.F32, Elem: 4}, offload.Param{Buffer: true, Elem: 1}
	refused("no such kernel", of(program.Kernel("other")), offload.NotFound, "no kernel of this name")
	refused("an image", of(program.Kernel("picture")), offload.Unsupported, "image2d_t")
	refused("a struct", of(program.Kernel("scale")), offload.InvalidArgument, "parameter o of type options")
	refused("parameters", of(m.program.KernelAs("axpy", &offload.Signature{Params: []offload.Param{number}})), offload.InvalidArgument, "has 1 parameters, and the kernel in the image 3")
	refused("a number", of(m.program.KernelAs("axpy", &offload.Signature{Params: []offload.Param{pointer, pointer, pointer}})), offload.InvalidArgument, "parameter 1 of the signature is a buffer, and of the kernel in the image float")
	refused("a convention", of(m.program.KernelAs("axpy", &offload.Signature{Convention: offload.PerItem})), offload.Unsupported, "convention 'item'")
	_, err := program.Global("axpy")
	refused("a kernel as a variable", err, offload.SymbolKind, "kernel")
	_, err = program.Global("other")
	refused("a variable", err, offload.NotFound, "variables")

	x := m.floats(256)
	launch := func(kernel string, change func(l *offload.Launch)) error {
		l := &offload.Launch{Kernel: m.kernel(kernel), Size: [3]int{64, 1, 1}, Args: []offload.Arg{f32(1), buf(x), buf(x)}}
		change(l)
		err := m.queue.Launch(l)
		if err == nil {
			err = m.queue.Sync(t.Context())
		}
		return err
	}
	refused("elements of another type", launch("axpy", func(l *offload.Launch) { l.Args[1].Type = offload.I32 }), offload.InvalidArgument, "elements of type f32, and the argument's are i32")
	refused("a view", launch("axpy", func(l *offload.Launch) { l.Args[1].Offset = 4 }), offload.InvalidArgument, "begins at byte 4")
	refused("groups", launch("axpy", func(l *offload.Launch) { l.GroupSize = [3]int{48, 1, 1} }), offload.InvalidSize, "do not divide")
	refused("local memory", launch("total", func(l *offload.Launch) { l.Args = l.Args[1:] }), offload.InvalidArgument, "local memory")
	refused("a fixed group", launch("fixed", func(l *offload.Launch) { l.Args, l.GroupSize = []offload.Arg{{Memory: x}}, [3]int{64, 1, 1} }), offload.InvalidSize, "requires groups of [8 2 1]")
	refused("races", launch("axpy", func(l *offload.Launch) { l.Checks = offload.ChecksRaces }), offload.Unsupported, "races")
}

// TestMalformedImages loads invalid sources and damaged SPIR-V.
func TestMalformedImages(t *testing.T) {
	p := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	defer p.Close()
	d := p.Devices()[0]
	valid := spirv()
	truncated := valid[:len(valid)-4]
	for _, c := range []struct {
		name string
		kind offload.ImageKind
		data []byte
		code offload.Code
		part string
	}{
		{"a type", offload.ImageOpenCLC, []byte("kernel void f(global float *x) {\n  strange y = x[0];\n}\n"), offload.InvalidBinary, "strange"},
		{"no end", offload.ImageOpenCLC, []byte("kernel void f() {"), offload.InvalidBinary, "refused the OpenCL C"},
		{"an include", offload.ImageOpenCLC, []byte("#include \"no-such-file.h\"\nkernel void f() {}"), offload.InvalidBinary, "no-such-file.h"},
		{"a cut module", offload.ImageSPIRV, truncated, offload.InvalidBinary, "has no end"},
		{"a shader", offload.ImageSPIRV, valid[:20], offload.InvalidBinary, "capability Kernel"},
		{"bitcode", offload.ImageBitcode, []byte("BC\xc0\xde"), offload.InvalidBinary, ""},
	} {
		_, err := d.Load(t.Context(), &offload.Image{Kind: c.kind, Label: c.name, Data: c.data})
		if offload.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A driver accepts the valid module, or does not support SPIR-V and the error reports it.
	program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageSPIRV, Label: "empty.spv", Data: valid})
	switch {
	case err == nil:
		if list := program.Symbols(); len(list) != 1 || list[0].Name != "empty" {
			t.Errorf("%+v", list)
		}
		if err := program.Unload(); err != nil {
			t.Error(err)
		}
	case offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "takes no SPIR-V"):
		t.Error(err)
	}
}

// spirv returns SPIR-V of an empty kernel.
func spirv() (code []byte) {
	const name0, name1 = 0x74706d65, 0x79 // "empty"
	for _, w := range []uint32{0x07230203, 0x00010000, 0, 6, 0,
		2<<16 | 17, 4, 2<<16 | 17, 6, // capabilities Addresses and Kernel
		3<<16 | 14, 2, 2, // 64-bit addresses, OpenCL
		5<<16 | 15, 6, 4, name0, name1,
		2<<16 | 19, 1, 3<<16 | 33, 2, 1, // void, void()
		5<<16 | 54, 1, 4, 0, 2, 2<<16 | 248, 5, 1<<16 | 253, 1<<16 | 56,
	} {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}
