package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// At is a value of a data file with its line.
type At struct {
	Value any
	Line  int
}

// Misfit is the error of a value of a data file that does not fit.
type Misfit struct {
	Line int // of the value, the innermost one that has a line; 0 if it is unknown
	Err  error
}

func (m *Misfit) Error() string { return m.Err.Error() }

func (m *Misfit) Unwrap() error { return m.Err }

// Bare returns a value without its line, and the line, or 0 if it has none.
func Bare(value any) (any, int) {
	if at, ok := value.(At); ok {
		return at.Value, at.Line
	}
	return value, 0
}

// Assign stores a value of a data file: a text, boolean, number or time, a list of them, or a map. Numbers and booleans are not
// read from texts, since the formats tell them apart; durations and types with UnmarshalText are. Values of Go programs, such as a
// duration or a []string, are stored, too. Each value may be an [At], and the error is then a [*Misfit].
func (f *Field) Assign(to reflect.Value, value any) error {
	one := reflect.New(f.Type).Elem()
	if err := assign(one, value, f.Secret); err != nil {
		return err
	}
	f.Ref(to).Set(one)
	return nil
}

// Concealed describes why a script's value does not fit, without showing it. of is the kind of the value, such as "string" or
// "array".
func (f *Field) Concealed(of string) string {
	want := kind(f.Type)
	switch {
	case of == "string" && want == "a text":
		return "the text is refused"
	case of == "array" && want == "a list":
		return "an element does not fit"
	case of == "object" && want == "a table":
		return "a part does not fit"
	case of == "" || strings.ContainsAny(of[:1], "aeiou"):
		return "expected " + want + ", not an " + cmp.Or(of, "unknown value")
	}
	return "expected " + want + ", not a " + of
}

// assign stores a value, of which the error shows no part if it is secret.
func assign(v reflect.Value, value any, secret bool) error {
	value, line := Bare(value)
	err := assignBare(v, value, secret || convert.IsSecret(v.Type()))
	var misfit *Misfit
	if err == nil || line == 0 || errors.As(err, &misfit) {
		return err
	}
	return &Misfit{line, err}
}

func assignBare(v reflect.Value, value any, secret bool) error {
	t := v.Type()
	wrong := func() error {
		text, isText := value.(string)
		switch {
		case secret && text == Hidden:
			return hidden(t, text)
		case secret && isText && kind(t) == "a text": // refused by its type
			return errors.New("is refused; the value is secret and not shown")
		case secret:
			return fmt.Errorf("expected %s, not %s; the value is secret and not shown", kind(t), kindOf(value))
		}
		return fmt.Errorf("expected %s, not %s", kind(t), written(value))
	}
	isText := t == typeDuration || reflect.PointerTo(t).Implements(typeText)
	switch {
	case value != nil && reflect.TypeOf(value) == t && t.Kind() != reflect.Interface:
		v.Set(reflect.ValueOf(value))
		return nil
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		if value != nil {
			v.Set(reflect.ValueOf(plain(value)))
		}
		return nil
	case t.Kind() == reflect.Pointer && !isText:
		if value == nil {
			return nil
		}
		p := reflect.New(t.Elem())
		if err := assign(p.Elem(), value, secret); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	value = General(value)
	switch x := value.(type) {
	case string:
		if !isText && t.Kind() != reflect.String {
			return wrong()
		}
		if err := set(v, x); err != nil {
			if secret {
				return wrong()
			}
			return err
		}
		return nil
	case time.Time:
		if t == typeTime {
			v.Set(reflect.ValueOf(x))
			return nil
		}
		return wrong()
	case []any:
		return assignList(v, x, secret, wrong)
	case map[string]any:
		switch {
		case isGroup(t):
			return assignGroup(v, x, secret)
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
			return assignMap(v, x, secret)
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
	if text := written(value); t == typeDuration && !secret && set(v, text) != nil {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return unitless(text)
		}
	}
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

// General returns a value of a Go program as one of a data file: a list as []any, a map as map[string]any, a text as a string,
// and an integer as int64 or uint64. It follows pointers. Durations and other values are returned as they are.
func General(value any) any {
	v := reflect.ValueOf(value)
	switch value.(type) {
	case nil, string, bool, json.Number, time.Time, []any, map[string]any:
		return value
	}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() != reflect.PointerTo(typeBigInt):
		return General(v.Elem().Interface())
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return list
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		all := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			all[key.String()] = v.MapIndex(key).Interface()
		}
		return all
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	}
	switch {
	case v.CanInt() && v.Type() != typeDuration: // also of a named constant, which may print as a name
		return v.Int()
	case v.CanUint():
		return v.Uint()
	}
	return value
}

func assignList(v reflect.Value, list []any, secret bool, wrong func() error) error {
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
		if err := assign(to.Index(i), list[i], secret); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if t.Kind() == reflect.Slice {
		v.Set(to)
	}
	return nil
}

func assignMap(v reflect.Value, values map[string]any, secret bool) error {
	t := v.Type()
	all := reflect.MakeMap(t)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		one := reflect.New(t.Elem()).Elem()
		if err := assign(one, values[name], secret); err != nil {
			if secret { // the name may be secret, too
				name = "an element"
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		key, err := convert.Key(name, t.Key())
		switch {
		case err != nil && secret:
			return errors.New("a name is refused; the value is secret and not shown")
		case err != nil:
			return fmt.Errorf("%s: the name does not fit: %w", name, err)
		}
		all.SetMapIndex(key, one)
	}
	v.Set(all)
	return nil
}

// assignGroup sets the fields of a struct within a list or map. A nil value leaves its field unchanged. Names without a field are errors,
// and so are required fields whose names are missing.
func assignGroup(v reflect.Value, values map[string]any, secret bool) error {
	fields := convert.Fields(v.Type())
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.Name
		part, ok := values[f.Name]
		bare, _ := Bare(part)
		switch {
		case !ok && f.Required:
			return fmt.Errorf("%s is missing", f.Name)
		case bare == nil:
			continue
		}
		if err := assign(v.FieldByIndex(f.Index), part, secret || f.Secret); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(known, name) {
			continue
		}
		_, line := Bare(values[name])
		err := fmt.Errorf("there is no field %s: the fields are %s", name, strings.Join(known, ", "))
		if near := spelling.Nearest(name, known); near != "" {
			err = fmt.Errorf("there is no field %s: did you mean %s?", name, near)
		}
		return &Misfit{line, err}
	}
	return nil
}

// mostDigits bounds the length of numbers whose exponent is computed.
const mostDigits = 40

// integral returns the digits of a number that is an integer up to 1e100, also of 1e3 and 2.0, and written of any other value.
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

// exact returns the value of a number, or false if its exponent is not within ±100 or the text is no number.
func exact(text string) (*big.Rat, bool) {
	_, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	if n, err := strconv.Atoi(exponent); ok && (err != nil || n > 100 || n < -100) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// plain returns a value of a file without lines: numbers as int64, uint64 or float64, and as texts if they are beyond these.
func plain(value any) any {
	value, _ = Bare(value)
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

// written describes a value for an error: as a file writes it, or as "a list" or "a table".
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

// kindOf describes the kind of a value of a file, without the value.
func kindOf(value any) string {
	switch x := General(value).(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case time.Time:
		return "a time"
	case []any, map[string]any, nil:
		return written(x)
	}
	return "a number"
}
