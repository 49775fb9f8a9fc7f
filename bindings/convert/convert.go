// Package convert converts between script values and Go values for programs that embed the engine.
//
// A struct field maps to the property with the name in its tag, `orepl:"name"` or else `json:"name"`. Without a tag, the name is
// the field's name in lower camel case. A missing property leaves the field unchanged, unless the tag is `orepl:"name,required"`.
// A property without a field is an error, because it is usually a misspelling. Errors do not show the value of a field with
// `orepl:"name,secret"` or with a method Reveal, such as that of type Secret of package orepl. The option flag is for settings of
// programs: the command line may set a secret. No two fields of a struct may have one name.
//
// # Design
//
// Decode refuses properties that no field takes. Scripts are often configuration, where an unknown property is nearly always
// a typing mistake.
package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/orepl/orepl/lang/diag"
)

// Error reports a script value that cannot be converted.
type Error struct {
	Path    string // relative to the converted value: ".stages[2].size"; empty for the value itself
	Steps   []any  // the path as a list of names and indices
	Message string
	Advice  string
	Where   diag.Position // the value's position in the script, if known
	Secret  bool          // the value is of a secret field: the code around it must not be shown
}

func (e *Error) Error() string {
	text := e.Message
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Where.IsValid() {
		text = e.Where.String() + ": " + text
	}
	return text
}

// Code returns the error's code.
func (e *Error) Code() string { return "invalid-argument" }

// Hint returns the advice on the value to write instead.
func (e *Error) Hint() string { return e.Advice }

// path is a location within the converted value, as a linked list from the innermost step outwards.
type path struct {
	outer *path
	step  any // string or int
}

func (p *path) fail(format string, args ...any) *Error {
	e := &Error{Message: fmt.Sprintf(format, args...), Steps: p.steps()}
	e.Path = pathText(e.Steps)
	return e
}

// advised adds advice to the error.
func (e *Error) advised(text string) *Error {
	e.Advice = text
	return e
}

// steps returns the steps of a path, outermost first.
func (p *path) steps() (list []any) {
	for at := p; at != nil; at = at.outer {
		list = append(list, at.step)
	}
	slices.Reverse(list)
	return list
}

func pathText(steps []any) string {
	var b strings.Builder
	for _, s := range steps {
		switch s := s.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if isName(s) {
				b.WriteString("." + s)
			} else {
				fmt.Fprintf(&b, "[%q]", s)
			}
		}
	}
	return b.String()
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// field is a struct field with its property name in scripts.
type field struct {
	name     string
	index    []int
	required bool
	secret   bool
	flag     bool
	typ      reflect.Type
}

// twice returns the name that two fields have, or "".
func twice(list []field) string {
	known := make(map[string]bool, len(list))
	for _, f := range list {
		if known[f.name] {
			return f.name
		}
		known[f.name] = true
	}
	return ""
}

// fieldsOf returns the converted fields of a struct type. It promotes the fields of embedded structs.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("orepl")
		if !tagged {
			tag = f.Tag.Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				list = append(list, inner)
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = lowerCamel(f.Name)
		}
		has := func(option string) bool { return tagged && slices.Contains(strings.Split(options, ","), option) }
		list = append(list, field{name, []int{i}, has("required"), has("secret") || IsSecret(f.Type), has("flag"), f.Type})
	}
	return visible(list)
}

// lowerCamel converts a Go name to lower camel case: "MaxSize" to "maxSize", "URLPath" to "urlPath", "ID" to "id".
func lowerCamel(name string) string {
	runes := []rune(name)
	for i := range runes {
		if !unicode.IsUpper(runes[i]) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// Field is a struct field as scripts see it.
type Field struct {
	Name     string
	Index    []int // as of [reflect.Value.FieldByIndex]
	Required bool
	Secret   bool
	Flag     bool // the tag says that a flag of the command line may set it
	Type     reflect.Type
}

// visible returns the fields without those of embedded structs that others of the same name hide, as in Go.
func visible(list []field) []field {
	depth := make(map[string]int, len(list)) // the least one of each name
	for _, f := range list {
		if known := depth[f.name]; known == 0 || len(f.index) < known {
			depth[f.name] = len(f.index)
		}
	}
	return slices.DeleteFunc(list, func(f field) bool { return len(f.index) > depth[f.name] })
}

// Fields returns the fields of a struct type that are converted.
func Fields(t reflect.Type) []Field {
	var list []Field
	for _, f := range fieldsOf(t) {
		list = append(list, Field{f.name, f.index, f.required, f.secret, f.flag, f.typ})
	}
	return list
}
