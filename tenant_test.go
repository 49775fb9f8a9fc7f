package orepl_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// secondCPU is the CPU as the plugin "other".
type secondCPU struct{ offload.Plugin }

func (secondCPU) Name() string { return "other" }

// TestTenant checks that a tenant without rights can compute and nothing else, and that each right allows its own part only.
func TestTenant(t *testing.T) {
	rt := open(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	const head = "import { device, devices, kernel, f32, register, pool, live } from 'offload'\nimport fs from 'fs'\nimport process from 'process'\nconst dir = " + "'DIR'" + "\n"
	for _, c := range []struct {
		name, text string
		tenant     orepl.Tenant
		code       string // of the error, "" for success
	}{
		{"compute", "const b = device().buffer(f32, 3, i => i)\nif ((await b.read())[2] !== 2 || live().length !== 2) throw live()", orepl.Tenant{}, ""},
		{"read", "await fs.readText(dir + '/data.txt')", orepl.Tenant{}, "permission-denied"},
		{"read", "await fs.readText(dir + '/data.txt')", orepl.Tenant{Read: []string{dir}}, ""},
		{"read with write", "await fs.readText(dir + '/data.txt')", orepl.Tenant{Write: []string{dir}}, "permission-denied"},
		{"import", "await import(dir + '/data.txt')", orepl.Tenant{}, "permission-denied"},
		{"write", "await fs.writeText(dir + '/new.txt', 'x')", orepl.Tenant{Read: []string{dir}}, "permission-denied"},
		{"write", "await fs.writeText(dir + '/new.txt', 'x')", orepl.Tenant{Write: []string{dir}}, ""},
		{"run", "await process.run('/bin/true', [])", orepl.Tenant{Read: []string{"/"}, Write: []string{dir}}, "permission-denied"},
		{"run", "await process.run('/bin/true', [])", orepl.Tenant{Run: []string{"/bin", "/usr/bin"}}, ""},
		{"environment", "if (Object.keys(process.env).length + process.argv.length > 2) throw process.env", orepl.Tenant{}, ""},
		{"loop", "for (;;);", orepl.Tenant{Limits: lang.Limits{Time: 50 * time.Millisecond}}, "timeout"},
		{"memory", "const all = []\nfor (;;) all.push(new Array(1e5).fill(1))", orepl.Tenant{Limits: lang.Limits{Memory: 32 << 20, Time: time.Minute}}, "out-of-memory"},
		{"device memory", "device().buffer(f32, 2 ** 24)", orepl.Tenant{Limits: lang.Limits{DeviceMemory: 1 << 20}}, "out-of-resources"},
		{"native", "await register(dir + '/data.txt')", orepl.Tenant{}, "permission-denied"},
		{"device", "device('cpu')", orepl.Tenant{Devices: []string{"cuda"}}, "permission-denied"},
		{"best device", "device()", orepl.Tenant{Devices: []string{}}, "permission-denied"},
		{"devices", "if (devices().length !== 0) throw devices()", orepl.Tenant{Devices: []string{"cuda:0"}}, ""},
		{"pool", "pool().run(() => 1)", orepl.Tenant{Devices: []string{"cuda:0"}}, "not-found"},
	} {
		opts, err := c.tenant.Options()
		if err != nil {
			t.Fatal(err)
		}
		opts.Stderr = &bytes.Buffer{}
		e := engine(t, rt, opts)
		_, err = e.Run(t.Context(), "t.js", strings.Replace(head, "DIR", dir, 1)+c.text)
		if got := diag.Code(err); got != c.code || err != nil && c.code == "" {
			t.Errorf("%s: [%s] %v, want [%s]", c.name, got, err, c.code)
		}
	}
}

// TestTenantDevices checks with two plugins that each tenant sees its own devices, also as the best one, by list and in pools.
func TestTenantDevices(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{}), secondCPU{cpu.New(cpu.Options{})}}})
	t.Cleanup(func() {
		if err := rt.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"cpu", "other"} {
		opts, err := orepl.Tenant{Devices: []string{name}}.Options()
		if err != nil {
			t.Fatal(err)
		}
		opts.Globals, opts.Stderr = map[string]any{"mine": name, "theirs": map[string]string{"cpu": "other", "other": "cpu"}[name]}, &bytes.Buffer{}
		_, err = engine(t, rt, opts).Run(t.Context(), "t.js", `import { device, devices, platforms, pipeline } from 'offload'
const of = d => d.id.split(':')[0]
if (of(device()) !== mine || devices().some(d => of(d) !== mine) || devices().length === 0) throw devices()
if (of(device([theirs, mine])) !== mine || platforms().some(p => p.name !== mine)) throw platforms()
if (of(pipeline({ device: [theirs, mine], run() {} }).device) !== mine) throw 'pipeline'
try { device(theirs); throw 'allowed' } catch (e) { if (e.code !== 'permission-denied') throw e }`)
		if err != nil {
			t.Error(diag.Format(err, false))
		}
	}
}

// unopened is a plugin that counts how often it is opened.
type unopened struct {
	offload.Plugin
	count *atomic.Int32
}

func (unopened) Name() string { return "other" }

func (u unopened) Open(ctx context.Context) (offload.Platform, error) {
	u.count.Add(1)
	return u.Plugin.Open(ctx)
}

// TestTenantOpensItsPlugins checks that a tenant does not open plugins of which it may use no device, whatever it asks for.
func TestTenantOpensItsPlugins(t *testing.T) {
	var count atomic.Int32
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{unopened{cpu.New(cpu.Options{}), &count}, cpu.New(cpu.Options{})}})
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	for i, devices := range [][]string{nil, {"cpu:0"}, {}, nil} {
		opts, err := orepl.Tenant{Devices: devices}.Options()
		if err != nil {
			t.Fatal(err)
		}
		if i == 3 { // a policy that names plugins alone
			opts.Policy.Device = nil
		}
		opts.Globals, opts.Stderr = map[string]any{"some": devices == nil || len(devices) > 0}, &bytes.Buffer{}
		_, err = engine(t, rt, opts).Run(t.Context(), "t.js", `import { device, devices, pipeline, platforms, pool } from 'offload'
const code = f => { try { f(); return '' } catch (e) { return e.code } }
if (devices().length > 0 !== some) throw devices()
if (code(() => device()) !== (some ? '' : 'permission-denied')) throw code(() => device())
for (const id of ['other', 'other:0', ['other']]) if (code(() => device(id)) === '') throw id
if (code(() => device(['other', 'cpu'])) !== (some ? '' : 'not-found')) throw code(() => device(['other', 'cpu']))
code(() => device('gpu'))
if (platforms().length > (some ? 1 : 0)) throw platforms()
code(() => pool())
code(() => pipeline({ run() {} }).device)`)
		if err != nil {
			t.Errorf("%q: %s", devices, diag.Format(err, false))
		}
		if n := count.Load(); n != 0 {
			t.Fatalf("%q: the other plugin is opened", devices)
		}
	}
}

// TestTenantPipeline checks that a pipeline of a tenant loads its own file and not its neighbours.
func TestTenantPipeline(t *testing.T) {
	rt := open(t)
	opts, err := orepl.Tenant{}.Options()
	if err != nil {
		t.Fatal(err)
	}
	const run = "import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {} })"
	p := load(t, rt, run, orepl.PipelineOptions{Engine: opts})
	if err := p.Run(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
	path := write(t, "a.js", "import './b.js'\n"+run)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "b.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.LoadPipeline(t.Context(), path, orepl.PipelineOptions{Engine: opts}); diag.Code(err) != "permission-denied" {
		t.Errorf("an import: %v", err)
	}
}
