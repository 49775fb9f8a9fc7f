package lang

import (
	"github.com/dop251/goja"
)

// definePolyfills defines parts of the language that the interpreter lacks and that scripts or lowered code use. They are
// well-known symbols, grouping, and promises with their resolvers.
func (e *Engine) definePolyfills() {
	global := e.vm.GlobalObject()
	symbol := global.Get("Symbol").(*goja.Object)
	for _, name := range []string{"dispose", "asyncDispose", "asyncIterator"} {
		if symbol.Get(name) == nil {
			_ = symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
	e.arrayFromText()
	e.wellFormed(global.Get("String").(*goja.Object).Get("prototype"))
	e.polyfill(global.Get("Object"), "groupBy", e.groupObjects)
	e.polyfill(global.Get("Map"), "groupBy", e.groupMap)
	e.polyfill(global.Get("Promise"), "withResolvers", func(c goja.FunctionCall) (goja.Value, error) {
		if c.This != global.Get("Promise") {
			return e.resolversOf(c.This)
		}
		p, resolve, reject := e.vm.NewPromise()
		settle := func(name string, fn func(any) error) goja.Value {
			return e.Func(name, func(c goja.FunctionCall) (goja.Value, error) { return nil, fn(c.Argument(0)) })
		}
		o := e.vm.NewObject()
		_ = o.Set("promise", p)
		_ = o.Set("resolve", settle("resolve", resolve))
		return o, o.Set("reject", settle("reject", reject))
	})
}

// resolversOf is Promise.withResolvers for another constructor of promises.
func (e *Engine) resolversOf(class goja.Value) (goja.Value, error) {
	o := e.vm.NewObject()
	var resolve, reject goja.Value
	p, err := e.vm.New(class, e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if resolve != nil && !goja.IsUndefined(resolve) || reject != nil && !goja.IsUndefined(reject) {
			panic(e.vm.NewTypeError("Promise.withResolvers: the executor was called twice"))
		}
		resolve, reject = c.Argument(0), c.Argument(1)
		return goja.Undefined()
	}))
	if err != nil {
		return nil, err
	}
	for _, f := range []goja.Value{resolve, reject} {
		if _, ok := goja.AssertFunction(f); !ok {
			return nil, &ArgumentError{Func: "Promise.withResolvers", Name: "this", Detail: "must be a constructor of promises"}
		}
	}
	_ = o.Set("promise", p)
	_ = o.Set("resolve", resolve)
	return o, o.Set("reject", reject)
}

// arrayFromText extends TypedArray.from to strings, which it iterates like other iterables.
func (e *Engine) arrayFromText() {
	typed := e.intrinsics.arrays["Uint8Array"].Prototype()
	from, ok := typed.Get("from").(*goja.Object)
	if !ok {
		return
	}
	original, ok := from.Export().(func(goja.FunctionCall) goja.Value)
	if !ok {
		return
	}
	wrapped := e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if s, ok := c.Argument(0).(goja.String); ok {
			list, err := e.intrinsics.arrayFrom(nil, s)
			if err != nil {
				e.Throw(err)
			}
			c.Arguments = append([]goja.Value{list}, c.Arguments[1:]...)
		}
		return original(c)
	}).(*goja.Object)
	_ = wrapped.DefineDataProperty("name", e.vm.ToValue("from"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = wrapped.DefineDataProperty("length", e.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = typed.DefineDataProperty("from", wrapped, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// wellFormed defines the methods that find and replace unpaired surrogates.
func (e *Engine) wellFormed(proto goja.Value) {
	text := func(name string, c goja.FunctionCall) (goja.String, error) {
		if goja.IsUndefined(c.This) || goja.IsNull(c.This) {
			return nil, &ArgumentError{Func: "String.prototype." + name, Name: "this", Detail: "must be a string"}
		}
		s, ok := c.This.ToString().(goja.String)
		if !ok {
			return nil, &ArgumentError{Func: "String.prototype." + name, Name: "this", Detail: "must be a string"}
		}
		return s, nil
	}
	e.polyfill(proto, "isWellFormed", func(c goja.FunctionCall) (goja.Value, error) {
		s, err := text("isWellFormed", c)
		if err != nil {
			return nil, err
		}
		return e.vm.ToValue(s.StrictEquals(e.vm.ToValue(s.String()))), nil
	})
	e.polyfill(proto, "toWellFormed", func(c goja.FunctionCall) (goja.Value, error) {
		s, err := text("toWellFormed", c)
		if err != nil {
			return nil, err
		}
		return e.vm.ToValue(s.String()), nil
	})
}

// polyfill defines a function unless the interpreter provides it.
func (e *Engine) polyfill(on goja.Value, name string, fn NativeFunc) {
	o, ok := on.(*goja.Object)
	if ok && o.Get(name) == nil {
		_ = o.DefineDataProperty(name, e.Func(name, fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// group calls add with each element and its key.
func (e *Engine) group(name string, c goja.FunctionCall, add func(key, v goja.Value) error) error {
	a := e.Args(name, c)
	key := a.Function(1, "callback")
	if a.Err() != nil {
		return a.Err()
	}
	var err error
	i := 0
	e.vm.ForOf(c.Argument(0), func(v goja.Value) bool {
		var k goja.Value
		if k, err = key(nil, v, e.vm.ToValue(i)); err == nil {
			err = add(k, v)
		}
		i++
		return err == nil
	})
	return err
}

func (e *Engine) groupObjects(c goja.FunctionCall) (goja.Value, error) {
	groups := e.vm.CreateObject(nil)
	err := e.group("Object.groupBy", c, func(key, v goja.Value) error {
		name := key.ToString().String()
		list, ok := groups.Get(name).(*goja.Object)
		if !ok {
			return groups.Set(name, e.vm.NewArray(v))
		}
		return list.Set(list.Get("length").String(), v)
	})
	return groups, err
}

func (e *Engine) groupMap(c goja.FunctionCall) (goja.Value, error) {
	groups, err := e.vm.New(e.intrinsics.newMap)
	if err != nil {
		return nil, err
	}
	get, set := e.intrinsics.mapGet, e.intrinsics.mapSet
	err = e.group("Map.groupBy", c, func(key, v goja.Value) error {
		found, err := get(groups, key)
		if err != nil {
			return err
		}
		if list, ok := found.(*goja.Object); ok {
			return list.Set(list.Get("length").String(), v)
		}
		_, err = set(groups, key, e.vm.NewArray(v))
		return err
	})
	return groups, err
}
