//go:build race

package cpu_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
)

// Package tests runs the suite without the race detector.
func TestConformanceUnderRace(t *testing.T) {
	options := conform.Options{Report: func(r conform.Result) {
		output := strings.Join(r.Output, "\n")
		switch r.Status {
		case conform.Failed:
			t.Errorf("%s failed after %v:\n%s", r.Name, r.Elapsed, output)
		case conform.Skipped:
			t.Logf("%s was skipped: %s", r.Name, output)
		}
	}}
	if _, err := conform.Run(context.Background(), cpu.New(cpu.Options{}), "cpu", options); err != nil {
		t.Fatal(err)
	}
}
