package orepl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

const checked = `import { pipeline, kernel, f32, i32, u8 } from 'offload'
const twice = kernel((g, x, y) => { y[g.x] = x[g.x] * 2 })
const wrong = kernel((g, x, y) => {
  y[g.x] = x[g.x].name
  y[g.x] = unknown(x)
})
`

// TestCheck checks that all problems of a pipeline are found at once, each with its position and without running a kernel.
func TestCheck(t *testing.T) {
	rt := open(t)
	for name, c := range map[string]struct {
		text string // after the head of 6 lines
		in   orepl.Data
		want []string // position and part of the message of each problem
	}{
		"good": {text: `export default pipeline({
  params: { gain: { type: f32, min: 2 }, mode: { values: ['a'] }, on: i32 },
  inputs: { x: [f32], n: f32 }, outputs: { y: [f32, ({ x }) => x.shape] }, temporaries: { z: [f32, 3] },
  async run({ x, y, gain, mode, queue, device, z, other = 3 }) { await twice.launch({ size: x.length }, x, y); if ((await y.read())[0] !== 0) throw 1 } })`},
		"declaration": {text: `export default pipeline({
  device: 'cup',
  inputs: { x: [f32, 9], y: 3 },
  output: {},
  params: { a: { type: u8, default: 300 }, x: f32 },
  temporaries: 5,
})`, want: []string{"7:25 pipeline: run must be a function", `8:11 there is no device "cup"`, `9:16 the name "x" is taken`, "9:29 inputs.y: expected a type", `10:11 there is no option "output"`,
			"11:16 params.a: default", "12:16 temporaries must be an object"}},
		"aliases": {text: `const shapes = { x: [f32, 0] }
const all = { inputs: shapes, run() {} }
export default pipeline(all)`, want: []string{"7:21 inputs.x"}},
		"names": {text: `export default pipeline({
  inputs: { image: [f32] }, outputs: { edges: [f32, ({ image }) => image.shape] },
  run({ imag, edges, sigma: s }) {}
})`, want: []string{`9:9 run takes "imag"`, `9:22 run takes "sigma"`}},
		"kernels": {text: `export default pipeline({
  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ x, y, device }) {
    wrong.launch({ size: 3 }, x, y)
    twice.launch({ size: 3 }, x)
    twice.launch({ }, x, y)
    twice.launch({ size: 3 }, undefined, y)
    twice.bind({ size: 3 }, x, y).launch()
    twice.launch({ size: 3 }, x, y)
    null.x
    twice.launch({ size: 3 }, x)
  }
})`, want: []string{"4:19 ", "5:12 ", "11:17 takes 2 arguments", "12:17 size is missing", "13:17 ", "16:10 "}},
		"extents": {text: `export default pipeline({
  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shpe] }, run() {} })`, want: []string{"8:39 the extents of y"}},
		"extents of a buffer": {text: `export default pipeline({
  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x] }, run() {} })`, want: []string{"8:39 the extents of y: the function returns a buffer"}},
		"values": {text: `export default pipeline({
  params: { a: { type: f32, max: 2 }, b: { values: ['x'] } },
  inputs: { x: [f32], n: i32 },
  run() {} })`, in: orepl.Data{"a": 3, "b": "y", "n": 0.5}, want: []string{"8:16 is 3, not at most 2", `8:42 is "y"`, "9:26 "}},
		"arrays": {text: `export default pipeline({
  params: { a: { type: f32, max: 2 } },
  inputs: { x: [f32], n: i32, m: [u8, 2] },
  run() {} })`, in: orepl.Data{"a": []float32{3}, "x": 2, "n": []int32{1}, "m": []byte{1}, "z": 1},
			want: []string{`7:24 there is no input "z"`, "8:16 not an array", "9:16 not a number", "9:26 not an array", "9:34 needs 2 dimensions"}},
		"types":     {text: "export default 5", in: orepl.Data{"a": 1}, want: []string{"7:16 exports no pipeline"}},
		"throws":    {text: "export default pipeline({ run() { throw new RangeError('no') } })", want: []string{"7:41 no"}},
		"syntax":    {text: "export default pipeline({", want: []string{"7:26 "}},
		"computed":  {text: "const [p] = [1].map(() => pipeline({ inputs: { x: 3, y: 4 }, run() {} }))\nexport default p", want: []string{"7:51 inputs.x", "7:57 inputs.y"}},
		"go values": {text: "export default pipeline({ inputs: { x: f32 }, run() {} })", in: orepl.Data{"x": struct{}{}, "y": make(chan int)}, want: []string{`"x" cannot be of type`, `"y" cannot be of type`}},
	} {
		t.Run(name, func(t *testing.T) {
			err := rt.CheckPipeline(t.Context(), write(t, "p.js", checked+c.text), orepl.PipelineOptions{}, c.in)
			found := diag.All(err)
			for i := range max(len(found), len(c.want)) {
				if i >= len(found) || i >= len(c.want) {
					t.Fatalf("%d problems, want %d:\n%s", len(found), len(c.want), diag.Format(err, false))
				}
				got := fmt.Sprintf("%d:%d %s", found[i].Line, found[i].Column, found[i].Message)
				if place, text, ok := strings.Cut(c.want[i], " "); !strings.Contains(got, c.want[i]) && (!ok || !strings.HasPrefix(got, place+" ") || !strings.Contains(got, text)) {
					t.Errorf("problem %d is %s, want %s", i, got, c.want[i])
				}
			}
		})
	}
}

