package image_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/image/bundler"
	"github.com/orepl/orepl/runtime/offload"
)

// hipArchs are the target IDs of the HIP files of the tests.
var hipArchs = []string{"gfx906", "gfx90a:xnack+", "gfx90a:xnack-"}

// compileHIP has clang compile testdata/kernel.hip for the target IDs into a folder.
func compileHIP(t testing.TB, dir, out string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs("testdata/kernel.hip")
	if err != nil {
		t.Fatal(err)
	}
	tool(t, "ld.lld-19") // links device code
	args := []string{"-x", "hip", "-nogpulib", "-nogpuinc", "--rocm-path=" + dir, "-O1", "-fPIC", "-c", source, "-o", out}
	for _, arch := range hipArchs {
		args = append(args, "--offload-arch="+arch)
	}
	run(t, dir, tool(t, "clang-19"), append(args, flags...)...)
	return filepath.Join(dir, out)
}

// dumped returns the bytes of a section, as llvm-objcopy extracts them.
func dumped(t testing.TB, file, section string) []byte {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, tool(t, "llvm-objcopy-19"), "--dump-section", section+"="+filepath.Join(dir, "section"), file, filepath.Join(dir, "copy"))
	return read(t, filepath.Join(dir, "section"))
}

// unbundled returns what clang-offload-bundler extracts from a bundle for an identifier.
func unbundled(t testing.TB, bundle []byte, id string) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "bundle.o", bundle)
	run(t, dir, tool(t, "clang-offload-bundler-19"), "-unbundle", "-type=o", "-targets="+id, "-input=bundle.o", "-output=out")
	return read(t, filepath.Join(dir, "out"))
}

// checkField checks the images of a file against the wanted bytes by target ID, and drops each one.
func checkField(t *testing.T, file string, want map[string][]byte) {
	t.Helper()
	name := filepath.Base(file)
	images := imagesOf(t, file)
	if len(images) != len(want) {
		t.Errorf("%s: %d images, want %d", name, len(images), len(want))
	}
	for _, img := range images {
		if !bytes.Equal(img.Data, want[img.Arch]) || img.Target != "amdgcn-amd-amdhsa" || img.Producers != "hip" || img.Conflict != "" {
			t.Errorf("%s: %d bytes for %s %s of %s, want %d; %s", name, len(img.Data), img.Target, img.Arch, img.Producers, len(want[img.Arch]), img.Conflict)
		}
	}
	data := read(t, file)
	for arch := range want {
		out, edit := dropped(t, data, func(img *offload.Image) bool { return img.Arch == arch })
		if len(edit.Dropped) != 1 || len(edit.Kept) != len(want)-1 {
			t.Errorf("%s without %s: %d dropped, %d kept", name, arch, len(edit.Dropped), len(edit.Kept))
		}
		if bytes.Contains(out, want[arch]) {
			t.Errorf("%s without %s: the image is still there", name, arch)
		}
		rest := write(t, t.TempDir(), name, out)
		for _, img := range imagesOf(t, rest) {
			if img.Arch == arch || !bytes.Equal(img.Data, want[img.Arch]) {
				t.Errorf("%s without %s: %d bytes for %s", name, arch, len(img.Data), img.Arch)
			}
		}
		if !bytes.HasPrefix(out, []byte("\x7fELF")) && !bytes.HasPrefix(out, []byte("!<arch>")) {
			continue
		}
		if text, err := exec.Command(tool(t, "llvm-readelf-19"), "--all", rest).CombinedOutput(); err != nil || bytes.Contains(text, []byte("warning:")) {
			t.Errorf("%s without %s: readelf: %v\n%.2000s", name, arch, err, text)
		}
	}
	out, _ := dropped(t, data, func(*offload.Image) bool { return true })
	if lib, err := image.Read("f", out); err != nil || len(lib.Images) > 0 {
		t.Errorf("%s without images: %d, %v", name, len(lib.Images), err)
	} else if err := image.Check(&lib); offload.CodeOf(err) != offload.InvalidBinary {
		t.Errorf("%s without images is registered: %v", name, err)
	}
}

