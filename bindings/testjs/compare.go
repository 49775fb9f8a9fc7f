package testjs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// defaultTolerance is the tolerance of near.
const defaultTolerance = 1e-6

func failure(format string, args ...any) *diag.Diagnostic {
	return diag.New("assertion", format, args...)
}

func (m *module) equal(call goja.FunctionCall) (goja.Value, error) {
	return goja.Undefined(), m.compare(call.Argument(0), call.Argument(1), 0)
}

func (m *module) near(call goja.FunctionCall) (goja.Value, error) {
	tolerance, err := m.tolerance("near", call, defaultTolerance)
	if err != nil {
		return nil, err
	}
	return goja.Undefined(), m.compare(call.Argument(0), call.Argument(1), tolerance)
}

// tolerance returns the third argument of a call, or standard without one. A negative number and NaN are errors.
func (m *module) tolerance(name string, call goja.FunctionCall, standard float64) (float64, error) {
	a := m.Args(name, call)
	if !a.Has(2) {
		return standard, nil
	}
	tolerance := a.Float(2, "tolerance")
	if a.Err() == nil && !(tolerance >= 0) {
		a.Fail("tolerance", "must not be negative")
	}
	return tolerance, a.Err()
}

// compare returns an error that tells the first difference of two values, or nil if they are equal within the tolerance.
func (m *module) compare(actual, expected goja.Value, tolerance float64) error {
	got, err := m.plain(actual)
	if err != nil {
		return incomparable("the actual value", actual, err)
	}
	want, err := m.plain(expected)
	if err != nil {
		return incomparable("the expected value", expected, err)
	}
	return difference("", got, want, tolerance)
}

// mostSteps is the maximum number of steps of a path in a message.
const mostSteps = 8

// incomparable returns the error for a value, called name, of which plain made no copy for the reason err.
func incomparable(name string, v goja.Value, err error) error {
	var e *convert.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(e.Steps) > mostSteps {
		return failure("%s: %s", name, e.Message)
	}
	for _, step := range e.Steps {
		o, ok := v.(*goja.Object)
		if ok {
			v = o.Get(fmt.Sprint(step))
		}
		if !ok || v == nil { // within a Map or Set
			return failure("%s holds what cannot be compared, at %s", name, e.Path)
		}
	}
	if o, ok := v.(*goja.Object); ok {
		switch {
		case o.ExportType() == typeMap:
			return failure("%s%s is a Map with a key that cannot be compared", name, e.Path)
		case o.ClassName() == "Date":
			return failure("%s%s is an invalid date", name, e.Path)
		}
	}
	return failure("%s%s is %s, which cannot be compared", name, e.Path, convert.Describe(v)).WithHint("compare what it returns or holds")
}

// plain returns a copy of a value as maps, lists and primitive values.
func (m *module) plain(v goja.Value) (any, error) {
	var x any
	err := convert.DecodeExactly(m.VM(), v, &x)
	return x, err
}

var (
	typeTime = reflect.TypeFor[time.Time]()
	typeMap  = reflect.TypeFor[[][2]any]() // that goja exports a Map as
)

// difference describes the first difference of two values, or returns nil. at is the path to them.
func difference(at string, got, want any, tolerance float64) error {
	if a, ok := number(got); ok {
		if b, ok := number(want); ok {
			return differ(at, got, want, a, b, tolerance)
		}
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	switch {
	case isKind(g, reflect.Slice) && isKind(w, reflect.Slice):
		for i := range min(g.Len(), w.Len()) {
			if err := difference(fmt.Sprintf("%s[%d]", at, i), g.Index(i).Interface(), w.Index(i).Interface(), tolerance); err != nil {
				return err
			}
		}
		if g.Len() != w.Len() {
			return failure("%shas %d elements, expected %d", place(at), g.Len(), w.Len())
		}
		return nil
	case isKind(g, reflect.Map) && isKind(w, reflect.Map) && g.Type() == w.Type():
		return differences(at, g, w, tolerance)
	case isHost(got) && got != want, isHost(want) && got != want:
		return failure("%sis an object of a module, or should be, and these cannot be compared", place(at)).
			WithHint("compare what it holds, as in equal(await x.read(), [1, 2])")
	case reflect.DeepEqual(got, want):
		return nil
	}
	return failure("%sis %s, expected %s", place(at), shown(got), shown(want))
}

// isHost reports whether a value is an object of a module, such as a buffer.
func isHost(x any) bool {
	return isKind(reflect.ValueOf(x), reflect.Pointer) && !isBig(x)
}

func isKind(v reflect.Value, kind reflect.Kind) bool { return v.IsValid() && v.Kind() == kind }

// An entry is a property of an object, or a pair of a Map.
type entry struct{ key, value any }

// nanKey and bigKey stand for NaN and BigInts as keys of Maps. Go finds NaN unequal to itself, and compares a *big.Int by its address.
type (
	nanKey struct{}
	bigKey string
)

func (nanKey) String() string { return "NaN" }

// entriesOf returns the entries of a map in the order of the texts of their keys, and their values by key. Keys that a script finds equal
// are equal in Go, too.
func entriesOf(v reflect.Value) (sorted []entry, by map[any]any) {
	by = map[any]any{}
	for each := v.MapRange(); each.Next(); {
		key := each.Key().Interface()
		if n, ok := key.(*big.Int); ok {
			key = bigKey(n.String() + "n")
		} else if n, ok := number(key); ok && math.IsNaN(n) {
			key = nanKey{}
		}
		value := each.Value().Interface()
		sorted, by[key] = append(sorted, entry{key, value}), value
	}
	slices.SortFunc(sorted, func(a, b entry) int { return strings.Compare(fmt.Sprint(a.key), fmt.Sprint(b.key)) })
	return sorted, by
}

// differences compares two maps, key by key in the order of their texts.
func differences(at string, got, want reflect.Value, tolerance float64) error {
	have, mine := entriesOf(got)
	others, theirs := entriesOf(want)
	all := append(have, slices.DeleteFunc(others, func(e entry) bool {
		_, both := mine[e.key]
		return both
	})...)
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(fmt.Sprint(a.key), fmt.Sprint(b.key)) })
	for _, e := range all {
		g, gotten := mine[e.key]
		w, wanted := theirs[e.key]
		here := fmt.Sprintf("%s.%v", at, e.key)
		switch {
		case !wanted:
			return failure("%sis %s, expected no such property", place(here), shown(g))
		case !gotten:
			return failure("%sis missing, expected %s", place(here), shown(w))
		}
		if err := difference(here, g, w, tolerance); err != nil {
			return err
		}
	}
	return nil
}

