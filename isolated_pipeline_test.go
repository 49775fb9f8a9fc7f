package orepl_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/all"
)

// isolatedText is a pipeline with inputs and parameters of several types. A run whose mode says so ends in a way that only another
// process survives.
const isolatedText = `
import { pipeline, kernel, f32, i64, u8 } from 'offload'
import { factor } from './factor.js'
import { readText } from 'fs'
const note = await readText('note.txt')
const scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })
export default pipeline({
  params: {
    gain: { type: f32, default: 1.5, min: 0.1, max: 10, unit: 'dB', doc: 'how much' },
    exact: { type: i64, default: 1 },
    mode: { values: ['plain', 'throw', 'loop', 'native', 'far'], default: 'plain' },
  },
  inputs: { x: [f32], picture: [u8, 2] },
  outputs: { y: [f32, ({ x }) => x.shape], copy: [u8, ({ picture }) => picture.shape], note: [u8, [4]] },
  async run({ gain, exact, mode, x, y, picture, copy, note: to }) {
    if (mode === 'throw') throw new RangeError('as asked')
    if (mode === 'loop') for (;;);
    if (mode === 'native') (({ a, ...b }) => b)('x'.repeat(4e6))
    if (mode === 'far') scale.launch({ size: x.length + 1 }, gain, x, y)
    scale.launch({ size: x.length }, gain * factor, x, y)
    copy.write(await picture.read())
    to.write(new Uint8Array([note.length, Number(exact % 251n), 0, 0]))
  },
})`

