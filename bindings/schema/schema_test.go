package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/offloadjs/params"
)

var list = []params.Param{
	{Name: "gain", Type: "f32", Default: 1.5, Min: 0.5, Max: int64(10), Unit: "dB", Doc: "how \"loud\" | */ it is\nnow"},
	{Name: "mode", Type: "string", Default: "plain", Values: []any{"plain", "twice"}},
	{Name: "big", Type: "u64", Default: new(big.Int).SetUint64(math.MaxUint64)},
	{Name: "on", Type: "bool", Default: true},
	{Name: "max size", Type: "i16"},
	{Name: "far", Type: "f64", Default: math.Inf(1), Max: math.Inf(1)},
	{Name: "steps", Type: "i32", Values: []any{int64(1), int64(2)}, Min: int64(0)},
}

// TestJSON checks the schema as a reader of JSON with exact numbers sees it.
func TestJSON(t *testing.T) {
	var s struct {
		Properties map[string]map[string]any
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	text := JSON("a \"b\".js", list)
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&s); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for name, want := range map[string]map[string]any{
		"gain":     {"type": "number", "default": json.Number("1.5"), "minimum": json.Number("0.5"), "maximum": json.Number("10"), "x-unit": "dB", "x-type": "f32", "description": list[0].Doc},
		"mode":     {"type": "string", "default": "plain"},
		"big":      {"type": "integer", "default": json.Number("18446744073709551615"), "minimum": json.Number("0"), "maximum": json.Number("18446744073709551615")},
		"on":       {"type": "boolean", "default": true, "minimum": nil},
		"max size": {"type": "integer", "minimum": json.Number("-32768"), "maximum": json.Number("32767"), "default": nil},
		"far":      {"type": "number", "default": nil, "maximum": nil},
		"steps":    {"type": "integer", "minimum": json.Number("0"), "maximum": json.Number("2147483647")},
	} {
		for key, value := range want {
			if got := s.Properties[name][key]; got != value {
				t.Errorf("%s.%s is %v, want %v", name, key, got, value)
			}
		}
	}
	if got := strings.Join(s.Required, ","); got != "max size,steps" || s.Additional == nil || *s.Additional || len(s.Properties) != len(list) {
		t.Errorf("required %s in\n%s", got, text)
	}
	if err := json.Unmarshal(JSON("none", nil), &s); err != nil {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	const declared = `export interface P {
  /** f32 = 1.5 (0.5 to 10 dB): how "loud" | *\/ it is
now */
  gain?: number
  /** string = "plain" ("plain", "twice") */
  mode?: "plain" | "twice"
  /** u64 = 18446744073709551615 */
  big?: number | bigint
  /** bool = true */
  on?: boolean
  /** i16 */
  "max size": number
  /** f64 = +Inf (at most +Inf) */
  far?: number
  /** i32 (at least 0, 1, 2) */
  steps: 1 | 2
}
`
	if got := TypeScript("P", list); got != declared {
		t.Errorf("%s\nwant\n%s", got, declared)
	}
	table := Markdown(list)
	for _, want := range []string{"| `gain` | f32 | `1.5` | 0.5 to 10 dB | how \"loud\" \\| */ it is now |\n", "| `max size` | i16 |  |  |  |\n", "| `mode` | string | `\"plain\"` | \"plain\", \"twice\" |  |\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("%s\nlacks %s", table, want)
		}
	}
	if Markdown(nil) != "" {
		t.Error("a table of nothing")
	}
}
