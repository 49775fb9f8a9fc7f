package orepl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

// TestRefusedRuns tells runs that were refused, which is the caller's fault, from those whose script fails, which has a place.
func TestRefusedRuns(t *testing.T) {
	const text = `import { pipeline, kernel, f32 } from 'offload'
const twice = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] })
export default pipeline({
  inputs: { x: [f32], n: f32 },
  params: { gain: { type: f32, default: 1, max: 10 }, mode: { values: ['a', 'b'], default: 'a' } },
  outputs: { y: [f32, ({ x, n }) => n === 5 ? [-1] : x.shape] },
  run({ x, y, n, queue }) {
    if (n === 1) throw new RangeError('one')
    if (n === 2) twice.launch({ size: -1 }, x, y)
    if (n === 3) twice.launch({ size: 1 }, x)
    if (n === 4) return Promise.reject(new RangeError('four'))
    if (n === 6) return new Promise(() => { twice.launch({ size: -1 }, x, y) })
    if (n === 7) twice.launch({ size: 100 }, x, y)
    if (n === 8) undefined.x
    twice.launch({ size: x.length }, x, y)
  },
})`
	p, err := open(t).LoadPipeline(t.Context(), write(t, "p.js", text), orepl.PipelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var y []float32
	x, out := []float32{1, 2}, orepl.Data{"y": &y}
	for _, c := range []struct {
		name    string
		in, out orepl.Data
		line    int // of the script; 0: the run is refused
	}{
		{"missing", orepl.Data{"x": x}, out, 0},
		{"unknown", orepl.Data{"x": x, "n": 0, "z": 1}, out, 0},
		{"a number for an array", orepl.Data{"x": 1, "n": 0}, out, 0},
		{"an array for a number", orepl.Data{"x": x, "n": x}, out, 0},
		{"an output by value", orepl.Data{"x": x, "n": 0}, orepl.Data{"y": y}, 0},
		{"a type of Go", orepl.Data{"x": make(chan int), "n": 0}, out, 0},
		{"two types of Go", orepl.Data{"x": make(chan int), "n": struct{}{}}, out, 0},
		{"two misfits", orepl.Data{"x": 1, "n": x}, out, 0},
		{"out of range", orepl.Data{"x": x, "n": 0, "gain": 11}, out, 0},
		{"not in the list", orepl.Data{"x": x, "n": 0, "mode": "c"}, out, 0},
		{"two parameters", orepl.Data{"x": x, "n": 0, "mode": "c", "gain": "x"}, out, 0},
		{"throw", orepl.Data{"x": x, "n": 1}, out, 8},
		{"launch of a wrong size", orepl.Data{"x": x, "n": 2}, out, 9},
		{"launch without an argument", orepl.Data{"x": x, "n": 3}, out, 10},
		{"rejection", orepl.Data{"x": x, "n": 4}, out, 11},
		{"extents", orepl.Data{"x": x, "n": 5}, out, 6},
		{"launch in a promise", orepl.Data{"x": x, "n": 6}, out, 12},
		{"kernel", orepl.Data{"x": x, "n": 7}, out, 2},
		{"property of undefined", orepl.Data{"x": x, "n": 8}, out, 14},
	} {
		for range 2 {
			err := p.Run(t.Context(), c.in, c.out)
			var d *diag.Diagnostic
			if line := 0; errors.As(err, &d) {
				line = d.Line
				if c.line > 0 && (line != c.line || !strings.HasSuffix(d.File, "p.js")) {
					t.Errorf("%s: line %d of %q, want %d: %v", c.name, line, d.File, c.line, err)
				}
			} else if c.line > 0 {
				t.Errorf("%s: no place: %v", c.name, err)
			}
			if err == nil || errors.Is(err, orepl.ErrRefused) != (c.line == 0) {
				t.Errorf("%s: refused %t: %v", c.name, errors.Is(err, orepl.ErrRefused), err)
			}
		}
		if err := p.Run(t.Context(), orepl.Data{"x": x, "n": 0}, out); err != nil {
			t.Errorf("after %s: %v", c.name, err)
		}
	}
}
