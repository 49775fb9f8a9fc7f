package builtins

import (
	_ "embed"
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

//go:embed assign.js
var assignText string

// wideProperties makes functions that set or define integers convert numbers beyond 64 bits. It also hides the symbols of the engine.
func (b *set) wideProperties() error {
	b.wideViews()
	b.hideSymbols()
	b.wrap(b.object("Reflect"), "set", func(c goja.FunctionCall, fn function) goja.Value {
		target := c.Argument(0)
		if len(c.Arguments) < 3 || len(c.Arguments) > 3 && c.Arguments[3] != target || !isIndexKey(c.Arguments[1]) || !b.integers(target) {
			return fn(c)
		}
		if v := b.reduced(c.Arguments[2]); v != c.Arguments[2] {
			c.Arguments = append([]goja.Value{target, c.Arguments[1], v}, c.Arguments[3:]...)
		}
		return fn(c)
	})
	for _, holder := range []string{"Object", "Reflect"} {
		b.wrap(b.object(holder), "defineProperty", func(c goja.FunctionCall, fn function) goja.Value {
			if isIndexKey(c.Argument(1)) && b.integers(c.Argument(0)) {
				c.Arguments = append([]goja.Value{c.Arguments[0], c.Arguments[1], b.reducedDescriptor(c.Argument(2))}, c.Arguments[min(3, len(c.Arguments)):]...)
			}
			return fn(c)
		})
	}
	var assign goja.Callable
	b.wrap(b.object("Object"), "assign", func(c goja.FunctionCall, fn function) goja.Value {
		if !b.integers(c.Argument(0)) {
			return fn(c)
		}
		if assign == nil {
			v, err := b.Run("orepl:assign.js", assignText)
			if err != nil {
				b.Throw(err)
			}
			reduced := b.function("", 1, func(c goja.FunctionCall) goja.Value { return b.reduced(c.Argument(0)) })
			assign = callable(b.call(callable(v), goja.Undefined(), reduced))
		}
		return b.call(assign, goja.Undefined(), c.Arguments...)
	})
	return nil
}

// isIndexKey reports whether a property key is an integer from 0 to 2^53−1, or its text. It returns false for an object, which it does
// not convert.
func isIndexKey(key goja.Value) bool {
	switch key.(type) {
	case nil, *goja.Object, *goja.Symbol:
		return false
	}
	n, err := strconv.ParseUint(key.String(), 10, 53)
	return err == nil && strconv.FormatUint(n, 10) == key.String()
}

// reducedDescriptor returns an object that inherits from the property descriptor v and has its value reduced. It returns v itself if v
// has no value, is a proxy, or is no object.
func (b *set) reducedDescriptor(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return v
	}
	value := o.Get("value")
	if value == nil {
		return v
	}
	own := b.vm.CreateObject(o)
	define(own, "value", b.reduced(value))
	return own
}
