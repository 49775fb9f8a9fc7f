package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/config/files"
)

type stage struct {
	Name   string `orepl:"name,required" doc:"which filter"`
	Radius *uint8
	Key    orepl.Secret
}

type settings struct {
	Server struct {
		Port uint16        `check:"min=1024" doc:"the port | of the service"`
		Wait time.Duration `check:"max=1m"`
		Deep struct{ On bool }
	}
	Mode    string  `check:"oneof=fast|exact"`
	Name    string  `check:"len=1..4 match=^[a-z]+$"`
	Ratio   float32 `check:"min=0 max=1"`
	Big     uint64
	Hosts   []string `check:"len=0..2"`
	Weights map[string]float64
	Corner  [2]int8
	Limit   *int         `check:"max=0x10"`
	Level   int          `check:"oneof=1|2"`
	Token   orepl.Secret `orepl:"token,required" check:"len=2..8" doc:"of the door"`
	Old     string       `orepl:"old,secret"`
	Stages  []stage
	Extra   any
	Exact   *big.Int
	When    time.Time
	Pattern string `check:"match=(?i)^a*$"`
}

func declared(t *testing.T) *orepl.Settings[settings] {
	s := settings{Mode: "fast", Name: "a", Level: 1, Old: "hunter2", Token: orepl.NewSecret("hunter2"), Hosts: []string{"h"}, Stages: []stage{{Name: "blur", Key: orepl.NewSecret("hunter2")}}}
	s.Server.Port, s.Server.Wait = 8080, 1500*time.Millisecond
	declared, err := orepl.SettingsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// accepts reports whether a schema accepts a value: the keywords of draft 2020-12 that settings use.
func accepts(s map[string]any, v any) bool {
	kind := map[reflect.Type]string{reflect.TypeFor[string](): "string", reflect.TypeFor[bool](): "boolean", reflect.TypeFor[[]any](): "array", reflect.TypeFor[map[string]any](): "object", nil: "null"}[reflect.TypeOf(v)]
	x, isNumber := v.(json.Number)
	exact := new(big.Rat)
	if isNumber {
		kind = "number"
		exact.SetString(x.String())
	}
	types, _ := s["type"].([]any)
	if one, ok := s["type"].(string); ok {
		types = []any{one}
	}
	if types != nil && !slices.Contains(types, any(kind)) && !(isNumber && exact.IsInt() && slices.Contains(types, any("integer"))) {
		return false
	}
	number := func(key string) *big.Rat {
		n, ok := s[key].(json.Number)
		if !ok {
			return nil
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r
	}
	within := func(n int, low, high string) bool {
		size := big.NewRat(int64(n), 1)
		return !(number(low) != nil && size.Cmp(number(low)) < 0 || number(high) != nil && size.Cmp(number(high)) > 0)
	}
	equal := func(one any) bool {
		n, ok := one.(json.Number)
		if !ok || !isNumber {
			return reflect.DeepEqual(one, v)
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r.Cmp(exact) == 0
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, equal) {
		return false
	}
	switch x := v.(type) {
	case json.Number:
		return !(number("minimum") != nil && exact.Cmp(number("minimum")) < 0 || number("maximum") != nil && exact.Cmp(number("maximum")) > 0)
	case string:
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, x); err != nil {
				return false
			}
		}
		pattern, _ := s["pattern"].(string)
		return within(utf8.RuneCountInString(x), "minLength", "maxLength") && regexp.MustCompile(pattern).MatchString(x)
	case []any:
		items, _ := s["items"].(map[string]any)
		return within(len(x), "minItems", "maxItems") && !slices.ContainsFunc(x, func(one any) bool { return !accepts(items, one) })
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := x[name.(string)]; !ok {
				return false
			}
		}
		for name, part := range x {
			one, ok := properties[name].(map[string]any)
			if !ok {
				if one, ok = s["additionalProperties"].(map[string]any); !ok && s["additionalProperties"] == false {
					return false
				}
			}
			if !accepts(one, part) {
				return false
			}
		}
		return within(len(x), "minProperties", "maxProperties")
	}
	return true
}

