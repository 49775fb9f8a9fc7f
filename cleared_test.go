package orepl_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/runtime/session"
)

// TestClearedOnlyWhereNeeded counts the fills of replayed runs, and compares their results with those of a fresh pipeline: outputs that
// some element of an earlier run could remain in are cleared.
func TestClearedOnlyWhereNeeded(t *testing.T) {
	rt := open(t)
	for _, c := range []struct {
		kernel, launch string
		fills          int
	}{
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, x, y, a)", 0},
		{"const i = g.y; y[i][g.x] = x[i][g.x] + a; const n = y.shape[0]", "k.launch({ size: [size[0] + 3, size[1] + 1] }, x, y, a)", 0}, // fails
		{"if (g.x < y.shape[1] && g.y < y.shape[0]) y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size: [size[0] + 3, size[1]] }, x, y, a)", 1},
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size: [size[0], size[1] - 1] }, x, y, a)", 1},
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size: [size[0] - 1, size[1]] }, x, y, a)", 1},
		{"y[g.y][g.x] = y[g.y][g.x] + x[g.y][g.x]", "k.launch({ size }, x, y, a)", 1},
		{"y[g.y][g.x] = x[g.y][g.x]; if (g.x + g.y === 0) y[0][0] = 7", "k.launch({ size }, x, y, a)", 1},
		{"if (a > 0) y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, x, y, a)", 1},
		{"if (x[g.y][g.x] > 2) return; y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, x, y, a)", 1},
		{"for (let i = 0; i < 3; i++) { if (x[g.y][g.x] > 2) return }\n y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, x, y, a)", 1},
		{"y[g.x][g.y] = x[g.x][g.y]", "k.launch({ size: x.shape }, x, y, a)", 1},
		{"y[g.y][g.local.x] = 5", "k.launch({ size, groupSize: [2, 1] }, x, y, a)", 1},
		{"y.flat[g.x] = x.flat[g.x]", "k.launch({ size: size[0] * size[1] }, x, y, a)", 1},
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, y, z, a); k.launch({ size }, x, y, a)", 1}, // y is read first; z is set
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, y, y, a)", 1},
		{"y[g.y][g.x] = x[g.y][g.x]", "k.launch({ size }, x, y, a); k.launch({ size: 1 }, y, z, a)", 0},
		{"y[g.y][g.x] = x[g.y][g.x]", "if (a > 9) k.launch({ size }, x, y, a)", 1},
	} {
		text := fmt.Sprintf(`import { pipeline, kernel, f32 } from 'offload'
const k = kernel((g, x, y, a) => { %s })
export default pipeline({
  device: 'cpu', inputs: { x: [f32, 2], a: f32 }, outputs: { y: [f32, ({ x }) => x.shape] }, temporaries: { z: [f32, ({ x }) => x.shape] },
  run({ x, y, z, a }) { const size = x.shape.toReversed(); %s },
})`, c.kernel, c.launch)
		p := load(t, rt, text, orepl.PipelineOptions{Instances: 1})
		for run := range 6 {
			x := orepl.Array[float32]{Data: make([]float32, 12), Shape: []int{4, 3}}
			for i := range x.Data {
				x.Data[i] = float32((i*run + run) % 5)
			}
			in := orepl.Data{"x": x, "a": run % 2}
			fills := 0
			stop := rt.Session().Watch(0, func(c *session.Command) {
				if c.Kind == session.FillCommand {
					fills++
				}
			})
			var got, want []float32
			err := p.Run(context.Background(), in, orepl.Data{"y": &got})
			stop()
			fresh := load(t, rt, text, orepl.PipelineOptions{Instances: 1})
			failed := fresh.Run(context.Background(), in, orepl.Data{"y": &want})
			if (err == nil) != (failed == nil) || !slices.Equal(got, want) {
				t.Errorf("%s, %s, run %d: %v, %v; want %v, %v", c.kernel, c.launch, run, got, err, want, failed)
			}
			if run > 2 && fills != c.fills {
				t.Errorf("%s, %s, run %d: %d fills, want %d", c.kernel, c.launch, run, fills, c.fills)
			}
		}
	}
}
