package internals

import (
	"testing"

	"github.com/dop251/goja"
)

// TestNewObject compares an object whose properties are made when first used with an object that has them from the start.
func TestNewObject(t *testing.T) {
	const uses = `[
		o => Object.getOwnPropertyNames(o),
		o => Object.keys(o),
		o => { const seen = []; for (const key in o) seen.push(key); return seen },
		o => Reflect.ownKeys(o).map(String),
		o => Object.entries(Object.getOwnPropertyDescriptors(o)).map(([key, d]) => [key, Object.keys(d), d.writable, d.enumerable, d.configurable]),
		o => [o.run.name, o.run.length, String(o.run), Object.getOwnPropertyNames(o.run), o.run === o.run, o.run(), 'prototype' in o.run],
		o => [o.size, Object.getOwnPropertyDescriptor(o, 'size').get.name, Object.getOwnPropertyDescriptor(o, 'size').set],
		o => ['run' in o, 'none' in o, 'toString' in o, o.hasOwnProperty('size'), Object.getPrototypeOf(o) === Object.prototype, String(o)],
		o => { delete o.run; return [o.run, 'run' in o, Object.getOwnPropertyNames(o)] },
		o => { delete o.run; o.run = 1; return [o.run, Object.getOwnPropertyNames(o)] },
		o => { o.run = 1; o.more = 2; return [o.run, Object.getOwnPropertyNames(o), Object.keys(o)] },
		o => { 'use strict'; try { o.size = 1 } catch (e) { return [e.name, o.size] } },
		o => { Object.defineProperty(o, 'size', { value: 3 }); return [o.size, Object.getOwnPropertyNames(o)] },
		o => { Object.freeze(o); o.run = 1; delete o.size; o.more = 1; return [typeof o.run, o.size, o.more, Object.isFrozen(o)] },
		o => { const child = Object.create(o); child.run = 1; return [Object.keys(child), child.size, typeof o.run] },
		o => { Object.setPrototypeOf(o, { below: 4 }); return [o.below, o.toString === Object.prototype.toString, o.none] },
		o => { Object.setPrototypeOf(o, null); return ['toString' in o, o.size] },
		o => Object.keys({ ...o }),
		o => JSON.stringify(o),
		o => { o[Symbol.iterator] = 1; return Reflect.ownKeys(o).map(String) },
	]`
	names := []string{"run", "size", "last", "run", "1"}
	vm := goja.New()
	calls := 0
	define := func(o *goja.Object, at int) {
		calls++
		switch names[at] {
		case "size":
			get := NewFunction(vm, "size", func(goja.FunctionCall) goja.Value { return vm.ToValue(7) })
			_ = o.DefineAccessorProperty("size", get, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_TRUE)
		case "1":
			_ = o.DefineDataProperty("1", vm.ToValue("one"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		default:
			f := NewFunction(vm, names[at], func(goja.FunctionCall) goja.Value { return vm.ToValue(at) })
			_ = o.DefineDataProperty(names[at], f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	list, err := vm.RunString(uses)
	if err != nil {
		t.Fatal(err)
	}
	stringify, _ := goja.AssertFunction(vm.GlobalObject().Get("JSON").(*goja.Object).Get("stringify"))
	n := int(list.(*goja.Object).Get("length").ToInteger())
	for i := range n {
		use := list.(*goja.Object).Get(vm.ToValue(i).String())
		call, _ := goja.AssertFunction(use)
		eager := vm.NewObject()
		for at := range names {
			define(eager, at)
		}
		var texts [2]string
		for k, o := range []*goja.Object{eager, NewObject(vm, names, define)} {
			v, err := call(nil, o)
			if err != nil {
				t.Fatalf("%s: %v", use, err)
			}
			text, err := stringify(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			texts[k] = text.String()
		}
		if texts[0] != texts[1] {
			t.Errorf("%s:\n%s, want\n%s", use, texts[1], texts[0])
		}
	}

	calls = 0
	o := NewObject(vm, names, define)
	if o.Get("none"); calls != 0 {
		t.Errorf("%d properties are made before the first use", calls)
	}
	if o.Get("run"); calls != 1 {
		t.Errorf("%d properties are made at the first use of one", calls)
	}
	if o.Get("run"); calls != 1 {
		t.Errorf("%d properties are made at two uses of one", calls)
	}
}

// TestNewFunction compares a function with one that the interpreter makes of the same Go function.
func TestNewFunction(t *testing.T) {
	vm := goja.New()
	call := func(c goja.FunctionCall) goja.Value { return c.Argument(0) }
	const describe = `f => JSON.stringify([String(f).replace(/\S+\(/, '('), f.length, f(5), Object.getPrototypeOf(f) === Function.prototype,
		Reflect.ownKeys(f), Object.values(Object.getOwnPropertyDescriptors(f)).map(d => [d.writable, d.enumerable, d.configurable]),
		(() => { try { new f } catch (e) { return e.name } })()])`
	v, err := vm.RunString(describe)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := goja.AssertFunction(v)
	for _, name := range []string{"", "run", "größe", "[Symbol.iterator]"} {
		f := NewFunction(vm, name, call)
		got, err := text(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := text(nil, vm.ToValue(call))
		if err != nil || got.String() != want.String() {
			t.Errorf("%q: %s, want %s, %v", name, got, want, err)
		}
		if f.Get("name").String() != name {
			t.Errorf("its name is %q, want %q", f.Get("name"), name)
		}
	}
}
