// Package convert turns values of scripts into values of Go and back, for programs that embed the engine.
//
// A struct field is the property of the same name in lower camel case, or of the name in its tag: `orepl:"name"`, else
// `json:"name"`. A property that the script leaves out leaves the field as it is, unless the tag says
// `orepl:"name,required"`; a property that no field takes is an error, since it is most often a typing mistake.
package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/orepl/orepl/lang/diag"
)

// Error says which value of the script does not fit.
type Error struct {
	Path    string // from the value that was converted: ".stages[2].size"; empty for the value itself
	Steps   []any  // the path in parts: names and indices
	Message string
	Advice  string
	Where   diag.Position // of the value in the script, if it is known
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

// Hint names the expression to write instead.
func (e *Error) Hint() string { return e.Advice }

// path is where in a value a conversion is; it grows inwards.
type path struct {
	outer *path
	step  any // string or int
}

func (p *path) fail(format string, args ...any) *Error {
	e := &Error{Message: fmt.Sprintf(format, args...), Steps: p.steps()}
	e.Path = pathText(e.Steps)
	return e
}

// steps lists the steps of a path, outermost first.
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

// field is a struct's field as scripts see it.
type field struct {
	name     string
	index    []int
	required bool
	typ      reflect.Type
}

// fieldsOf lists the fields that take part; those of embedded structs count as the struct's own.
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
		list = append(list, field{name, []int{i}, tagged && options == "required", f.Type})
	}
	return list
}

// lowerCamel turns a Go name into a script's: "MaxSize" into "maxSize", "URLPath" into "urlPath", "ID" into "id".
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
