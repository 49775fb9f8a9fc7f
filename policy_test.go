package orepl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestDeniedByDefault tries each kind of access in an engine and in a pipeline whose options do not mention it: all are denied, and
// nothing happens. With the policy that allows all, each succeeds, so that the attempts are right.
func TestDeniedByDefault(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("data.json", "[1]")
	put("part.js", "export const part = 1")
	put("tool", "#!/bin/sh\ntouch "+at("started"))
	attempts := map[string]string{
		"read":       "readTextSync('data.json')",
		"read later": "await readText('data.json')",
		"JSON":       "await readJSON('data.json')",
		"list":       "listSync('.')",
		"up":         "readTextSync('" + filepath.Join(dir, "..", filepath.Base(dir), "data.json") + "')",
		"import":     "await import('./part.js')",
		"write":      "writeTextSync('made', 'x')",
		"move":       "await writeText('made', 'x')",
		"start":      "await process.run('./tool')",
		"by path":    "await process.run('true')",
		"register":   "await register('data.json')",
	}
	head := "import process from 'process'\nimport { readText, readTextSync, readJSON, listSync, writeText, writeTextSync } from 'fs'\nimport { register, pipeline, f32 } from 'offload'\n"
	for name, attempt := range attempts {
		for _, c := range []struct {
			name   string
			opts   orepl.EngineOptions
			denied bool
		}{
			{"zero", orepl.EngineOptions{}, true},
			{"a device alone", orepl.EngineOptions{Policy: lang.Policy{Device: func(string) error { return nil }}}, true},
			{"all", orepl.EngineOptions{Policy: lang.AllowAll}, false},
			{"isolated", orepl.EngineOptions{Isolate: true}, true},
			{"files of the program", orepl.EngineOptions{Files: fstest.MapFS{"x.js": {}}}, true},
		} {
			if c.name == "files of the program" && (name == "list" || name == "up") {
				continue // its files are its own
			}
			var out bytes.Buffer
			c.opts.Stdout, c.opts.Stderr = &out, &out
			if c.opts.Files == nil {
				c.opts.Dir = dir
			}
			e := engine(t, open(t), c.opts)
			_, err := e.Run(t.Context(), at("main.js"), head+attempt)
			denied := diag.Code(err) == "permission-denied" || c.opts.Files != nil && err != nil
			if known := err == nil || denied || name == "register"; denied != c.denied || !known { // what is registered is no library
				t.Errorf("%s, %s: %v", name, c.name, err)
			}
			for _, made := range []string{"made", "started"} {
				if _, err := os.Stat(at(made)); err == nil && c.denied {
					t.Errorf("%s, %s: the file %s exists", name, c.name, made)
				}
				_ = os.Remove(at(made))
			}
		}
		put("p.js", head+"export default pipeline({ outputs: { y: [f32, [1]] }, async run({ y }) { "+attempt+" } })")
		p, err := open(t).LoadPipeline(t.Context(), at("p.js"), orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Dir: dir}})
		if err != nil {
			t.Errorf("%s: the pipeline's own file: %v", name, err)
			continue
		}
		if err := p.Run(t.Context(), nil, nil); diag.Code(err) != "permission-denied" {
			t.Errorf("%s, pipeline: %v", name, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOwnFiles runs files that the program names in an engine that may read nothing: each is read, also where a link leads to another
// file later, and none beside it.
func TestOwnFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.js": "export const n = 1", "b.js": "export const n = 2", "c.js": "import './a.js'", "d.js": "import './none.js'"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link.js")
	for _, opts := range []orepl.EngineOptions{{}, {Dir: dir}, {Isolate: true}, {Policy: lang.Policy{Read: func(string) error { return errors.New("no") }}}} {
		e := engine(t, open(t), opts)
		path := func(name string) string {
			if opts.Dir != "" {
				return name
			}
			return filepath.Join(dir, name)
		}
		if _, err := e.RunFile(t.Context(), path("c.js")); diag.Code(err) != "permission-denied" {
			t.Errorf("import of a file that was not named: %v", err)
		}
		for target, want := range map[string]int{"a.js": 1, "b.js": 2} {
			_ = os.Remove(link)
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			var got struct{ N int }
			module, err := e.RunFile(t.Context(), path("link.js"))
			if err == nil {
				err = module.Decode(t.Context(), &got)
			}
			if err != nil || got.N != want {
				t.Errorf("%s: %d, %v", target, got.N, err)
			}
		}
		if _, err := e.RunFile(t.Context(), path("none.js")); diag.Code(err) != "not-found" {
			t.Errorf("a file that does not exist: %v", err)
		}
		if _, err := e.RunFile(t.Context(), path("d.js")); err == nil {
			t.Error("an import of a file that does not exist succeeds")
		}
	}
}
