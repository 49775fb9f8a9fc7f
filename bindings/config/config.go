// Package config fills a struct of settings from texts, such as environment variables and flags, and checks the values.
//
// The fields and names are those of package convert; a name within a struct follows that of the struct and a dot. A tag
// `doc:"…"` says what the field means. A tag `check:"…"` has rules separated by spaces:
//
//   - min=N and max=N bound numbers and durations;
//   - len=N..M, or len=N for N..N, bounds the length of texts, lists and maps;
//   - oneof=a|b lists allowed texts and numbers;
//   - match=PATTERN, the last rule, is a regular expression for texts.
//
// # Design
//
// The sources of a setting differ in how they name it and in nothing else. So this package knows fields and texts only; a
// caller passes a function that looks them up.
package config

import (
	"encoding"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/orepl/orepl/bindings/convert"
)

// Hidden replaces a secret in prints.
const Hidden = "(secret)"

// Field is a setting: a field of the struct, or of structs within it, that has no settings of its own.
type Field struct {
	Path     []string // its name, and those of the structs around it, outermost first
	Type     reflect.Type
	Doc      string
	Required bool // a source must set it
	Secret   bool
	Flag     bool // the command line may set it: its tag says so, or it is no secret
	Rules    []Rule
	index    []int
}

// Name returns the path with dots, such as "server.port".
func (f *Field) Name() string { return strings.Join(f.Path, ".") }

// Of returns the field of a struct value, or a zero value if a pointer to a struct around it is nil.
func (f *Field) Of(v reflect.Value) reflect.Value {
	if f.isAbsent(v) {
		return reflect.Zero(f.Type)
	}
	return f.within(v)
}

// Ref returns the field of a struct variable. It sets nil pointers to structs around the field.
func (f *Field) Ref(v reflect.Value) reflect.Value { return f.within(v) }

// within returns the field of v. It allocates structs behind nil pointers on the way.
func (f *Field) within(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// isAbsent reports whether a pointer to a struct around the field is nil.
func (f *Field) isAbsent(v reflect.Value) bool {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return true
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return false
}

// Detach replaces the pointers to structs of settings in a struct variable by pointers to copies. A source that sets their fields
// then does not change the program's defaults.
func Detach(v reflect.Value) { detach(v, map[any]reflect.Value{}) }

// detach is Detach for any variable. copies has the copies by pointer, since pointers may form a ring.
func detach(v reflect.Value, copies map[any]reflect.Value) {
	group := v.Type()
	if group.Kind() == reflect.Pointer {
		group = group.Elem()
	}
	if !isGroup(group) {
		return
	}
	fields := convert.Fields(group)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() || len(fields) == 0 { // such as a *sync.Mutex
			return
		}
		old := v.Interface()
		known, ok := copies[old]
		if !ok {
			known = reflect.New(group)
			known.Elem().Set(v.Elem())
			copies[old] = known
		}
		if v.Set(known); ok {
			return
		}
		v = known.Elem()
	}
	for _, f := range fields {
		detach(v.FieldByIndex(f.Index), copies)
	}
}

// IsSimplePointer reports whether the field is a pointer, but not to a struct of settings.
func (f *Field) IsSimplePointer() bool {
	return f.Type.Kind() == reflect.Pointer && !isGroup(f.Type.Elem())
}

// IsMissing reports whether a field that no source has set is missing: a source must set it, and no struct around it is absent.
func (f *Field) IsMissing(v reflect.Value) bool { return f.Required && !f.isAbsent(v) }

// Fields returns the settings of a struct type in order. It fails for another type, for two fields of one name, and for a rule that
// does not exist or does not suit the field.
func Fields(t reflect.Type) ([]Field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings are the fields of a struct, not of %s", t)
	}
	return fieldsOf(t, place{})
}

// place is where a struct of settings is in the outermost one.
type place struct {
	path   []string
	index  []int
	secret bool
	above  []reflect.Type
}

