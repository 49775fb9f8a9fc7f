package cpu_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
)

func TestConformance(t *testing.T) {
	_, err := conform.Run(context.Background(), cpu.New(cpu.Options{Devices: 2}), "cpu", conform.Options{Report: func(r conform.Result) {
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
}