// TestIsolatedPipeline compares outputs, errors, refusals and declarations of a pipeline in another process with those of one in
// this process.
func TestIsolatedPipeline(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("p.js", isolatedText)
	write("factor.js", "export const factor = 2")
	write("note.txt", "1234567")
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	t.Cleanup(func() { _ = rt.Close() })
	load := func(isolate bool) *orepl.Pipeline {
		opts, err := orepl.Tenant{Name: "acme", Read: []string{dir}, Limits: lang.Limits{Time: 20 * time.Second, Memory: 1 << 30}}.Options()
		if err != nil {
			t.Fatal(err)
		}
		opts.Isolate, opts.Dir = isolate, dir
		p, err := rt.LoadPipeline(t.Context(), filepath.Join(dir, "p.js"), orepl.PipelineOptions{Engine: opts, Instances: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	p, here := load(true), load(false)
	if p.Describe() != here.Describe() || string(p.Schema()) != string(here.Schema()) || p.Choices()[0].Reason != here.Choices()[0].Reason {
		t.Errorf("declared:\n%s\n%v\nhere:\n%s\n%v", p.Describe(), p.Choices(), here.Describe(), here.Choices())
	}
	write("factor.js", "export const factor = 100") // all instances have the first version
	write("note.txt", "?")

	picture := orepl.Array[uint8]{Data: []uint8{1, 2, 3, 4, 5, 6}, Shape: []int{2, 3}}
	run := func(n int) error {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i)
		}
		var y []float32
		var pixels orepl.Array[uint8]
		var note []byte
		exact := new(big.Int).Add(big.NewInt(1<<60), big.NewInt(1))
		err := p.Run(t.Context(), orepl.Data{"x": x, "picture": picture, "exact": exact, "gain": 3}, orepl.Data{"y": &y, "copy": &pixels, "note": &note})
		if err != nil {
			return err
		}
		if len(y) != n || y[n-1] != 6*float32(n-1) || !slices.Equal(pixels.Data, picture.Data) || !slices.Equal(pixels.Shape, picture.Shape) {
			t.Errorf("%d elements: %v %v", len(y), y[n-1], pixels)
		}
		if want := byte(new(big.Int).Mod(exact, big.NewInt(251)).Int64()); note[0] != 7 || note[1] != want {
			t.Errorf("read %v, not 7 and %d", note, want)
		}
		return nil
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 5 {
				if err := run(1 + i*1000 + j*70000); err != nil { // memory grows in both processes
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()

	for _, in := range []orepl.Data{
		{"x": []float32{1}}, {"x": []float64{1}, "picture": picture}, {"x": []float32{1}, "picture": picture, "gain": 11.0},
		{"x": []float32{1}, "picture": picture, "mode": "thrown", "exact": math.NaN()}, {"x": []float32{1, 2}, "picture": picture, "mode": "throw"},
		{"x": []float32{1, 2}, "picture": picture, "mode": "far"}, {"x": "text", "picture": picture, "nothing": 1},
	} {
		failed, same := p.Run(t.Context(), in, orepl.Data{}), here.Run(t.Context(), in, orepl.Data{})
		if failed == nil || strings.Join(orepl.FormatErrors(failed), "\n") != strings.Join(orepl.FormatErrors(same), "\n") ||
			diag.Code(failed) != diag.Code(same) || errors.Is(failed, orepl.ErrRefused) != errors.Is(same, orepl.ErrRefused) {
			t.Errorf("%v:\n%s\nhere:\n%s", in, strings.Join(orepl.FormatErrors(failed), "\n"), strings.Join(orepl.FormatErrors(same), "\n"))
		}
		found, alike := p.Check(t.Context(), in), here.Check(t.Context(), in)
		if (found == nil) != (alike == nil) || found != nil && found.Error() != alike.Error() {
			t.Errorf("check of %v:\n%v\nhere:\n%v", in, found, alike)
		}
	}
	if n := p.Stats().Instances; n != 2 {
		t.Errorf("%d instances were made", n)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	looping := orepl.Data{"x": []float32{1}, "picture": picture, "mode": "loop"}
	if err := p.Run(ctx, looping, orepl.Data{}); !errors.Is(err, context.DeadlineExceeded) || diag.Code(err) != "timeout" {
		t.Errorf("a run that was cut short: %v", err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { end(errors.New("enough")) })
	if err := p.Run(ctx, orepl.Data{"x": []float32{1}, "picture": picture, "mode": "native"}, orepl.Data{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that only the end of its process ends: %v", err)
	}
	if err := run(10); err != nil {
		t.Errorf("after the end of a process: %v", err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := run(10); err != orepl.ErrClosed {
		t.Errorf("after the end: %v", err)
	}
}

// TestWatchIsolated checks that an isolated pipeline follows its files.
func TestWatchIsolated(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "p.js"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := `import { pipeline, kernel, f32 } from 'offload'
const k = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] })
export default pipeline({ inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { k.launch({ size: x.length }, x, y) } })`
	write(text)
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	t.Cleanup(func() { _ = rt.Close() })
	reloads := make(chan error, 10)
	w, err := rt.Watch(t.Context(), filepath.Join(dir, "p.js"), orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Engine: orepl.EngineOptions{Isolate: true}, Instances: 1}, Interval: 10 * time.Millisecond,
		Canary: orepl.Data{"x": []float32{1}}, OnReload: func(err error) { reloads <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, edit := range []struct {
		text   string
		broken bool
		want   float32
	}{{text, false, 6}, {strings.Replace(text, "2 *", "5 *", 1), false, 15}, {strings.Replace(text, "kernel(", "kernels(", 1), true, 15}} {
		if edit.text != text {
			write(edit.text)
			if err := <-reloads; (err != nil) != edit.broken {
				t.Errorf("reloaded: %v", err)
			}
		}
		var y []float32
		if err := w.Run(t.Context(), orepl.Data{"x": []float32{3}}, orepl.Data{"y": &y}); err != nil || y[0] != edit.want {
			t.Errorf("got %v, %v", y, err)
		}
	}
}

// TestIsolatedCost checks that a run on a picture of 512² pixels takes at most twice as long in another process.
func TestIsolatedCost(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	t.Cleanup(func() { _ = rt.Close() })
	var loaded [2]*orepl.Pipeline
	for i := range loaded {
		p, err := rt.LoadPipeline(t.Context(), "examples/embed-pipeline/edges.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Isolate: i == 1}, Instances: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		loaded[i] = p
	}
	in := orepl.Array[uint8]{Data: make([]uint8, 512*512), Shape: []int{512, 512}}
	var out orepl.Array[uint8]
	least := [2]time.Duration{time.Hour, time.Hour}
	for round := range 6 { // workers of a device wait actively for a while after a run, so the processes do not take turns
		i, p := round%2, loaded[round%2]
		for range 100 {
			start := time.Now()
			if err := p.Run(t.Context(), orepl.Data{"image": in}, orepl.Data{"edges": &out}); err != nil {
				t.Fatal(err)
			}
			least[i] = min(least[i], time.Since(start))
		}
	}
	t.Logf("at least %v here, %v isolated", least[0], least[1])
	if !testing.Short() && least[1] > 2*least[0] { // the race detector, which runs short tests, slows down Go code alone
		t.Errorf("an isolated run takes %v, one in this process %v", least[1], least[0])
	}
}