func fieldsOf(t reflect.Type, at place) ([]Field, error) {
	var list []Field
	known := map[string]string{} // names of the fields in Go
	for _, of := range convert.Fields(t) {
		inner := place{append(slices.Clone(at.path), of.Name), slices.Concat(at.index, of.Index), at.secret || of.Secret, append(slices.Clone(at.above), t)}
		goName := t.FieldByIndex(of.Index).Name
		if other, again := known[of.Name]; again {
			return nil, fmt.Errorf("the fields %s and %s of %s have the same name %q: rename one by a tag orepl:\"name\"", other, goName, t, strings.Join(inner.path, "."))
		}
		known[of.Name] = goName
		group := of.Type
		if group.Kind() == reflect.Pointer {
			group = group.Elem()
		}
		if isGroup(group) && !slices.Contains(inner.above, group) {
			more, err := fieldsOf(group, inner)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
			continue
		}
		at := t.FieldByIndex(of.Index)
		f := Field{Path: inner.path, Type: of.Type, Doc: at.Tag.Get("doc"), Required: of.Required, Secret: inner.secret, index: inner.index}
		f.Flag = !f.Secret && !convert.HoldsSecret(of.Type) || of.Flag
		var err error
		if f.Rules, err = RulesOf(at.Tag.Get("check"), of.Type); err != nil {
			return nil, fmt.Errorf("the field %s: %w", f.Name(), err)
		}
		if part := partOf(of.Type); part != nil && !slices.Contains(inner.above, part) {
			if _, err := fieldsOf(part, inner); err != nil {
				return nil, err
			}
		}
		list = append(list, f)
	}
	return list, nil
}

var (
	typeTime     = reflect.TypeFor[time.Time]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeBigInt   = reflect.TypeFor[big.Int]()
	typeText     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isGroup reports whether the fields of a struct type are settings of their own.
func isGroup(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != typeTime && t != typeBigInt && !reflect.PointerTo(t).Implements(typeText)
}

// Set stores the value that a text writes: as Go writes it, a duration as "1.5s", a list with commas, a map as "a=1,b=2".
func (f *Field) Set(to reflect.Value, text string) error {
	one := reflect.New(f.Type).Elem()
	if err := f.parse(one, text); err != nil {
		return err
	}
	f.Ref(to).Set(one)
	return nil
}

// Add stores the value that a text writes, like [Field.Set], but adds the elements of a list or map to those that the field
// has.
func (f *Field) Add(to reflect.Value, text string) error {
	one := reflect.New(f.Type).Elem()
	if err := f.parse(one, text); err != nil {
		return err
	}
	switch all := f.Ref(to); {
	case f.Type.Kind() == reflect.Slice && !reflect.PointerTo(f.Type).Implements(typeText):
		all.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(f.Type, 0, all.Len()+one.Len()), all), one))
	case f.Type.Kind() == reflect.Map && !reflect.PointerTo(f.Type).Implements(typeText):
		for _, key := range all.MapKeys() {
			if !one.MapIndex(key).IsValid() {
				one.SetMapIndex(key, all.MapIndex(key))
			}
		}
		all.Set(one)
	default:
		all.Set(one)
	}
	return nil
}

func (f *Field) parse(to reflect.Value, text string) error {
	err := set(to, text)
	if err != nil && f.Secret {
		return hidden(f.Type, text)
	}
	return err
}

// hidden returns the error of a secret text that does not fit.
func hidden(t reflect.Type, text string) error {
	if text == Hidden {
		return errors.New("the text " + Hidden + " stands for a secret in prints: write the secret itself")
	}
	return fmt.Errorf("expected %s; the value is secret and not shown", kind(t))
}

