package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/config"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/later"
)

var (
	typeDuration  = reflect.TypeFor[time.Duration]()
	typeTime      = reflect.TypeFor[time.Time]()
	typeBigInt    = reflect.TypeFor[big.Int]()
	typeText      = reflect.TypeFor[encoding.TextUnmarshaler]()
	typeMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// durationPattern matches the durations that [time.ParseDuration] accepts, such as 1m30s.
const durationPattern = `^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`

// node is the JSON Schema of a setting, or of a part of one.
type node struct {
	Type          any      `json:"type,omitempty"` // a name, or a list of names
	Description   string   `json:"description,omitempty"`
	Default       any      `json:"default,omitempty"`
	Minimum       any      `json:"minimum,omitempty"`
	Maximum       any      `json:"maximum,omitempty"`
	MinLength     *int     `json:"minLength,omitempty"`
	MaxLength     *int     `json:"maxLength,omitempty"`
	MinItems      *int     `json:"minItems,omitempty"`
	MaxItems      *int     `json:"maxItems,omitempty"`
	MinProperties *int     `json:"minProperties,omitempty"`
	MaxProperties *int     `json:"maxProperties,omitempty"`
	Enum          []any    `json:"enum,omitempty"`
	Pattern       string   `json:"pattern,omitempty"`
	Format        string   `json:"format,omitempty"`
	Items         *node    `json:"items,omitempty"`
	Properties    members  `json:"properties,omitempty"`
	Required      []string `json:"required,omitempty"`
	Additional    any      `json:"additionalProperties,omitempty"` // false, or the schema of the values of a map
	WriteOnly     bool     `json:"writeOnly,omitempty"`
	Rules         []string `json:"x-check,omitempty"` // rules that JSON Schema cannot express
}

// member is a property of an object; members are properties in order of declaration.
type (
	member struct {
		name string
		node *node
	}
	members []member
)

// MarshalJSON writes the members as an object.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(one.node)
		if err != nil {
			return nil, err
		}
		b.WriteString(encoded(one.name) + ":")
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// SettingsJSON returns a JSON Schema, draft 2020-12, of a program's settings, with the defaults of a struct. A file that it
// accepts fits the fields and keeps their rules, but for those in x-check. Types of the program may still refuse texts.
func SettingsJSON(title string, fields []config.Field, defaults reflect.Value) []byte {
	root := group()
	for i := range fields {
		f := &fields[i]
		at := root
		for _, part := range f.Path[:len(f.Path)-1] {
			at = at.group(part)
		}
		one := typed(f.Type, f.Secret, map[reflect.Type]bool{})
		one.Description = f.Doc
		for _, r := range f.Rules {
			one.restrict(r, f.Type)
		}
		if !f.Secret {
			one.Default = written(f.Of(defaults))
		}
		at.add(f.Path[len(f.Path)-1], one, f.Required)
	}
	text, _ := json.Marshal(struct { // cannot fail: all values are of JSON's types
		Schema string `json:"$schema"`
		Title  string `json:"title"`
		*node
	}{"https://json-schema.org/draft/2020-12/schema", title, root})
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "  ") // cannot fail on JSON
	b.WriteByte('\n')
	return b.Bytes()
}

func group() *node { return &node{Type: "object", Additional: false} }

// add adds a property to the schema of an object. required says whether each object must have it.
func (n *node) add(name string, one *node, required bool) {
	n.Properties = append(n.Properties, member{name, one})
	if required {
		n.Required = append(n.Required, name)
	}
}

// group returns the property of a group of settings, which it adds if it is missing.
func (n *node) group(name string) *node {
	for _, m := range n.Properties {
		if m.name == name {
			return m.node
		}
	}
	one := group()
	n.add(name, one, false)
	return one
}

// typed returns the schema of a Go type. above has the types around it. The schema of a type within itself, and of types that
// settings cannot have, accepts every value.
func typed(t reflect.Type, secret bool, above map[reflect.Type]bool) *node {
	n := &node{WriteOnly: secret || convert.IsSecret(t)}
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	if above[t] {
		return n
	}
	above[t] = true
	defer delete(above, t)
	switch kind := t.Kind(); {
	case t == typeDuration:
		n.Type, n.Pattern = "string", durationPattern
	case t == typeTime:
		n.Type, n.Format = "string", "date-time"
	case t == typeBigInt:
		n.Type = "integer"
	case reflect.PointerTo(t).Implements(typeText), kind == reflect.String:
		n.Type = "string"
	case kind == reflect.Bool:
		n.Type = "boolean"
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		n.Type = "integer"
		low, high, _ := bounds(map[bool]string{true: "i", false: "u"}[kind <= reflect.Int64] + strconv.Itoa(t.Bits()))
		n.Minimum, n.Maximum = low, high
	case kind == reflect.Float32:
		n.Type, n.Minimum, n.Maximum = "number", -math.MaxFloat32, math.MaxFloat32
	case kind == reflect.Float64:
		n.Type = "number"
	case kind == reflect.Slice, kind == reflect.Array:
		n.Type, n.Items = "array", typed(t.Elem(), secret, above)
		if kind == reflect.Array {
			n.limit(&n.MinItems, &n.MaxItems, t.Len(), t.Len())
		}
	case kind == reflect.Map:
		n.Type, n.Additional = "object", typed(t.Elem(), secret, above)
	case kind == reflect.Struct:
		whole := group()
		for _, f := range convert.Fields(t) {
			one, tag := typed(f.Type, secret || f.Secret, above), t.FieldByIndex(f.Index).Tag
			one.Description = tag.Get("doc")
			rules, _ := config.RulesOf(tag.Get("check"), f.Type) // config.Fields has returned errors
			for _, r := range rules {
				one.restrict(r, f.Type)
			}
			whole.add(f.Name, one, f.Required)
		}
		whole.WriteOnly = n.WriteOnly
		n = whole
	}
	if pointer && n.Type != nil {
		n.Type = []any{n.Type, "null"}
	}
	return n
}

