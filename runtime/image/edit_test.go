package image_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// dropped returns the bytes of a file without the images that a function selects.
func dropped(t testing.TB, data []byte, selects func(*offload.Image) bool) ([]byte, *image.Edit) {
	t.Helper()
	e, err := image.Reader{}.Drop("f", bytes.NewReader(data), int64(len(data)), selects)
	if err != nil {
		t.Fatal(err)
	}
	out := e.Apply(data)
	if uint64(len(out)) != e.Size {
		t.Errorf("%d bytes, planned %d", len(out), e.Size)
	}
	return out, e
}

// forTriple returns a function that selects the images of a triple.
func forTriple(triple string) func(*offload.Image) bool {
	return func(img *offload.Image) bool { return img.Target == triple }
}

// dropEach drops each triple from a file, and checks with LLVM's tools that the other images and the file are as before.
func (l *llvm) dropEach(t *testing.T, path string, triples ...string) {
	t.Helper()
	data := read(t, path)
	before := imagesOf(t, path)
	for _, triple := range triples {
		var want [][]byte
		for _, img := range before {
			if img.Target != triple {
				want = append(want, img.Data)
			}
		}
		if len(want) == len(before) {
			continue
		}
		out, edit := dropped(t, data, forTriple(triple))
		name := fmt.Sprintf("%s without %s", filepath.Base(path), triple)
		if len(edit.Kept) != len(want) || len(edit.Dropped) != len(before)-len(want) {
			t.Errorf("%s: %d kept, %d dropped", name, len(edit.Kept), len(edit.Dropped))
		}
		for _, img := range edit.Dropped {
			if bytes.Contains(out, img.Data) {
				t.Errorf("%s: the dropped image is still there", name)
			}
		}
		file := write(t, t.TempDir(), filepath.Base(path), out)
		if bytes.HasPrefix(data, []byte("\x7fELF")) || bytes.HasPrefix(data, []byte("!<arch>")) {
			// The headers and tables are well formed: readelf warns of those that are not.
			cmd := exec.Command(l.readelf, "--all", file)
			if text, err := cmd.CombinedOutput(); err != nil || bytes.Contains(text, []byte("warning:")) {
				t.Errorf("%s: readelf: %v\n%.2000s", name, err, text)
			}
		}
		if len(want) == 0 {
			lib, err := image.Read("f", out)
			if err != nil || slices.ContainsFunc(lib.Images, func(img *offload.Image) bool { return img.Label == "f[0]" }) {
				t.Errorf("%s: images remain: %v, %v", name, lib.Images, err)
			}
			continue
		}
		var got [][]byte
		for _, img := range imagesOf(t, file) {
			got = append(got, img.Data)
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %d images, want %d", name, len(got), len(want))
		}
		var rest []string
		for _, other := range triples {
			if other != triple {
				rest = append(rest, other)
			}
		}
		l.compare(t, file, rest...)
	}
}

func TestDropFromContainers(t *testing.T) {
	for name, pack := range map[string]func([]image.BundleEntry) ([]byte, error){
		"version 1": func(l []image.BundleEntry) ([]byte, error) { return image.WriteBundle(1, l) },
		"version 2": func(l []image.BundleEntry) ([]byte, error) { return image.WriteBundle(2, l) },
		"version 3": func(l []image.BundleEntry) ([]byte, error) { return image.WriteBundle(3, l) },
		"zlib":      func(l []image.BundleEntry) ([]byte, error) { return image.WriteCompressed(image.Zlib, l) },
		"zstd":      func(l []image.BundleEntry) ([]byte, error) { return image.WriteCompressed(image.Zstd, l) },
	} {
		data, err := pack(entries)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, data...) // two containers
		for mask := 1; mask < 64; mask++ {
			i := 0
			out, edit := dropped(t, data, func(*offload.Image) bool { i++; return mask>>(i-1)&1 == 1 })
			var want []image.BundleEntry
			for i := range 6 {
				if mask>>i&1 == 0 {
					want = append(want, entries[i%3])
				}
			}
			got, err := image.ReadBundle("f", out)
			if err != nil && mask != 63 || !sameEntries(got, want) {
				t.Errorf("%s without %b: %d entries, %v", name, mask, len(got), err)
			}
			if len(out) >= len(data) || len(edit.Kept) != len(want) {
				t.Errorf("%s without %b: %d bytes of %d, %d images", name, mask, len(out), len(data), len(edit.Kept))
			}
		}
	}
}