func set(v reflect.Value, text string) error {
	t := v.Type()
	wrong := func() error { return fmt.Errorf("expected %s, not %q", kind(t), text) }
	if reflect.PointerTo(t).Implements(typeText) {
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			if t == typeTime || t == typeBigInt { // whose texts are for programmers
				return wrong()
			}
			return fmt.Errorf("%q: %w", text, err)
		}
		return nil
	}
	switch {
	case t == typeDuration:
		d, err := time.ParseDuration(text)
		if _, isNumber := strconv.ParseFloat(text, 64); err != nil && isNumber == nil {
			return unitless(text)
		}
		if err != nil {
			return wrong()
		}
		v.SetInt(int64(d))
		return nil
	case t.Kind() == reflect.Pointer:
		p := reflect.New(t.Elem())
		if err := set(p.Elem(), text); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		x, err := strconv.ParseBool(text)
		if err != nil {
			return wrong()
		}
		v.SetBool(x)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := strconv.ParseInt(text, 0, t.Bits())
		if err != nil {
			return wrong()
		}
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := strconv.ParseUint(text, 0, t.Bits())
		if err != nil {
			return wrong()
		}
		v.SetUint(x)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(text, t.Bits())
		if err != nil {
			return wrong()
		}
		v.SetFloat(x)
	case reflect.Slice:
		list := reflect.MakeSlice(t, 0, 0)
		for i, part := range strings.Split(text, ",") {
			if text == "" {
				break
			}
			one := reflect.New(t.Elem()).Elem()
			if err := set(one, strings.TrimSpace(part)); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
			list = reflect.Append(list, one)
		}
		v.Set(list)
	case reflect.Map:
		return setMap(v, text)
	default:
		return fmt.Errorf("a text cannot hold %s: set it in a file or a script", kind(t))
	}
	return nil
}

// unitless returns the error of a number as a duration.
func unitless(text string) error {
	return fmt.Errorf("the duration %s has no unit: write %sms or %ss", text, text, text)
}

// setMap stores the values of a text such as "a=1,b=2".
func setMap(v reflect.Value, text string) error {
	t := v.Type()
	all := reflect.MakeMap(t)
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || t.Key().Kind() != reflect.String {
			return fmt.Errorf("expected names with values such as a=1,b=2, not %q", text)
		}
		name = strings.TrimSpace(name)
		one := reflect.New(t.Elem()).Elem()
		if err := set(one, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		key, err := convert.Key(name, t.Key())
		if err != nil {
			return fmt.Errorf("%s: the name does not fit: %w", name, err)
		}
		all.SetMapIndex(key, one)
	}
	v.Set(all)
	return nil
}

// kind describes a type in an error.
func kind(t reflect.Type) string {
	switch {
	case t == typeDuration:
		return "a duration such as 1.5s"
	case t.Kind() == reflect.Pointer:
		return kind(t.Elem())
	case t == typeBigInt:
		return "an integer"
	case t == typeTime:
		return "a time such as 2020-01-02T15:04:05Z"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return fmt.Sprintf("an unsigned integer of %d bits", t.Bits())
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.String, reflect.PointerTo(t).Implements(typeText):
		return "a text"
	}
	switch {
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return "a list"
	case t.Kind() == reflect.Map, isGroup(t):
		return "a table"
	}
	return t.String()
}

// Text returns the field's value for a person. A secret is hidden.
func (f *Field) Text(of reflect.Value) string {
	if f.Secret || convert.HoldsSecret(f.Type) {
		return Hidden
	}
	return literal(f.Of(of))
}

