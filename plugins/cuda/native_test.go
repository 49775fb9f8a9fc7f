//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// axpy is PTX of another compiler: y[i] = a * x[i] + y[i] for a byte flag, a float and two pointers, without bounds checks.
const axpy = `.version 7.0
.target sm_70
.address_size 64

.visible .entry axpy(
	.param .u8 p_flag,
	.param .f32 p_a,
	.param .u64 p_x,
	.param .u64 p_y
)
{
	.reg .b32 %i;
	.reg .b32 %n;
	.reg .b64 %o;
	.reg .b64 %x;
	.reg .b64 %y;
	.reg .f32 %a;
	.reg .f32 %u;
	.reg .f32 %v;
	mov.u32 %i, %ctaid.x;
	mov.u32 %n, %ntid.x;
	mul.lo.s32 %i, %i, %n;
	mov.u32 %n, %tid.x;
	add.s32 %i, %i, %n;
	cvt.u64.u32 %o, %i;
	shl.b64 %o, %o, 2;
	ld.param.u64 %x, [p_x];
	ld.param.u64 %y, [p_y];
	ld.param.f32 %a, [p_a];
	add.s64 %x, %x, %o;
	add.s64 %y, %y, %o;
	ld.global.f32 %u, [%x];
	ld.global.f32 %v, [%y];
	fma.rn.f32 %v, %a, %u, %v;
	st.global.f32 [%y], %v;
	ret;
}
`

func ptxImage(text string) *offload.Image {
	return &offload.Image{Kind: offload.ImagePTX, Arch: "sm_70", Target: "nvptx64-nvidia-cuda", Data: []byte(text), Label: "axpy.ptx"}
}

var axpySignature = offload.Signature{Params: []offload.Param{{Type: offload.Bool, Elem: 1}, {Type: offload.F32, Elem: 4}, {Buffer: true}, {Buffer: true}}}