// place begins a message about a part of the value.
func place(at string) string {
	if at == "" {
		return "the value "
	}
	return at + " "
}

// differ compares numbers: exactly, or within a tolerance that is relative beyond 1. NaN equals NaN, and an infinity equals itself.
func differ(at string, got, want any, a, b, tolerance float64) error {
	switch {
	case math.IsNaN(a) && math.IsNaN(b), a == b && math.Abs(a) < 1<<53, a == b && exact(got).Cmp(exact(want)) == 0:
		return nil
	}
	scale := 1.0
	if !math.IsInf(b, 0) {
		scale = max(1, math.Abs(b))
	}
	if tolerance > 0 && math.Abs(a-b) <= tolerance*scale {
		return nil
	}
	if tolerance > 0 {
		return failure("%sis %s, expected %s within %s", place(at), shown(got), shown(want), scalar.Text(tolerance))
	}
	return failure("%sis %s, expected %s", place(at), shown(got), shown(want))
}

// exact returns the exact value of a number of any type, which must not be NaN.
func exact(x any) *big.Float {
	if n, ok := x.(*big.Int); ok {
		return new(big.Float).SetInt(n)
	}
	switch v := reflect.ValueOf(x); {
	case v.CanInt():
		return new(big.Float).SetInt64(v.Int())
	case v.CanUint():
		return new(big.Float).SetUint64(v.Uint())
	default:
		return big.NewFloat(v.Float())
	}
}

func isBig(x any) bool { _, ok := x.(*big.Int); return ok }

// number returns a number of any type as float64, or false for other values.
func number(x any) (float64, bool) {
	if n, ok := x.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, true
	}
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return float64(v.Int()), true
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return float64(v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return v.Float(), true
	}
	return 0, false
}

// shown returns a value as a short text.
func shown(x any) string {
	var b strings.Builder
	literal(&b, x)
	if r := []rune(b.String()); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return b.String()
}

// literal writes a value as scripts do, and of a list no more than is shown.
func literal(b *strings.Builder, x any) {
	v := reflect.ValueOf(x)
	_, prints := x.(fmt.Stringer)
	switch {
	case x == nil:
		b.WriteString("null")
	case v.Type() == typeTime:
		b.WriteString(x.(time.Time).UTC().Format("2006-01-02T15:04:05.000Z"))
	case v.CanFloat():
		b.WriteString(scalar.Text(v.Float()))
	case v.Kind() == reflect.String && !prints:
		fmt.Fprintf(b, "%q", x)
	case v.Kind() == reflect.Slice && !prints:
		b.WriteByte('[')
		for i := 0; i < v.Len() && b.Len() < 400; i++ {
			if i > 0 {
				b.WriteString(", ")
			}
			literal(b, v.Index(i).Interface())
		}
		b.WriteByte(']')
	case v.Kind() == reflect.Map:
		list, _ := entriesOf(v)
		arrow := ": "
		if v.Type().Key().Kind() != reflect.String { // a Map
			arrow = " => "
			b.WriteString("Map ")
		}
		if len(list) == 0 {
			b.WriteString("{}")
			return
		}
		for i, e := range list {
			b.WriteString([]string{"{ ", ", "}[min(i, 1)])
			if _, big := e.key.(bigKey); big || arrow == ": " {
				fmt.Fprint(b, e.key)
			} else {
				literal(b, e.key)
			}
			b.WriteString(arrow)
			literal(b, e.value)
		}
		b.WriteString(" }")
	default:
		fmt.Fprint(b, x)
	}
}

