package orepl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestWatchNotified edits files that are looked at only once an hour: the system's notifications tell of each way to change one.
func TestWatchNotified(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems may delay notifications")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(name, text string) { t.Helper(); must(os.WriteFile(at(name), []byte(text), 0o666)) }
	script := func(n string) string {
		return "import { pipeline, f32 } from 'offload'\nimport { part } from './part.js'\nexport default pipeline({ device: 'cpu', outputs: { y: [f32, 1] }, run({ y }) { y.write(Float32Array.of(" + n + " + part)) } })"
	}
	for name, text := range map[string]string{"one": script("1"), "two": script("2")} {
		must(os.Mkdir(at(name), 0o777))
		put(name+"/main.js", text)
		put(name+"/part.js", "export const part = 0")
	}
	must(os.Symlink("one", at("data"))) // as volumes of containers are switched
	must(os.Symlink("data/main.js", at("main.js")))
	must(os.Symlink("data/part.js", at("part.js")))
	reloads := make(chan error, 10)
	w, err := open(t).Watch(t.Context(), at("main.js"), orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Policy: lang.AllowAll}}, Interval: time.Hour, OnReload: func(err error) { reloads <- err },
	})
	must(err)
	defer w.Shutdown(context.Background())
	for i, step := range []struct {
		edit func()
		want float32
	}{
		{func() { put("one/part.js", "export const part = 10") }, 11},
		{func() { put("one/new.js", script("3")); must(os.Rename(at("one/new.js"), at("one/main.js"))) }, 13},
		{func() { must(os.Symlink("two", at("next"))); must(os.Rename(at("next"), at("data"))) }, 2},
		{func() { put("two/part.js", "export const part = 0.5") }, 2.5},
		{func() { put("two/part.js", "export const part = ") }, 2.5},
		{func() { put("two/part.js", "export const part = 5") }, 7},
	} {
		step.edit()
		select {
		case err := <-reloads:
			if (err != nil) != (i == 4) {
				t.Errorf("edit %d: %v", i, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("edit %d: no reload", i)
		}
		var y []float32
		if err := w.Run(context.Background(), nil, orepl.Data{"y": &y}); err != nil || y[0] != step.want {
			t.Errorf("edit %d: %v, want %v: %v", i, y, step.want, err)
		}
	}
}

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
		Pipeline: orepl.PipelineOptions{Instances: 2, Engine: orepl.EngineOptions{Policy: lang.AllowAll}}, Interval: 5 * time.Millisecond, Canary: orepl.Data{"x": []float32{1}},
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

// TestWatchEndless edits a pipeline so that its load or its trial run does not end. Each is reported, the old version stays, and a later
// edit is loaded.
func TestWatchEndless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.js")
	put := func(before, run string) {
		t.Helper()
		text := "import { pipeline, f32 } from 'offload'\n" + before + "\nexport default pipeline({ device: 'cpu', outputs: { y: [f32, 1] }, run({ y }) { " + run + " } })"
		next := path + ".next" // replaced at once, so that no half of it is loaded
		if err := errors.Join(os.WriteFile(next, []byte(text), 0o666), os.Rename(next, path)); err != nil {
			t.Fatal(err)
		}
	}
	put("", "y.write(Float32Array.of(1))")
	reloads := make(chan error, 10)
	rt := open(t)
	w, err := rt.Watch(t.Context(), path, orepl.WatchOptions{Pipeline: orepl.PipelineOptions{Instances: 1}, Interval: 5 * time.Millisecond, Timeout: time.Second,
		Canary: orepl.Data{}, OnReload: func(err error) { reloads <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Shutdown(context.Background())
	value := func() float32 {
		var y []float32
		if err := w.Run(t.Context(), nil, orepl.Data{"y": &y}); err != nil {
			t.Fatal(err)
		}
		return y[0]
	}
	for _, edit := range [][2]string{{"for (;;);", "y.write(Float32Array.of(2))"}, {"await new Promise(() => setTimeout(() => {}, 1e8))", ""}, {"", "for (;;);"}, {"", "return new Promise(() => setTimeout(() => {}, 1e8))"}} {
		put(edit[0], edit[1])
		err := <-reloads
		if err == nil || diag.Code(err) != "timeout" || !strings.Contains(diag.Format(err, false), "was not ready within 1s") {
			t.Errorf("%q: %v", edit, err)
		}
		if got := value(); got != 1 {
			t.Errorf("%q: the run returned %v", edit, got)
		}
	}
	put("", "y.write(Float32Array.of(3))")
	if err := <-reloads; err != nil || value() != 3 {
		t.Errorf("%v, and the run returned %v", err, value())
	}
	if _, err := rt.Watch(t.Context(), path, orepl.WatchOptions{Timeout: -1}); diag.Code(err) != "invalid-argument" {
		t.Errorf("a negative limit: %v", err)
	}
}
