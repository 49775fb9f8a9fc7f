package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/spelling"
)

// Assign stores a value of a data file: a text, boolean, number or time, a list of them, or a map. Numbers and booleans are not
// read from texts, since the formats tell them apart; durations and types with UnmarshalText are.
func (f *Field) Assign(to reflect.Value, value any) error {
	err := assign(f.Of(to), value)
	if err != nil && f.Secret {
		return hidden(f.Type)
	}
	return err
}

func assign(v reflect.Value, value any) error {
	t := v.Type()
	wrong := func() error { return fmt.Errorf("expected %s, not %s", kind(t), written(value)) }
	isText := t == typeDuration || reflect.PointerTo(t).Implements(typeText)
	switch {
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		if value != nil {
			v.Set(reflect.ValueOf(plain(value)))
		}
		return nil
	case t.Kind() == reflect.Pointer && !isText:
		p := reflect.New(t.Elem())
		if err := assign(p.Elem(), value); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	switch x := value.(type) {
	case string:
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
		return assignList(v, x, wrong)
	case map[string]any:
		switch {
		case isGroup(t):
			return assignGroup(v, x)
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
			return assignMap(v, x)
		}
		return wrong()
	}
	if t == typeBigInt {
		n, ok := new(big.Int).SetString(integral(value), 10)
		if !ok {
			return wrong()
		}
		v.Set(reflect.ValueOf(*n))
		return nil
	}
	_, isBool := value.(bool)
	isNumber := v.CanInt() || v.CanUint() || v.CanFloat()
	if isText || !isNumber && t.Kind() != reflect.Bool || isBool != (t.Kind() == reflect.Bool) {
		return wrong()
	}
	text := written(value)
	if v.CanInt() || v.CanUint() {
		text = integral(value)
	}
	if set(v, text) != nil {
		return wrong()
	}
	return nil
}

func assignList(v reflect.Value, list []any, wrong func() error) error {
	t := v.Type()
	to := v
	switch {
	case t.Kind() == reflect.Slice:
		to = reflect.MakeSlice(t, len(list), len(list))
	case t.Kind() != reflect.Array:
		return wrong()
	case t.Len() != len(list):
		return fmt.Errorf("expected %s, not %d", spelling.Count(t.Len(), "element"), len(list))
	}
	for i := range list {
		if err := assign(to.Index(i), list[i]); err != nil {
			return shown(t.Elem(), fmt.Sprintf("element %d: ", i), err)
		}
	}
	if t.Kind() == reflect.Slice {
		v.Set(to)
	}
	return nil
}

func assignMap(v reflect.Value, values map[string]any) error {
	t := v.Type()
	all := reflect.MakeMap(t)
	for name, part := range values {
		one := reflect.New(t.Elem()).Elem()
		if err := assign(one, part); err != nil {
			return shown(t.Elem(), name+": ", err)
		}
		all.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), one)
	}
	v.Set(all)
	return nil
}

// assignGroup sets the fields of a struct within a list or map. Names without a field are errors.
func assignGroup(v reflect.Value, values map[string]any) error {
	fields := convert.Fields(v.Type())
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.Name
		part, ok := values[f.Name]
		switch {
		case !ok && f.Required:
			return fmt.Errorf("%s is missing", f.Name)
		case part == nil:
			continue
		}
		err := assign(v.FieldByIndex(f.Index), part)
		switch {
		case err != nil && f.Secret:
			return fmt.Errorf("%s: %w", f.Name, hidden(f.Type))
		case err != nil:
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for name := range values {
		if slices.Contains(known, name) {
			continue
		}
		if near := spelling.Nearest(name, known); near != "" {
			return fmt.Errorf("there is no field %s: did you mean %s?", name, near)
		}
		return fmt.Errorf("there is no field %s: the fields are %s", name, strings.Join(known, ", "))
	}
	return nil
}

// shown returns the error of a part with its place, or the error of a secret.
func shown(t reflect.Type, place string, err error) error {
	if convert.IsSecret(t) {
		return hidden(t)
	}
	return fmt.Errorf("%s%w", place, err)
}

// mostDigits bounds the length of numbers whose exponent is computed.
const mostDigits = 40

// integral returns the digits of a number that is an integer, also of 1e3 and 2.0, and the text of any other value.
func integral(value any) string {
	switch x := value.(type) {
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
	case json.Number:
		text := x.String()
		if !strings.ContainsAny(text, ".eE") || len(text) > mostDigits {
			break
		}
		if f, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(f) > 1e100 || f != 0 && math.Abs(f) < 1 {
			break
		}
		if r, ok := exact(text); ok && r.IsInt() {
			return r.Num().String()
		}
	}
	return written(value)
}

// exact returns the value of a number with a small exponent.
func exact(text string) (*big.Rat, bool) {
	_, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	if n, err := strconv.Atoi(exponent); ok && (err != nil || n > 100 || n < -100) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// plain returns a value of a file as a Go value of any type: numbers as int64, uint64 or float64.
func plain(value any) any {
	switch x := value.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(integral(x), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(integral(x), 10, 64); err == nil {
			return n
		}
		f, err := x.Float64()
		if errors.Is(err, strconv.ErrRange) {
			return x.String() // beyond every number of Go
		}
		return f
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = plain(x[i])
		}
		return list
	case map[string]any:
		all := make(map[string]any, len(x))
		for name, part := range x {
			all[name] = plain(part)
		}
		return all
	}
	return value
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
