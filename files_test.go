package orepl_test

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

//go:embed testdata/*.js testdata/*.ts
var embedded embed.FS

var tree = orepl.Texts{
	"filters/main.ts": `import { pipeline, kernel, f32 } from 'offload'
import fs from 'fs'
import { factor } from '../lib/factor'
import table from './table.json'
const more: number = fs.readJSONSync('data/more.json').more, names = fs.listSync('/data'), kind = fs.statSync('data/more.json')
const add = table.add + more + names.length + (fs.existsSync('data/none') ? 1000 : 0) + kind.size
const scale = kernel((g, a, b, x, y) => { y[g.x] = a * x[g.x] + b })
export default pipeline({ inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { scale.launch({ size: x.length }, factor, add, x, y) } })`,
	"filters/table.json": `{"add": 100}`,
	"lib/factor.js":      "export const factor = 3",
	"data/more.json":     `{"more": 1000}`,
	"data/other.txt":     "",
}

// TestFiles loads pipelines from file systems of the program, also as a tenant that may read nothing.
func TestFiles(t *testing.T) {
	rt := open(t)
	tenant, err := orepl.Tenant{}.Options()
	if err != nil {
		t.Fatal(err)
	}
	tenant.Files = tree
	for _, c := range []struct {
		name, path string
		engine     orepl.EngineOptions
		in         orepl.Data
		want       float32
	}{
		{"embedded", "testdata/scale.js", orepl.EngineOptions{Files: embedded}, orepl.Data{"a": 4, "x": []float32{2}}, 8},
		{"directory", "scale.js", orepl.EngineOptions{Files: os.DirFS("testdata")}, orepl.Data{"a": 4, "x": []float32{2}}, 8},
		{"dir", "scale.js", orepl.EngineOptions{Files: embedded, Dir: "testdata"}, orepl.Data{"a": 4, "x": []float32{2}}, 8},
		{"texts", "filters/main.ts", orepl.EngineOptions{Files: tree}, orepl.Data{"x": []float32{2}}, 6 + 100 + 1000 + 2 + 14},
		{"absolute", "/filters/main.ts", orepl.EngineOptions{Files: tree}, orepl.Data{"x": []float32{2}}, 6 + 100 + 1000 + 2 + 14},
		{"tenant", "filters/main.ts", tenant, orepl.Data{"x": []float32{2}}, 6 + 100 + 1000 + 2 + 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := orepl.PipelineOptions{Engine: c.engine}
			if err := rt.CheckPipeline(t.Context(), c.path, opts, nil); err != nil {
				t.Errorf("check: %v", err)
			}
			p, err := rt.LoadPipeline(t.Context(), c.path, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var y []float32
			if err := p.Run(t.Context(), c.in, orepl.Data{"y": &y}); err != nil || len(y) != 1 || y[0] != c.want {
				t.Errorf("%v, %v, want %v", y, err, c.want)
			}
		})
	}
}

// TestFilesHold lets scripts of a file system reach for the machine's files, write, start a program and load native code.
func TestFilesHold(t *testing.T) {
	rt := open(t)
	secret := t.TempDir() + "/secret.json"
	if err := os.WriteFile(secret, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	ask := func(string) error { asked.Add(1); return nil }
	engine, err := rt.Engine(orepl.EngineOptions{Files: tree, Policy: lang.Policy{Read: ask, Write: ask}, Modules: []orepl.Module{{Name: "host", Functions: []orepl.Function{{Name: "secret", Func: func() string { return secret }}}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, c := range []struct{ name, text, code string }{
		{"read", "fs.readTextSync(secret())", "not-found"},
		{"read above", "fs.readTextSync('../../../../../..' + secret())", "not-found"},
		{"read later", "await fs.readText(secret())", "not-found"},
		{"table", "fs.readCSVSync(secret())", "not-found"},
		{"list", "fs.listSync('/etc')", "not-found"},
		{"stat", "fs.statSync(secret())", "not-found"},
		{"import", "await import(secret())", "not-found"},
		{"import URL", "await import('file://' + secret())", "not-found"},
		{"register", "await register(secret())", "not-found"},
		{"write", "fs.writeTextSync('data/new.txt', '')", "permission-denied"},
		{"write absolute", "fs.writeTextSync(secret(), '')", "permission-denied"},
		{"append", "fs.appendTextSync(secret(), 'x')", "permission-denied"},
		{"mkdir", "fs.mkdirSync('/made-by-a-script')", "permission-denied"},
		{"remove", "fs.removeSync(secret())", "permission-denied"},
		{"start", "await process.run('true', [])", "permission-denied"},
		{"record", "await record(secret(), () => {})", "permission-denied"},
	} {
		_, err := engine.Run(t.Context(), c.name+".js", "import { register, record } from 'offload'\nimport fs from 'fs'\nimport { secret } from 'host'\n"+c.text)
		if diag.Code(err) != c.code {
			t.Errorf("%s: %q, want %s: %v", c.name, diag.Code(err), c.code, err)
		}
	}
	if data, err := os.ReadFile(secret); string(data) != "1" || err != nil {
		t.Errorf("the machine's file holds %q, %v", data, err)
	}
	if err := inside.Lang(engine).AllowNative("native.o"); err == nil {
		t.Error("native code may be loaded")
	}
	if asked.Load() != 0 {
		t.Error("a policy was asked")
	}
	if _, err := rt.LoadPipeline(t.Context(), "filters/mian.ts", orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: tree}}); diag.Code(err) != "not-found" || !strings.Contains(diag.Format(err, false), "did you mean main.ts?") {
		t.Errorf("a wrong name: %v", err)
	}
	if _, err := rt.Engine(orepl.EngineOptions{Files: tree, Dir: "filter"}); err == nil {
		t.Error("a wrong directory was accepted")
	}
	if _, err := rt.Engine(orepl.EngineOptions{Files: tree, Isolate: true}); diag.Code(err) != "unsupported" {
		t.Errorf("isolated: %v", err)
	}
}

// versions is a file system that changes as a whole.
type versions struct{ now atomic.Pointer[orepl.Texts] }

func (v *versions) Open(name string) (fs.File, error) { return v.now.Load().Open(name) }

// TestWatchFiles changes an imported text, which has no time of modification, to others of equal length.
func TestWatchFiles(t *testing.T) {
	rt := open(t)
	files := &versions{}
	set := func(factor string) {
		next := orepl.Texts{"lib/factor.js": "export const factor = " + factor}
		for name, text := range tree {
			if next[name] == "" {
				next[name] = text
			}
		}
		files.now.Store(&next)
	}
	set("3")
	reloads := make(chan error, 10)
	w, err := rt.Watch(t.Context(), "filters/main.ts", orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: files}, Instances: 2}, Interval: time.Millisecond, OnReload: func(err error) { reloads <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, step := range []struct {
		factor string
		want   float32
		fails  bool
	}{{"3", 3, false}, {"4", 4, false}, {"(", 4, true}, {"5", 5, false}} {
		if step.factor != "3" {
			set(step.factor)
			select {
			case err := <-reloads:
				if (err != nil) != step.fails {
					t.Errorf("factor %s: %v", step.factor, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("factor %s: no reload", step.factor)
			}
		}
		var y []float32
		if err := w.Run(context.Background(), orepl.Data{"x": []float32{2}}, orepl.Data{"y": &y}); err != nil || y[0] != 2*step.want+1116 {
			t.Errorf("factor %s: %v, %v", step.factor, y, err)
		}
	}
	if err := w.Close(); err != nil && !errors.Is(err, orepl.ErrClosed) {
		t.Error(err)
	}
}