// TestRefusedTogether checks that a run reports all values that do not fit, and that the instance survives.
func TestRefusedTogether(t *testing.T) {
	p := load(t, open(t), withParams, orepl.PipelineOptions{Instances: 1})
	var text []float64
	for _, c := range []struct {
		in, out orepl.Data
		want    []string
	}{
		{orepl.Data{"x": 1, "gian": 2}, orepl.Data{"y": &text, "w": &text}, []string{`"x" is an array`, `no input "gian"`, `"offset" is missing`, `"count" is missing`, `output "y"`, `no output "w"`}},
		{orepl.Data{"x": []float32{1}, "offset": 1, "gain": 100, "mode": "x", "count": 0.5}, nil, []string{`"gain" is 100`, `"mode" is "x"`, `"count": `}},
		{orepl.Data{"x": make(chan int), "offset": &text}, nil, []string{`"x" cannot`, `"offset" cannot`}},
	} {
		err := p.Run(t.Context(), c.in, c.out)
		shown := strings.Join(orepl.FormatErrors(err), "\n")
		for _, want := range c.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%v: %s\nlacks %s", c.in, shown, want)
			}
		}
		if n := len(diag.All(err)); n != len(c.want) || diag.Code(err) != "invalid-argument" {
			t.Errorf("%d errors, want %d, code %s: %v", n, len(c.want), diag.Code(err), err)
		}
	}
	if n := p.Stats().Instances; n != 1 {
		t.Errorf("%d instances", n)
	}
}

// TestCheckEnds checks that a check of a script that waits for a kernel's result ends with its context or the limit of time, and
// that the pipeline runs afterwards.
func TestCheckEnds(t *testing.T) {
	p := load(t, open(t), `import { pipeline, kernel, f32 } from 'offload'
const one = kernel((g, y) => { y[g.x] = 1 })
export default pipeline({ outputs: { y: [f32, [1]] }, async run({ y }) { do { one.launch({ size: 1 }, y) } while ((await y.read())[0] === 0) } })`,
		orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 200 * time.Millisecond}}})
	if err := p.Check(t.Context(), nil); diag.Code(err) != "timeout" {
		t.Errorf("limit: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Check(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("context: %v", err)
	}
	var y []float32
	if err := p.Run(t.Context(), nil, orepl.Data{"y": &y}); err != nil || fmt.Sprint(y) != "[1]" {
		t.Errorf("%v, %v", y, err)
	}
}

// TestDocumentedCheck runs the example of the guide.
func TestDocumentedCheck(t *testing.T) {
	found := diag.All(open(t).CheckPipeline(t.Context(), "testdata/scale.js", orepl.PipelineOptions{}, nil))
	if len(found) > 0 {
		t.Error(found)
	}
}
