//go:build unix

package graph_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/graph"
	"github.com/orepl/orepl/runtime/offload"
)

// processor returns the processor time of the process.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReplay replays a graph of 1000 launches of one work-item. The bound is 0.5 µs a node, without waits for a processor.
func BenchmarkReplay(b *testing.B) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	const nodes = 1000
	c := graph.Begin(rt.Session(), 0)
	if _, err := e.Run(b.Context(), "g.js", `import { device, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, 2), y = device('cpu').buffer(f32, 2)
const add = kernel((g, x, y) => { y[g.x] = x[g.x] + 1 })
for (let i = 0; i < 1000; i++) add.launch({ size: 1 }, i % 2 ? x : y, i % 2 ? y : x)
globalThis.kept = [x, y, add]`); err != nil {
		b.Fatal(err)
	}
	g, err := c.Finish()
	if err != nil {
		b.Fatal(err)
	}
	defer g.Free()
	busy := processor(b)
	for b.Loop() {
		ev, err := g.Replay(b.Context())
		if err == nil {
			err = ev.Sync(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	b.ReportMetric(float64((processor(b)-busy).Nanoseconds())/float64(b.N)/nodes, "cpu-ns/node")
	if len(g.Nodes()) < nodes {
		b.Errorf("%d nodes", len(g.Nodes()))
	}
}
