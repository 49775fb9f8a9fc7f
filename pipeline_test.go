package orepl_test

import (
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/stopwatch"
)

const blur = `import { pipeline, kernel, f32, u8 } from 'offload'

const across = kernel((g, gain, image, rows) => {
  const w = image.shape[1]
  const l = Math.max(g.x - 1, 0), r = Math.min(g.x + 1, w - 1)
  rows[g.y][g.x] = gain * (image[g.y][l] + 2 * image[g.y][g.x] + image[g.y][r]) / 4
})
const store = kernel((g, rows, out) => { out[g.y][g.x] = rows[g.y][g.x] })

export default pipeline({
  device: 'cpu',
  inputs: { image: [u8, 2], gain: f32 },
  outputs: { out: [u8, ({ image }) => image.shape] },
  temporaries: { rows: [f32, ({ image }) => image.shape] },
  async run({ image, gain, rows, out }) {
    if (gain < 0) throw new RangeError('the gain is negative')
    const size = image.shape.toReversed()
    across.launch({ size }, gain, image, rows)
    store.launch({ size: gain === 100 ? [size[0] + 1, size[1]] : size }, rows, out)
  },
})
`

// wantBlur returns the expected result of the pipeline.
func wantBlur(image []byte, h, w int, gain float32) []byte {
	out := make([]byte, len(image))
	for y := range h {
		for x := range w {
			at := func(i int) float32 { return float32(image[y*w+min(max(i, 0), w-1)]) }
			out[y*w+x] = byte(int(gain * (at(x-1) + 2*at(x) + at(x+1)) / 4))
		}
	}
	return out
}

