package builtins

import (
	"runtime"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// A weakRef refers to an object or a symbol without keeping it alive.
type weakRef struct {
	object weak.Pointer[goja.Object]
	symbol weak.Pointer[goja.Symbol]
}

func (w *weakRef) value() goja.Value {
	if o := w.object.Value(); o != nil {
		return o
	}
	if s := w.symbol.Value(); s != nil {
		return s
	}
	return goja.Undefined()
}

func makeWeak(v goja.Value) *weakRef {
	switch v := v.(type) {
	case *goja.Object:
		return &weakRef{object: weak.Make(v)}
	case *goja.Symbol:
		return &weakRef{symbol: weak.Make(v)}
	}
	return nil
}

// holdable reports whether a value may be held weakly: objects, and symbols that Symbol.for did not register.
func (b *set) holdable(v goja.Value) bool {
	switch v.(type) {
	case *goja.Object:
		return true
	case *goja.Symbol:
		return isUndefined(b.call(b.keyFor, nil, v))
	}
	return false
}

// keep holds a value until the end of the turn.
func (b *set) keep(v goja.Value) { b.kept = append(b.kept, v) }

// installWeak defines WeakRef and FinalizationRegistry, and lets symbols be keys of WeakMap and WeakSet.
func (b *set) installWeak() error {
	b.keyFor = callable(b.object("Symbol").Get("keyFor"))
	b.wantedGlobals(b.weakClasses, "WeakRef", "FinalizationRegistry")
	b.wanted(b.symbolKeys, "WeakMap", "WeakSet")
	return nil
}

// weakClasses defines the classes WeakRef and FinalizationRegistry.
func (b *set) weakClasses() error {
	v, err := b.Run("orepl:weak.js", weakText)
	if err != nil {
		return err
	}
	host := b.vm.NewObject()
	define(host, "holdable", b.vm.ToValue(func(c goja.FunctionCall) goja.Value { return b.vm.ToValue(b.holdable(c.Argument(0))) }))
	define(host, "make", b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		b.keep(c.Argument(0))
		return b.vm.ToValue(makeWeak(c.Argument(0)))
	}))
	define(host, "deref", b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		w, ok := c.Argument(0).Export().(*weakRef)
		if !ok {
			return goja.Undefined()
		}
		v := w.value()
		b.keep(v)
		return v
	}))
	// watch(target, collected, id) calls collected(id) some time after target is collected, if the function collected still
	// exists then.
	define(host, "watch", b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		collected, ok := c.Argument(1).(*goja.Object)
		if !ok {
			return goja.Undefined()
		}
		to, id := weak.Make(collected), c.Argument(2).ToInteger()
		post := func(id int64) {
			b.Post(func() error {
				if o := to.Value(); o != nil {
					if _, err := callable(o)(goja.Undefined(), b.vm.ToValue(id)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		switch v := c.Argument(0).(type) {
		case *goja.Object:
			runtime.AddCleanup(v, post, id)
		case *goja.Symbol:
			runtime.AddCleanup(v, post, id)
		}
		return goja.Undefined()
	}))
	classes := b.call(callable(v), nil, host).(*goja.Object)
	for _, name := range []string{"WeakRef", "FinalizationRegistry"} {
		_ = b.global.DefineDataProperty(name, classes.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return nil
}

// weakText is the script that defines WeakRef and FinalizationRegistry.
const weakText = `"use strict"; host => {
	const { holdable, make, deref, watch } = host
	const tag = (c, name) => Object.defineProperty(c.prototype, Symbol.toStringTag, { value: name, configurable: true })
	class WeakRef {
		#ref
		constructor(target) {
			if (!holdable(target)) throw new TypeError('WeakRef: the target must be an object or a symbol that is not registered')
			this.#ref = make(target)
		}
		deref() { return deref(this.#ref) }
	}
	class FinalizationRegistry {
		#cleanup
		#cells = new Map()
		#next = 0
		#collected
		constructor(cleanupCallback) {
			if (typeof cleanupCallback !== 'function') throw new TypeError('FinalizationRegistry: the callback must be a function')
			this.#cleanup = cleanupCallback
			this.#collected = id => {
				const cell = get(this.#cells, id)
				if (cell === undefined) return
				remove(this.#cells, id)
				const call = this.#cleanup
				call(cell.held)
			}
		}
		register(target, heldValue, unregisterToken) {
			this.#cells
			if (!holdable(target)) throw new TypeError('FinalizationRegistry.register: the target must be an object or a symbol that is not registered')
			if (is(target, heldValue)) throw new TypeError('FinalizationRegistry.register: the target and the held value must differ')
			if (unregisterToken !== undefined && !holdable(unregisterToken)) throw new TypeError('FinalizationRegistry.register: the token must be an object or a symbol that is not registered')
			const id = this.#next++
			set(this.#cells, id, { held: heldValue, token: unregisterToken === undefined ? undefined : make(unregisterToken) })
			watch(target, this.#collected, id)
		}
		unregister(unregisterToken) {
			const cells = this.#cells
			if (!holdable(unregisterToken)) throw new TypeError('FinalizationRegistry.unregister: the token must be an object or a symbol that is not registered')
			let removed = false
			each(cells, (cell, id) => {
				if (cell.token !== undefined && deref(cell.token) === unregisterToken) removed = remove(cells, id) || removed
			})
			return removed
		}
	}
	const { is } = Object
	const uncurry = Function.prototype.bind.bind(Function.prototype.call)
	const get = uncurry(Map.prototype.get), set = uncurry(Map.prototype.set), remove = uncurry(Map.prototype.delete), each = uncurry(Map.prototype.forEach)
	Object.defineProperty(FinalizationRegistry.prototype.register, 'length', { value: 2, configurable: true })
	tag(WeakRef, 'WeakRef')
	tag(FinalizationRegistry, 'FinalizationRegistry')
	return { WeakRef, FinalizationRegistry }
}`

// symbolKeys lets holdable symbols be keys of WeakMap and elements of WeakSet. They stay alive until they are deleted or the map ends.
func (b *set) symbolKeys() error {
	var maps *slots // made at the first symbol
	of := func(this goja.Value, create bool) map[*goja.Symbol]goja.Value {
		o, ok := this.(*goja.Object)
		if !ok || maps == nil && !create {
			return nil
		}
		if maps == nil {
			maps = b.newSlots()
		}
		m, _ := b.attached(maps, o).(*symbolMap)
		if m == nil && create {
			m = &symbolMap{values: map[*goja.Symbol]goja.Value{}}
			b.attach(maps, o, m)
		}
		if m == nil {
			return nil
		}
		return m.values
	}
	for class, adder := range map[string]string{"WeakMap": "set", "WeakSet": "add"} {
		constructor := b.object(class)
		proto := constructor.Get("prototype").(*goja.Object)
		has := proto.Get("has")
		check, ok := internals.NativeOf(has.(*goja.Object))
		if !ok {
			return internals.Unknown(class)
		}
		receiver := *check.Call // throws for other objects
		for _, name := range []string{"has", "get", "delete", adder} {
			b.wrap(proto, name, func(c goja.FunctionCall, fn function) goja.Value {
				key, ok := c.Argument(0).(*goja.Symbol)
				if !ok {
					return fn(c)
				}
				receiver(goja.FunctionCall{This: c.This, Arguments: []goja.Value{goja.Undefined()}})
				held := b.holdable(key)
				m := of(c.This, name == adder && held)
				v, found := m[key]
				switch name {
				case "has":
					return b.vm.ToValue(found)
				case "get":
					if !found {
						return goja.Undefined()
					}
					return v
				case "delete":
					delete(m, key)
					return b.vm.ToValue(found)
				}
				if !held {
					b.typeError("%s.prototype.%s: a registered symbol cannot be held weakly", class, name)
				}
				m[key] = c.Argument(1)
				return c.This
			})
		}
		native, ok := internals.NativeOf(constructor)
		if !ok || native.Construct == nil || *native.Construct == nil {
			return internals.Unknown(class)
		}
		construct := *native.Construct
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) == 0 || isNullish(args[0]) || !b.hasSymbols(args[0]) {
				return construct(args, newTarget)
			}
			o := construct(nil, newTarget)
			add := callable(get(o, adder))
			if add == nil {
				b.typeError("%s.prototype.%s is not a function", class, adder)
			}
			b.vm.ForOf(args[0], func(v goja.Value) bool {
				if adder == "add" {
					b.call(add, o, v)
					return true
				}
				entry, ok := v.(*goja.Object)
				if !ok {
					b.typeError("WeakMap: an entry is not an object")
				}
				key := get(entry, "0")
				b.call(add, o, key, get(entry, "1"))
				return true
			})
			return o
		}
	}
	return nil
}

// A symbolMap holds the symbols of a WeakMap or WeakSet.
type symbolMap struct{ values map[*goja.Symbol]goja.Value }

// hasSymbols reports whether an array contains symbols, or entries whose keys are symbols. It returns false for other values.
func (b *set) hasSymbols(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	values, ok := internals.ArrayValues(o)
	if !ok {
		return false
	}
	for _, v := range values {
		if entry, ok := v.(*goja.Object); ok {
			if parts, ok := internals.ArrayValues(entry); ok && len(parts) > 0 {
				v = parts[0]
			}
		}
		if _, ok := v.(*goja.Symbol); ok {
			return true
		}
	}
	return false
}
