package cpu_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
)

func TestConformance(t *testing.T) {
	for _, engine := range []string{"", "cpu-engine=avx2", "cpu-engine=interp"} {
		t.Run(engine, func(t *testing.T) { conformance(t, engine) })
	}
}

func conformance(t *testing.T, engine string) {
	plugin := cpu.New(cpu.Options{Devices: 2, Debug: engine})
	if p, err := plugin.Open(t.Context()); offload.CodeOf(err) == offload.Unsupported {
		t.Skip(err)
	} else if err == nil {
		_ = p.Close()
	}
	results, err := conform.Run(context.Background(), plugin, "cpu", conform.Options{Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			text := strings.Join(r.Output, "\n")
			switch r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
			t.Log(r.Elapsed)
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, conform.Names()) {
		t.Errorf("results of %q, and the suite lists %q", names, conform.Names())
	}
}