// literal writes a value as data files do: texts in quotes, lists and tables with commas. A method String takes precedence, and nil
// pointers and zero times are "unset".
func literal(v reflect.Value) string {
	if v.Type() == typeTime && v.IsZero() {
		return "unset"
	}
	_, prints := v.Interface().(fmt.Stringer)
	switch {
	case v.Type() == typeBigInt:
		n := v.Interface().(big.Int)
		return n.String()
	case prints && (v.Kind() != reflect.Pointer || !v.IsNil()):
		return fmt.Sprint(v.Interface())
	case (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil():
		return literal(v.Elem())
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
		return "unset"
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		list := make([]string, v.Len())
		for i := range list {
			list[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case v.Kind() == reflect.Map:
		list := make([]string, 0, v.Len())
		for _, k := range v.MapKeys() {
			list = append(list, fmt.Sprint(k.Interface())+": "+literal(v.MapIndex(k)))
		}
		slices.Sort(list)
		return "{" + strings.Join(list, ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

// Rule is one condition of a tag.
type Rule struct {
	Name, Value string // such as "min" and "1"
	check       func(v reflect.Value) bool
}

// String returns the rule as the tag writes it.
func (r Rule) String() string { return r.Name + "=" + r.Value }

// Check returns an error for each rule that the field's value breaks, and that a struct in its lists and maps breaks; each begins
// with the field's name. A value that is absent or behind a nil pointer breaks none.
func (f *Field) Check(of reflect.Value) (broken []error) {
	if f.isAbsent(of) {
		return nil
	}
	for _, err := range f.check(of, map[any]bool{}) {
		broken = append(broken, fmt.Errorf("%s%w", f.Name(), err))
	}
	return broken
}

// check is Check without the field's name. known has the pointers that were followed, which may form a ring.
func (f *Field) check(of reflect.Value, known map[any]bool) (broken []error) {
	v := f.Of(of)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	for _, r := range f.Rules {
		if !r.check(v) {
			broken = append(broken, fmt.Errorf(" is %s, which breaks the rule %s", f.Text(of), r))
		}
	}
	return append(broken, checkParts(f.Of(of), f.Secret, known)...)
}

// checkParts returns the errors of the structs in a list or map, and of those behind its pointers.
func checkParts(v reflect.Value, secret bool, known map[any]bool) (broken []error) {
	within := func(name string, part reflect.Value) {
		for _, err := range checkParts(part, secret, known) {
			broken = append(broken, fmt.Errorf(": %s%w", name, err))
		}
	}
	switch {
	case partOf(v.Type()) == nil:
	case v.Kind() == reflect.Pointer && !v.IsNil() && !known[v.Interface()]:
		known[v.Interface()] = true
		return checkParts(v.Elem(), secret, known)
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			within(fmt.Sprintf("element %d", i), v.Index(i))
		}
	case v.Kind() == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			name := fmt.Sprint(key)
			if secret {
				name = "an element"
			}
			within(name, v.MapIndex(key))
		}
	case v.Kind() == reflect.Struct:
		fields, _ := Fields(v.Type()) // whose rules fieldsOf has parsed
		of := reflect.New(v.Type()).Elem()
		of.Set(v)
		for i := range fields {
			f := &fields[i]
			if f.Secret = f.Secret || secret; f.isAbsent(of) {
				continue
			}
			for _, err := range f.check(of, known) {
				broken = append(broken, fmt.Errorf(": %s%w", f.Name(), err))
			}
		}
	}
	return broken
}

// partOf returns the struct of settings that is, or is behind the pointers, lists and maps of, a type, or else nil.
func partOf(t reflect.Type) reflect.Type {
	for above := []reflect.Type{}; !slices.Contains(above, t); t = t.Elem() { // a type such as []T may be T
		above = append(above, t)
		switch {
		case isGroup(t) && len(convert.Fields(t)) > 0:
			return t
		case reflect.PointerTo(t).Implements(typeText):
			return nil
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		default:
			return nil
		}
	}
	return nil
}

// Tag returns the rules as the tag writes them.
func (f *Field) Tag() string {
	var list []string
	for _, r := range f.Rules {
		list = append(list, r.String())
	}
	return strings.Join(list, " ")
}

// RulesOf returns the rules of a field with a tag check:"…" and a type.
func RulesOf(tag string, t reflect.Type) ([]Rule, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var list []Rule
	for rest := strings.TrimSpace(tag); rest != ""; rest = strings.TrimSpace(rest) {
		text := rest
		if !strings.HasPrefix(rest, "match=") {
			text, _, _ = strings.Cut(rest, " ")
		}
		rest = rest[len(text):]
		name, value, _ := strings.Cut(text, "=")
		check, err := parseRule(name, value, t)
		if err != nil {
			return nil, fmt.Errorf("the rule %s: %w", text, err)
		}
		list = append(list, Rule{name, value, check})
	}
	return list, nil
}

func parseRule(name, value string, t reflect.Type) (func(reflect.Value) bool, error) {
	switch name {
	case "min", "max":
		bound := reflect.New(t).Elem()
		if _, ok := number(bound); !ok {
			return nil, fmt.Errorf("the type %s has no order", t)
		}
		if err := set(bound, value); err != nil {
			return nil, err
		}
		limit, _ := number(bound)
		return func(v reflect.Value) bool {
			x, ok := number(v)
			return ok && (name == "min" && x.Cmp(limit) >= 0 || name == "max" && x.Cmp(limit) <= 0)
		}, nil
	case "len":
		least, most, isRange := strings.Cut(value, "..")
		if !isRange {
			most = least
		}
		low, err1 := strconv.Atoi(least)
		high, err2 := strconv.Atoi(most)
		if err1 != nil || err2 != nil {
			return nil, errors.New("write len=N or len=N..M")
		}
		switch t.Kind() {
		case reflect.String:
			return func(v reflect.Value) bool { n := utf8.RuneCountInString(v.String()); return n >= low && n <= high }, nil
		case reflect.Struct:
			if isString(t) {
				return func(v reflect.Value) bool { n := utf8.RuneCountInString(textOf(v)); return n >= low && n <= high }, nil
			}
		case reflect.Slice, reflect.Array, reflect.Map:
			return func(v reflect.Value) bool { return v.Len() >= low && v.Len() <= high }, nil
		}
		return nil, fmt.Errorf("the type %s has no length", t)
	case "oneof":
		if t.Kind() == reflect.Struct && isString(t) {
			return func(v reflect.Value) bool { return slices.Contains(strings.Split(value, "|"), textOf(v)) }, nil
		}
		var values []any
		for text := range strings.SplitSeq(value, "|") {
			one := reflect.New(t).Elem()
			if err := set(one, text); err != nil {
				return nil, err
			}
			if !t.Comparable() {
				return nil, fmt.Errorf("values of type %s cannot be compared", t)
			}
			values = append(values, one.Interface())
		}
		return func(v reflect.Value) bool { return slices.Contains(values, v.Interface()) }, nil
	case "match":
		pattern, err := regexp.Compile(value)
		if err != nil {
			return nil, err
		}
		if !isString(t) {
			return nil, fmt.Errorf("the type %s is no text", t)
		}
		return func(v reflect.Value) bool { return pattern.MatchString(textOf(v)) }, nil
	}
	return nil, errors.New("the rules are min, max, len, oneof and match")
}

// isString reports whether a type is a string or a secret text.
func isString(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Struct && convert.IsSecret(t)
}

// textOf returns a text, also that of a secret.
func textOf(v reflect.Value) string {
	if secret, ok := v.Interface().(interface{ Reveal() string }); ok {
		return secret.Reveal()
	}
	return v.String()
}

// number returns the exact value of a number or duration; NaN has none.
func number(v reflect.Value) (*big.Float, bool) {
	switch {
	case v.Type() == typeBigInt:
		n := v.Interface().(big.Int)
		return new(big.Float).SetInt(&n), true
	case v.CanInt():
		return new(big.Float).SetInt64(v.Int()), true
	case v.CanUint():
		return new(big.Float).SetUint64(v.Uint()), true
	case v.CanFloat() && v.Float() == v.Float():
		return new(big.Float).SetFloat64(v.Float()), true
	}
	return nil, false
}
