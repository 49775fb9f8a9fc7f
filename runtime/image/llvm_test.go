package image_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

const hostTriple = "x86_64-pc-linux-gnu"

// llvm holds the tools, and the files that they made once for all tests.
type llvm struct {
	dir                                               string
	clang, packager, objcopy, ar, readelf, lld, strip string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

var (
	built     llvm
	buildOnce sync.Once
)

// llvmFiles returns the tools and a folder with clang's outputs for testdata/regions.c.
func llvmFiles(t testing.TB) *llvm {
	t.Helper()
	find := func(name string) string { return tool(t, name+"-19") }
	l := llvm{clang: find("clang"), packager: find("clang-offload-packager"), objcopy: find("llvm-objcopy"), ar: find("llvm-ar"),
		readelf: find("llvm-readelf"), lld: find("ld.lld"), strip: find("llvm-strip")}
	buildOnce.Do(func() {
		var err error
		if l.dir, err = os.MkdirTemp("", "images"); err != nil {
			t.Fatal(err)
		}
		built = l
		source, err := filepath.Abs("testdata/regions.c")
		if err != nil {
			t.Fatal(err)
		}
		clang := func(out string, flags ...string) {
			args := []string{"-O1", "-fopenmp", "-fopenmp-targets=" + hostTriple, source, "-o", out}
			run(t, l.dir, l.clang, append(args, flags...)...)
		}
		clang("a.o", "-c", "-DNAME=saxpy", "-DREQUIRES")
		clang("b.o", "-c", "-DNAME=other", "-ffunction-sections")
		clang("pie", "-DNAME=saxpy", "-DMAIN", "-DREQUIRES", "-fopenmp-version=51")
		clang("no-pie", "-DNAME=saxpy", "-DMAIN", "-no-pie")
		clang("relr", "-DNAME=saxpy", "-DMAIN", "-fuse-ld=lld", "-Wl,-z,pack-relative-relocs")
		clang("liba.so", "-DNAME=saxpy", "-fPIC", "-shared")
		run(t, l.dir, l.ar, "rc", "liba.a", "a.o", "b.o")
		run(t, l.dir, l.strip, "-o", "stripped", "pie")
		run(t, l.dir, l.packager, "pie", "--image=file=device.so,triple="+hostTriple)
		run(t, l.dir, l.packager, "a.o", "--image=file=device.o,triple="+hostTriple)
	})
	if built.dir == "" {
		t.Fatal("the files could not be built")
	}
	return &built
}

// extract returns the images that LLVM's packager extracts from a file for a target, in order.
func (l *llvm) extract(t testing.TB, path, triple string) [][]byte {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, l.packager, "--archive", path, "--image=file=all.a,triple="+triple)
	out := filepath.Join(dir, "all.a")
	if _, err := os.Stat(out); err != nil {
		return nil
	}
	return members(t, read(t, out))
}

// members returns the members of an archive that has no padding but to even sizes.
func members(t testing.TB, data []byte) (list [][]byte) {
	t.Helper()
	data = bytes.TrimPrefix(data, []byte("!<arch>\n"))
	for len(data) > 0 {
		var size int
		if _, err := fmt.Sscan(string(data[48:58]), &size); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimRight(string(data[:16]), " ")
		data = data[60:]
		if name != "/" && name != "//" {
			list = append(list, data[:size])
		}
		data = data[min(len(data), size+size%2):]
	}
	return list
}

