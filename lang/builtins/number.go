package builtins

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// bigOf returns the integer of a BigInt, or nil.
func bigOf(v goja.Value) *big.Int {
	if !goja.IsBigInt(v) {
		return nil
	}
	n, _ := internals.Export(v).(*big.Int)
	return n
}

// primitive converts an object like ToPrimitive with the hint number. It returns other values unchanged.
func (b *set) primitive(v goja.Value) goja.Value {
	if _, ok := v.(*goja.Object); !ok {
		return v
	}
	if b.toPrimitive == nil {
		f, err := b.Run("orepl:primitive.js", toPrimitiveText)
		if err != nil {
			b.Throw(err)
		}
		b.toPrimitive = callable(f)
	}
	return b.call(b.toPrimitive, nil, v)
}

// numeric converts a value like ToNumeric, and a BigInt to the nearest number.
func (b *set) numeric(v goja.Value) goja.Value {
	v = b.primitive(v)
	if n := bigOf(v); n != nil {
		f, _ := new(big.Float).SetInt(n).Float64()
		return b.vm.ToValue(f)
	}
	return b.number(v)
}

// number converts a value like ToNumber.
func (b *set) number(v goja.Value) goja.Value {
	switch v.(type) {
	case *goja.Object:
		v = b.primitive(v)
	case *goja.Symbol:
		b.typeError("Cannot convert a Symbol value to a number")
	}
	if goja.IsBigInt(v) {
		b.typeError("Cannot convert a BigInt value to a number")
	}
	if _, ok := v.(*goja.Symbol); ok {
		b.typeError("Cannot convert a Symbol value to a number")
	}
	return v.ToNumber()
}

// locales makes toLocaleString of numbers and BigInts ignore its arguments, which are locales and not radices.
func (b *set) locales() error {
	for _, class := range []string{"Number", "BigInt"} {
		b.wrap(b.object(class, "prototype"), "toLocaleString", func(c goja.FunctionCall, fn function) goja.Value {
			return fn(goja.FunctionCall{This: c.This})
		})
	}
	return nil
}

// radixTexts corrects toString of numbers, which loses the sign of a number between -1 and 0 if the radix is not 10.
func radixTexts(b *set) error {
	proto := b.object("Number", "prototype")
	valueOf := callable(proto.Get("valueOf"))
	b.wrap(proto, "toString", func(c goja.FunctionCall, fn function) goja.Value {
		v := fn(c)
		if len(c.Arguments) == 0 {
			return v
		}
		if s := v.String(); strings.HasPrefix(s, "0.") && b.call(valueOf, c.This).ToFloat() < 0 {
			return b.vm.ToValue("-" + s)
		}
		return v
	})
	return nil
}

// installNumber replaces Number, Math.imul and Math.clz32, which convert numbers beyond 64 bits wrongly. It also corrects BigInt, the
// storing of integers, and the methods of arrays.
func (b *set) installNumber() error {
	class, ok := internals.NativeOf(b.object("Number"))
	if !ok {
		return internals.Unknown("Number")
	}
	*class.Call = func(c goja.FunctionCall) goja.Value {
		if len(c.Arguments) == 0 {
			return b.vm.ToValue(0)
		}
		if n, ok := internals.Primitive(c.Arguments[0]).(int64); ok {
			return b.vm.ToValue(n)
		}
		return b.numeric(c.Arguments[0])
	}
	construct := *class.Construct
	*class.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) > 0 {
			args = append([]goja.Value{b.numeric(args[0])}, args[1:]...)
		}
		return construct(args, newTarget)
	}
	int32Of := func(v goja.Value) int32 { return int32(uint32(wrap(b.number(v).ToFloat()))) }
	maths := b.object("Math")
	b.method(maths, "imul", 2, func(c goja.FunctionCall) goja.Value {
		x := int32Of(c.Argument(0))
		return b.vm.ToValue(x * int32Of(c.Argument(1)))
	})
	b.method(maths, "clz32", 1, func(c goja.FunctionCall) goja.Value {
		return b.vm.ToValue(bits.LeadingZeros32(uint32(int32Of(c.Argument(0)))))
	})
	for _, name := range []string{"length", "name"} {
		_ = b.object("BigInt", "prototype").Delete(name) // only functions have these; BigInts inherit them
	}
	b.wanted(b.bigIntegers, "BigInt", "parseInt")
	b.wanted(b.locales, "Locale")
	b.wanted(func() error { return radixTexts(b) }, "toString")
	b.wideStores()
	b.search()
	b.arrays()
	return nil
}