func load(t testing.TB, rt *orepl.Runtime, text string, opts orepl.PipelineOptions) *orepl.Pipeline {
	t.Helper()
	p, err := rt.LoadPipeline(context.Background(), write(t, "pipeline.js", text), opts)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func picture(h, w int) orepl.Array[byte] {
	a := orepl.Array[byte]{Data: make([]byte, h*w), Shape: []int{h, w}}
	for i := range a.Data {
		a.Data[i] = byte(rand.IntN(256))
	}
	return a
}

func TestPipeline(t *testing.T) {
	p := load(t, open(t), blur, orepl.PipelineOptions{Instances: 1})
	var out orepl.Array[byte]
	for _, shape := range [][2]int{{4, 5}, {4, 5}, {30, 20}, {1, 1}, {4, 5}} {
		in := picture(shape[0], shape[1])
		if err := p.Run(context.Background(), orepl.Data{"image": in, "gain": 0.5}, orepl.Data{"out": &out}); err != nil {
			t.Fatal(err)
		}
		if want := wantBlur(in.Data, shape[0], shape[1], 0.5); !slices.Equal(out.Data, want) || !slices.Equal(out.Shape, in.Shape) {
			t.Errorf("%v: got %v %v, expected %v", shape, out.Shape, out.Data, want)
		}
	}
	var flat []byte
	in := picture(3, 3)
	if err := p.Run(context.Background(), orepl.Data{"image": in, "gain": 1}, orepl.Data{"out": &flat}); err != nil || !slices.Equal(flat, wantBlur(in.Data, 3, 3, 1)) {
		t.Errorf("%v, %v", flat, err)
	}
}

// TestOutputsStayWhenARunFails checks that outputs are unchanged if the script or a kernel fails, even if buffers have
// results of an earlier run.
func TestOutputsStayWhenARunFails(t *testing.T) {
	p := load(t, open(t), blur, orepl.PipelineOptions{Instances: 1})
	in := picture(2, 3)
	for _, gain := range []int{100, -1} { // the kernel fails, the script fails
		var good []byte
		if err := p.Run(t.Context(), orepl.Data{"image": in, "gain": 1}, orepl.Data{"out": &good}); err != nil {
			t.Fatal(err)
		}
		flat, shaped := []byte{7, 7, 7, 7, 7, 7, 7}, orepl.Array[byte]{}
		for _, to := range []any{&flat, &shaped} {
			if err := p.Run(t.Context(), orepl.Data{"image": in, "gain": gain}, orepl.Data{"out": to}); err == nil {
				t.Errorf("gain %d: no error", gain)
			}
		}
		if !slices.Equal(flat, []byte{7, 7, 7, 7, 7, 7, 7}) || shaped.Data != nil || shaped.Shape != nil {
			t.Errorf("gain %d: the outputs became %v and %v", gain, flat, shaped)
		}
	}
}

func TestPipelineErrors(t *testing.T) {
	p := load(t, open(t), blur, orepl.PipelineOptions{Instances: 1})
	image, out := picture(2, 3), []byte(nil)
	good := func() orepl.Data { return orepl.Data{"image": image, "gain": 1} }
	with := func(name string, value any) orepl.Data { d := good(); d[name] = value; return d }
	without := func(name string) orepl.Data { d := good(); delete(d, name); return d }
	for _, c := range []struct {
		in, out      orepl.Data
		message, pos string // pos: also hints
	}{
		{with("imag", 1), nil, `there is no input "imag": did you mean image?`, "the inputs are image, gain"},
		{with("image", &[]byte{1}), nil, "cannot be of type *[]uint8", "give the slice itself, without &"},
		{good(), orepl.Data{"out": image}, `the output "out" cannot be stored in a value of type orepl.Array[uint8]: give its address, &out`, ""},
		{without("gain"), nil, `run "pipeline.js" on cpu: the input "gain" is missing`, ""},
		{with("gain", []byte{1}), nil, `the input "gain" is a number`, ""},
		{with("image", 7), nil, `the input "image" is an array of u8, not a number`, ""},
		{with("image", []byte{1, 2}), nil, `the input "image" needs 2 dimensions, but has 1`, "orepl.Array[T]{Data: …, Shape: []int{…}}"},
		{with("image", orepl.Array[float32]{Data: []float32{1}, Shape: []int{1, 1}}), nil, "not of f32", ""},
		{with("image", orepl.Array[byte]{Data: []byte{1}, Shape: []int{2, 1}}), nil, "has 2 bytes, but 1 were given", ""},
		{with("image", orepl.Array[byte]{Data: nil, Shape: []int{-1, 0}}), nil, "has the shape [-1 0]", ""},
		{with("gain", "x"), nil, `the input "gain" is f32, not a text`, ""},
		{good(), orepl.Data{"oot": &out}, `there is no output "oot": did you mean out?`, "the outputs are out"},
		{good(), orepl.Data{"out": out}, `run "pipeline.js": the output "out" cannot be stored in a value of type []uint8: give its address, &out`, ""},
		{good(), orepl.Data{"out": new([]float32)}, "not of f32", ""},
		{good(), orepl.Data{"out": (*[]byte)(nil)}, `the output "out" is a nil pointer`, "give the address of a variable"},
		{with("gain", -1), nil, "the gain is negative", "pipeline.js:16:"},
		{with("gain", 100), orepl.Data{"out": &out}, "is outside", "pipeline.js:8:"},
	} {
		err := p.Run(context.Background(), c.in, c.out)
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(diag.Format(err, false), c.pos) {
			t.Errorf("%q at %q: %s", c.message, c.pos, diag.Format(err, false))
		}
	}
	if err := p.Run(context.Background(), good(), orepl.Data{"out": &out}); err != nil || !slices.Equal(out, wantBlur(image.Data, 2, 3, 1)) {
		t.Errorf("after the errors: %v, %v", out, err)
	}
}

func TestPipelineLimits(t *testing.T) {
	opts := orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{DeviceMemory: 4096}}}
	p := load(t, open(t), blur, opts)
	err := p.Run(context.Background(), orepl.Data{"image": picture(64, 64), "gain": 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "exceed the limit of 4096 bytes of device memory") {
		t.Errorf("%v", err)
	}
	if err := p.Run(context.Background(), orepl.Data{"image": picture(8, 8), "gain": 1}, nil); err != nil {
		t.Errorf("a picture that fits: %v", err)
	}
}