func TestHIPFiles(t *testing.T) {
	dir := t.TempDir()
	object := compileHIP(t, dir, "k.o")
	section := dumped(t, object, ".hip_fatbin")
	want := make(map[string][]byte)
	for _, arch := range hipArchs {
		want[arch] = unbundled(t, section, "hipv4-amdgcn-amd-amdhsa--"+arch)
		if !bytes.HasPrefix(want[arch], []byte("\x7fELF")) {
			t.Fatalf("%s: the tool extracts %d bytes", arch, len(want[arch]))
		}
	}
	checkField(t, object, want)
	checkField(t, write(t, dir, "k.hipfb", section), want)
	run(t, dir, tool(t, "llvm-ar-19"), "rc", "libk.a", "k.o")
	checkField(t, dir+"/libk.a", want)
	run(t, dir, tool(t, "clang-19"), "-shared", "k.o", "-o", "libk.so")
	checkField(t, dir+"/libk.so", want)
	packed := compileHIP(t, dir, "compressed.o", "--offload-compress")
	section = dumped(t, packed, ".hip_fatbin")
	for _, arch := range hipArchs {
		want[arch] = unbundled(t, section, "hipv4-amdgcn-amd-amdhsa--"+arch)
	}
	checkField(t, packed, want)
	checkField(t, write(t, dir, "k.ccob", section), want)

	// Bundled objects with sections for relocatable device code.
	relocatable := compileHIP(t, dir, "rdc.o", "-fgpu-rdc")
	for _, arch := range hipArchs {
		want[arch] = dumped(t, relocatable, "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--"+arch)
	}
	checkField(t, relocatable, want)
	run(t, dir, tool(t, "llvm-ar-19"), "rc", "librdc.a", "rdc.o")
	checkField(t, dir+"/librdc.a", want)

	// LLVM's tools take an object without an image.
	out, _ := dropped(t, read(t, relocatable), func(img *offload.Image) bool { return img.Arch == "gfx906" })
	file := write(t, dir, "without.o", out)
	ids := strings.Fields(string(run(t, dir, tool(t, "clang-offload-bundler-19"), "-list", "-type=o", "-input="+file)))
	slices.Sort(ids)
	if got := strings.Join(ids, " "); got != "hip-amdgcn-amd-amdhsa--gfx90a:xnack+ hip-amdgcn-amd-amdhsa--gfx90a:xnack- host-x86_64-pc-linux-gnu-" {
		t.Errorf("LLVM lists %s", got)
	}
	for _, linker := range []string{"ld", "ld.lld-19"} {
		run(t, dir, tool(t, linker), "-r", "without.o", "-o", "linked.o")
	}
	run(t, dir, tool(t, "llvm-objcopy-19"), "without.o", "copied.o")
	if got := unbundled(t, out, "hip-amdgcn-amd-amdhsa--gfx90a:xnack+"); !bytes.Equal(got, want["gfx90a:xnack+"]) {
		t.Errorf("LLVM extracts %d bytes, want %d", len(got), len(want["gfx90a:xnack+"]))
	}
}

