package orepl_test

import (
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
)

// BenchmarkIsolated measures the edges of 512² pixels by the place of their script: this process, or one of its own.
func BenchmarkIsolated(b *testing.B) {
	const path = "examples/embed-pipeline/edges.js"
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	for _, isolate := range []bool{false, true} {
		name := "here"
		if isolate {
			name = "isolated"
		}
		b.Run(name, func(b *testing.B) {
			p, err := rt.LoadPipeline(b.Context(), path, orepl.PipelineOptions{Engine: orepl.EngineOptions{Isolate: isolate}, Instances: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			in := orepl.Array[uint8]{Data: make([]uint8, 512*512), Shape: []int{512, 512}}
			var out orepl.Array[uint8]
			for b.Loop() {
				if err := p.Run(b.Context(), orepl.Data{"image": in}, orepl.Data{"edges": &out}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