// toPrimitiveText is a script that returns a function, which converts an object like ToPrimitive with the hint number.
const toPrimitiveText = `"use strict"; (() => {
	const { toPrimitive } = Symbol, { apply } = Reflect
	return o => {
		const exotic = o[toPrimitive]
		if (exotic !== undefined && exotic !== null) {
			const v = apply(exotic, o, ['number'])
			if (typeof v !== 'object' && typeof v !== 'function' || v === null) return v
			throw new TypeError('Cannot convert object to primitive value')
		}
		for (const name of ['valueOf', 'toString']) {
			const f = o[name]
			if (typeof f !== 'function') continue
			const v = apply(f, o, [])
			if (typeof v !== 'object' && typeof v !== 'function' || v === null) return v
		}
		throw new TypeError('Cannot convert object to primitive value')
	}
})()`

// wide returns the value of a finite number whose magnitude is too large for the interpreter's conversion to an integer. It
// returns false for other values.
func wide(v goja.Value) (float64, bool) {
	f, ok := internals.Primitive(v).(float64)
	return f, ok && (f >= 1<<63 || f < -1<<63) && !math.IsInf(f, 0)
}

// reduced returns a number that is congruent to v modulo 2^32 if the interpreter gets the conversion of v wrong, otherwise v.
func (b *set) reduced(v goja.Value) goja.Value {
	if f, ok := wide(v); ok {
		return b.vm.ToValue(math.Mod(f, 1<<32))
	}
	return v
}

// wideStores makes builtins that store integers convert numbers beyond 64 bits. Uint8ClampedArray and arrays of floats are right
// already.
func (b *set) wideStores() {
	b.wanted(b.wideProperties, "DataView", "Reflect", "assign", "defineProperty", "getOwnProperty", "ownKeys")
	b.wideArrays()
}

// wideViews replaces the methods of DataView that store integers.
func (b *set) wideViews() {
	view := b.object("DataView", "prototype")
	for _, name := range []string{"setInt8", "setUint8", "setInt16", "setUint16", "setInt32", "setUint32"} {
		b.wrap(view, name, func(c goja.FunctionCall, fn function) goja.Value {
			if len(c.Arguments) > 1 {
				if v := b.reduced(c.Arguments[1]); v != c.Arguments[1] {
					c.Arguments = append([]goja.Value{c.Arguments[0], v}, c.Arguments[2:]...)
				}
			}
			return fn(c)
		})
	}
}

