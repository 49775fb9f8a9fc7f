package bounds

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// Arrays adds a size check to ArrayBuffer and the constructors of typed arrays.
func (b *Bounds) Arrays() {
	size := map[string]uint64{
		"Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Int32Array": 4, "Uint32Array": 4,
		"Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8, "ArrayBuffer": 1,
	}
	for name, n := range size {
		b.construct(name, func(args []goja.Value) {
			if len(args) == 0 {
				return
			}
			if _, isSymbol := args[0].(*goja.Symbol); isSymbol {
				return // the constructor refuses it before it reads a prototype
			}
			if o, ok := args[0].(*goja.Object); !ok || !internals.IsBuffer(o) {
				length := uint64(0)
				if ok {
					length = sourceLength(o)
				} else {
					length = count(args[0])
				}
				b.Allocate(name, product(length, n))
			}
		})
	}
}

// constructors adds checks to Map, Set, WeakMap, WeakSet, Proxy and BigInt.
func (b *Bounds) constructors() {
	for _, name := range []string{"Map", "Set", "WeakMap", "WeakSet"} {
		b.construct(name, func(args []goja.Value) {
			if len(args) > 0 {
				b.visit(name, iterableLength(args[0]))
			}
		})
	}
	nested := func(args []goja.Value) {
		for i := 0; i < min(len(args), 2); i++ {
			b.proxyDepth(args[i])
		}
	}
	b.construct("Proxy", nested)
	proxy := b.vm.GlobalObject().Get("Proxy").(*goja.Object)
	b.wrap(proxy, "revocable", func(_ *Bounds, _ string, c goja.FunctionCall) { nested(c.Arguments) })
	b.construct("BigInt", func(args []goja.Value) {
		const digits = 1 << 20
		if len(args) > 0 && textLength(args[0]) > digits {
			b.fail("out-of-resources", "", "BigInt: a text of more than %d digits", digits)
		}
	})
}

// objectLength returns the value of the own property length of an array-like object if it is an object, else nil. It returns
// nil for arrays, typed arrays and proxies, too.
func (b *Bounds) objectLength(o *goja.Object) *goja.Object {
	if o.ClassName() == "Array" || internals.IsTypedArray(o) || o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return nil
	}
	if d := b.host.OwnProperty(o, "length"); d != nil {
		length, _ := d.Get("value").(*goja.Object)
		return length
	}
	return nil
}

// proxyDepth limits the nesting of proxies, because each operation recurses through them.
func (b *Bounds) proxyDepth(v goja.Value) {
	for n := 0; ; n++ {
		o, ok := v.(*goja.Object)
		if !ok || o == nil || o.ExportType() != reflect.TypeFor[goja.Proxy]() {
			return // Export would copy what is no proxy, and call its getters
		}
		p := o.Export().(goja.Proxy)
		if n >= maxProxies {
			b.fail("stack-overflow", "", "proxies are nested more than %d deep", maxProxies)
		}
		v = p.Target()
	}
}

const maxProxies = 100

// construct adds a check to a global constructor and keeps its function object.
func (b *Bounds) construct(name string, look func(args []goja.Value)) {
	original, _ := b.vm.GlobalObject().Get(name).(*goja.Object)
	native, ok := internals.NativeOf(original)
	if !ok || *native.Call == nil {
		b.missing = internals.Unknown(name)
		return
	}
	call := *native.Call
	if name == "BigInt" { // the others throw without new
		*native.Call = func(c goja.FunctionCall) goja.Value {
			look(c.Arguments)
			return call(c)
		}
	}
	if build := *native.Construct; build != nil {
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			b.prepare(look, args, newTarget, original)
			return build(args, newTarget)
		}
	}
}

// prepare checks the arguments of a constructor. If they are refused, an error of the getter of a prototype comes first.
func (b *Bounds) prepare(look func([]goja.Value), args []goja.Value, newTarget, class *goja.Object) {
	defer func() {
		if refusal := recover(); refusal != nil {
			if newTarget != nil && newTarget != class {
				newTarget.Get("prototype")
			}
			panic(refusal)
		}
	}()
	look(args)
}

// converted returns a call with converted arguments, so that the check before a builtin and the builtin itself use the same
// values: an object may convert to another number or text each time.
func (b *Bounds) converted(name string, c goja.FunctionCall) goja.FunctionCall {
	set := func(i int, v goja.Value) {
		c.Arguments = slices.Clone(c.Arguments)
		c.Arguments[i] = v
	}
	switch name {
	case "stringify":
		if list := b.list(c.Argument(1)); list != nil {
			set(1, b.vm.NewArray(b.names(list)...))
		}
	case "repeat", "padStart", "padEnd", "flat":
		if noText(c.This) {
			break
		}
		if this, ok := c.This.(*goja.Object); ok && name != "flat" {
			text, err := b.host.Text(this)
			if err != nil {
				b.host.Throw(err)
			}
			c.This = text
		}
		if o, ok := c.Argument(0).(*goja.Object); ok {
			set(0, o.ToNumber())
		}
	case "from", "raw", "apply", "construct":
		i := 0
		if _, callable := goja.AssertFunction(c.This); name == "construct" || name == "apply" && callable {
			i = 1
		} else if name == "apply" { // of Reflect
			i = 2
		}
		o, ok := c.Argument(i).(*goja.Object)
		if !ok {
			break
		}
		if name == "raw" {
			if o, ok = o.Get("raw").(*goja.Object); !ok {
				break
			}
		}
		if length := b.objectLength(o); length != nil && !(name == "from" && o.GetSymbol(goja.SymIterator) != nil) {
			like := b.vm.CreateObject(o)
			_ = like.DefineDataProperty("length", length.ToNumber(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE) // cannot fail on a new object
			if name == "raw" {
				raw := like
				like = b.vm.NewObject()
				_ = like.Set("raw", raw)
			}
			set(i, like)
		}
	}
	return c
}