func TestDropErrors(t *testing.T) {
	data, err := image.WriteBundle(1, entries)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		code offload.Code
		says string
	}{
		"nothing selected": {data, offload.NotFound, "no image is selected"},
		"an image alone":   {[]byte(ptx), offload.Unsupported, "not in a container"},
		"damaged":          {data[:len(data)-9], offload.InvalidBinary, "it says"},
		"thin archive":     {[]byte("!<thin>\n"), offload.Unsupported, "thin"},
	} {
		_, err := image.Reader{}.Drop("f", bytes.NewReader(c.data), int64(len(c.data)), forTriple("riscv64"))
		if offload.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDropFromArchives checks that edited archives of several kinds keep their members, names, contents and symbols.
func TestDropFromArchives(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	long := strings.Repeat("a-long-name-", 4) + ".o"
	write(t, dir, long, read(t, l.dir+"/b.o"))
	odd, err := image.WriteBundle(1, entries[:2])
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "even.bin", odd)
	write(t, dir, "odd.bin", append(odd, 0)) // LLVM does not read it
	write(t, dir, "text", []byte("abc"))
	for _, c := range []struct{ format, first string }{{"gnu", "odd.bin"}, {"gnu", "even.bin"}, {"bsd", "odd.bin"}, {"bsd", "even.bin"}} {
		format := c.format
		path := filepath.Join(dir, format+c.first+".a")
		run(t, dir, l.ar, "rcs", "--format="+format, path, c.first, "text", l.dir+"/a.o", long)
		before := members(t, read(t, path))
		symbols := armap(t, path)
		for _, triple := range []string{hostTriple, "nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu"} {
			out, _ := dropped(t, read(t, path), forTriple(triple))
			changed := write(t, dir, "changed.a", out)
			if got := armap(t, changed); got != symbols {
				t.Errorf("%s without %s: other symbols:\n%s", format, triple, got)
			}
			if got, want := run(t, dir, l.ar, "t", changed), run(t, dir, l.ar, "t", path); !bytes.Equal(got, want) {
				t.Errorf("%s without %s: members %q, want %q", format, triple, got, want)
			}
			after := members(t, out)
			if len(after) != len(before) {
				t.Fatalf("%s without %s: %d members, want %d", format, triple, len(after), len(before))
			}
			// The linker finds the members by the archive's symbols.
			write(t, dir, "main.c", []byte("int sum(int n, int *x);\nint main(void) { int x[2] = {3, 4}; return sum(2, x) != 7; }\n"))
			if triple == hostTriple || c.first == "odd.bin" || format == "bsd" { // GNU's linker does not read BSD's symbol table
				continue
			}
			run(t, dir, l.clang, "-fopenmp", "-fopenmp-targets="+hostTriple, "main.c", changed, "-o", "linked")
			program(t, dir, filepath.Join(dir, "linked"))
		}
	}
}

// armap returns the symbol table of an archive, with the name of the member that each symbol's offset leads to.
func armap(t testing.TB, path string) string {
	t.Helper()
	out, _ := exec.Command(tool(t, "llvm-nm-19"), "--print-armap", path).Output() // llvm-nm fails at members that are not objects
	table, _, ok := strings.Cut(string(out), "\n\n")
	if !ok || !strings.Contains(table, "sum in ") {
		t.Fatalf("no symbol table in %q", out)
	}
	return table
}

// program runs a program under LLVM's own runtime.
func program(t testing.TB, dir, path string, env ...string) string {
	t.Helper()
	cmd := exec.Command(path)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH=/usr/lib/llvm-19/lib"), env...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, text)
	}
	return string(text)
}

// FuzzDrop drops images of a mutated file: the remaining images are unchanged.
func FuzzDrop(f *testing.F) {
	for version := 1; version <= 3; version++ {
		data, err := image.WriteBundle(version, entries)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(1))
		f.Add(append([]byte("!<arch>\nk/              0           0     0     644     "+fmt.Sprintf("%-10d`\n", len(data))), data...), uint8(2))
	}
	f.Add(compressed(f, image.Zstd, entries), uint8(1))
	for _, name := range []string{"embedded.o", "new-layout.o", "new-layout.so"} {
		f.Add(read(f, "testdata/"+name), uint8(1))
	}
	for _, data := range bundles(f) {
		f.Add(data, uint8(1))
		f.Add(data, uint8(2))
	}
	f.Fuzz(checkDrop)
}

// checkDrop drops the images of a mask, and checks that the others stay.
func checkDrop(t *testing.T, data []byte, mask uint8) {
	bounded(t, data, func() {
		i := 0
		e, err := image.Reader{}.Drop("fuzz", bytes.NewReader(data), int64(len(data)), func(*offload.Image) bool {
			i++
			return mask>>((i-1)%8)&1 == 1
		})
		if err != nil {
			if code := offload.CodeOf(err); code != offload.InvalidBinary && code != offload.Unsupported && code != offload.NotFound {
				t.Fatalf("code %q: %v", code, err)
			}
			return
		}
		out := e.Apply(data)
		// The containers that stay have the images that stay.
		n := 0
		again, err := image.Reader{}.Drop("fuzz", bytes.NewReader(out), int64(len(out)), func(*offload.Image) bool { n++; return false })
		if offload.CodeOf(err) != offload.NotFound && offload.CodeOf(err) != offload.Unsupported || again != nil {
			t.Fatalf("after the change: %v", err)
		}
		if n != len(e.Kept) {
			t.Fatalf("%d images are left, want %d", n, len(e.Kept))
		}
	})
}
