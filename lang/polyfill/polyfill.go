// Package polyfill defines parts of the language that the interpreter lacks and that scripts or lowered code use. It also keeps scripts
// from making cycles of prototypes that the interpreter does not detect.
package polyfill

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/arguments"
)

// Host is the engine of an interpreter.
type Host interface {
	arguments.Printer
	// Function returns a script function that calls fn and throws its error.
	Function(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object
	// Throw throws an error in the script; it does not return.
	Throw(error)
}

// native is a Go function that scripts call.
type native = func(goja.FunctionCall) (goja.Value, error)

// functions defines functions in one interpreter.
type functions struct {
	vm             *goja.Runtime
	host           Host
	arrayFrom      goja.Callable
	maps           *goja.Object // the constructor
	mapGet, mapSet goja.Callable
}

// Define adds builtins that the interpreter lacks: Symbol.dispose, asyncDispose and asyncIterator, Object.groupBy, Map.groupBy,
// String.prototype.isWellFormed and toWellFormed, and Promise.withResolvers. Those that exist are kept. It also makes
// TypedArray.from accept strings. Define must be called before any script runs, because scripts may replace builtins.
func Define(vm *goja.Runtime, host Host) {
	global := vm.GlobalObject()
	maps := object(global, "Map")
	f := &functions{
		vm: vm, host: host, arrayFrom: function(object(global, "Array"), "from"),
		maps: maps, mapGet: function(object(maps, "prototype"), "get"), mapSet: function(object(maps, "prototype"), "set"),
	}
	f.symbols()
	f.arrayFromText()
	f.wellFormed(object(object(global, "String"), "prototype"))
	f.polyfill(object(global, "Object"), "groupBy", f.groupObjects)
	f.polyfill(maps, "groupBy", f.groupMap)
	f.resolvers()
}

func object(on *goja.Object, name string) *goja.Object { return on.Get(name).(*goja.Object) }

func function(on *goja.Object, name string) goja.Callable {
	f, _ := goja.AssertFunction(on.Get(name))
	return f
}

// symbols defines the well-known symbols of lowered code.
func (f *functions) symbols() {
	symbol := object(f.vm.GlobalObject(), "Symbol")
	for _, name := range []string{"dispose", "asyncDispose", "asyncIterator"} {
		if symbol.Get(name) == nil {
			_ = symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
}

// resolvers defines Promise.withResolvers.
func (f *functions) resolvers() {
	promise := object(f.vm.GlobalObject(), "Promise")
	f.polyfill(promise, "withResolvers", func(c goja.FunctionCall) (goja.Value, error) {
		if c.This != promise {
			return f.resolversOf(c.This)
		}
		p, resolve, reject := f.vm.NewPromise()
		settle := func(name string, fn func(any) error) goja.Value {
			return f.host.Function(name, func(c goja.FunctionCall) (goja.Value, error) { return nil, fn(c.Argument(0)) })
		}
		o := f.vm.NewObject()
		_ = o.Set("promise", p)
		_ = o.Set("resolve", settle("resolve", resolve))
		return o, o.Set("reject", settle("reject", reject))
	})
}

// resolversOf implements Promise.withResolvers for another constructor of promises. It fails if the constructor does, or
// calls its executor twice.
func (f *functions) resolversOf(class goja.Value) (goja.Value, error) {
	o := f.vm.NewObject()
	var resolve, reject goja.Value
	p, err := f.vm.New(class, f.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if resolve != nil && !goja.IsUndefined(resolve) || reject != nil && !goja.IsUndefined(reject) {
			panic(f.vm.NewTypeError("Promise.withResolvers: the executor was called twice"))
		}
		resolve, reject = c.Argument(0), c.Argument(1)
		return goja.Undefined()
	}))
	if err != nil {
		return nil, err
	}
	for _, settle := range []goja.Value{resolve, reject} {
		if _, ok := goja.AssertFunction(settle); !ok {
			return nil, &arguments.Error{Func: "Promise.withResolvers", Name: "this", Detail: "must be a constructor of promises"}
		}
	}
	_ = o.Set("promise", p)
	_ = o.Set("resolve", resolve)
	return o, o.Set("reject", reject)
}

// arrayFromText extends TypedArray.from to strings, which it iterates like other iterables.
func (f *functions) arrayFromText() {
	typed := object(f.vm.GlobalObject(), "Uint8Array").Prototype()
	from, ok := typed.Get("from").(*goja.Object)
	if !ok {
		return
	}
	original, ok := from.Export().(func(goja.FunctionCall) goja.Value)
	if !ok {
		return
	}
	wrapped := f.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if s, ok := c.Argument(0).(goja.String); ok {
			list, err := f.arrayFrom(nil, s)
			if err != nil {
				f.host.Throw(err)
			}
			c.Arguments = append([]goja.Value{list}, c.Arguments[1:]...)
		}
		return original(c)
	}).(*goja.Object)
	_ = wrapped.DefineDataProperty("name", f.vm.ToValue("from"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = wrapped.DefineDataProperty("length", f.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = typed.DefineDataProperty("from", wrapped, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// wellFormed defines the methods that find and replace unpaired surrogates.
func (f *functions) wellFormed(proto *goja.Object) {
	text := func(name string, c goja.FunctionCall) (goja.String, error) {
		if goja.IsUndefined(c.This) || goja.IsNull(c.This) {
			return nil, &arguments.Error{Func: "String.prototype." + name, Name: "this", Detail: "must be a string"}
		}
		this := c.This.ToString()
		switch this.(type) {
		case goja.String, *goja.Symbol:
		default: // of a number, ToString returns the number
			this = f.vm.ToValue(this.String())
		}
		s, ok := this.(goja.String)
		if !ok {
			return nil, &arguments.Error{Func: "String.prototype." + name, Name: "this", Detail: "must be a string"}
		}
		return s, nil
	}
	f.polyfill(proto, "isWellFormed", func(c goja.FunctionCall) (goja.Value, error) {
		s, err := text("isWellFormed", c)
		if err != nil {
			return nil, err
		}
		return f.vm.ToValue(s.StrictEquals(f.vm.ToValue(s.String()))), nil
	})
	f.polyfill(proto, "toWellFormed", func(c goja.FunctionCall) (goja.Value, error) {
		s, err := text("toWellFormed", c)
		if err != nil {
			return nil, err
		}
		return f.vm.ToValue(s.String()), nil
	})
}

// polyfill defines a function unless the interpreter provides it.
func (f *functions) polyfill(on *goja.Object, name string, fn native) {
	if on.Get(name) == nil {
		_ = on.DefineDataProperty(name, f.host.Function(name, fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// group calls add with each element of the iterable in argument 0, and the key that the function in argument 1 returns for it.
// It ends at the first error.
func (f *functions) group(name string, c goja.FunctionCall, add func(key, v goja.Value) error) error {
	a := arguments.New(name, c, f.host)
	key := a.Function(1, "callback")
	if a.Err() != nil {
		return a.Err()
	}
	var err error
	i := 0
	f.vm.ForOf(c.Argument(0), func(v goja.Value) bool {
		var k goja.Value
		if k, err = key(nil, v, f.vm.ToValue(i)); err == nil {
			err = add(k, v)
		}
		i++
		return err == nil
	})
	return err
}

func (f *functions) groupObjects(c goja.FunctionCall) (goja.Value, error) {
	groups := f.vm.CreateObject(nil)
	err := f.group("Object.groupBy", c, func(key, v goja.Value) error {
		name := key.ToString().String()
		list, ok := groups.Get(name).(*goja.Object)
		if !ok {
			return groups.Set(name, f.vm.NewArray(v))
		}
		return list.Set(list.Get("length").String(), v)
	})
	return groups, err
}

func (f *functions) groupMap(c goja.FunctionCall) (goja.Value, error) {
	groups, err := f.vm.New(f.maps)
	if err != nil {
		return nil, err
	}
	err = f.group("Map.groupBy", c, func(key, v goja.Value) error {
		found, err := f.mapGet(groups, key)
		if err != nil {
			return err
		}
		if list, ok := found.(*goja.Object); ok {
			return list.Set(list.Get("length").String(), v)
		}
		_, err = f.mapSet(groups, key, f.vm.NewArray(v))
		return err
	})
	return groups, err
}
