package orepl_test

import (
	"math"
	"math/big"
	"net/url"
	"strings"
	"testing"

	"github.com/orepl/orepl"
)

// TestParse parses the texts of a query by the types of the declaration, and lets Run report those that have no value.
func TestParse(t *testing.T) {
	rt := open(t)
	const script = `import { pipeline, f32, i64, u8, bool } from 'offload'
export default pipeline({
  params: { gain: { type: f32, default: 1, max: 10 }, id: { type: i64, default: 0 }, small: { type: u8, default: 0 }, on: { type: bool, default: false }, mode: { values: ['1', 'true', 'b'], default: 'b' } },
  inputs: { n: i64, x: [f32] },
  outputs: { y: [f32, 1] },
  run() {},
})`
	p, err := rt.LoadPipeline(t.Context(), "a.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: orepl.Texts{"a.js": script}}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := orepl.Data{"x": []float32{1}}
	in := p.Parse(url.Values{"gain": {"2.5", "7"}, "id": {"9007199254740993"}, "small": {"300"}, "on": {"true"}, "mode": {"1"}, "n": {"-9223372036854775808"}, "x": {"5"}, "none": nil}, x)
	for name, want := range map[string]any{"gain": 2.5, "id": int64(1<<53 + 1), "small": int64(300), "on": true, "mode": "1", "n": int64(math.MinInt64)} {
		if in[name] != want {
			t.Errorf("%s is %v (%[2]T), want %v", name, in[name], want)
		}
	}
	if s, ok := in["x"].([]float32); !ok || len(s) != 1 || len(x) != 1 {
		t.Errorf("x is %v; the argument holds %v", in["x"], x)
	}
	if large, ok := p.Parse(url.Values{"id": {"9223372036854775808"}}, nil)["id"].(*big.Int); !ok || large.String() != "9223372036854775808" {
		t.Errorf("a large integer is %v", large)
	}
	for query, want := range map[string]string{
		"n=1&gain=2&id=5&small=255&on=0&mode=true": "",
		"n=1&gain=11":                         "not at most 10",
		"n=1&gain=two":                        `the parameter "gain"`,
		"n=1&gain=":                           `the parameter "gain"`,
		"n=1&gain=1e999":                      `the parameter "gain"`,
		"n=1.5":                               `the input "n"`,
		"n=9223372036854775808":               `the input "n"`,
		"n=" + strings.Repeat("9", 1_000_000): `the input "n"`,
		"n=1&small=256":                       `the parameter "small"`,
		"n=1&on=maybe":                        `the parameter "on"`,
		"n=1&mode=2":                          `"1", "true", "b"`,
		"n=1&gian=2":                          "gian",
		"":                                    `the input "n" is missing`,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Run(t.Context(), p.Parse(values, x), orepl.Data{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %.300v, want %s", query, err, want)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.40s: the error has %d bytes", query, len(err.Error()))
		}
	}
}
