package option

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// Limits of the options that a [Key] describes.
const (
	mostProperties = 4
	mostElements   = 3 // of an array
)

// Key describes the properties of an options object. Objects with equal keys have the same options.
type Key struct {
	n      int
	names  [mostProperties]string
	values [mostProperties]goja.Value
	arrays [mostProperties][mostElements]goja.Value
	sizes  [mostProperties]int // lengths of arrays, plus 1
}

// KeyOf returns the key of an object literal whose properties are numbers, strings, booleans and arrays of numbers. Properties
// named in kept may be any objects. ok is false for other objects, and for more properties or elements than the limits.
func (r *Reader) KeyOf(o *goja.Object, kept ...string) (k Key, ok bool) {
	names, values, ok := internals.Properties(o)
	if !ok || len(names) > mostProperties || o.Prototype() != r.plain {
		return k, false
	}
	k.n = len(names)
	for i, name := range names {
		v := values[name]
		k.names[i] = name
		if internals.IsSimple(v) {
			k.values[i] = v
			continue
		}
		object, isObject := v.(*goja.Object)
		switch {
		case !isObject:
			return k, false
		case slices.Contains(kept, name):
			k.values[i] = object
			continue
		}
		elements, isArray := internals.ArrayValues(object)
		if !isArray || len(elements) > mostElements || object.Get("length").ToInteger() != int64(len(elements)) {
			return k, false
		}
		for j, e := range elements {
			if !internals.IsSimple(e) {
				return k, false
			}
			k.arrays[i][j] = e
		}
		k.sizes[i] = len(elements) + 1
	}
	return k, true
}

// Equal reports whether two keys are equal. It skips what both lack.
func (k *Key) Equal(other *Key) bool {
	if k.n != other.n {
		return false
	}
	for i := range k.n {
		if k.names[i] != other.names[i] || k.values[i] != other.values[i] || k.sizes[i] != other.sizes[i] {
			return false
		}
		for j := range k.sizes[i] - 1 {
			if k.arrays[i][j] != other.arrays[i][j] {
				return false
			}
		}
	}
	return true
}

// Matches reports whether an object has a key, which [Reader.KeyOf] returned with the same kept properties.
func (r *Reader) Matches(o *goja.Object, k *Key, kept ...string) bool {
	names, values, ok := internals.Properties(o)
	if !ok || len(names) != k.n || o.Prototype() != r.plain {
		return false
	}
	for i, name := range names {
		if name != k.names[i] {
			return false
		}
		if k.values[i] == nil { // an array
			own, ok := r.KeyOf(o, kept...)
			return ok && own.Equal(k)
		}
		if values[name] != k.values[i] {
			return false
		}
	}
	return true
}