// clang14 builds testdata/regions.c by clang 14, which describes its images without a container.
func clang14(t testing.TB, dir, out string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs("testdata/regions.c")
	if err != nil {
		t.Fatal(err)
	}
	const lib = "/usr/lib/llvm-19/lib"
	if _, err := os.Stat(lib + "/libomp.so"); err != nil {
		t.Skip("libomp-19-dev is not installed")
	}
	args := []string{"-O1", "-fopenmp", "-fopenmp-targets=" + hostTriple, "-DNAME=saxpy", source, "-o", out}
	cmd := exec.Command(tool(t, "clang-14"), append(args, flags...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LIBRARY_PATH="+lib)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return filepath.Join(dir, out)
}

// deviceImage matches the symbol of an image that clang 14 embeds, with its address and size.
var deviceImage = regexp.MustCompile(`(?m)^\s*\d+: ([0-9a-f]+)\s+(\d+) OBJECT .* \.omp_offloading\.device_image$`)

func TestFilesOfClang14(t *testing.T) {
	dir := t.TempDir()
	for name, flags := range map[string][]string{
		"pie": {"-DMAIN"}, "no-pie": {"-DMAIN", "-no-pie"}, "relr": {"-DMAIN", "-fuse-ld=" + tool(t, "ld.lld-19"), "-Wl,-z,pack-relative-relocs"},
		"library.so": {"-shared", "-fPIC"},
	} {
		file := clang14(t, dir, name, flags...)
		m := deviceImage.FindSubmatch(run(t, dir, tool(t, "llvm-readelf-19"), "-sW", file))
		if m == nil {
			t.Fatalf("%s: no symbol", name)
		}
		size, err := strconv.Atoi(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		run(t, dir, tool(t, "llvm-strip-19"), file, "-o", name+"-stripped")
		for _, path := range []string{file, file + "-stripped"} {
			images := imagesOf(t, path)
			if len(images) != 1 || len(images[0].Data) != size || images[0].Target != hostTriple || images[0].Unusable != nil || !bytes.HasPrefix(images[0].Data, []byte("\x7fELF")) {
				t.Fatalf("%s: %+v, want %d bytes", path, images, size)
			}
			data := read(t, path)
			out, edit := dropped(t, data, forTriple(hostTriple))
			if len(out) != len(data) || len(edit.Dropped) != 1 || bytes.Contains(out, images[0].Data) {
				t.Errorf("%s: %d bytes of %d, %d dropped", path, len(out), len(data), len(edit.Dropped))
			}
			if lib, err := image.Read("f", out); err != nil || len(lib.Images) > 0 || len(lib.Entries) == 0 {
				t.Errorf("%s without images: %d images, %d entries, %v", path, len(lib.Images), len(lib.Entries), err)
			}
			if name == "library.so" {
				continue
			}
			// The program's own run: on the device, and on the host without its image.
			write(t, dir, "dropped", out)
			if err := os.Chmod(dir+"/dropped", 0o755); err != nil {
				t.Fatal(err)
			}
			outputs := make([]string, 2)
			for i, program := range []string{path, dir + "/dropped"} {
				cmd := exec.Command(program)
				cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH=/usr/lib/llvm-19/lib", "OMP_TARGET_OFFLOAD=DEFAULT")
				text, err := cmd.CombinedOutput()
				if outputs[i] = string(text); err != nil {
					t.Errorf("%s: %v", program, err)
				}
			}
			if outputs[1] != outputs[0] {
				t.Errorf("%s: %s without the image, %s with it", path, outputs[1], outputs[0])
			}
		}
	}
	// An object of clang 14 is a bundled one.
	object := clang14(t, dir, "a.o", "-c")
	images := imagesOf(t, object)
	if want := dumped(t, object, "__CLANG_OFFLOAD_BUNDLE__openmp-"+hostTriple); len(images) != 1 || !bytes.Equal(images[0].Data, want) {
		t.Errorf("%+v", images)
	}
}

func TestCUDASections(t *testing.T) {
	dir := t.TempDir()
	const linux64 = 0x11
	cubin := elf(190, 0x500556, 7)
	long := []byte(ptx + strings.Repeat("// comment\n", 100))
	block := make([]byte, 4096)
	n, err := lz4.CompressBlock(long, block, nil)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	zstd := compressed(t, image.Zstd, []image.BundleEntry{{Data: long}})
	packed := func(flags uint64, data []byte, size int) []byte {
		e := fatEntry(1, 80, linux64|flags, data)
		le.PutUint32(e[16:], uint32(len(data)))
		le.PutUint64(e[56:], uint64(size))
		return e
	}
	first := fatbin(fatEntry(2, 86, linux64, cubin), packed(0x2000, block[:n], len(long)))
	second := fatbin(fatEntry(1, 80, linux64, []byte(ptx)))
	write(t, dir, "fat", append(append(first, make([]byte, 8)...), second...))
	write(t, dir, "h.c", []byte("int f(void) { return 1; }\n"))
	run(t, dir, tool(t, "clang-19"), "-c", "-fPIC", "h.c", "-o", "h.o")
	run(t, dir, tool(t, "clang-19"), "-shared", "-fPIC", "h.c", "-o", "h.so")
	for _, section := range []string{".nv_fatbin", "__nv_relfatbin"} {
		for _, host := range []string{"h.o", "h.so"} {
			run(t, dir, tool(t, "llvm-objcopy-19"), "--add-section", section+"=fat", "--set-section-flags", section+"=alloc,readonly", host, "with")
			images := imagesOf(t, dir+"/with")
			want := [][]byte{cubin, long, []byte(ptx)}
			if len(images) != len(want) {
				t.Fatalf("%s in %s: %d images", section, host, len(images))
			}
			for i, img := range images {
				if !bytes.Equal(bytes.TrimRight(img.Data, "\x00"), bytes.TrimRight(want[i], "\x00")) || img.Unusable != nil || img.Arch != []string{"sm_86", "sm_80", "sm_80"}[i] {
					t.Errorf("%s, image %d: %+v, want %d bytes", section, i, img, len(want[i]))
				}
			}
			data := read(t, dir+"/with")
			for mask := 1; mask < 8; mask++ {
				i := 0
				out, _ := dropped(t, data, func(*offload.Image) bool { i++; return mask>>(i-1)&1 == 1 })
				lib, err := image.Read("f", out)
				var rest [][]byte
				for i, w := range want {
					if mask>>i&1 == 0 {
						rest = append(rest, w)
					}
				}
				if err != nil || len(lib.Images) != len(rest) || len(out) != len(data) {
					t.Errorf("%s in %s without %b: %d images, %v", section, host, mask, len(lib.Images), err)
					continue
				}
				for i, img := range lib.Images {
					if !bytes.Equal(bytes.TrimRight(img.Data, "\x00"), bytes.TrimRight(rest[i], "\x00")) {
						t.Errorf("%s in %s without %b: image %d has %d bytes, want %d", section, host, mask, i, len(img.Data), len(rest[i]))
					}
				}
			}
		}
	}
	for name, c := range map[string]struct {
		entry []byte
		want  string
	}{
		"cut":     {packed(0x2000, block[:n-3], len(long)), "compressed"},
		"short":   {packed(0x2000, block[:n], len(long)-1), "compressed"},
		"long":    {packed(0x2000, block[:n], len(long)+1), "there are"},
		"huge":    {packed(0x2000, block[:n], 1<<40), "may have"},
		"no zstd": {packed(0x8000, block[:n], len(long)), "compressed"},
		"zstd":    {packed(0x8000, zstd[40:], 5), "compressed"},
	} {
		lib, err := image.Read("f", fatbin(c.entry))
		if err != nil || len(lib.Images) != 1 || lib.Images[0].Unusable == nil || !strings.Contains(lib.Images[0].Unusable.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, lib.Images, err)
		}
	}
}

// TestRefusedHosts reads files of hosts whose device code is not read: each is refused by name, with what to do.
func TestRefusedHosts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "g.c", []byte("void f(int *x) {\n#pragma omp target map(tofrom : x[0 : 1])\n  x[0]++;\n}\n"))
	run(t, dir, tool(t, "clang-19"), "-m32", "-c", "g.c", "-o", "32.o")
	run(t, dir, tool(t, "clang-19"), "-target", "x86_64-linux-gnux32", "-c", "g.c", "-o", "x32.o")
	run(t, dir, tool(t, "clang-19"), "-target", "s390x-linux-gnu", "-c", "g.c", "-o", "s390.o")
	write(t, dir, "stub.c", []byte("void GOMP_offload_register_ver(void);\nint f(void) { GOMP_offload_register_ver(); return 1; }\n"))
	run(t, dir, tool(t, "clang-19"), "-shared", "-fPIC", "stub.c", "-o", "gcc.so")
	write(t, dir, "code", []byte("intermediate"))
	write(t, dir, "h.c", []byte("int f(void) { return 1; }\n"))
	run(t, dir, tool(t, "clang-19"), "-c", "h.c", "-o", "h.o")
	run(t, dir, tool(t, "llvm-objcopy-19"), "--add-section", ".gnu.offload_lto_.opts=code", "h.o", "gcc.o")
	for name, want := range map[string]string{
		"32.o": "32-bit ELF file of i386", "x32.o": "32-bit ELF file of x86_64", "s390.o": "big-endian ELF file of s390x",
		"gcc.so": "program has target regions of GCC", "gcc.o": "object has target regions of GCC",
	} {
		lib, err := image.Read(name, read(t, filepath.Join(dir, name)))
		if err != nil || len(lib.Images) != 1 {
			t.Errorf("%s: %d images, %v", name, len(lib.Images), err)
			continue
		}
		err = image.Check(&lib)
		var coded *offload.Error
		if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if coded, _ = err.(*offload.Error); coded == nil || coded.Hint == "" || strings.Contains(coded.Hint, "shared object") {
			t.Errorf("%s: the hint is %+v", name, coded)
		}
	}
	// Objects that GCC itself compiled have such sections if a compiler for a device is installed beside it.
	if gcc, err := exec.LookPath("gcc"); err == nil {
		run(t, dir, gcc, "-c", "-fopenmp", "g.c", "-o", "g.o")
		lib, err := image.Read("g.o", read(t, dir+"/g.o"))
		if err != nil || offload.CodeOf(image.Check(&lib)) != offload.Unsupported {
			t.Errorf("g.o: %v, %v", err, image.Check(&lib))
		}
	}
}

