package opencl_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestExact compares arithmetic at the first kernel: a driver that flushes subnormals or reorders sums loses the feature
// Exact.
func TestExact(t *testing.T) {
	for name, c := range map[string]struct {
		options string
		exact   bool
	}{"as promised": {"", true}, "fast": {" -cl-fast-relaxed-math", false}} {
		t.Run(name, func(t *testing.T) {
			p, err := available(t, opencl.Options{BuildOptions: c.options}).Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = p.Close() }()
			d := p.Devices()[0]
			if !d.Info().Features.Exact {
				t.Skip("the driver does not promise exact arithmetic")
			}
			empty := &ir.Kernel{Name: "empty", Real: ir.F32, Body: &ir.Block{Instrs: []*ir.Instr{{Op: ir.Return}}}, Sites: []ir.Site{{}}}
			data, err := irgen.Module(empty).MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = program.Kernel("empty"); err != nil {
				t.Fatal(err)
			}
			engine, err := program.(offload.Lister).Listing("empty", "engine")
			t.Log(engine)
			if err != nil || strings.Contains(engine, "not exact") == c.exact {
				t.Errorf("%q, %v", engine, err)
			}
			if got := d.Info().Features.Exact; got != c.exact {
				t.Errorf("exact: %t", got)
			}
			if err := program.Unload(); err != nil {
				t.Error(err)
			}
		})
	}
}