// imagesOf returns the images that we find, read from memory and from a file.
func imagesOf(t testing.TB, path string) []*offload.Image {
	t.Helper()
	lib, err := image.Read("f", read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	again, err := image.Reader{}.ReadAt("f", f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(lib.Images, again.Images, func(a, b *offload.Image) bool {
		return a.Label == b.Label && a.Kind == b.Kind && a.Target == b.Target && bytes.Equal(a.Data, b.Data)
	}) || !slices.Equal(lib.Entries, again.Entries) || lib.Requires != again.Requires {
		t.Errorf("read from the file: %+v, %v; want %+v, %v", again.Images, again.Entries, lib.Images, lib.Entries)
	}
	return lib.Images
}

// compare checks that we find the images that LLVM's packager extracts, for each of the triples.
func (l *llvm) compare(t *testing.T, path string, triples ...string) {
	t.Helper()
	images := imagesOf(t, path)
	found := 0
	for _, triple := range triples {
		var ours [][]byte
		for _, img := range images {
			if img.Target == triple {
				ours = append(ours, img.Data)
			}
		}
		theirs := l.extract(t, path, triple)
		if !slices.EqualFunc(ours, theirs, bytes.Equal) {
			t.Errorf("%s, %s: %d images, LLVM extracts %d", filepath.Base(path), triple, len(ours), len(theirs))
		}
		found += len(theirs)
	}
	if found == 0 || found != len(images) {
		t.Errorf("%s: %d images, LLVM extracts %d", filepath.Base(path), len(images), found)
	}
}

// compareListing checks triple, architecture and producer of each image against what llvm-objdump lists.
func (l *llvm) compareListing(t *testing.T, path string) {
	t.Helper()
	var theirs, ours []string
	for line := range strings.Lines(string(run(t, l.dir, tool(t, "llvm-objdump-19"), "--offloading", path))) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && slices.Contains([]string{"arch", "triple", "producer"}, key) {
			theirs = append(theirs, strings.TrimSpace(value))
		} else if key == "arch" {
			theirs = append(theirs, "")
		}
	}
	for _, img := range imagesOf(t, path) {
		ours = append(ours, img.Meta["arch"], img.Target, cmp.Or(img.Producers, "none"))
	}
	if !slices.Equal(ours, theirs) {
		t.Errorf("%s: listed %q, LLVM lists %q", filepath.Base(path), ours, theirs)
	}
}

func TestImagesOfClang(t *testing.T) {
	l := llvmFiles(t)
	for _, name := range []string{"a.o", "b.o", "pie", "no-pie", "relr", "stripped", "liba.so"} {
		l.compare(t, filepath.Join(l.dir, name), hostTriple)
		l.dropEach(t, filepath.Join(l.dir, name), hostTriple)
	}
	img := imagesOf(t, filepath.Join(l.dir, "pie"))[0]
	if img.Label != "f[0]" || img.Kind != offload.ImageELF || img.Unusable != nil || !bytes.Equal(img.Data, read(t, l.dir+"/device.so")) {
		t.Errorf("%+v", img)
	}
}

// TestEmbeddedContainers reads containers of several shapes, embedded in several ways.
func TestEmbeddedContainers(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	ptxFile := write(t, dir, "k.ptx", []byte(ptx))
	big := write(t, dir, "big.ptx", append([]byte(ptx), bytes.Repeat([]byte("// comment\n"), 300_000)...))
	spirv := write(t, dir, "k.spv", append([]byte{3, 2, 0x23, 7}, make([]byte, 16)...))
	bitcode := write(t, dir, "k.bc", []byte("BC\xc0\xdeodd"))
	amd := write(t, dir, "k.amd", elf(224, 0x3f, 0))
	device := l.dir + "/device.so"
	triples := []string{hostTriple, "nvptx64-nvidia-cuda", "spirv64-unknown-unknown", "amdgcn-amd-amdhsa"}
	packed := map[string][]string{
		"one":      {"file=" + device + ",triple=" + hostTriple + ",kind=openmp"},
		"two":      {"file=" + device + ",triple=" + hostTriple + ",kind=openmp", "file=" + ptxFile + ",triple=nvptx64-nvidia-cuda,arch=sm_80,kind=openmp"},
		"same":     {"file=" + ptxFile + ",triple=nvptx64-nvidia-cuda,arch=sm_80,kind=cuda", "file=" + ptxFile + ",triple=nvptx64-nvidia-cuda,arch=sm_80,kind=openmp,feature=+ptx70"},
		"big":      {"file=" + big + ",triple=nvptx64-nvidia-cuda,arch=sm_80,kind=cuda"},
		"bitcode":  {"file=" + bitcode + ",triple=amdgcn-amd-amdhsa,arch=gfx90a,kind=hip"},
		"everyone": {"file=" + device + ",triple=" + hostTriple, "file=" + ptxFile + ",triple=nvptx64-nvidia-cuda,arch=sm_80", "file=" + spirv + ",triple=spirv64-unknown-unknown", "file=" + amd + ",triple=amdgcn-amd-amdhsa,arch=gfx90a", "file=" + bitcode + ",triple=amdgcn-amd-amdhsa,arch=gfx942"},
	}
	write(t, dir, "h.c", []byte("int NAME(void) { return 1; }\n"))
	write(t, dir, "m.c", []byte("int main(void) { return 0; }\n"))
	run(t, dir, l.clang, "-c", "-DNAME=g", "h.c", "-o", "g.o")
	run(t, dir, l.clang, "m.c", "-o", "plain")
	outer, plain := dir, dir+"/plain"
	for name, images := range packed {
		if testing.Short() && name != "everyone" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"-o", "c.bin"}
			for _, i := range images {
				args = append(args, "--image="+i)
			}
			run(t, dir, l.packager, args...)
			blob := read(t, dir+"/c.bin")
			ours, err := image.ReadBundle("c", blob)
			if err != nil {
				t.Fatal(err)
			}
			v1, err := image.WriteBundle(1, ours)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "v1.bin", v1)
			write(t, dir, "twice.bin", append(bytes.Clone(blob), v1...))
			run(t, dir, l.clang, "-c", "-DNAME=h", outer+"/h.c", "-o", "h.o", "-Xclang", "-fembed-offload-object=c.bin")
			run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=v1.bin", "--set-section-type", ".llvm.offloading=0x6fff4c0b", outer+"/g.o", "g.o")
			run(t, dir, l.lld, "-r", "h.o", "g.o", "-o", "joined.o")
			run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=v1.bin", "--set-section-type", ".llvm.offloading=0x6fff4c0b", plain, "program")
			for _, file := range []string{"c.bin", "v1.bin", "twice.bin", "h.o", "g.o", "joined.o", "program"} {
				l.compare(t, filepath.Join(dir, file), triples...)
				l.compareListing(t, filepath.Join(dir, file))
				l.dropEach(t, filepath.Join(dir, file), triples...)
			}
			// A section without the type is found by its name.
			run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=c.bin", plain, "untyped")
			if got := imagesOf(t, dir+"/untyped"); len(got) != len(images) {
				t.Errorf("found by name: %d images, want %d", len(got), len(images))
			}
			// LLVM reads no compressed containers before version 23, and objcopy does not look into them.
			for c, how := range compressions {
				write(t, dir, "v3.bin", append(compressed(t, how, ours), compressed(t, how, ours[:1])...))
				run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=v3.bin", plain, "v3")
				got := imagesOf(t, dir+"/v3")
				if len(got) != len(images)+1 {
					t.Errorf("%s: %d images, want %d", c, len(got), len(images)+1)
					continue
				}
				for i, e := range ours {
					if !bytes.Equal(got[i].Data, e.Data) {
						t.Errorf("%s: image %d has other bytes", c, i)
					}
				}
			}
		})
	}
}

func TestObjectWithoutImages(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	write(t, dir, "h.c", []byte("int f(void) { return 1; }\n"))
	run(t, dir, l.clang, "-shared", "-fPIC", "h.c", "-o", "h.so")
	if got := imagesOf(t, dir+"/h.so"); len(got) != 1 || got[0].Label != "f" || got[0].Kind != offload.ImageELF {
		t.Errorf("a shared object: %+v", got)
	}
	// An empty section holds no images.
	write(t, dir, "zeros", make([]byte, 24))
	run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=zeros", "h.so", "zeros.so")
	if got := imagesOf(t, dir+"/zeros.so"); len(got) != 1 || got[0].Label != "f" {
		t.Errorf("a section of zeros: %+v", got)
	}
	write(t, dir, "junk", []byte("junk"))
	run(t, dir, l.objcopy, "--add-section", ".llvm.offloading=junk", "h.so", "junk.so")
	if _, err := image.Read("f", read(t, dir+"/junk.so")); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), "no header") {
		t.Errorf("a section of junk: %v", err)
	}
}
