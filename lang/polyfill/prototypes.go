package polyfill

import (
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

var typeDynamic = reflect.TypeFor[goja.DynamicObject]()

// FixPrototypes prevents changes to the prototypes of objects that Go code implements, and cycles of prototypes through
// proxies. The interpreter does not detect such cycles and would follow them forever.
func FixPrototypes(vm *goja.Runtime, host Host) {
	named := func(name string, length int, fn native) *goja.Object { // has the length of the replaced function
		f := host.Function(name, fn)
		_ = f.DefineDataProperty("length", vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		return f
	}
	global := vm.GlobalObject()
	object, _ := global.Get("Object").(*goja.Object)
	for _, holder := range []string{"Object", "Reflect"} {
		on, _ := global.Get(holder).(*goja.Object)
		set, ok := goja.AssertFunction(on.Get("setPrototypeOf"))
		if !ok {
			continue
		}
		_ = on.DefineDataProperty("setPrototypeOf", named("setPrototypeOf", 2, func(c goja.FunctionCall) (goja.Value, error) {
			if isFixed(c.Argument(0)) {
				return nil, errFixedPrototype
			}
			if circular(c.Argument(0), c.Argument(1)) {
				return nil, errCircularPrototype
			}
			return set(c.This, c.Arguments...)
		}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	describe, _ := goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	proto, _ := object.Get("prototype").(*goja.Object)
	old, err := describe(nil, proto, vm.ToValue("__proto__"))
	accessor, ok := old.(*goja.Object)
	if err != nil || !ok {
		return
	}
	set, ok := goja.AssertFunction(accessor.Get("set"))
	if !ok {
		return
	}
	setter := named("set __proto__", 1, func(c goja.FunctionCall) (goja.Value, error) {
		if isFixed(c.This) {
			return nil, errFixedPrototype
		}
		if circular(c.This, c.Argument(0)) {
			return nil, errCircularPrototype
		}
		return set(c.This, c.Arguments...)
	})
	_ = proto.DefineAccessorProperty("__proto__", accessor.Get("get"), setter, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

var errFixedPrototype = &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: "the prototype of this object cannot be changed"}

var errCircularPrototype = &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: "an object cannot be its own prototype, also not through proxies"}

// circular reports whether v, with proto as its prototype, would be in its own prototype chain through a proxy. The interpreter
// detects only cycles without proxies, and others exhaust Go's stack.
func circular(v, proto goja.Value) bool {
	start, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	throughProxy := false
	for start.ExportType() == reflect.TypeFor[goja.Proxy]() {
		p, _ := start.Export().(goja.Proxy)
		if start, throughProxy = p.Target(), true; start == nil {
			return false
		}
	}
	for o, _ := proto.(*goja.Object); o != nil; {
		if o == start {
			return throughProxy
		}
		if o.ExportType() == reflect.TypeFor[goja.Proxy]() {
			p, _ := o.Export().(goja.Proxy)
			o, throughProxy = p.Target(), true
			continue
		}
		o = o.Prototype()
	}
	return false
}

// isFixed reports whether an object, or the target of a proxy, is implemented by Go code.
func isFixed(v goja.Value) bool {
	for o, ok := v.(*goja.Object); ok && o != nil; {
		t := o.ExportType()
		if t != reflect.TypeFor[goja.Proxy]() {
			return t != nil && t.Kind() == reflect.Pointer && t.Implements(typeDynamic)
		}
		p, _ := o.Export().(goja.Proxy)
		o = p.Target()
	}
	return false
}
