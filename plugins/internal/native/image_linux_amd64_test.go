//go:build !nonative

package native

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/clang"
)

// TestStub loads a library without symbols and an image that needs it by name.
func TestStub(t *testing.T) {
	const soname = "libomptarget.so.99.7"
	if f, err := elf.NewFile(bytes.NewReader(stub(soname))); err != nil || f.Type != elf.ET_DYN || len(f.Progs) != 3 {
		t.Fatalf("%+v, %v", f, err)
	}
	library := clang.Build(t, "empty.c", "int nothing;", "-shared", "-fPIC", "-Wl,-soname,"+soname)
	data := clang.SharedObject(t, "int answer = 42;", "-Wl,--no-as-needed", library)
	if o, err := parse("needs", data); err != nil || !slices.Contains(o.needed, soname) {
		t.Fatalf("%+v, %v", o, err)
	}
	for range 3 {
		img, err := Load(t.Context(), "needs", data)
		if err != nil {
			t.Fatal(err)
		}
		s, _, ok := img.Lookup("answer")
		if !ok || img.Memory(s)[0] != 42 {
			t.Errorf("answer: %v", ok)
		}
		if err := img.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := purego.Dlopen(soname, purego.RTLD_NOW); err != nil {
		t.Errorf("the stub is not known by its name: %v", err)
	}
}

// TestLoaderRefuses checks that an image with unresolved needs is rejected with the loader's reason.
func TestLoaderRefuses(t *testing.T) {
	_, err := Load(t.Context(), "lacking", clang.SharedObject(t, "void lacking(void); void f(void) { lacking(); }"))
	if offload.CodeOf(err) != offload.LinkFailure || !strings.Contains(err.Error(), "lacking") {
		t.Errorf("an undefined symbol: %v", err)
	}
	library := clang.Build(t, "empty.c", "int nothing;", "-shared", "-fPIC", "-Wl,-soname,libnowhere.so.1")
	_, err = Load(t.Context(), "needs", clang.SharedObject(t, "int x;", "-Wl,--no-as-needed", library))
	if offload.CodeOf(err) != offload.LinkFailure || !strings.Contains(err.Error(), "libnowhere.so.1") {
		t.Errorf("a missing library: %v", err)
	}
}

// TestResident checks that an image that the loader retains is reported, and that later images are distinct.
func TestResident(t *testing.T) {
	img, err := Load(t.Context(), "kept", clang.SharedObject(t, "int x = 7;", "-Wl,-z,nodelete"))
	if err != nil {
		t.Fatal(err)
	}
	if err := img.Close(); offload.CodeOf(err) != offload.OutOfResources || !strings.Contains(err.Error(), "keeps the image") {
		t.Errorf("%v", err)
	}
	other := load(t, "int x = 8;")
	if s, _, _ := other.Lookup("x"); other.Memory(s)[0] != 8 {
		t.Errorf("x is %d", other.Memory(s)[0])
	}
}

// TestSameImageTwice checks that two loads of the same bytes have separate variables.
func TestSameImageTwice(t *testing.T) {
	data := clang.SharedObject(t, "int x = 1;")
	var images [2]*Image
	for i := range images {
		img, err := Load(t.Context(), "same", data)
		if err != nil {
			t.Fatal(err)
		}
		defer img.Close()
		s, _, _ := img.Lookup("x")
		if got := img.Memory(s)[0]; got != 1 {
			t.Errorf("load %d finds x at %d", i, got)
		}
		img.Memory(s)[0] = 9
		images[i] = img
	}
}

// TestParseDamaged parses truncated and modified images: each yields an error or an object without a panic.
func TestParseDamaged(t *testing.T) {
	data := clang.SharedObject(t, `
int x;
__attribute__((constructor)) static void c(void) { x = 1; }
void f(void) {}`)
	try := func(what string, damaged []byte) {
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("%s: %v", what, p)
			}
		}()
		o, err := parse("damaged", damaged)
		if err != nil && offload.CodeOf(err) == "" {
			t.Fatalf("%s: %v has no code", what, err)
		}
		if err == nil && (o.initArray.bytes > o.span || o.finiArray.bytes > o.span) {
			t.Fatalf("%s: tables of %d and %d bytes in an image of %d", what, o.initArray.bytes, o.finiArray.bytes, o.span)
		}
	}
	for n := 0; n < len(data); n += 7 {
		try("truncated", data[:n])
	}
	r := rand.New(rand.NewPCG(3, 5))
	for range 20000 {
		damaged := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			damaged[r.IntN(len(damaged))] = byte(r.Uint32())
		}
		for range r.IntN(3) { // favors the headers, which are a small part
			damaged[r.IntN(1024)] = byte(r.Uint32())
		}
		try("changed", damaged)
	}
}

// TestGoLibrary refuses a library that Go linked, by its sections or, stripped of these, by its note.
func TestGoLibrary(t *testing.T) {
	for name, source := range map[string]string{
		"section": `__attribute__((section(".go.buildinfo"))) int info = 1;`,
		"note":    `__attribute__((section(".note.go"), used)) static const struct { int name, size, type; char owner[4], text[4]; } note = {4, 4, 4, "Go", "id"};`,
	} {
		_, err := Load(t.Context(), name, clang.SharedObject(t, source, "-Wl,--build-id=none"))
		if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "Go library (-buildmode=c-shared)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
