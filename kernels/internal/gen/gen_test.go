package main

import (
	"bytes"
	"os"
	"testing"
)

func TestEmbeddedLibraryIsUpToDate(t *testing.T) {
	want, err := compile("../../common/math")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../math.ir.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("kernels/math.ir.bin is stale: run `go generate ./kernels`")
	}
}