// TestPTXImage runs a kernel of a PTX image.
func TestPTXImage(t *testing.T) {
	s := newStandIn(t)
	d, q := setup(t, s)
	program, err := d.Load(t.Context(), ptxImage(axpy))
	if err != nil {
		t.Fatal(err)
	}
	if list := program.Symbols(); len(list) != 1 || list[0].Name != "axpy" || !list[0].Kernel {
		t.Errorf("%+v", list)
	}
	signed := program.(offload.SignedProgram)
	_, err = program.Kernel("axpy")
	checkError(t, "no signature", err, offload.InvalidArgument, "convention: 'image'")
	_, err = program.Kernel("other")
	checkError(t, "another name", err, offload.NotFound, "no kernel of this name")
	_, err = signed.KernelAs("other", &axpySignature)
	checkError(t, "another name", err, offload.NotFound, "no kernel of this name")
	_, err = signed.KernelAs("axpy", &offload.Signature{Params: axpySignature.Params[1:]})
	checkError(t, "another signature", err, offload.InvalidArgument, "parameters of [4 8 8] bytes, and the kernel in the image of [1 4 8 8]")
	_, err = signed.KernelAs("axpy", &offload.Signature{Params: axpySignature.Params, Convention: offload.PerItem})
	checkError(t, "a convention", err, offload.Unsupported, "convention: 'image'")
	_, err = program.Global("axpy")
	checkError(t, "a kernel as a variable", err, offload.SymbolKind, "kernel")
	_, err = program.Global("other")
	checkError(t, "no variable", err, offload.NotFound, "no variable")

	k, err := signed.KernelAs("axpy", &axpySignature)
	if err != nil {
		t.Fatal(err)
	}
	x, y := allocate(t, d, 1024), allocate(t, d, 1024)
	var data []byte
	for range 256 {
		data = binary.LittleEndian.AppendUint32(data, 0x40000000) // 2
	}
	l := &offload.Launch{Kernel: k, Size: [3]int{256, 1, 1}, GroupSize: [3]int{64, 1, 1},
		Args: []offload.Arg{{Type: offload.Bool, Bits: 1}, {Type: offload.F32, Bits: 0x40400000}, {Memory: x}, {Memory: y}}}
	err = errors.Join(q.Submit(offload.Span{Memory: x, Size: 1024}, data), q.Submit(offload.Span{Memory: y, Size: 1024}, data), q.Launch(l),
		q.Retrieve(data, offload.Span{Memory: y, Size: 1024}), q.Sync(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 256 {
		if got := binary.LittleEndian.Uint32(data[4*i:]); got != 0x41000000 { // 8
			t.Fatalf("element %d: %#x", i, got)
		}
	}
	l.GroupSize = [3]int{2048, 1, 1}
	err = q.Launch(l)
	if err == nil {
		err = q.Sync(t.Context())
	}
	checkError(t, "a large group", err, offload.InvalidSize, "group")
	if err := errors.Join(program.Unload(), x.Free(), y.Free()); err != nil {
		t.Error(err)
	}
	l.GroupSize = [3]int{}
	checkError(t, "unloaded", q.Launch(l), offload.Closed, "unloaded")
}

// TestIllegalAddress checks that the device is lost after an image's kernel accesses an illegal address.
func TestIllegalAddress(t *testing.T) {
	s := newStandIn(t)
	p := s.open(t)
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	program, err := d.Load(t.Context(), ptxImage(axpy))
	if err != nil {
		t.Fatal(err)
	}
	k, err := program.(offload.SignedProgram).KernelAs("axpy", &axpySignature)
	if err != nil {
		t.Fatal(err)
	}
	x := allocate(t, d, 16)
	err = q.Launch(&offload.Launch{Kernel: k, Size: [3]int{256, 1, 1}, Args: []offload.Arg{{Type: offload.Bool}, {Type: offload.F32}, {Memory: x}, {Memory: x}}})
	if err = errors.Join(err, q.Sync(t.Context())); offload.CodeOf(err) != offload.DeviceLost {
		t.Error(err)
	}
	s.mu.Lock()
	if s.failed == nil {
		t.Error("the kernel has not failed")
	}
	s.failed = nil
	s.mu.Unlock()
	if err := errors.Join(x.Free(), program.Unload(), q.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

// TestFit checks the order of images by their fit for an sm_80 device.
func TestFit(t *testing.T) {
	s := newStandIn(t)
	d, _ := setup(t, s)
	last := 0
	for _, img := range []*offload.Image{image(t), {Kind: offload.ImageFatbin}, {Kind: offload.ImagePTX, Arch: "sm_70"}, {Kind: offload.ImagePTX, Arch: "sm_80"}, {Kind: offload.ImageCubin, Arch: "sm_80"}} {
		fit, err := d.CheckImage(img)
		if err != nil || fit <= last {
			t.Errorf("%s %s: %d, %v", img.Kind, img.Arch, fit, err)
		}
		last = fit
	}
	for _, img := range []*offload.Image{{Kind: offload.ImagePTX, Arch: "sm_90"}, {Kind: offload.ImagePTX, Arch: "sm_86"}, {Kind: offload.ImageCubin, Arch: "sm_75"}, {Kind: offload.ImageCubin, Arch: "sm_86"},
		{Kind: offload.ImageCubin, Arch: "sm_90a"}, {Kind: offload.ImagePTX, Arch: ""}} {
		if fit, err := d.CheckImage(img); offload.CodeOf(err) != offload.Unsupported {
			t.Errorf("%s %s: %d, %v", img.Kind, img.Arch, fit, err)
		}
	}
}

// TestRefusedPTX loads PTX that the driver's compiler rejects.
func TestRefusedPTX(t *testing.T) {
	s := newStandIn(t)
	d, _ := setup(t, s)
	_, err := d.Load(t.Context(), ptxImage(axpy[:len(axpy)-3]))
	checkError(t, "load", err, offload.InvalidBinary, "INVALID_PTX (218)")
}