func TestLoadPipelineErrors(t *testing.T) {
	rt := open(t)
	for _, c := range []struct{ text, message, pos string }{
		{"export default 5", "exports no pipeline", "pipeline.js:1:16"},
		{"let x = ", "end of", "pipeline.js:1"},
		{"import { pipeline } from 'offload'\nexport default pipeline({})", "run must be a function", "pipeline.js:2:"},
		{"import { pipeline } from 'offload'\nexport default pipeline({ run() {}, input: {} })", `there is no option "input"`, "pipeline.js:2:"},
		{"import { pipeline } from 'offload'\nexport default pipeline({ run() {}, inputs: { x: 5 } })", "inputs.x: expected a type", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, outputs: { x: [f32] } })", "outputs.x: expected [type, extents]", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, outputs: { x: f32 } })", "not f32 without extents", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, outputs: { x: [f32, 4, 4] } })", "as in [f32, [height, width]]", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, inputs: { x: [f32, 2, 2] } })", "not an array of length 3: the rank is the number of extents, as in [f32, 2]", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, inputs: { x: [f32, [4, 4, 4]] } })", "not an array: the rank is the number of extents, as in [f32, 3]", ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ run() {}, inputs: { x: f32 }, outputs: { x: [f32, 1] } })", `"x" is taken`, ""},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ inputs: { x: f32, n: f32 }, run(x, n) {} })", "run has 2 parameters, and is called with one object", "write run({ x, n }) { … }"},
		{"import { pipeline, f32 } from 'offload'\nexport default pipeline({ params: { x: { type: f32, mni: 0 } }, run() {} })", `params.x: there is no option "mni"`, "did you mean min?"},
		{"import { pipeline } from 'offload'\nexport default pipeline({ device: 'gpu:9', run() {} })", "gpu:9", ""},
	} {
		_, err := rt.LoadPipeline(context.Background(), write(t, "pipeline.js", c.text), orepl.PipelineOptions{})
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(diag.Format(err, false), c.pos) {
			t.Errorf("%s\n%s", c.text, diag.Format(err, false))
		}
	}
}

