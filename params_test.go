package orepl_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

const withParams = `import { pipeline, kernel, f32, i32, u8, i64, u64, bool } from 'offload'
const scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })
export default pipeline({
  device: ['cuda:9', 'cpu'],
  params: {
    gain: { type: f32, default: 1.5, min: 0.5, max: 10, unit: 'dB', doc: 'how loud' },
    mode: { values: ['plain', 'twice'], default: 'plain' },
    level: { type: u8, default: 3 },
    exact: { type: i64, default: 9007199254740993n, max: 2n ** 62n },
    wide: { type: u64, default: 0 },
    on: { type: bool, default: true },
    count: i32,
  },
  inputs: { x: [f32], offset: f32 },
  outputs: { y: [f32, ({ x, count }) => [x.length * count]], seen: [f32, [2, 1]], text: [u8, [8]] },
  run({ gain, mode, level, exact, wide, on, count, x, offset, y, seen }) {
    scale.launch({ size: x.length }, on ? (mode === 'twice' ? 2 * gain : gain) : 0, x, y)
    seen.write(Float32Array.of(level, exact === 9007199254740993n && wide === 0n ? 1 : exact === 5n && wide === 2n ** 63n ? 2 : 0))
  },
})`

// TestParams runs a pipeline with defaults and with values of every kind, and refuses those that are not allowed.
func TestParams(t *testing.T) {
	p := load(t, open(t), withParams, orepl.PipelineOptions{Instances: 1})
	type data = orepl.Data
	for _, c := range []struct {
		in   data
		want string // the outputs, or part of the error
	}{
		{data{"count": 1}, "[1.5 3] [3 1]"},
		{data{"count": 2}, "[1.5 3 0 0] [3 1]"},
		{data{"count": int8(1), "gain": 2, "mode": "twice", "level": uint16(255)}, "[4 8] [255 1]"},
		{data{"count": 1, "on": false}, "[0 0] [3 1]"},
		{data{"count": 1, "exact": 5, "wide": uint64(1) << 63}, "[1.5 3] [3 2]"},
		{data{}, `the parameter "count" is missing, which has no default`},
		{data{"count": 1, "gain": 0.25}, `the parameter "gain" is 0.25, not at least 0.5 dB`},
		{data{"count": 1, "gain": math.NaN()}, "is NaN"},
		{data{"count": 1, "gain": "loud"}, `the parameter "gain": expected a value of f32`},
		{data{"count": 1, "gain": []float32{1}}, `the parameter "gain" is of type f32, not an array`},
		{data{"count": 1, "mode": "twise"}, `not one of "plain", "twice": did you mean "twice"?`},
		{data{"count": 1, "mode": 1}, `the parameter "mode": expected a text`},
		{data{"count": 1, "level": 256}, `the parameter "level": `},
		{data{"count": 1, "level": 1.5}, `the parameter "level": `},
		{data{"count": 1, "exact": new(big.Int).Lsh(big.NewInt(1), 63)}, `the parameter "exact": `},
		{data{"count": 1, "exact": int64(1)<<62 + 1}, "not at most 4611686018427387904"},
		{data{"count": 1, "on": 1}, `the parameter "on": expected true or false`},
		{data{"count": 1, "gian": 1}, "gain"},
		{data{"count": 1, "offset": "1"}, `the input "offset" is f32, not a text`},
	} {
		in := data{"x": []float32{1, 2}, "offset": 0}
		for name, v := range c.in {
			in[name] = v
		}
		var y []float32
		var seen orepl.Array[float32]
		err := p.Run(t.Context(), in, data{"y": &y, "seen": &seen})
		got := fmt.Sprint(y, seen.Data)
		got = strings.Replace(got, "] [", "] [", 1)
		if err != nil {
			got = diag.Format(err, false)
			if diag.Code(err) != "invalid-argument" {
				t.Errorf("%v: the code is %s", c.in, diag.Code(err))
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.in, got, c.want)
		}
	}
	const about = `pipeline.js on cpu
  param   gain: f32 = 1.5 (0.5 to 10 dB): how loud
  param   mode: string = "plain" ("plain", "twice")
  param   level: u8 = 3
  param   exact: i64 = 9007199254740993 (at most 4611686018427387904)
  param   wide: u64 = 0
  param   on: bool = true
  param   count: i32
  input   x: f32[]
  input   offset: f32
  output  y: f32[…]
  output  seen: f32[,]
  output  text: u8[]
`
	if got := p.Describe(); got != about {
		t.Errorf("Describe:\n%s\nwant:\n%s", got, about)
	}
	if s := p.Stats(); s.Runs != 19 || s.Failed != 14 || s.Running != 0 || s.Waiting != 0 || s.Instances != 1 || s.Time <= 0 {
		t.Errorf("%+v", s)
	}
}

// TestRefusedParams loads declarations that are wrong.
func TestRefusedParams(t *testing.T) {
	rt := open(t)
	for declaration, want := range map[string]string{
		"a: { type: u8, default: 300 }":        "params.a: default: ",
		"a: { type: f32, default: 3, max: 2 }": "params.a: the default is 3, not at most 2",
		"a: { type: f32, min: 'x' }":           "params.a: min: expected a value of f32",
		"a: { values: ['x', 1] }":              "params.a: values: expected a text",
		"a: { values: 'x' }":                   "params.a: values must be an array",
		"a: { default: 'y', values: ['x'] }":   `params.a: the default is "y", not one of "x"`,
		"a: { default: 'y', min: 'x' }":        "params.a: min: a text has no bounds",
		"a: { typ: f32 }":                      `params.a: there is no option "typ"`,
		"a: 5":                                 "params.a: expected a type or {",
		"a: { type: [f32] }":                   "params.a: the type is",
		"a: { type: struct({ x: f32 }, 'S') }": "params.a: a record cannot be a parameter",
		"device: f32":                          "taken",
	} {
		text := "import { pipeline, struct, f32, u8 } from 'offload'\nexport default pipeline({ params: { " + declaration + " }, run() {} })"
		_, err := rt.LoadPipeline(context.Background(), write(t, "pipeline.js", text), orepl.PipelineOptions{})
		if err == nil || !strings.Contains(diag.Format(err, false), want) {
			t.Errorf("%s: %v, want %s", declaration, err, want)
		}
	}
}
