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

// libraryOf reads a file.
func libraryOf(t testing.TB, path string) offload.Library {
	t.Helper()
	lib, err := image.Read("f", read(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return lib
}

func TestEntriesOfClang(t *testing.T) {
	l := llvmFiles(t)
	const usm = 8 // unified shared memory, which makes the variable a pointer
	for _, c := range []struct {
		file                         string
		kernels, indirect, variables int
		requires                     uint32
	}{
		{"a.o", 2, 0, 1, usm}, {"b.o", 2, 0, 1, 0}, {"pie", 2, 1, 1, usm}, {"stripped", 2, 1, 1, usm}, {"no-pie", 2, 1, 1, 0},
		{"relr", 2, 1, 1, 0}, {"liba.so", 2, 0, 1, 0}, {"device.so", 2, 1, 0, 0},
		{"liba.a", 3, 0, 2, usm}, // both objects have a kernel of the same name
	} {
		imagesOf(t, filepath.Join(l.dir, c.file)) // the same from memory and from a file
		lib := libraryOf(t, filepath.Join(l.dir, c.file))
		var kernels, indirect, variables int
		for _, e := range lib.Entries {
			switch {
			case e.Kind == offload.EntryKernel && strings.HasPrefix(e.Name, "__omp_offloading_") && e.Size == 0:
				kernels++
			case e.Kind == offload.EntryVariable && (e.Name == "table" && e.Size == 16 || e.Name == "table_decl_tgt_ref_ptr" && e.Size == 8) && e.Flags == 0:
				variables++
			case e.Kind == offload.EntryIndirect && strings.Contains(e.Name, "twice") && e.Size == 8 && e.Flags == 8:
				indirect++
			default:
				t.Errorf("%s: entry %+v", c.file, e)
			}
		}
		if kernels != c.kernels || indirect != c.indirect || variables != c.variables || lib.Requires != c.requires {
			t.Errorf("%s: requires %d, entries %+v", c.file, lib.Requires, lib.Entries)
		}
	}
	// Each entry is a symbol of the device image.
	symbols := string(run(t, l.dir, l.readelf, "-W", "--dyn-syms", "device.so"))
	for _, e := range libraryOf(t, l.dir+"/pie").Entries {
		if !strings.Contains(symbols, " "+e.Name+"\n") {
			t.Errorf("the device image has no symbol %s", e.Name)
		}
	}
}

// newLayout has a table of the layout since LLVM 20, as clang emits it.
const newLayout = `target triple = "TRIPLE"
%entry = type { i64, i16, i16, i32, ptr, ptr, i64, i64, ptr }
@k = internal constant [7 x i8] c"kernel\00"
@v = internal constant [4 x i8] c"var\00"
@s = internal constant [8 x i8] c"surface\00"
@g = global i32 7
@e0 = constant %entry { i64 0, i16 1, i16 1, i32 0, ptr @g, ptr @k, i64 0, i64 0, ptr null }, section "llvm_offload_entries", align 8
@e1 = constant %entry { i64 0, i16 1, i16 1, i32 1, ptr @g, ptr @v, i64 4, i64 77, ptr null }, section "llvm_offload_entries", align 8
@e2 = constant %entry { i64 0, i16 1, i16 1, i32 16, ptr null, ptr @k, i64 0, i64 8, ptr null }, section "llvm_offload_entries", align 8
@e3 = constant %entry { i64 0, i16 1, i16 2, i32 2, ptr @g, ptr @s, i64 0, i64 1, ptr null }, section "llvm_offload_entries", align 8
`

func TestNewEntryLayout(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	want := []offload.Entry{
		{Name: "kernel"},
		{Name: "var", Kind: offload.EntryLink, Flags: 1, Size: 4, Data: 77},
		{Name: "surface", Kind: offload.EntryVariable, Flags: 2, Data: 1},
	}
	for _, machine := range []string{"x86_64", "aarch64", "riscv64", "loongarch64", "powerpc64le"} {
		write(t, dir, "e.ll", []byte(strings.Replace(newLayout, "TRIPLE", machine+"-linux-gnu", 1)))
		object, shared, packed := machine+".o", machine+".so", machine+"-relr.so"
		run(t, dir, l.clang, "-c", "-fPIC", "-Wno-override-module", "--target="+machine+"-linux-gnu", "e.ll", "-o", object)
		run(t, dir, l.lld, "-shared", object, "-o", shared)
		run(t, dir, l.lld, "-shared", "-z", "pack-relative-relocs", object, "-o", packed)
		for _, file := range []string{object, shared, packed} {
			imagesOf(t, filepath.Join(dir, file))
			if lib := libraryOf(t, filepath.Join(dir, file)); !slices.Equal(lib.Entries, want) || lib.Requires != 8 {
				t.Errorf("%s: requires %d, %+v", file, lib.Requires, lib.Entries)
			}
		}
	}
	// A version that is not known, and a table that is cut.
	data := read(t, dir+"/x86_64.o")
	at := bytes.Index(data, []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0})
	bad := bytes.Clone(data)
	bad[at+8] = 2
	if _, err := image.Read("f", bad); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), "llvm_offload_entries, entry 1: version 2 is unknown") {
		t.Errorf("version 2: %v", err)
	}
	write(t, dir, "cut", make([]byte, 50))
	run(t, dir, l.objcopy, "--add-section", "omp_offloading_entries=cut", "x86_64.o", "cut.o")
	if _, err := image.Read("f", read(t, dir+"/cut.o")); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), "no multiple of 32") {
		t.Errorf("a cut table: %v", err)
	}
}

// FuzzObject reads host objects: embedded containers, entry tables, relocations, symbols and segments.
func FuzzObject(f *testing.F) {
	f.Add(elf(62, 0, 0))
	for _, seed := range []string{"new-layout.o", "new-layout.so", "embedded.o"} {
		f.Add(read(f, "testdata/"+seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 6 && !bytes.HasPrefix(data, []byte("!<")) {
			data = bytes.Clone(data)
			copy(data, "\x7fELF\x02\x01")
		}
		bounded(t, data, func() { checkRead(t, data) })
	})
}