func TestPipelineCancelled(t *testing.T) {
	p := load(t, open(t), `import { pipeline, kernel, f32 } from 'offload'
const spin = kernel((g, x) => { while (x[0] === 0) x[1] += 1 })
export default pipeline({
  device: 'cpu', inputs: { x: [f32], loop: f32 }, outputs: { y: [f32, 1] },
  run({ x, loop }) { if (loop === 1) for (;;); if (loop === 2) spin.launch({ size: 1 }, x) },
})`, orepl.PipelineOptions{Instances: 1})
	var y []float32
	for loop := 1; loop <= 2; loop++ {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := stopwatch.Start()
		err := p.Run(ctx, orepl.Data{"x": []float32{0, 0}, "loop": loop}, orepl.Data{"y": &y})
		cancel()
		if diag.Code(err) != "timeout" || !errors.Is(err, context.DeadlineExceeded) || start.Elapsed() > time.Minute {
			t.Errorf("loop %d: %v after %v", loop, err, start.Elapsed())
		}
		if err := p.Run(context.Background(), orepl.Data{"x": []float32{1, 0}, "loop": 0}, orepl.Data{"y": &y}); err != nil {
			t.Errorf("after loop %d: %v", loop, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := p.Run(ended, orepl.Data{"x": []float32{1, 0}, "loop": 0}, nil)
	if !errors.Is(err, context.Canceled) || diag.Code(err) != "cancelled" {
		t.Errorf("%v", err)
	}
	late, cancel := context.WithTimeout(context.Background(), 0) // during a run on the only instance
	defer cancel()
	busy, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- p.Run(busy, orepl.Data{"x": []float32{0, 0}, "loop": 2}, orepl.Data{"y": &[]float32{}})
	}()
	for range 20 {
		err := p.Run(late, orepl.Data{"x": []float32{1, 0}, "loop": 0}, nil)
		if diag.Code(err) != "timeout" {
			t.Errorf("%v", err)
		}
	}
	stop()
	if err := <-done; diag.Code(err) != "cancelled" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPipelineConcurrently checks that concurrent runs with equal shapes do not disturb each other, and do not leak buffers,
// goroutines or memory.
func TestPipelineConcurrently(t *testing.T) {
	rt := open(t)
	p := load(t, rt, blur, orepl.PipelineOptions{Instances: 3})
	const callers = 8
	work := func(runs int) {
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				in := picture(16, 16+caller%2)
				gain := 0.25 * float64(1+caller%3)
				want := wantBlur(in.Data, in.Shape[0], in.Shape[1], float32(gain))
				var out []byte
				for range runs {
					if err := p.Run(context.Background(), orepl.Data{"image": in, "gain": gain}, orepl.Data{"out": &out}); err != nil {
						t.Error(err)
						return
					}
					if !slices.Equal(out, want) {
						t.Errorf("caller %d: another caller's result", caller)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	work(20)
	before := usage(rt)
	for range 10 { // retries: instances may be loaded meanwhile, and ended goroutines may still be counted
		work(20)
		after := usage(rt)
		if after.live <= before.live && after.goroutines <= before.goroutines {
			return
		}
		t.Logf("growth: %+v, then %+v", before, after)
		before = after
	}
	t.Error("every round left something behind")
}

type use struct{ live, goroutines int }

func usage(rt *orepl.Runtime) use {
	return use{len(rt.Session().Live()), runtime.NumGoroutine()}
}

func TestPipelineClosed(t *testing.T) {
	rt := open(t)
	p, err := rt.LoadPipeline(context.Background(), write(t, "pipeline.js", blur), orepl.PipelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	if err := p.Run(context.Background(), orepl.Data{"image": picture(2, 2), "gain": 1}, orepl.Data{"out": &out}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Run(context.Background(), nil, nil); offload.CodeOf(err) != offload.Closed {
		t.Errorf("%v", err)
	}
	for _, o := range rt.Session().Live() {
		if o.Kind == "buffer" || o.Kind == "queue" { // kernels stay registered for later engines
			t.Errorf("left alive: %+v", o)
		}
	}
}

// TestPictures checks that gray pictures are passed unchanged, and that sub-images remain sub-images.
func TestPictures(t *testing.T) {
	p := load(t, open(t), blur, orepl.PipelineOptions{Instances: 1})
	whole := image.NewGray(image.Rect(0, 0, 9, 7))
	for i := range whole.Pix {
		whole.Pix[i] = byte(rand.IntN(256))
	}
	kept := slices.Clone(whole.Pix)
	part := whole.SubImage(image.Rect(2, 1, 7, 5)).(*image.Gray)
	var packed []byte
	for y := range 4 {
		packed = append(packed, whole.Pix[(y+1)*9+2:][:5]...)
	}
	want := wantBlur(packed, 4, 5, 1)
	var fresh image.Gray
	for _, out := range []*image.Gray{&fresh, part} { // the second run overwrites its input
		if err := p.Run(context.Background(), orepl.Data{"image": part, "gain": 1}, orepl.Data{"out": out}); err != nil {
			t.Fatal(err)
		}
		if out.Rect.Size() != image.Pt(5, 4) || out.Stride != 5 || !slices.Equal(out.Pix, want) {
			t.Errorf("%v %v\nwant %v", out.Rect, out.Pix, want)
		}
	}
	if !slices.Equal(whole.Pix, kept) {
		t.Error("the picture around the part was changed")
	}
	if err := p.Run(context.Background(), orepl.Data{"image": (*image.Gray)(nil), "gain": 1}, nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("a nil picture: %v", err)
	}
	short := &image.Gray{Pix: make([]byte, 10), Stride: 9, Rect: image.Rect(0, 0, 9, 7)}
	if err := p.Run(context.Background(), orepl.Data{"image": short, "gain": 1}, nil); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("a picture that lacks bytes: %v", err)
	}
	if err := p.Run(context.Background(), orepl.Data{"image": whole, "gain": 1}, orepl.Data{"out": short}); err != nil || len(short.Pix) != 63 {
		t.Errorf("a picture that lacks bytes as output: %v, %d bytes", err, len(short.Pix))
	}
}

// TestInstancesRunTheSameScript checks that all instances run the script as first loaded, including replacements.
func TestInstancesRunTheSameScript(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("factor.js", "export const factor = 2")
	put("pipeline.js", `import { pipeline, kernel, f32 } from 'offload'
import { factor } from './factor'
const scale = kernel((g, f, x, y) => { y[g.x] = f * x[g.x] })
export default pipeline({ device: 'cpu', inputs: { a: f32, x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
	run({ a, x, y }) { if (a === 0) throw new RangeError('none'); scale.launch({ size: x.length }, factor * a, x, y) } })`)
	p, err := open(t).LoadPipeline(t.Context(), filepath.Join(dir, "pipeline.js"), orepl.PipelineOptions{Instances: 2, Engine: orepl.EngineOptions{Policy: lang.AllowAll}})
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	defer p.Close()
	put("factor.js", "export const factor = 100")
	put("factor", "no module")
	put("pipeline.js", "this is no pipeline any more")
	for range 3 {
		if err := p.Run(t.Context(), orepl.Data{"a": 0, "x": []float32{1}}, orepl.Data{}); err == nil { // its instance is then replaced
			t.Error("no error")
		}
		var y []float32
		if err := p.Run(t.Context(), orepl.Data{"a": 3, "x": []float32{1, 2}}, orepl.Data{"y": &y}); err != nil || !slices.Equal(y, []float32{6, 12}) {
			t.Errorf("got %v, %v", y, err)
		}
	}
}

// TestColours passes colour pictures, whole, as parts of others, and to fresh ones.
func TestColours(t *testing.T) {
	const script = `import { pipeline, kernel, u8 } from 'offload'
const swap = kernel((g, a, b) => { for (let c = 0; c < 4; c++) b[g.y][g.x][c] = a[g.y][g.x][c === 3 ? 3 : 2 - c] })
export default pipeline({ inputs: { a: [u8, 3] }, outputs: { b: [u8, ({ a }) => a.shape], flat: [u8, 16] }, run({ a, b }) { swap.launch({ size: [a.shape[1], a.shape[0]] }, a, b) } })`
	rt := open(t)
	p, err := rt.LoadPipeline(t.Context(), "swap.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: orepl.Texts{"swap.js": script}}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	whole := image.NewNRGBA(image.Rect(0, 0, 9, 7))
	for i := range whole.Pix {
		whole.Pix[i] = uint8(i)
	}
	part := whole.SubImage(image.Rect(2, 1, 7, 5)).(*image.NRGBA)
	want := func(x, y, c int) uint8 {
		if c < 3 {
			c = 2 - c
		}
		return uint8((y+1)*whole.Stride + (x+2)*4 + c)
	}
	same := image.NewRGBA(image.Rect(3, 3, 8, 7))
	kept := &same.Pix[0]
	var fresh image.NRGBA
	for _, out := range []any{&fresh, same} {
		if err := p.Run(t.Context(), orepl.Data{"a": part}, orepl.Data{"b": out}); err != nil {
			t.Fatal(err)
		}
	}
	for y := range 4 {
		for x := range 5 {
			for c := range 4 {
				if i := y*20 + x*4 + c; fresh.Pix[i] != want(x, y, c) || same.Pix[i] != want(x, y, c) {
					t.Fatalf("%d,%d,%d is %d and %d, want %d", x, y, c, fresh.Pix[i], same.Pix[i], want(x, y, c))
				}
			}
		}
	}
	if fresh.Rect != image.Rect(0, 0, 5, 4) || fresh.Stride != 20 || &same.Pix[0] != kept || same.Rect != image.Rect(3, 3, 8, 7) {
		t.Errorf("bounds %v and %v, stride %d", fresh.Rect, same.Rect, fresh.Stride)
	}
	for name, c := range map[string]struct {
		in, out orepl.Data
		want    string
	}{
		"nil":            {orepl.Data{"a": (*image.NRGBA)(nil)}, nil, "the pointer is nil"},
		"nil RGBA":       {orepl.Data{"a": (*image.RGBA)(nil)}, nil, "the pointer is nil"},
		"nil output":     {orepl.Data{"a": part}, orepl.Data{"b": (*image.RGBA)(nil)}, `the output "b" is a nil pointer`},
		"short":          {orepl.Data{"a": &image.NRGBA{Pix: make([]byte, 30), Stride: 16, Rect: image.Rect(0, 0, 4, 2)}}, nil, "30 bytes, too few"},
		"gray":           {orepl.Data{"a": image.NewGray(image.Rect(0, 0, 4, 4))}, nil, "dimensions"},
		"gray output":    {orepl.Data{"a": part}, orepl.Data{"b": new(image.Gray)}, "a picture has two"},
		"flat as colour": {orepl.Data{"a": part}, orepl.Data{"flat": new(image.NRGBA)}, "a colour picture has [height, width, 4]"},
	} {
		if err := p.Run(t.Context(), c.in, c.out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
