package image_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// fatEntry returns an entry of a CUDA fat binary, with its header of 64 bytes.
func fatEntry(kind uint16, sm uint32, flags uint64, data []byte) []byte {
	for len(data)%8 != 0 {
		data = append(data[:len(data):len(data)], 0)
	}
	h := make([]byte, 64)
	le.PutUint16(h, kind)
	le.PutUint16(h[2:], 0x101)
	le.PutUint32(h[4:], 64)
	le.PutUint64(h[8:], uint64(len(data)))
	le.PutUint32(h[28:], sm)
	le.PutUint64(h[40:], flags)
	if flags&0xA000 != 0 {
		le.PutUint32(h[16:], uint32(len(data)))
		le.PutUint64(h[56:], 1000)
	}
	return append(h, data...)
}

func fatbin(entries ...[]byte) []byte {
	body := bytes.Join(entries, nil)
	b := le.AppendUint32(nil, 0xBA55ED50)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 16)
	return append(le.AppendUint64(b, uint64(len(body))), body...)
}

func TestFatBinary(t *testing.T) {
	const linux64 = 0x11
	cubin := elf(190, 0x500556, 7)
	data := fatbin(
		fatEntry(2, 86, linux64, cubin), fatEntry(1, 80, linux64, []byte(ptx)), fatEntry(1, 80, linux64|0x2000, []byte("LZ4 of it")),
		fatEntry(2, 90, linux64|0x8000, []byte{0x28, 0xB5, 0x2F, 0xFD}), fatEntry(16, 80, linux64, []byte("unknown")),
		fatEntry(1, 90, linux64, []byte(ptx)), fatEntry(1, 86, linux64, cubin), fatEntry(2, 80, linux64, []byte("junk")))
	check := func(prefix string, images []*offload.Image) {
		t.Helper()
		type row struct {
			kind               offload.ImageKind
			arch               string
			unusable, conflict string
		}
		want := []row{{"cubin", "sm_86", "", ""}, {"ptx", "sm_80", "", ""}, {"ptx", "sm_80", "compressed", ""}, {"cubin", "sm_90", "compressed", ""}, {"fatbin", "sm_80", "kind 16", ""},
			{"ptx", "sm_80", "", "arch sm_90, but"}, {"cubin", "sm_86", "", "kind ptx, but"}, {"cubin", "sm_80", "no known format", ""}}
		if len(images) != len(want) {
			t.Fatalf("%d images", len(images))
		}
		for i, img := range images {
			w := want[i]
			unusable := ""
			if img.Unusable != nil {
				unusable = img.Unusable.Error()
			}
			if img.Kind != w.kind || img.Arch != w.arch || img.Target != "nvptx64-nvidia-cuda" || (w.unusable == "") != (unusable == "") || !strings.Contains(unusable, w.unusable) ||
				(w.conflict == "") != (img.Conflict == "") || !strings.Contains(img.Conflict, w.conflict) || !strings.HasPrefix(img.Label, prefix+"[") {
				t.Errorf("image %d: %+v", i, img)
			}
		}
		if !bytes.Equal(images[0].Data, cubin) {
			t.Error("the cubin has other bytes")
		}
	}
	lib, err := image.Read("f", append(bytes.Clone(data), make([]byte, 8)...))
	if err != nil {
		t.Fatal(err)
	}
	check("f", lib.Images)
	// In a container the fat binary is split, too.
	packed, err := image.WriteBundle(2, []image.BundleEntry{{Kind: image.BundleFatbin, Strings: map[string]string{"triple": "nvptx64-nvidia-cuda", "note": "n"}, Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	if lib, err = image.Read("c", packed); err != nil {
		t.Fatal(err)
	}
	check("c[0]", lib.Images)
	if lib.Images[1].Meta["note"] != "n" {
		t.Errorf("the container's strings are lost: %v", lib.Images[1].Meta)
	}

	long := fatbin(fatEntry(1, 80, 0, []byte(ptx)))
	le.PutUint64(long[24:], 1<<62)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no entries":      {fatbin(), "no entries"},
		"only padding":    {fatbin(make([]byte, 40)), "no entries"},
		"long entry":      {long, "but has"},
		"cut entry":       {fatbin([]byte{1, 0, 1, 1, 64}), "truncated"},
		"bytes behind it": {append(fatbin(fatEntry(1, 80, 0, []byte(ptx))), 1), "follow"},
	} {
		if _, err := image.Read("f", c.data); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForeignFormatsAreRefused(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	write(t, dir, "h.c", []byte("int f(void) { return 1; }\n"))
	for target, want := range map[string]string{
		"x86_64-pc-windows-msvc": "COFF", "i686-pc-windows-gnu": "COFF", "aarch64-pc-windows-msvc": "COFF",
		"x86_64-apple-macos": "Mach-O", "arm64-apple-macos": "Mach-O",
	} {
		run(t, dir, l.clang, "--target="+target, "-c", "h.c", "-o", "h.o")
		_, err := image.Split("h.o", read(t, dir+"/h.o"))
		if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
	pe := make([]byte, 256)
	copy(pe, "MZ")
	pe[60] = 128
	copy(pe[128:], "PE\x00\x00")
	universal := append([]byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2}, make([]byte, 64)...)
	for want, data := range map[string][]byte{"a PE file": pe, "universal Mach-O": universal} {
		if _, err := image.Split("f", data); offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	java := append([]byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61}, make([]byte, 64)...)
	if _, err := image.Split("f", java); offload.CodeOf(err) != offload.InvalidBinary {
		t.Errorf("a Java class: %v", err)
	}
}

func TestRelocatableObjectsNeedLink(t *testing.T) {
	l := llvmFiles(t)
	lib := libraryOf(t, l.dir+"/a.o")
	if img := lib.Images[0]; !bytes.Equal(img.Data, read(t, l.dir+"/device.o")) || img.Kind != offload.ImageELF || img.Unusable == nil || !strings.Contains(img.Unusable.Error(), "needs link") {
		t.Errorf("%+v", img)
	}
	for _, file := range []string{"a.o", "liba.a", "device.o"} {
		_, err := image.Split("f", read(t, filepath.Join(l.dir, file)))
		if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "needs link") {
			t.Errorf("%s: %v", file, err)
		}
	}
	program := elf(62, 0, 0)
	program[16] = 2
	if _, err := image.Split("f", program); offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "program without device images") {
		t.Errorf("a program: %v", err)
	}
}

func TestOpenCLCByContent(t *testing.T) {
	for _, text := range []string{
		"__kernel void f(__global int *x) {}", "// saxpy\n#define N 4\nkernel\nvoid saxpy(global float *x) { }",
		"__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void f(){}", "kernel void __attribute__((vec_type_hint(float4))) f ()",
	} {
		if img, err := image.Identify("text", []byte(text)); err != nil || img.Kind != offload.ImageOpenCLC {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"void f() {}", "the kernel is void", "my_kernel void f()", "kernel void f()\x00", "kernel int f()"} {
		if img, err := image.Identify("text", []byte(text)); err == nil {
			t.Errorf("%q is %s", text, img.Kind)
		}
	}
}

func FuzzFatBinary(f *testing.F) {
	f.Add(fatbin(fatEntry(2, 86, 1, elf(190, 0x500556, 7)), fatEntry(1, 80, 1, []byte(ptx)), fatEntry(1, 80, 0x2000, []byte("LZ4"))))
	f.Add(fatbin(fatEntry(16, 80, 0, nil), make([]byte, 8)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 {
			data = slices.Clone(data)
			le.PutUint32(data, 0xBA55ED50)
		}
		bounded(t, data, func() { checkRead(t, data) })
	})
}
