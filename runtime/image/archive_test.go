package image_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

func labels(lib offload.Library) (list []string) {
	for _, img := range lib.Images {
		list = append(list, img.Label)
	}
	return list
}

// ar returns an archive of members: name and contents in turn.
func ar(members ...string) []byte {
	out := []byte("!<arch>\n")
	for i := 0; i < len(members); i += 2 {
		out = fmt.Appendf(out, "%-16s%-12s%-6s%-6s%-8s%-10d`\n%s", members[i], "0", "0", "0", "644", len(members[i+1]), members[i+1])
		if len(out)%2 == 1 {
			out = append(out, '\n')
		}
	}
	return out
}

func TestArchivesOfLLVM(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	long := "a-member-whose-name-is-longer-than-sixteen-characters.o"
	write(t, dir, long, read(t, l.dir+"/a.o"))
	write(t, dir, "b.o", read(t, l.dir+"/b.o"))
	write(t, dir, "h.c", []byte("int f(void) { return 1; }\n"))
	run(t, dir, l.clang, "-c", "h.c", "-o", "h.o")
	write(t, dir, "odd.ptx", []byte(strings.TrimRight(ptx, "\n")+" \n"))
	want := []string{"lib.a(" + long + ")[0]", "lib.a(b.o)[0]"}
	for _, format := range []string{"gnu", "bsd", "darwin"} {
		name := format + ".a"
		run(t, dir, l.ar, "rcs", "--format="+format, name, "h.o", long, "b.o")
		l.compare(t, filepath.Join(dir, name), hostTriple)
		lib, err := image.Read("lib.a", read(t, filepath.Join(dir, name)))
		if err != nil || !slices.Equal(labels(lib), want) {
			t.Errorf("%s: %q, %v", format, labels(lib), err)
		}
	}
	l.compare(t, filepath.Join(l.dir, "liba.a"), hostTriple)

	// Members that are images themselves; the plain host object is left out.
	run(t, dir, l.ar, "rcs", "mixed.a", "h.o", "odd.ptx", "b.o")
	lib, err := image.Read("m.a", read(t, dir+"/mixed.a"))
	if err != nil || !slices.Equal(labels(lib), []string{"m.a(odd.ptx)", "m.a(b.o)[0]"}) || lib.Images[0].Kind != offload.ImagePTX {
		t.Errorf("%q, %v", labels(lib), err)
	}

	run(t, dir, l.ar, "rcs", "--thin", "thin.a", long, "b.o", "h.o")
	thin := read(t, dir+"/thin.a")
	if _, err := image.Read("lib.a", thin); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), "thin") || !strings.Contains(err.Error(), long) {
		t.Errorf("a thin archive: %v", err)
	}
	r := image.Reader{Resolve: func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, path)) }}
	if lib, err = r.Read("lib.a", thin); err != nil || !slices.Equal(labels(lib), want) {
		t.Errorf("a thin archive: %q, %v", labels(lib), err)
	}
	r.Resolve = func(string) ([]byte, error) { return nil, errors.New("no such file") }
	if _, err := r.Read("lib.a", thin); offload.CodeOf(err) != offload.HostIO || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a thin archive without its members: %v", err)
	}
}

func TestArchiveMembers(t *testing.T) {
	lib, err := image.Read("lib.a", ar("//", "long/name.o/\nother.o/\n", "k.ptx/", ptx, "/0", ptx, "/13", string(compressed(t, image.Zstd, entries)), "bad.o", "\x7fELF\x02\x01", "note.txt", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"lib.a(k.ptx)", "lib.a(long/name.o)", "lib.a(other.o)[0]", "lib.a(other.o)[1]", "lib.a(other.o)[2]", "lib.a(bad.o)"}
	if !slices.Equal(labels(lib), want) || lib.Images[5].Unusable == nil || lib.Images[4].Unusable != nil {
		t.Errorf("%q", labels(lib))
	}
	if lib, err = image.Read("lib.a", ar("note.txt", "hello")); err != nil || len(lib.Images) != 1 || lib.Images[0].Unusable == nil {
		t.Errorf("an archive of text: %v, %v", labels(lib), err)
	}
	if _, err := image.Split("lib.a", ar("note.txt", "hello")); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), "lib.a(note.txt)") {
		t.Errorf("an archive of text: %v", err)
	}
	good := ar("k.ptx/", ptx)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":           {[]byte("!<arch>\n"), "no members"},
		"truncated head":  {good[:40], "truncated"},
		"truncated body":  {good[:90], "beyond the end"},
		"size":            {bytes.Replace(good, []byte("644"), []byte("   "), 1)[:8+48+60], ""},
		"long name":       {ar("/9", ptx), "byte 8: its name is \"/9\", with a table of 0 bytes"},
		"name table":      {ar("//", "x", "/5", ptx), "its name"},
		"BSD name":        {ar("#1/9999", ptx), "its name"},
		"BSD name beyond": {ar("#1/4000", ptx), "its name"},
		"header":          {append(bytes.Clone(good), make([]byte, 60)...), "does not end"},
		"nested":          {ar("in.a/", string(good)), ""},
	} {
		_, err := image.Split("lib.a", c.data)
		if offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(ar("//", "long/name.o/\n", "/0", ptx, "b.o", string(compressed(f, image.Zlib, entries))))
	f.Add(ar("#1/8", "name.ptx"+ptx, "__.SYMDEF", "1234", "x.o", string(elf(62, 0, 0))))
	f.Add(append([]byte("!<thin>\n"), ar("/", "", "x.o/", "")[8:]...))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounded(t, data, func() { checkRead(t, append([]byte("!<arch>\n"), data[min(8, len(data)):]...)) })
	})
}
