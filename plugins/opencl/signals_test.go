package opencl_test

import (
	"testing"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/conform"
)

// TestSignals checks all signal handlers after each stage of a driver's life, since a driver may load code in any of them.
func TestSignals(t *testing.T) {
	plugin := available(t, opencl.Options{})
	look := func(stage string) {
		if err := process.CheckSignals(); err != nil {
			t.Errorf("after %s: %v", stage, err)
		}
	}
	look("opening and closing")
	stages := map[string]bool{}
	_, err := conform.Run(t.Context(), plugin, "opencl:0", conform.Options{Match: func(name string) bool { return name != "copy/256-mib" },
		Report: func(r conform.Result) { look(r.Name); stages[r.Name] = true }})
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) < 30 {
		t.Errorf("only %d stages", len(stages))
	}
}
