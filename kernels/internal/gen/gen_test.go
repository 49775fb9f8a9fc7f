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
	library, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := host(m)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"../../math.ir.bin": library, "../../../lang/kernel/libm/libm.go": text} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run `go generate ./kernels`", file)
		}
	}
}