// parse decodes JSON with exact numbers.
func parse(t *testing.T, text []byte) (v map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// TestSettingsSchema loads random files: Load accepts each that the schema accepts, and the schema each that Load accepts, apart from
// null in place of a setting and texts of integers without bounds.
func TestSettingsSchema(t *testing.T) {
	text := declared(t).Schema("the service")
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("the schema shows a secret:\n%s", text)
	}
	schema := parse(t, text)
	if schema["title"] != "the service" || fmt.Sprint(schema["required"]) != "[token]" {
		t.Errorf("%s", text)
	}
	values := []string{
		"0", "1", "2", "1023", "1024", "65535", "65536", "-1", "127", "-129", "0.5", "1.0", "1e3", "1.5e4", "18446744073709551615", "18446744073709551616", "16", "17", "1e-40", "3e38", "4e38",
		`""`, `"a"`, `"abc"`, `"Abc"`, `"abcde"`, `"fast"`, `"1s"`, `"-1.5h"`, `"1"`, `"0"`, `"2026-01-02T03:04:05Z"`, `"äö"`, `"aaA"`, "true", "false", "[]", `["a"]`, `["a", "b"]`, `["a", "b", "c"]`, "[1, 2]", "[1, 200]", "[1.5]",
		"{}", `{"a": 1.5}`, `{"a": "x"}`, `{"name": "blur"}`, `[{"name": "blur", "radius": 3, "key": "k"}]`, `[{"radius": 3}]`, `[{"name": "blur", "raduis": 3}]`, `[{"name": "blur", "radius": null}]`, `[{"name": 1}]`,
		`{"port": 80}`, `{"port": 8080}`, `{"port": 8080, "wait": "1s"}`, `{"deep": {"on": true}}`, `{"deep": {"off": true}}`, `{"deep": 1}`,
	}
	names := []string{"server", "mode", "name", "ratio", "big", "hosts", "weights", "corner", "limit", "level", "old", "stages", "extra", "exact", "when", "nmae"}
	accepted := map[string]int{}
	for _, name := range []string{"big", "exact", "ratio", "level"} { // a number whose digits would fill the memory
		values, err := files.Parse(".json", []byte(`{"token": "ab", "`+name+`": 1e400000000}`))
		if _, failed := orepl.Load(t.Context(), settings{}, orepl.FromValues("f.json", values, err)); failed == nil {
			t.Errorf("%s is 1e400000000", name)
		}
	}
	check := func(file map[string]string) {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(file)) {
			parts = append(parts, fmt.Sprintf("%q: %s", name, file[name]))
		}
		text := "{" + strings.Join(parts, ", ") + "}"
		values, err := files.Parse(".json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, failed := orepl.Load(t.Context(), settings{Mode: "fast", Name: "a", Level: 1, Server: struct {
			Port uint16        `check:"min=1024" doc:"the port | of the service"`
			Wait time.Duration `check:"max=1m"`
			Deep struct{ On bool }
		}{Port: 1024}}, orepl.FromValues("f.json", values, nil))
		ok := accepts(schema, any(parse(t, []byte(text))))
		if ok != (failed == nil) && !strings.Contains(text, `"exact": "`) {
			t.Errorf("the schema accepts %s: %v, but Load: %v", text, ok, failed)
		}
		for name := range file {
			if ok {
				accepted[name]++
			}
		}
	}
	check(map[string]string{})
	check(map[string]string{"token": `"x"`})
	for _, name := range names {
		for _, value := range values {
			check(map[string]string{"token": `"ab"`, name: value})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		file := map[string]string{"token": `"ab"`}
		for range 1 + r.IntN(3) {
			file[names[r.IntN(len(names)-1)]] = values[r.IntN(len(values))]
		}
		check(file)
	}
	for _, name := range names[:len(names)-1] {
		if accepted[name] == 0 {
			t.Errorf("no file with %s was accepted", name)
		}
	}
}

func TestSettingsTexts(t *testing.T) {
	s := declared(t)
	const want = `export interface Settings {
  server?: {
    /** the port | of the service (min=1024) */
    port?: number
    /** (max=1m) */
    wait?: string | number
    deep?: {
      on?: boolean
    }
  }
  /** (oneof=fast|exact) */
  mode?: "fast" | "exact"
  /** (len=1..4 match=^[a-z]+$) */
  name?: string
  /** (min=0 max=1) */
  ratio?: number
  big?: number | bigint
  /** (len=0..2) */
  hosts?: readonly (string)[]
  weights?: Record<string, number>
  corner?: readonly (number)[]
  /** (max=0x10) */
  limit?: number | bigint | null
  /** (oneof=1|2) */
  level?: number | bigint
  /** of the door (len=2..8) */
  token: string
  old?: string
  stages?: readonly ({ name: string; radius?: number | null; key?: string })[]
  extra?: any
  exact?: number | bigint
  when?: Date
  /** (match=(?i)^a*$) */
  pattern?: string
}
`
	if got := s.TypeScript("Settings"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	table := s.Markdown()
	for _, want := range []string{
		"| `server.port` | number | `8080` | `min=1024` | the port \\| of the service |\n", "| `server.wait` | string \\| number | `\"1.5s\"` | `max=1m` |  |\n",
		"| `token` | string | (secret) | `len=2..8` | of the door |\n", "| `old` | string | (secret) |  |  |\n", "| `hosts` | readonly (string)[] | `[\"h\"]` |", "| `limit` | number \\| bigint \\| null |  | `max=0x10` |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%s\nlacks %s", table, want)
		}
	}
	if strings.Contains(table+s.String()+fmt.Sprint(s), "hunter2") {
		t.Errorf("a secret is shown in\n%s%s", table, s)
	}
	if property := s.Schema(""); !strings.Contains(string(property), `"x-check": [`) || !strings.Contains(string(property), "match=(?i)^a*$") || !strings.Contains(string(property), `"writeOnly": true`) {
		t.Errorf("%s", property)
	}
}

// A tree is a list of lists, and a table a map of maps.
type (
	tree  []tree
	table map[string]table
)

// TestSettingsOfRecursiveTypes describes and loads settings whose types hold themselves.
func TestSettingsOfRecursiveTypes(t *testing.T) {
	type recursive struct {
		Tree  tree `check:"len=0..2"`
		Table table
		Next  *struct{ Trees []*tree }
	}
	s, err := orepl.SettingsOf(recursive{Tree: tree{{}}, Table: table{"a": {}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"schema": string(s.Schema("T")), "TypeScript": s.TypeScript("T"), "Markdown": s.Markdown(), "text": s.String()} {
		if !strings.Contains(strings.ToLower(text), "table") {
			t.Errorf("%s: %s", name, text)
		}
	}
	values, err := files.Parse(".json", []byte(`{"tree": [[[]]], "table": {"a": {"b": {}}}}`))
	loaded, failed := orepl.Load(t.Context(), recursive{}, orepl.FromValues("f.json", values, err))
	if failed != nil || len(loaded.Value.Tree[0]) != 1 || loaded.Value.Table["a"]["b"] == nil {
		t.Errorf("%+v: %v", loaded, failed)
	}
}
