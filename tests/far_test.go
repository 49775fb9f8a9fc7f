package tests

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/conform/far"
)

// TestFarConformance runs the conformance suite on a device without the optional interfaces of the contract.
func TestFarConformance(t *testing.T) {
	match := func(name string) bool { return !testing.Short() || name != "copy/256-mib" }
	_, err := conform.Run(t.Context(), far.Wrap("far", cpu.New(cpu.Options{Devices: 2})), "far:0", conform.Options{Match: match, Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			switch text := strings.Join(r.Output, "\n"); r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
}