func (m *module) throws(call goja.FunctionCall) (goja.Value, error) {
	a := m.Args("throws", call)
	fn, text := a.Function(0, "fn"), ""
	if a.Has(1) {
		text = a.String(1, "text")
	}
	if a.Err() != nil {
		return nil, a.Err()
	}
	promise, settle := m.Promise("the exception of a function")
	end := func(err error) {
		if err == nil {
			settle.Reject(failure("the function threw nothing"))
			return
		}
		d := diag.All(m.Diagnose(err))
		switch {
		case !strings.Contains(d[0].Message, text) && d[0].ID != text:
			settle.Reject(failure("the function threw %q [%s], which lacks %q", d[0].Message, d[0].ID, text))
		default:
			settle.Resolve(func() (goja.Value, error) { return m.VM().ToValue(d[0].Message), nil })
		}
	}
	v, err := fn(goja.Undefined())
	if err != nil {
		end(err)
		return promise, nil
	}
	m.Settled(v, end)
	return promise, nil
}

func (m *module) golden(call goja.FunctionCall) (goja.Value, error) {
	a := m.Args("golden", call)
	file := a.String(1, "file")
	if a.Err() != nil {
		return nil, a.Err()
	}
	tolerance, err := m.tolerance("golden", call, 0)
	if err != nil {
		return nil, err
	}
	if m.suite == nil {
		return nil, diag.New("unsupported", "golden files are compared by orepl test only").WithHint("run orepl test FILE")
	}
	if !filepath.IsLocal(file) {
		return nil, diag.New("invalid-argument", "the golden file %q is not in the folder of the test", file).WithHint("name a file beside the test")
	}
	value, err := m.plain(call.Argument(0))
	if err != nil {
		return nil, err
	}
	return goja.Undefined(), m.suite.golden(value, file, tolerance)
}

// golden compares a value with a file, or writes the file if the suite updates golden files.
func (s *Suite) golden(value any, file string, tolerance float64) error {
	path := filepath.Join(s.Dir, file)
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(numbers(value))
		if err != nil {
			return diag.New("invalid-argument", "a golden file cannot hold the value: %v", err)
		}
		text = string(encoded) + "\n"
	}
	if s.Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o666)
	}
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return failure("there is no golden file %s", file).WithHint("orepl test --update writes it")
	}
	if err != nil {
		return err
	}
	hint := "if the change is wanted, orepl test --update writes the file"
	if isText {
		if text == string(have) {
			return nil
		}
		return differingLine(file, text, string(have)).WithHint("%s", hint)
	}
	want, err := parse(have)
	if err != nil {
		return failure("the golden file %s is no JSON: %v", file, err)
	}
	got, err := parse([]byte(text))
	if err != nil {
		return err
	}
	var d *diag.Diagnostic
	if errors.As(difference("", got, want, tolerance), &d) {
		d.Message = fmt.Sprintf("the golden file %s: %s", file, d.Message)
		return d.WithHint("%s", hint)
	}
	return nil
}

// parse decodes JSON. Integers of 54 to 64 bits become a *big.Int, and other numbers a float64.
func parse(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	var convert func(x any) (any, error)
	convert = func(x any) (any, error) {
		var err error
		switch x := x.(type) {
		case json.Number:
			if n, ok := new(big.Int).SetString(x.String(), 10); ok && n.BitLen() > 53 && n.BitLen() <= 64 {
				return n, nil
			}
			return x.Float64()
		case []any:
			for i := range x {
				if x[i], err = convert(x[i]); err != nil {
					return nil, err
				}
			}
		case map[string]any:
			for key := range x {
				if x[key], err = convert(x[key]); err != nil {
					return nil, err
				}
			}
		}
		return x, nil
	}
	return convert(v)
}

// differingLine describes the first line in which two texts differ.
func differingLine(file, got, want string) *diag.Diagnostic {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	line := func(list []string) string {
		if i < len(list) {
			return shown(list[i])
		}
		return "the end"
	}
	return failure("line %d is %s, but in the golden file %s it is %s", i+1, line(a), file, line(b))
}

// numbers returns a value that JSON can hold. Numbers that are not finite, BigInts and keys of maps become texts, and undefined
// becomes null.
func numbers(x any) any {
	if f, ok := number(x); ok {
		if math.IsNaN(f) || math.IsInf(f, 0) || isBig(x) {
			return fmt.Sprint(x)
		}
		return x
	}
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = numbers(v.Index(i).Interface())
		}
		return list
	case reflect.Map:
		all := map[string]any{}
		list, _ := entriesOf(v)
		for _, e := range list {
			key := fmt.Sprint(e.key)
			if big, ok := e.key.(bigKey); ok {
				key = strings.TrimSuffix(string(big), "n")
			}
			all[key] = numbers(e.value)
		}
		return all
	}
	if _, ok := x.(convert.Undefined); ok {
		return nil
	}
	return x
}
