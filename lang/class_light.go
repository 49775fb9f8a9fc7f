package lang

import (
	"reflect"
	"slices"

	"github.com/dop251/goja"
)

// lightHost is the Go value of a light object.
type lightHost interface {
	goja.DynamicObject
	light()
}

var typeLightHost = reflect.TypeFor[lightHost]()

var typeProxy = reflect.TypeFor[goja.Proxy]()

// host returns the hidden value of an object of a class, and nil for other objects. It runs no code of the script; a proxy has
// its own handler and is not treated as its target.
func (e *Engine) host(o *goja.Object) any {
	switch t := o.ExportType(); {
	case t == typeProxy:
		return nil
	case t.Kind() == reflect.Pointer && e.isLight(t):
		return o.Export()
	}
	return e.reveal(o, e.objects.hiddenSymbol)
}

// isLight reports whether a type implements lightHost. It caches the answer, because host may call it for every object that is passed
// to a native function.
func (e *Engine) isLight(t reflect.Type) bool {
	light, known := e.objects.lightTypes[t]
	if !known {
		light = t.Implements(typeLightHost)
		e.objects.lightTypes[t] = light
	}
	return light
}

func (i *instance[T]) light() {}

// expando holds the properties that a script added to a light object, in insertion order.
type expando []struct {
	key   string
	value goja.Value
}

// find returns the index of a key, or −1 if there is none.
func (x expando) find(key string) int {
	for i := range x {
		if x[i].key == key {
			return i
		}
	}
	return -1
}

// Get implements [goja.DynamicObject]. It returns nil for a property that the script has not added.
func (i *instance[T]) Get(key string) goja.Value {
	if at := i.added.find(key); at >= 0 {
		return i.added[at].value
	}
	return nil
}

// Set implements [goja.DynamicObject].
func (i *instance[T]) Set(key string, v goja.Value) bool {
	at := i.added.find(key)
	if at < 0 {
		at, i.added = len(i.added), append(i.added, expando{{key: key}}...)
	}
	i.added[at].value = v
	return true
}

// Has implements [goja.DynamicObject].
func (i *instance[T]) Has(key string) bool { return i.added.find(key) >= 0 }

// Delete implements [goja.DynamicObject].
func (i *instance[T]) Delete(key string) bool {
	if at := i.added.find(key); at >= 0 {
		i.added = slices.Delete(i.added, at, at+1)
	}
	return true
}

// Keys implements [goja.DynamicObject].
func (i *instance[T]) Keys() []string {
	keys := make([]string, len(i.added))
	for at := range i.added {
		keys[at] = i.added[at].key
	}
	return keys
}
