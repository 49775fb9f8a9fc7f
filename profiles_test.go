package orepl_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
)

// TestProfiles checks that profiles name the kernels of workers, and time lines of runtime/trace the runs and the kernels.
func TestProfiles(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("launches use workers where there are two processors")
	}
	p := load(t, open(t), `import { pipeline, kernel, f32 } from 'offload'
const labelled = kernel((g, y) => { let s = 0; for (let i = 0; i < 20000; i++) s += Math.sqrt(s + i); y[g.x] = s })
export default pipeline({ device: 'cpu', inputs: { n: f32 }, outputs: { y: [f32, 65536] }, run({ n, y }) { labelled.launch({ size: 65536 }, y) } })`, orepl.PipelineOptions{Instances: 1})
	run := func() chan error {
		done := make(chan error, 1)
		go func() { done <- p.Run(context.Background(), orepl.Data{"n": 1}, nil) }()
		return done
	}
	done := run()
	labelled := false
	for end := time.Now().Add(time.Minute); !labelled && time.Now().Before(end); {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			done = run()
		default:
		}
		var text bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
			t.Fatal(err)
		}
		labelled = strings.Contains(text.String(), `"kernel":"labelled"`)
	}
	if err := <-done; err != nil || !labelled {
		t.Errorf("a worker has the label: %v, %v", labelled, err)
	}
	var line bytes.Buffer
	if err := trace.Start(&line); err != nil {
		t.Skip(err) // go test -trace runs
	}
	err := <-run()
	trace.Stop()
	for _, want := range []string{"run pipeline.js", "kernel labelled"} {
		if err != nil || !strings.Contains(line.String(), want) {
			t.Errorf("the time line lacks the region %q: %v", want, err)
		}
	}
}