// limit sets bounds of a length.
func (n *node) limit(low, high **int, least, most int) { *low, *high = &least, &most }

// restrict adds a rule of a field of type t: as keywords of JSON Schema if they can express it, else to Rules.
func (n *node) restrict(r config.Rule, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	number := t == typeBigInt || t != typeDuration && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
	switch {
	case r.Name == "min" && number:
		n.Minimum = numeral(r.Value, t)
	case r.Name == "max" && number:
		n.Maximum = numeral(r.Value, t)
	case r.Name == "len":
		least, most, isRange := strings.Cut(r.Value, "..")
		if !isRange {
			most = least
		}
		low, _ := strconv.Atoi(least) // the rule was parsed before
		high, _ := strconv.Atoi(most)
		switch t.Kind() {
		case reflect.Slice, reflect.Array:
			n.limit(&n.MinItems, &n.MaxItems, low, high)
		case reflect.Map:
			n.limit(&n.MinProperties, &n.MaxProperties, low, high)
		default:
			n.limit(&n.MinLength, &n.MaxLength, low, high)
		}
	case r.Name == "oneof" && (number || t.Kind() == reflect.String):
		for text := range strings.SplitSeq(r.Value, "|") {
			if number {
				n.Enum = append(n.Enum, numeral(text, t))
			} else {
				n.Enum = append(n.Enum, text)
			}
		}
		if _, orNull := n.Type.([]any); orNull {
			n.Enum = append(n.Enum, nil)
		}
	case r.Name == "match" && shared(r.Value):
		n.Pattern = r.Value
	default:
		n.Rules = append(n.Rules, r.String())
	}
}

// numeral returns the number that a rule writes as Go does, such as 0x10.
func numeral(text string, t reflect.Type) any {
	if t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 {
		x, _ := strconv.ParseFloat(text, t.Bits()) // the rule was parsed before
		return x
	}
	n, _ := new(big.Int).SetString(text, 0)
	return n
}

// shared reports whether a regular expression of Go is known to mean the same in JavaScript, whose syntax JSON Schema prescribes
// for patterns. It ignores that a dot matches more line ends in Go.
func shared(pattern string) bool {
	if goOnly.Get().MatchString(pattern) || strings.ContainsAny(repeats.Get().ReplaceAllString(pattern, ""), "{}") {
		return false
	}
	for _, only := range []string{"(?i", "(?s", "(?m", "(?U", "(?-", "(?P", `\A`, `\z`, `\Q`, `\C`, `\a`, `\pL`, `\p`, `\P`, "[[:", `\x{`, `\s`, `\S`, `\b`, `\B`, "[]", "[^]"} {
		if strings.Contains(pattern, only) {
			return false
		}
	}
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil
}

var (
	// goOnly matches an escape of a digit, which is an octal number in Go and refers to a group in JavaScript.
	goOnly = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\\[0-9]`) }}
	// repeats matches a count of repetitions and an escaped character. JavaScript takes no other brace.
	repeats = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\\.|\{[0-9]+(?:,[0-9]*)?\}`) }}
)

// written returns a default as a file of JSON has it, or nil if it has no value or holds a secret.
func written(v reflect.Value) any {
	t := v.Type()
	switch kind := t.Kind(); {
	case kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map || kind == reflect.Interface:
		if v.IsNil() {
			return nil
		}
	}
	switch {
	case convert.HoldsSecret(t):
		return nil
	case t == typeDuration:
		return v.Interface().(time.Duration).String()
	case t == typeTime && v.IsZero():
		return nil
	case t.Kind() == reflect.Pointer:
		return written(v.Elem())
	case t == typeBigInt:
		n := v.Interface().(big.Int)
		return &n
	case t.Implements(typeMarshaler):
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return nil
		}
		return string(text)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String:
		return v.Interface()
	case reflect.Float32, reflect.Float64:
		return exact(v.Float())
	case reflect.Slice, reflect.Array:
		list := []any{}
		for i := range v.Len() {
			list = append(list, written(v.Index(i)))
		}
		return list
	case reflect.Map:
		all := map[string]any{}
		for _, key := range v.MapKeys() {
			all[fmt.Sprint(key.Interface())] = written(v.MapIndex(key))
		}
		return all
	case reflect.Struct:
		all := map[string]any{}
		for _, f := range convert.Fields(t) {
			if x := written(v.FieldByIndex(f.Index)); x != nil {
				all[f.Name] = x
			}
		}
		return all
	}
	if v.CanInt() || v.CanUint() {
		return v.Interface()
	}
	return nil
}

