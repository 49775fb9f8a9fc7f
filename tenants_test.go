package orepl_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestTenantsMemory checks that Limits.Memory counts what an engine's scripts hold, not what other engines or the program hold.
func TestTenantsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const limit = 64 << 20
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine := func(memory uint64) *orepl.Engine {
		e, err := rt.Engine(orepl.EngineOptions{Limits: lang.Limits{Memory: memory}, Stdout: io.Discard, Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		return e // an engine that the test refers to after its end would keep the memory
	}
	eval := func(e *orepl.Engine, text string) error {
		_, err := e.Eval(t.Context(), "line.js", text)
		return err
	}
	large, bounded := engine(0), engine(256<<20)
	defer large.Close()
	defer bounded.Close()
	for _, e := range []*orepl.Engine{large, bounded} {
		if err := eval(e, "const kept = []; for (let i = 0; i < 1e5; i++) kept.push({ i, next: [i] })"); err != nil {
			t.Fatal(err)
		}
	}
	const modest = "let sum = 0; for (let i = 0; i < 1e5; i++) { const o = { i, list: [i, i] }; sum += o.list.length }; sum"
	hungry := map[string]string{
		"objects":    "const kept = []; for (;;) kept.push({ a: 1 })",
		"strings":    "let s = 'x'; const kept = []; for (let i = 0; ; i++) kept.push(s.repeat(1000) + i)",
		"arrays":     "const kept = []; for (;;) kept.push(new Float64Array(1e5))",
		"callbacks":  "const kept = []; const more = x => [x].forEach(x => kept.push([x])); for (;;) more(1)",
		"closures":   "const kept = []; for (let i = 0; ; i++) { const big = new Array(100).fill(i); kept.push(() => big) }",
		"promises":   "const kept = []; for (;;) kept.push((async () => { await null; return 1 })())",
		"generators": "const kept = []; for (;;) { const g = (function* () { yield 1; yield 2 })(); g.next(); kept.push(g) }",
		"turns":      "const kept = []; const more = () => { for (let i = 0; i < 1e4; i++) kept.push({ i }); setTimeout(more) }; more(); await new Promise(() => {})",
		"maps":       "const kept = new Map(); for (let i = 0; ; i++) kept.set(i, { i })",
		"matches":    "const kept = []; for (let i = 0; ; i++) kept.push(/(a)(b)/.exec('ab' + i))",
	}
	for name, text := range hungry {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("OREPL_TEST_LONG") != "1" && !slices.Contains([]string{"objects", "arrays", "callbacks", "turns"}, name) {
				t.Skip("runs with OREPL_TEST_LONG=1")
			}
			var others sync.WaitGroup
			bystander := engine(limit)
			done := make(chan struct{})
			others.Go(func() {
				for {
					if err := eval(bystander, modest); err != nil {
						t.Errorf("the bystander: %v", err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
			e := engine(limit)
			_, err := e.Run(t.Context(), "hungry.js", text)
			close(done)
			others.Wait()
			if diag.Code(err) != "out-of-memory" {
				t.Errorf("the code is %q: %v", diag.Code(err), err)
			}
			e.Close()
			bystander.Close()
		})
	}
}

// TestTenantsObjects checks that live() lists the objects of its own engine only.
func TestTenantsObjects(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	list := map[string]string{}
	var engines []*orepl.Engine
	for _, name := range []string{"anna", "bert"} {
		e, err := rt.Engine(orepl.EngineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines = append(engines, e)
		if _, err := e.Eval(t.Context(), name+".js", `import { device, live, f32 } from 'offload'
			const d = device('cpu'), b = d.buffer(f32, 8, { label: '`+name+`' }), q = d.createQueue({ label: '`+name+`-queue' })`); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"anna", "bert"} {
		v, err := engines[i].Eval(t.Context(), name+".js", "JSON.stringify(live())")
		if err != nil {
			t.Fatal(err)
		}
		if list[name], err = v.Text(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for own, other := range map[string]string{"anna": "bert", "bert": "anna"} {
		for _, want := range []string{own, own + "-queue", own + ".js"} {
			if !strings.Contains(list[own], want) {
				t.Errorf("live() of %s lacks %q: %s", own, want, list[own])
			}
		}
		if strings.Contains(list[own], other) {
			t.Errorf("live() of %s shows %s: %s", own, other, list[own])
		}
	}
}

// TestSnapshot checks that instances made later see the files that the first one read while it loaded, and that runs see them as
// they are. Removed files are kept, too.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	write := func(version int) {
		for name, text := range map[string]string{
			"n.txt": strconv.Itoa(version), "n.json": fmt.Sprintf(`{"n": %d}`, version), "n.csv": fmt.Sprintf("n\n%d\n", version), "part.js": fmt.Sprintf("export const n = %d", version),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	script := filepath.Join(dir, "load.js")
	text := `import { pipeline, f64 } from 'offload'
import fs from 'fs'
import { n } from './part.js'
const at = name => ` + "`" + dir + "/${name}`" + `
const bytes = fs.readBytesSync(at('n.txt')); bytes[0]++
const seen = [n, +fs.readTextSync(at('n.txt')), (await fs.readJSON(at('n.json'))).n, (await fs.readCSV(at('n.csv'))).columns.n[0],
  fs.existsSync(at('late.txt')) ? 2 : 1, fs.listSync(at('')).includes('late.txt') ? 2 : 1]
export default pipeline({
  device: 'cpu', inputs: { stop: f64 }, outputs: { y: [f64, [7]] },
  run({ stop, y }) { while (stop); y.write(Float64Array.of(...seen, +fs.readTextSync(at('n.txt')))) },
})`
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	write(1)
	p, err := open(t).LoadPipeline(t.Context(), script, orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Policy: lang.AllowAll}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for version, want := range []string{"", "[1 1 1 1 1 1 1]", "[1 1 1 1 1 1 2]", "[1 1 1 1 1 1 3]"} {
		if version == 0 {
			continue
		}
		write(version)
		if version == 3 {
			for _, name := range []string{"n.json", "n.csv", "part.js", "load.js"} {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var y []float64
		if err := p.Run(t.Context(), orepl.Data{"stop": 0}, orepl.Data{"y": &y}); err != nil || fmt.Sprint(y) != want {
			t.Errorf("version %d: %v, want %s: %v", version, y, want, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "late.txt"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := p.Run(ctx, orepl.Data{"stop": 1}, orepl.Data{}); diag.Code(err) != "timeout" { // ends the instance
			t.Error(err)
		}
		cancel()
	}
}

// TestSecrets decodes secret fields that do not fit. No part of the error shows their values.
func TestSecrets(t *testing.T) {
	type login struct {
		Name     string
		Password int                 `orepl:"password,secret"`
		Keys     map[string]uint16   `orepl:"keys,required,secret"`
		Token    []byte              `orepl:",secret"`
		Inner    struct{ Code bool } `orepl:"inner,secret"`
	}
	e, err := open(t).Engine(orepl.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for text, want := range map[string]string{
		"export const keys = {}, password = 'hunter2'":        ".password: expected an integer; the value is secret",
		"export const keys = { hunter2: 70000 }":              ".keys: expected",
		"export const keys = {}, token = 'hunter2'":           ".token: expected",
		"export const keys = {}, inner = { code: 'hunter2' }": ".inner: expected",
		"export const keys = {}, inner = { hunter2: 1 }":      ".inner: expected",
		"export const keys = {}, name = 5":                    "expected a string, not 5",
	} {
		module, err := e.Run(t.Context(), "login.js", text)
		if err != nil {
			t.Fatal(err)
		}
		var l login
		err = module.Decode(t.Context(), &l)
		shown := diag.Format(err, false)
		if err == nil || !strings.Contains(shown, want) || strings.Contains(shown+fmt.Sprintf("%+v", err), "hunter2") || !strings.Contains(shown, "login.js:1:") {
			t.Errorf("%s: %s", text, shown)
		}
	}
}
