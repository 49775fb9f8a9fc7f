package lang

import (
	"strconv"

	"github.com/dop251/goja"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// boundArrays adds a size check to the constructors of typed arrays.
func (e *Engine) boundArrays() {
	b := e.limit.bounds
	size := map[string]uint64{
		"Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Int32Array": 4, "Uint32Array": 4,
		"Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8, "ArrayBuffer": 1,
	}
	for name, n := range size {
		b.construct(name, func(args []goja.Value) {
			if len(args) == 0 {
				return
			}
			if o, ok := args[0].(*goja.Object); !ok || !isBuffer(o) {
				length := uint64(0)
				if ok {
					length = lengthOf(o)
				} else {
					length = count(args[0])
				}
				b.allocate(name, product(length, n))
			}
		})
	}
}

// boundConstructors adds checks to the other constructors.
func (e *Engine) boundConstructors() {
	b := e.limit.bounds
	for _, name := range []string{"Map", "Set", "WeakMap", "WeakSet"} {
		b.construct(name, func(args []goja.Value) {
			if len(args) > 0 {
				b.visit(name, lengthOf(args[0]))
			}
		})
	}
	b.construct("Proxy", func(args []goja.Value) {
		for i := 0; i < min(len(args), 2); i++ {
			b.proxyDepth(args[i])
		}
	})
	b.construct("BigInt", func(args []goja.Value) {
		const digits = 1 << 20
		if len(args) > 0 && textLength(args[0]) > digits {
			b.fail("out-of-resources", "", "BigInt: a text of more than %d digits", digits)
		}
	})
}

// proxyDepth limits the nesting of proxies, because each operation recurses through them.
func (b *bounds) proxyDepth(v goja.Value) {
	for n := 0; ; n++ {
		o, ok := v.(*goja.Object)
		if !ok || o == nil {
			return
		}
		p, ok := o.Export().(goja.Proxy)
		if !ok {
			return
		}
		if n >= maxProxies {
			b.fail("stack-overflow", "", "proxies are nested more than %d deep", maxProxies)
		}
		v = p.Target()
	}
}

const maxProxies = 100

// construct adds a check to a global constructor. A proxy replaces the constructor everywhere, including in the prototype's
// property "constructor".
func (b *bounds) construct(name string, look func(args []goja.Value)) {
	vm := b.engine.vm
	global := vm.GlobalObject()
	original, ok := global.Get(name).(*goja.Object)
	if !ok {
		return
	}
	b.replace(global, name, original, look)
}

func (b *bounds) replace(on *goja.Object, name string, original *goja.Object, look func(args []goja.Value)) {
	vm := b.engine.vm
	call, _ := goja.AssertFunction(original)
	build, _ := goja.AssertConstructor(original)
	config := &goja.ProxyTrapConfig{
		Apply: func(_ *goja.Object, this goja.Value, args []goja.Value) goja.Value {
			look(args)
			v, err := call(this, args...)
			if err != nil {
				b.engine.Throw(err)
			}
			return v
		},
	}
	var stand *goja.Object
	if build != nil {
		config.Construct = func(_ *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			look(args)
			if newTarget == stand {
				newTarget = nil
			}
			o, err := build(newTarget, args...)
			if err != nil {
				b.engine.Throw(err)
			}
			return o
		}
	}
	stand = vm.ToValue(vm.NewProxy(original, config)).(*goja.Object)
	if on != nil {
		_ = on.DefineDataProperty(name, stand, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	// The interpreter's proxies do not forward instanceof.
	_ = original.DefineDataPropertySymbol(goja.SymHasInstance, b.instanceOf, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if proto, ok := original.Get("prototype").(*goja.Object); ok {
		_ = proto.DefineDataProperty("constructor", stand, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// hasInstance implements instanceof on the prototype chain.
func (b *bounds) hasInstance(c goja.FunctionCall) goja.Value {
	class, _ := c.This.(*goja.Object)
	o, _ := c.Argument(0).(*goja.Object)
	found := false
	if class != nil && o != nil {
		proto, _ := class.Get("prototype").(*goja.Object)
		for o = o.Prototype(); o != nil && proto != nil && !found; o = o.Prototype() {
			found = o == proto
		}
	}
	return b.engine.vm.ToValue(found)
}

// boundJSON limits the depth of the input of JSON.parse, and the depth and size of the output of JSON.stringify.
func (e *Engine) boundJSON() {
	b := e.limit.bounds
	object := e.vm.GlobalObject().Get("JSON").(*goja.Object)
	b.wrap(object, "parse", func(b *bounds, name string, c goja.FunctionCall) {
		if s, ok := c.Argument(0).(goja.String); ok {
			if depth := jsonDepth(s.String()); depth > maxDepth {
				b.fail("stack-overflow", "", "JSON.parse: the text is nested %d deep; %d are allowed", depth, maxDepth)
			}
			b.visit("JSON.parse", uint64(s.Length())/8)
		}
	})
	native, ok := nativeOf(object.Get("stringify").(*goja.Object))
	if !ok {
		return
	}
	fn := *native.call
	*native.call = func(c goja.FunctionCall) goja.Value {
		b.enter("JSON.stringify")
		defer b.leave()
		checkNames(b, "stringify", c)
		w := &jsonWatch{bounds: b}
		replacer, _ := c.Argument(1).(*goja.Object)
		if replacer != nil {
			w.replacer, _ = goja.AssertFunction(replacer)
		}
		watched := []goja.Value{c.Argument(0), e.vm.ToValue(w.replace), c.Argument(2)}
		out := fn(goja.FunctionCall{This: c.This, Arguments: watched})
		if replacer != nil && w.replacer == nil { // with a list of names fewer properties are written
			return fn(c)
		}
		return out
	}
}

// A jsonWatch replaces the replacer of JSON.stringify, which is called for every value.
type jsonWatch struct {
	*bounds
	replacer goja.Callable
	holders  []*goja.Object // enclosing objects, outermost first
	visited  uint64
}

func (w *jsonWatch) replace(c goja.FunctionCall) goja.Value {
	e := w.engine
	holder, _ := c.This.(*goja.Object)
	for len(w.holders) > 0 && w.holders[len(w.holders)-1] != holder {
		w.holders = w.holders[:len(w.holders)-1]
	}
	w.visited++
	if w.visited%1024 == 0 {
		w.visit("JSON.stringify", w.visited)
		e.poll()
	}
	v := c.Argument(1)
	if w.replacer != nil {
		var err error
		if v, err = w.replacer(c.This, c.Arguments...); err != nil {
			e.Throw(err)
		}
	}
	if o, ok := v.(*goja.Object); ok {
		if len(w.holders) >= maxDepth {
			w.fail("stack-overflow", "", "JSON.stringify: data is nested more than %d deep", maxDepth)
		}
		if len(w.holders) == 0 {
			w.holders = append(w.holders, holder)
		}
		w.holders = append(w.holders, o)
	}
	return v
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
