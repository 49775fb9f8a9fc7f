package convert

import (
	"reflect"
	"slices"
)

// typeSecret is the interface of secrets: texts that only their method Reveal returns.
var typeSecret = reflect.TypeFor[interface{ Reveal() string }]()

// IsSecret reports whether values of a type are texts with a method Reveal, or pointers to such texts, lists or maps of them.
func IsSecret(t reflect.Type) bool {
	for above := []reflect.Type{}; !slices.Contains(above, t); { // a type such as []T may be T
		if t.Implements(typeSecret) {
			return true
		}
		above = append(above, t)
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return false
		}
	}
	return false
}

// HoldsSecret reports whether a part of a type's values is secret, by its type or by the tag of its field. The code around such
// values must not be shown.
func HoldsSecret(t reflect.Type) bool { return holdsSecret(t, map[reflect.Type]bool{}) }

func holdsSecret(t reflect.Type, seen map[reflect.Type]bool) bool {
	if IsSecret(t) {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsSecret(t.Elem(), seen)
	case reflect.Struct:
		for _, f := range fieldsOf(t) {
			if f.secret || holdsSecret(f.typ, seen) {
				return true
			}
		}
	}
	return false
}
