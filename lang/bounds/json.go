package bounds

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// json limits the depth of the input of JSON.parse, and the depth and size of the output of JSON.stringify.
func (b *Bounds) json() {
	object := b.vm.GlobalObject().Get("JSON").(*goja.Object)
	b.wrap(object, "parse", func(b *Bounds, name string, c goja.FunctionCall) {
		if s, ok := c.Argument(0).(goja.String); ok {
			if depth := jsonDepth(s.String()); depth > maxDepth {
				b.fail("stack-overflow", "", "JSON.parse: the text is nested %d deep; %d are allowed", depth, maxDepth)
			}
			b.visit("JSON.parse", uint64(s.Length())/8)
		}
	})
	native, ok := internals.NativeOf(object.Get("stringify").(*goja.Object))
	if !ok {
		return
	}
	fn := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		b.enter("JSON.stringify")
		defer b.leave()
		w := &jsonWatch{Bounds: b}
		if list := b.list(c.Argument(1)); list != nil {
			w.names = b.vm.NewArray(b.names(list)...)
		} else if replacer, ok := c.Argument(1).(*goja.Object); ok {
			w.replacer, _ = goja.AssertFunction(replacer)
		}
		return fn(goja.FunctionCall{This: c.This, Arguments: []goja.Value{c.Argument(0), b.vm.ToValue(w.replace), c.Argument(2)}})
	}
}

// list returns the second argument of JSON.stringify if it is a list of names: an array, or a proxy of one. Else it returns nil.
func (b *Bounds) list(v goja.Value) *goja.Object {
	if o, ok := v.(*goja.Object); ok && b.array(o) {
		return o
	}
	return nil
}

// array reports whether an object is an array, or a proxy of one.
func (b *Bounds) array(o *goja.Object) bool {
	is, err := b.isArray(nil, o)
	if err != nil {
		b.host.Throw(err)
	}
	return is.ToBoolean()
}

// names returns the strings in a list of names, each once, in order. Numbers count as strings, and other values are left out.
func (b *Bounds) names(list *goja.Object) (names []any) {
	const name = "stringify"
	n := lengthOf(list)
	b.visit(name, n)
	b.Allocate(name, product(n, 4*itemSize))
	known := map[string]bool{}
	for i := range n {
		if i%1024 == 0 {
			b.host.Poll()
		}
		v := list.Get(itoa(i))
		if o, ok := v.(*goja.Object); ok && (o.ClassName() == "Number" || o.ClassName() == "String") {
			text, err := b.host.Text(o)
			if err != nil {
				b.host.Throw(err)
			}
			v = text
		}
		if v != nil && goja.IsNumber(v) {
			v = b.vm.ToValue(v.String())
		}
		if text, ok := v.(goja.String); ok && !known[text.String()] {
			known[text.String()] = true
			names = append(names, text)
		}
	}
	return names
}

// A jsonWatch replaces the replacer of JSON.stringify, which is called for every value.
type jsonWatch struct {
	*Bounds
	replacer goja.Callable
	names    *goja.Object   // array of the names of the properties to write, or nil for all
	holders  []*goja.Object // enclosing objects, outermost first; with names, what replaces them
	objects  []*goja.Object // enclosing objects themselves
	visited  uint64
}

func (w *jsonWatch) replace(c goja.FunctionCall) goja.Value {
	holder, _ := c.This.(*goja.Object)
	for len(w.holders) > 0 && w.holders[len(w.holders)-1] != holder {
		w.holders = w.holders[:len(w.holders)-1]
		w.objects = w.objects[:len(w.objects)-1]
	}
	w.visited++
	if w.visited%1024 == 0 {
		w.visit("JSON.stringify", w.visited)
		w.host.Poll()
	}
	v := c.Argument(1)
	if w.replacer != nil {
		var err error
		if v, err = w.replacer(c.This, c.Arguments...); err != nil {
			w.host.Throw(err)
		}
	}
	if o, ok := v.(*goja.Object); ok {
		if len(w.holders) >= maxDepth {
			w.fail("stack-overflow", "", "JSON.stringify: data is nested more than %d deep", maxDepth)
		}
		if len(w.holders) == 0 {
			w.push(holder, holder)
		}
		v = w.named(o)
		w.push(v.(*goja.Object), o)
	}
	return v
}

func (w *jsonWatch) push(holder, object *goja.Object) {
	w.holders, w.objects = append(w.holders, holder), append(w.objects, object)
}

// named returns an object whose enumerable properties are those of o with the watch's names, in their order. It returns o
// itself if no names are set, and for an array, a function and what is written as a primitive value.
func (w *jsonWatch) named(o *goja.Object) *goja.Object {
	if w.names == nil || isPrimitive(o) || w.list(o) != nil {
		return o
	}
	if _, ok := goja.AssertFunction(o); ok {
		return o
	}
	if i := slices.Index(w.objects, o); i > 0 {
		return w.holders[i] // so that a cycle is found
	}
	property := goja.PropertyDescriptor{Value: goja.Undefined(), Writable: goja.FLAG_TRUE, Enumerable: goja.FLAG_TRUE, Configurable: goja.FLAG_TRUE}
	return w.vm.ToValue(w.vm.NewProxy(w.vm.NewObject(), &goja.ProxyTrapConfig{
		OwnKeys:                  func(*goja.Object) *goja.Object { return w.names },
		GetOwnPropertyDescriptor: func(*goja.Object, string) goja.PropertyDescriptor { return property },
		Get: func(_ *goja.Object, name string, _ goja.Value) goja.Value {
			if v := o.Get(name); v != nil {
				return v
			}
			return goja.Undefined()
		},
	})).(*goja.Object)
}

// isPrimitive reports whether JSON.stringify writes an object as a primitive value or as text of its own: the wrapper of a
// primitive value, raw JSON, and a value of Go.
func isPrimitive(o *goja.Object) bool {
	self := internals.Self(o)
	if !self.IsValid() || o.ClassName() == "RawJSON" {
		return true
	}
	switch self.Type().Elem().Name() {
	case "primitiveValueObject", "stringObject", "objectGoReflect":
		return true
	}
	return false
}

// jsonDepth returns the maximum nesting depth of the brackets in a JSON text.
func jsonDepth(text string) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