// SettingsTypeScript returns the declaration of an interface with the settings as a script exports them. Settings are optional
// unless a source must set them.
func SettingsTypeScript(name string, fields []config.Field) string {
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", name)
	var open []string // groups around the current field
	for i := range fields {
		f := &fields[i]
		groups := f.Path[:len(f.Path)-1]
		common := 0
		for common < min(len(open), len(groups)) && open[common] == groups[common] {
			common++
		}
		for n := len(open); n > common; n-- {
			b.WriteString(strings.Repeat("  ", n) + "}\n")
		}
		for n := common; n < len(groups); n++ {
			b.WriteString(strings.Repeat("  ", n+1) + key(groups[n]) + "?: {\n")
		}
		open = groups
		indent := strings.Repeat("  ", len(groups)+1)
		if about := strings.TrimSpace(f.Doc + " " + bracketed(f.Tag())); about != "" {
			fmt.Fprintf(&b, "%s/** %s */\n", indent, strings.ReplaceAll(about, "*/", "*\\/"))
		}
		mark := "?"
		if f.Required {
			mark = ""
		}
		fmt.Fprintf(&b, "%s%s%s: %s\n", indent, key(f.Path[len(f.Path)-1]), mark, scriptType(f))
	}
	for n := len(open); n >= 0; n-- {
		b.WriteString(strings.Repeat("  ", n) + "}\n")
	}
	return b.String()
}

func bracketed(rules string) string {
	if rules == "" {
		return ""
	}
	return "(" + rules + ")"
}

// scriptType returns the TypeScript type of a setting.
func scriptType(f *config.Field) string {
	for _, r := range f.Rules {
		if r.Name == "oneof" && f.Type.Kind() == reflect.String {
			var list []string
			for text := range strings.SplitSeq(r.Value, "|") {
				list = append(list, encoded(text))
			}
			return strings.Join(list, " | ")
		}
	}
	return scriptTypeOf(f.Type, map[reflect.Type]bool{})
}

// scriptTypeOf returns the TypeScript type of a Go type. above has the types around it. A type within itself is any.
func scriptTypeOf(t reflect.Type, above map[reflect.Type]bool) string {
	if above[t] {
		return "any"
	}
	above[t] = true
	defer delete(above, t)
	switch kind := t.Kind(); {
	case t == typeDuration:
		return "string | number"
	case t == typeTime:
		return "Date"
	case kind == reflect.Pointer && t.Elem() == typeBigInt:
		return "number | bigint"
	case kind == reflect.Pointer:
		return scriptTypeOf(t.Elem(), above) + " | null"
	case reflect.PointerTo(t).Implements(typeText), kind == reflect.String:
		return "string"
	case kind == reflect.Bool:
		return "boolean"
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Uint, kind == reflect.Uint64:
		return "number | bigint"
	case kind >= reflect.Int && kind <= reflect.Float64:
		return "number"
	case kind == reflect.Slice, kind == reflect.Array:
		return "readonly (" + scriptTypeOf(t.Elem(), above) + ")[]"
	case kind == reflect.Map:
		return "Record<string, " + scriptTypeOf(t.Elem(), above) + ">"
	case kind == reflect.Struct:
		var list []string
		for _, f := range convert.Fields(t) {
			mark := "?"
			if f.Required {
				mark = ""
			}
			list = append(list, key(f.Name)+mark+": "+scriptTypeOf(f.Type, above))
		}
		return "{ " + strings.Join(list, "; ") + " }"
	}
	return "any"
}

// SettingsMarkdown returns a table of settings with the defaults of a struct.
func SettingsMarkdown(fields []config.Field, defaults reflect.Value) string {
	var b strings.Builder
	b.WriteString("| setting | type | default | rules | meaning |\n|---|---|---|---|---|\n")
	for i := range fields {
		f := &fields[i]
		value := ""
		switch x := written(f.Of(defaults)); {
		case f.Secret:
			value = config.Hidden
		case f.Required:
			value = "required"
		case x != nil:
			value = code(encoded(x))
		}
		rules := ""
		if f.Tag() != "" {
			rules = code(f.Tag())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(f.Name()), cell(scriptType(f)), value, rules, cell(f.Doc))
	}
	return b.String()
}
