package offloadjs_test

import (
	"os"
	"strings"
	"testing"
)

// TestLibraryEntries checks the entries of a library in a script, and as printed at the prompt.
func TestLibraryEntries(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("../../runtime/image/testdata/new-layout.so")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/lib.so", data, 0o644); err != nil {
		t.Fatal(err)
	}
	got := runNative(t, dir, `
		import { register } from 'offload'
		const lib = await register('lib.so')
		for (const e of lib.entries) console.log(e.name, e.kind, e.size, e.flags)
		console.log(lib)
		console.log(lib.images[0].decisions.length > 0)
		console.log(lib)
	`)
	for _, want := range []string{
		"kernel kernel 0 0\nvar link 4 1\n",
		"Library \"lib.so\" of 1 image, ",
		"\n  lib.so: elf for x86_64\n",
		"    cpu: ",
		"true\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
