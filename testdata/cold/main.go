// Command cold loads a pipeline with five kernels, runs it once and prints the first result. TestColdStart measures it.
// If the environment variable COLD_BYTES is set, it also prints the bytes that the process has allocated.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"runtime"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

//go:embed five.js
var script string

func main() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	p, err := rt.LoadPipeline(ctx, "five.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: orepl.Texts{"five.js": script}}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x := orepl.Array[float32]{Data: make([]float32, 64*64), Shape: []int{64, 64}}
	x.Data[0] = 8
	var y []float32
	if err := p.Run(ctx, orepl.Data{"x": x, "gain": 2}, orepl.Data{"y": &y}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y[0])
	if os.Getenv("COLD_BYTES") != "" {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Println(m.TotalAlloc)
	}
}