// wideArrays replaces the constructors and methods of typed arrays that store integers.
func (b *set) wideArrays() {
	array := b.object("Uint8Array").Prototype()
	proto := array.Get("prototype").(*goja.Object)
	b.wrap(proto, "fill", func(c goja.FunctionCall, fn function) goja.Value {
		if v := c.Argument(0); b.integers(c.This) {
			if r := b.reduced(v); r != v {
				c.Arguments = append([]goja.Value{r}, c.Arguments[1:]...)
			}
		}
		return fn(c)
	})
	for _, name := range []string{"sort", "toSorted"} {
		b.wrap(proto, name, func(c goja.FunctionCall, fn function) goja.Value { return sortWith(b, c, fn, name == "toSorted") })
	}
	b.wrap(proto, "set", func(c goja.FunctionCall, fn function) goja.Value {
		if b.integers(c.This) && len(c.Arguments) > 0 {
			c.Arguments = append([]goja.Value{b.reducedSource(c.Arguments[0])}, c.Arguments[1:]...)
		}
		return fn(c)
	})
	classes := map[goja.Value]bool{}
	for _, name := range []string{"Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"} {
		class := b.object(name)
		classes[class] = true
		native, ok := internals.NativeOf(class)
		if !ok || native.Construct == nil || *native.Construct == nil {
			continue
		}
		construct := *native.Construct
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) > 0 {
				if source := b.reducedSource(args[0]); source != args[0] {
					args = append([]goja.Value{source}, args[1:]...)
				}
			}
			return construct(args, newTarget)
		}
	}
	b.wrap(array, "of", func(c goja.FunctionCall, fn function) goja.Value {
		if classes[c.This] {
			c.Arguments = b.reducedList(c.Arguments)
		}
		return fn(c)
	})
	b.wrap(array, "from", func(c goja.FunctionCall, fn function) goja.Value {
		if !classes[c.This] || len(c.Arguments) == 0 {
			return fn(c)
		}
		list := append([]goja.Value(nil), c.Arguments...)
		if mapper := callable(c.Argument(1)); mapper != nil {
			list[1] = b.function("", 2, func(c goja.FunctionCall) goja.Value { return b.reduced(b.call(mapper, c.This, c.Arguments...)) })
		} else {
			list[0] = b.reducedSource(list[0])
		}
		c.Arguments = list
		return fn(c)
	})
}

// reducedList returns list itself if reduced keeps all of its values, otherwise a copy with the reduced values.
func (b *set) reducedList(list []goja.Value) []goja.Value {
	for i, v := range list {
		if v == nil || b.reduced(v) == v {
			continue
		}
		list = append([]goja.Value(nil), list...)
		for ; i < len(list); i++ {
			if list[i] != nil {
				list[i] = b.reduced(list[i])
			}
		}
		break
	}
	return list
}

// reducedSource returns v itself unless it is an array, or a typed array of floats, with numbers that reduced changes. Then it
// returns an array with the reduced values.
func (b *set) reducedSource(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	if values, ok := internals.ArrayValues(o); ok {
		list := b.reducedList(values)
		if len(list) == 0 || &list[0] == &values[0] {
			return v
		}
		return b.list(list)
	}
	var list []goja.Value
	switch floats := elements(o).(type) {
	case []float64:
		list = reducedFloats(b, floats)
	case []float32:
		list = reducedFloats(b, floats)
	}
	if list == nil {
		return v
	}
	return b.list(list)
}

func reducedFloats[T float32 | float64](b *set, floats []T) []goja.Value {
	for _, f := range floats {
		if f >= 1<<63 || f < -1<<63 {
			list := make([]goja.Value, len(floats))
			for i, f := range floats {
				list[i] = b.reduced(b.vm.ToValue(float64(f)))
			}
			return list
		}
	}
	return nil
}

// list returns an array of values, with undefined for nil.
func (b *set) list(values []goja.Value) *goja.Object {
	items := make([]any, len(values))
	for i, v := range values {
		if v == nil {
			v = goja.Undefined()
		}
		items[i] = v
	}
	return b.vm.NewArray(items...)
}

// integers reports whether a value is a typed array of integers of at most 32 bits that wrap, which Uint8ClampedArray is not.
func (b *set) integers(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	switch elements(o).(type) {
	case []int8, []int16, []uint16, []int32, []uint32:
		return true
	case []uint8:
		return b.call(b.typedNameOf(), o).String() == "Uint8Array"
	}
	return false
}

// typedNameOf returns the getter of the class name of a typed array.
func (b *set) typedNameOf() goja.Callable {
	if b.typedName == nil {
		proto := b.object("Uint8Array").Prototype().Get("prototype")
		if get, ok := b.call(b.describe, nil, proto, goja.SymToStringTag).(*goja.Object); ok {
			b.typedName = callable(get.Get("get"))
		}
	}
	return b.typedName
}
