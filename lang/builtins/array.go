package builtins

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

//go:embed array.js
var arrayText string

// arrayMethods are the methods of arrays that array.js defines, too.
var arrayMethods = strings.Fields(`every some forEach map filter reduce reduceRight find findIndex findLast findLastIndex includes
	indexOf lastIndexOf reverse slice splice shift unshift copyWithin fill concat flat flatMap sort toSorted toReversed
	toSpliced with`)

// endingEarly are the methods of arrays that may end before they have visited each element, or start late.
var endingEarly = strings.Fields(`every some find findIndex findLast findLastIndex includes indexOf lastIndexOf`)

// misreading are the methods of arrays whose results are wrong in the interpreter where elements are missing.
var misreading = []string{"toReversed", "with"}

// Scripted reports whether a method of Array.prototype runs as a script for these arguments. That is so for objects that only
// resemble arrays, and for some methods of arrays with missing elements. It is also so for concat if an argument that only resembles an
// array is a proxy or has symbols as keys. A script reads the length once and can be interrupted, so it needs no limit of the length.
func Scripted(name string, c goja.FunctionCall) bool {
	switch kind(c.This) {
	case like:
		return slices.Contains(arrayMethods, name)
	case sparse:
		return slices.Contains(endingEarly, name) || slices.Contains(misreading, name)
	}
	if slices.Contains(misreading, name) {
		o, _ := c.This.(*goja.Object)
		values, _ := internals.ArrayValues(o)
		return slices.Contains(values, nil)
	}
	return name == "concat" && slices.ContainsFunc(c.Arguments, func(v goja.Value) bool {
		o, ok := v.(*goja.Object)
		return ok && kind(o) == like && (internals.Self(o).Type().Elem().Name() == "proxyObject" || len(o.Symbols()) > 0)
	})
}

const (
	other  = iota // any other value, such as an array or a typed array
	sparse        // an array with few elements for its length
	like          // an object that only resembles an array
)

// kind returns the kind of a value on which a method of arrays is called.
func kind(v goja.Value) int {
	o, ok := v.(*goja.Object)
	if !ok {
		return other
	}
	if _, ok := internals.ArrayValues(o); ok {
		return other
	}
	self := internals.Self(o)
	if !self.IsValid() {
		return other
	}
	switch name := self.Type().Elem().Name(); name {
	case "sparseArrayObject":
		return sparse
	case "baseObject", "proxyObject", "funcObject", "arrowFuncObject", "methodFuncObject", "nativeFuncObject", "boundFuncObject", "stringObject",
		"primitiveValueObject", "errorObject", "dateObject", "mapObject", "setObject", "regexpObject":
		return like
	}
	return other
}

// arrays runs the methods of arrays as scripts where [Scripted] requires it. Otherwise it makes sort and toSorted call sortWith, and
// corrects the number of elements of map's result.
func (b *set) arrays() {
	var scripts map[string]goja.Callable
	load := func() {
		v, err := b.Run("orepl:array.js", arrayText)
		if err != nil {
			b.Throw(err)
		}
		o := b.call(callable(v), goja.Undefined(), goja.SymSpecies).(*goja.Object)
		scripts = map[string]goja.Callable{}
		for _, name := range arrayMethods {
			scripts[name] = callable(o.Get(name))
		}
	}
	proto := b.object("Array", "prototype")
	for _, name := range arrayMethods {
		method, _ := proto.Get(name).(*goja.Object)
		native, ok := internals.NativeOf(method)
		if !ok {
			continue
		}
		fn := *native.Call
		*native.Call = func(c goja.FunctionCall) goja.Value {
			if !Scripted(name, c) {
				if name == "sort" || name == "toSorted" {
					return sortWith(b, c, fn, name == "toSorted")
				}
				result := fn(c)
				if name == "map" {
					internals.Recount(result)
				}
				return result
			}
			if scripts == nil {
				load()
			}
			return b.call(scripts[name], c.This, c.Arguments...)
		}
	}
}
