package tests

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

var update = flag.Bool("update", false, "write the files that hold what is expected")

// TestConformanceKernelsAreUpToDate compares the text of the conformance suite's kernels with the embedded binary form. The
// suite embeds that form because it must not import package ir.
func TestConformanceKernelsAreUpToDate(t *testing.T) {
	const text, binary = "../runtime/conform/testdata/kernels.ir", "../runtime/conform/testdata/kernels.irb"
	source, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.ParseText("kernels.ir", string(source))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	want, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(binary, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(binary); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go test ./tests -update", binary)
	}
}