// bundles returns a bundle of two images and the host's code in each form.
func bundles(t testing.TB) [][]byte {
	list := []bundler.Entry{
		{ID: "host-x86_64-unknown-linux-gnu-"}, {ID: "hipv4-amdgcn-amd-amdhsa--gfx906", Data: elf(224, 0x52f, 2)},
		{ID: "openmp-x86_64-pc-linux-gnu", Data: []byte("BC\xc0\xde bitcode")},
	}
	plain := bundler.WriteBinary(list, 1)
	out := [][]byte{plain, bundler.WriteBinary(list, 4096),
		[]byte("\n# __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx906\nnop\n\n# __CLANG_OFFLOAD_BUNDLE____END__ hip-amdgcn-amd-amdhsa--gfx906\n")}
	for version := 1; version <= 3; version++ {
		data, err := bundler.Frame{Version: version, Method: version % 2}.Deflate(plain)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, append(data, 0, 0), append(append(data[:len(data):len(data)], make([]byte, 6)...), data...))
	}
	return out
}

// depositFile returns a linked ELF file with sections of HIP, of the bundler and of CUDA, and with pointers beside a table of
// entries, which may describe images. Addresses are offsets.
func depositFile(hip, bundled, cuda, pointers []byte) []byte {
	names := "\x00.hip_fatbin\x00__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx906\x00.nv_fatbin\x00omp_offloading_entries\x00"
	at := func(name string) uint32 { return uint32(strings.Index(names, name)) }
	table := make([]byte, 32)
	constants := []byte("BC\xc0\xde constants")
	pointers = append(pointers, make([]byte, -len(pointers)&7)...)
	return elfFile(3, 62, []section{
		{name: at("omp_"), kind: 1, flags: 3, addr: 64 + 56, data: table},
		{kind: 1, flags: 2, addr: 64 + 56 + 32, data: append(constants, make([]byte, 24)...)},
		{kind: 1, flags: 3, addr: 64 + 56 + 32 + 40, data: pointers},
		{name: at(".hip"), kind: 1, flags: 2, data: hip},
		{name: at("__CLANG"), kind: 1, flags: 1 << 31, data: bundled},
		{name: at(".nv"), kind: 1, flags: 2, data: cuda},
		{kind: 3, data: []byte(names)},
	})
}

