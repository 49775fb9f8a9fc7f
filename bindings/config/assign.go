package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Assign stores a value of a data file: a text, boolean, number or time, a list of them, or a map. Numbers and booleans are not
// read from texts, since the formats tell them apart; durations and types with UnmarshalText are.
func (f *Field) Assign(to reflect.Value, value any) error {
	err := assign(f.Of(to), value)
	if err != nil && f.Secret {
		return fmt.Errorf("expected %s; the value is secret and not shown", kind(f.Type))
	}
	return err
}

func assign(v reflect.Value, value any) error {
	t := v.Type()
	wrong := func() error { return fmt.Errorf("expected %s, not %s", kind(t), written(value)) }
	isText := t == typeDuration || reflect.PointerTo(t).Implements(typeText)
	switch x := value.(type) {
	case string:
		if t.Kind() == reflect.Pointer && !isText {
			break
		}
		if !isText && t.Kind() != reflect.String {
			return wrong()
		}
		return set(v, x)
	case time.Time:
		if t == typeTime {
			v.Set(reflect.ValueOf(x))
			return nil
		}
		return wrong()
	case []any:
		if t.Kind() != reflect.Slice {
			return wrong()
		}
		list := reflect.MakeSlice(t, len(x), len(x))
		for i := range x {
			if err := assign(list.Index(i), x[i]); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		v.Set(list)
		return nil
	case map[string]any:
		if t.Kind() != reflect.Map || t.Key().Kind() != reflect.String {
			return wrong()
		}
		all := reflect.MakeMap(t)
		for name, part := range x {
			one := reflect.New(t.Elem()).Elem()
			if err := assign(one, part); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), one)
		}
		v.Set(all)
		return nil
	}
	if t.Kind() == reflect.Pointer && !isText {
		p := reflect.New(t.Elem())
		if err := assign(p.Elem(), value); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	_, isBool := value.(bool)
	if isText || t.Kind() == reflect.String || isBool != (t.Kind() == reflect.Bool) {
		return wrong()
	}
	text := written(value)
	if whole, ok := value.(float64); ok && whole == float64(int64(whole)) { // YAML and JSON write 1e3 and 2.0 for integers
		text = strconv.FormatInt(int64(whole), 10)
	}
	if set(v, text) != nil {
		return wrong()
	}
	return nil
}

// written returns a value as a file writes it.
func written(value any) string {
	switch x := value.(type) {
	case string:
		return strconv.Quote(x)
	case json.Number:
		return x.String()
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}
