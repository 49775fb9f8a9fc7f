package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// A schema is a JSON schema with the keywords that the published one uses.
type schema struct {
	root map[string]any
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	data, err := os.ReadFile("../../../docs/benchmarks.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &schema{}
	if err := json.Unmarshal(data, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// complaints returns what makes a text invalid.
func (s *schema) complaints(t *testing.T, text []byte) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return s.check(t, s.root, v, "")
}

func (s *schema) check(t *testing.T, rules map[string]any, v any, at string) (out []string) {
	t.Helper()
	for key, rule := range rules {
		complain := func(ok bool) {
			if !ok {
				out = append(out, fmt.Sprintf("%s: %v is against %s %v", at, v, key, rule))
			}
		}
		number, isNumber := v.(float64)
		object, _ := v.(map[string]any)
		array, _ := v.([]any)
		switch key {
		case "$schema", "$defs", "title", "description", "format", "properties":
		case "$ref":
			name := strings.TrimPrefix(rule.(string), "#/$defs/")
			out = append(out, s.check(t, s.root["$defs"].(map[string]any)[name].(map[string]any), v, at)...)
		case "type":
			list, several := rule.([]any)
			if !several {
				list = []any{rule}
			}
			complain(slices.ContainsFunc(list, func(kind any) bool { return kind == typeOf(v) || kind == "number" && typeOf(v) == "integer" }))
		case "const":
			complain(v == rule)
		case "enum":
			complain(slices.Contains(rule.([]any), v))
		case "minimum":
			complain(!isNumber || number >= rule.(float64))
		case "maximum":
			complain(!isNumber || number <= rule.(float64))
		case "minLength":
			complain(len(fmt.Sprint(v)) >= int(rule.(float64)))
		case "minItems":
			complain(len(array) >= int(rule.(float64)))
		case "maxItems":
			complain(len(array) <= int(rule.(float64)))
		case "items":
			for i, item := range array {
				out = append(out, s.check(t, rule.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "required":
			for _, name := range rule.([]any) {
				if _, ok := object[name.(string)]; !ok && object != nil {
					out = append(out, fmt.Sprintf("%s: %s is missing", at, name))
				}
			}
		case "additionalProperties":
			known, _ := rules["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(object)) {
				if _, ok := known[name]; ok {
					continue
				}
				if rule == false {
					out = append(out, fmt.Sprintf("%s: %s is unknown", at, name))
				} else {
					out = append(out, s.check(t, rule.(map[string]any), object[name], at+"."+name)...)
				}
			}
		default:
			t.Errorf("the schema has the keyword %s, which this test does not know", key)
		}
	}
	if known, ok := rules["properties"].(map[string]any); ok {
		object, _ := v.(map[string]any)
		for name, sub := range known {
			if value, ok := object[name]; ok {
				out = append(out, s.check(t, sub.(map[string]any), value, at+"."+name)...)
			}
		}
	}
	return out
}

// typeOf returns the type of a JSON value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
