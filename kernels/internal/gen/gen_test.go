package main

import (
	"bytes"
	"os"
	"testing"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	m, err := compile("../../common/math")
	if err != nil {
		t.Fatal(err)
	}
	functions, err := modules(m)
	if err != nil {
		t.Fatal(err)
	}
	text, err := host(m)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadDir("../../math")
	if err != nil || len(written) != len(functions) {
		t.Errorf("%d files for %d functions (%v): run `go generate ./kernels`", len(written), len(functions), err)
	}
	want := map[string][]byte{"../../../lang/kernel/libm/libm.go": text}
	for name, data := range functions {
		want["../../math/"+name] = data
	}
	for file, want := range want {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run `go generate ./kernels`", file)
		}
	}
}
