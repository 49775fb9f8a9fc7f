package orepl_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/all"
)

func TestMain(m *testing.M) {
	orepl.ServeIsolated(orepl.Options{Plugins: all.Plugins()})
	os.Exit(m.Run())
}

// TestIsolatedEngine checks the calls of an isolated engine: results are copies, errors have positions, and the end of its
// process is an error.
func TestIsolatedEngine(t *testing.T) {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	var out strings.Builder
	open := func(limit time.Duration) *orepl.Engine {
		e, err := rt.Engine(orepl.EngineOptions{
			Isolate: true, Stdout: &out, Limits: lang.Limits{Time: limit, Memory: 1 << 30}, // room for the race detector
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open(20 * time.Second)
	v, err := e.Run(t.Context(), "m.js", `import { device, f32 } from 'offload'
console.log('from the child')
export const result = { name: 'x', values: await device('cpu').buffer(f32, 3, i => i * 2).read() }`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Result struct {
			Name   string
			Values []float32
		}
	}
	if err := v.Decode(t.Context(), &got); err != nil || got.Result.Name != "x" || len(got.Result.Values) != 3 || got.Result.Values[2] != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = e.Eval(t.Context(), "line", "nothing.here")
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Name != "ReferenceError" || d.Line != 1 {
		t.Errorf("got %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	opts, err := orepl.Tenant{Devices: []string{"none"}, Limits: lang.Limits{Time: 20 * time.Second, Memory: 1 << 30}}.Options()
	if err != nil {
		t.Fatal(err)
	}
	opts.Isolate = true
	if e, err = rt.Engine(opts); err != nil {
		t.Fatal(err)
	}
	if _, err = e.Run(t.Context(), "m.js", "import { device } from 'offload'; device('cpu')"); err == nil || !strings.Contains(err.Error(), "its devices are none") {
		t.Errorf("a device that the policy denies: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = e.Run(ctx, "m.js", "for (;;);"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that was cut short: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "from the child") {
		t.Errorf("printed %q", out.String())
	}

	e = open(4 * time.Second) // repeat ends before, the copy of the properties takes longer
	defer e.Close()
	if _, err = e.Run(t.Context(), "m.js", "(({ a, ...b }) => b)('x'.repeat(3e6))"); diag.Code(err) != "timeout" {
		t.Errorf("got %v", err)
	}
	if _, again := e.Eval(t.Context(), "line", "1"); again == nil {
		t.Error("the process lives")
	}
	if _, err := rt.Engine(orepl.EngineOptions{Isolate: true, Globals: map[string]any{"x": 1}}); diag.Code(err) != "unsupported" {
		t.Errorf("got %v", err)
	}
}