// FuzzDeposits reads and drops device code outside of containers: the contents of its sections, and descriptors of images.
func FuzzDeposits(f *testing.F) {
	words := func(list ...uint64) (b []byte) {
		for _, v := range list {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	const table, constants, pointers = 64 + 56, 64 + 56 + 32, 64 + 56 + 72
	described := words(1, pointers+32, table, table+32, constants, constants+14, table, table+32)
	for i, hip := range bundles(f) {
		cuda := fatbin(fatEntry(2, 86, 1, elf(190, 0x500556, 7)), fatEntry(1, 80, 1, []byte(ptx)))
		f.Add(hip, []byte("BC\xc0\xde"), cuda, described, uint8(i))
	}
	f.Fuzz(func(t *testing.T, hip, bundled, cuda, pointers []byte, mask uint8) {
		data := depositFile(hip, bundled, cuda, pointers)
		bounded(t, data, func() { checkRead(t, data) })
		checkDrop(t, data, mask)
	})
}

// TestDeposits reads a file with all forms of device code at once.
func TestDeposits(t *testing.T) {
	const table, constants, pointers = 64 + 56, 64 + 56 + 32, 64 + 56 + 72
	var described []byte
	for _, v := range []uint64{1, pointers + 32, table, table + 32, constants, constants + 14, table, table + 32} {
		described = le.AppendUint64(described, v)
	}
	data := depositFile(bundles(t)[0], []byte("BC\xc0\xde"), fatbin(fatEntry(1, 80, 1, []byte(ptx))), described)
	lib, err := image.Read("f", data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, img := range lib.Images {
		got = append(got, string(img.Kind))
	}
	if text := strings.Join(got, " "); text != "elf bitcode bitcode ptx bitcode" {
		t.Errorf("the images are %s", text)
	}
	for mask := 0; mask < 32; mask++ {
		checkDrop(t, data, uint8(mask))
	}
}
