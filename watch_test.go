package orepl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

// TestWatch edits the files of a pipeline under load: good edits take over, broken ones leave the old version, and no run fails.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	edit := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at+".new", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	script := func(inputs, body string) string {
		return `import { pipeline, kernel, f32, i32 } from 'offload'
import fs from 'fs'
import { factor } from './factor.js'
const { add } = fs.readJSONSync('` + filepath.Join(dir, "add.json") + `')
const scale = kernel((g, a, b, x, y) => { y[g.x] = a * x[g.x] + b })
export default pipeline({ device: 'cpu', inputs: { x: [f32]` + inputs + ` }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ x, y }) { ` + body + ` },
})`
	}
	const good = "scale.launch({ size: x.length }, factor, add, x, y)"
	edit("factor.js", "export const factor = 1")
	edit("add.json", `{"add": 0}`)
	edit("main.js", script("", good))

	reloads := make(chan error, 100)
	rt := open(t)
	w, err := rt.Watch(t.Context(), filepath.Join(dir, "main.js"), orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Instances: 2}, Interval: 5 * time.Millisecond, Canary: orepl.Data{"x": []float32{1}},
		OnReload: func(err error) { reloads <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	one := func() (float32, error) {
		var y []float32
		err := w.Run(context.Background(), orepl.Data{"x": []float32{10, 20}}, orepl.Data{"y": &y})
		if err != nil {
			return 0, err
		}
		return y[0], nil
	}
	var load sync.WaitGroup
	var stop atomic.Bool
	var runs atomic.Int64
	for range 4 {
		load.Go(func() {
			for !stop.Load() {
				if _, err := one(); err != nil {
					t.Errorf("a run under load: %v", err)
					return
				}
				runs.Add(1)
			}
		})
	}
	for i, step := range []struct {
		name, text string
		want       float32
		refused    string // part of the error
	}{
		{"factor.js", "export const factor = 2", 20, ""},
		{"add.json", `{"add": 5}`, 25, ""},
		{"main.js", script("", "scale.launch({ size: x.length },"), 25, "main.js:7"},
		{"main.js", script("", "throw new RangeError('bad edit')"), 25, "bad edit"},
		{"main.js", script(", more: f32", good), 25, "the input more: f32 is new or has changed"},
		{"main.js", script("", "scale.launch({ size: x.length }, -factor, add, x, y)"), -15, ""},
		{"add.json", `{"add": `, -15, "add.json"},
		{"add.json", `{"add": 1}`, -19, ""},
		{"main.js", strings.Replace(script("", good), "outputs: { y:", "outputs: { z:", 1), -19, "the output y: f32[…] is missing or has another type"},
		{"main.js", script("", good), 21, ""},
	} {
		edit(step.name, step.text)
		select {
		case err := <-reloads:
			switch {
			case step.refused == "" && err != nil:
				t.Errorf("edit %d: %v", i, err)
			case step.refused != "" && (err == nil || !strings.Contains(diag.Format(err, false), step.refused)):
				t.Errorf("edit %d: %v, want %s", i, err, step.refused)
			}
		case <-time.After(time.Minute):
			t.Fatalf("edit %d: no reload", i)
		}
		if got, err := one(); got != step.want || err != nil {
			t.Errorf("edit %d: %v, want %v: %v", i, got, step.want, err)
		}
	}
	stop.Store(true)
	load.Wait()
	if err := w.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := one(); err != orepl.ErrClosed {
		t.Errorf("after the end: %v", err)
	}
	for _, o := range rt.Session().Live() {
		if o.Kind == "buffer" {
			t.Errorf("left: %v", o)
		}
	}
	if n := runs.Load(); n < 10 {
		t.Errorf("%d runs under load", n)
	}
}
