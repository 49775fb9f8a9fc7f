package bounds

import (
	"math"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/internals"
)

// A boundList lists builtins of an object that share a check.
type boundList struct {
	on    []string
	names []string
	check check
}

// allocatingFunctions are the builtins that allocate in proportion to an argument, or to a length that a script sets. A typing error
// could exhaust the memory.
var allocatingFunctions = []boundList{
	{[]string{"Array", "prototype"}, []string{"fill"}, checkFillUnlimited},
	{[]string{"Array"}, []string{"from"}, checkSourceMemory},
	{[]string{"String", "prototype"}, []string{"repeat"}, checkRepeat},
	{[]string{"String", "prototype"}, []string{"padStart", "padEnd"}, checkPad},
}

// visitingFunctions are the builtins whose time is proportional to the length that an array-like object reports.
var visitingFunctions = []boundList{
	{[]string{"Array", "prototype"}, []string{
		"reverse", "copyWithin", "indexOf", "lastIndexOf", "includes", "shift", "forEach", "every", "some", "reduce", "reduceRight",
		"find", "findIndex", "findLast", "findLastIndex", "join", "sort", "slice", "splice", "unshift", "concat", "map", "filter", "flatMap",
		"toReversed", "toSorted", "toSpliced", "with", "toLocaleString",
	}, checkMany},
	{[]string{"Function", "prototype"}, []string{"apply"}, checkSpread(1)},
	{[]string{"Reflect"}, []string{"apply"}, checkSpread(2)},
	{[]string{"Reflect"}, []string{"construct"}, checkSpread(1)},
	{[]string{"String"}, []string{"raw"}, checkRaw},
	{[]string{"Array", "prototype"}, []string{"flat"}, unlessScripted(checkFlat)},
}

// boundFunctions are the builtins that need a check in an engine with limits. Builtins that take constant time, or time
// proportional to existing values, need none.
var boundFunctions = []boundList{
	{[]string{"Array", "prototype"}, []string{
		"reverse", "copyWithin", "indexOf", "lastIndexOf", "includes", "shift", "forEach", "every", "some", "reduce", "reduceRight",
		"find", "findIndex", "findLast", "findLastIndex",
	}, checkLength},
	{[]string{"Array", "prototype"}, []string{
		"fill", "toLocaleString", "sort", "slice", "splice", "unshift", "concat", "map", "filter", "flatMap",
		"toReversed", "toSorted", "toSpliced", "with",
	}, checkCopy},
	{[]string{"Array", "prototype"}, []string{"join"}, checkJoin},
	{[]string{"Array", "prototype"}, []string{"flat"}, checkFlat},
	{[]string{"Array"}, []string{"from"}, checkSourceLength},
	{[]string{"Object"}, []string{"fromEntries"}, checkIterable},
	{[]string{"Object"}, []string{
		"keys", "values", "entries", "assign", "getOwnPropertyNames", "getOwnPropertyDescriptors", "freeze", "seal", "isFrozen", "isSealed", "defineProperties",
	}, checkKeys},
	{[]string{"Reflect"}, []string{"ownKeys"}, checkKeys},
	{[]string{"Function", "prototype"}, []string{"apply"}, checkSpread(1)},
	{[]string{"Reflect"}, []string{"apply"}, checkSpread(2)},
	{[]string{"Reflect"}, []string{"construct"}, checkSpread(1)},
	{[]string{"Promise"}, []string{"all", "allSettled", "any", "race"}, checkIterable},
	{[]string{"String", "prototype"}, []string{"repeat"}, checkRepeat},
	{[]string{"String", "prototype"}, []string{"padStart", "padEnd"}, checkPad},
	{[]string{"String", "prototype"}, []string{"concat"}, checkConcat},
	{[]string{"String", "prototype"}, []string{"split", "match", "matchAll"}, checkPieces},
	{[]string{"String", "prototype"}, []string{"replace", "replaceAll"}, checkReplace},
	{[]string{"String", "prototype"}, []string{"normalize"}, checkNormalize},
	{[]string{"String"}, []string{"raw"}, checkRawTexts},
	{[]string{"ArrayBuffer", "prototype"}, []string{"slice"}, checkNothing},
}

// typedArrayMethods are the methods that visit every element without calling the script, or allocate. toString is missing
// because arrays share it and it calls join.
var typedArrayMethods = []string{
	"fill", "join", "toLocaleString", "reverse", "sort", "copyWithin", "indexOf", "lastIndexOf", "includes", "slice",
	"map", "filter", "toReversed", "toSorted", "with",
}

// lengthOf returns the length property of an array-like object, whose getter may run the script. For a string it returns the
// length, for other values 0.
func lengthOf(v goja.Value) uint64 {
	o, ok := v.(*goja.Object)
	if !ok {
		if s, ok := v.(goja.String); ok {
			return uint64(s.Length())
		}
		return 0
	}
	n := o.Get("length")
	if n == nil {
		return 0
	}
	return count(n)
}

// sourceLength returns the length of an array, a typed array or a string, and of an array-like object without an iterator. For
// other values it returns 0: an iterator checks for interrupts itself, and the length is then not read.
func sourceLength(v goja.Value) uint64 {
	if o, ok := v.(*goja.Object); ok && !isList(o) {
		if next := o.GetSymbol(goja.SymIterator); next != nil && !goja.IsUndefined(next) && !goja.IsNull(next) {
			return 0
		}
	}
	return lengthOf(v)
}

// iterableLength returns the length of an array, a typed array or a string, or 0 for other values.
func iterableLength(v goja.Value) uint64 {
	if o, ok := v.(*goja.Object); ok && !isList(o) {
		return 0
	}
	return lengthOf(v)
}

// isList reports whether an object is an array or a typed array, but no proxy of one.
func isList(o *goja.Object) bool { return o.ClassName() == "Array" || internals.IsTypedArray(o) }

// count converts an argument to a count by the rules of the builtins. Negative numbers and NaN become 0, and the maximum is
// 2⁵³.
func count(v goja.Value) uint64 {
	if _, ok := v.(*goja.Object); ok {
		v = v.ToNumber()
	}
	f := v.ToFloat()
	switch {
	case !(f > 0):
		return 0
	case f >= 1<<53:
		return 1 << 53
	}
	return uint64(f)
}

// textLength returns the length of a string in UTF-16 units, or 0 for other values.
func textLength(v goja.Value) uint64 {
	if s, ok := v.(goja.String); ok {
		return uint64(s.Length())
	}
	return 0 // numbers and the like are short; the text of an object is built by the script
}

// checkMany checks calls in an engine without limits: those that run as scripts like checkScripted, others like checkCopy. In the
// latter, arrays of less than 65536 elements need no check, except in concat.
func checkMany(b *Bounds, name string, c goja.FunctionCall) {
	if builtins.Scripted(name, c) {
		checkScripted(b, name, c)
		return
	}
	if name == "concat" || lengthOf(c.This) >= 1<<16 {
		checkCopy(b, name, c)
	}
}

// checkScripted checks calls that run as scripts, which can be interrupted, but may define every element of a new array.
func checkScripted(b *Bounds, name string, c goja.FunctionCall) {
	switch name {
	case "toReversed", "toSorted", "toSpliced", "with":
		if _, ok := goja.AssertFunction(c.Argument(0)); name == "toSorted" && !ok && !goja.IsUndefined(c.Argument(0)) {
			return // it is refused before the length is read
		}
		if n := lengthOf(c.This); n <= math.MaxUint32 {
			b.Allocate(name, n*itemSize)
		}
	}
}

// checkFillUnlimited checks fills like checkFill, for an engine without limits. For an object that only resembles an array it
// counts only the elements from the start of the fill on.
func checkFillUnlimited(b *Bounds, name string, c goja.FunctionCall) {
	start, ok := internals.Primitive(c.Argument(1)).(int64)
	if ok && start != 0 && builtins.Scripted(name, c) {
		n := lengthOf(c.This)
		if start < 0 {
			start = int64(n) + start
		}
		b.Allocate(name, product(n-min(n, uint64(max(start, 0))), sparseSize))
		return
	}
	checkFill(b, name, c)
}

// unlessScripted leaves out a check of calls that run as scripts, which can be interrupted.
func unlessScripted(look check) check {
	return func(b *Bounds, name string, c goja.FunctionCall) {
		if !builtins.Scripted(name, c) {
			look(b, name, c)
		}
	}
}

// keyCount returns the number of element properties of a string or a typed array, or 0 for other values.
func keyCount(v goja.Value) uint64 {
	o, ok := v.(*goja.Object)
	if !ok {
		return textLength(v)
	}
	switch o.ClassName() {
	case "String":
		return lengthOf(o)
	case "Object":
		if internals.IsTypedArray(o) {
			return lengthOf(o)
		}
	}
	return 0
}

// checkKeys checks builtins that visit the properties of their arguments; a string has one property per character.
func checkKeys(b *Bounds, name string, c goja.FunctionCall) {
	for _, v := range c.Arguments {
		n := keyCount(v)
		b.visit(name, n)
		b.Allocate(name, product(n, 2*itemSize))
	}
}

// Spread returns the function that checks a value before a spread and returns it. An array-like object may report any length.
func (b *Bounds) Spread() goja.Value {
	return b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		v := c.Argument(0)
		n := keyCount(v)
		if o, ok := v.(*goja.Object); ok && o.ClassName() == "Array" {
			n = lengthOf(o)
		}
		if n >= 1<<16 {
			b.visit("...", n)
			b.Allocate("...", n*itemSize)
		}
		return v
	})
}

func checkNothing(*Bounds, string, goja.FunctionCall) {}

func checkLength(b *Bounds, name string, c goja.FunctionCall) { b.visit(name, lengthOf(c.This)) }

// checkCopy checks builtins that visit every element of this and may copy each. For concat, the elements of the arguments that
// it spreads count, too.
func checkCopy(b *Bounds, name string, c goja.FunctionCall) {
	var n uint64
	if name != "concat" {
		n = lengthOf(c.This)
	} else {
		n = b.spreadLength(c.This)
		for _, v := range c.Arguments {
			n += b.spreadLength(v)
		}
	}
	b.visit(name, n)
	b.Allocate(name, n*itemSize)
}

// spreadLength returns the number of elements that concat takes from a value: 0 if it adds the value itself.
func (b *Bounds) spreadLength(v goja.Value) uint64 {
	o, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	if o.ClassName() != "Array" {
		if spreads := o.GetSymbol(goja.SymIsConcatSpreadable); spreads != nil && !goja.IsUndefined(spreads) {
			ok = spreads.ToBoolean()
		} else {
			ok = b.array(o)
		}
	}
	if !ok {
		return 0
	}
	return lengthOf(o)
}

// checkTypedLength checks methods of typed arrays, whose elements are cheap to visit.
func checkTypedLength(b *Bounds, name string, c goja.FunctionCall) {
	const quicker = 8
	n := lengthOf(c.This)
	b.visit(name, n/quicker)
	b.Allocate(name, n)
}

func checkSourceLength(b *Bounds, name string, c goja.FunctionCall) {
	b.visit(name, sourceLength(c.Argument(0)))
}

func checkIterable(b *Bounds, name string, c goja.FunctionCall) {
	b.visit(name, iterableLength(c.Argument(0)))
}

// checkSet checks the method set of typed arrays, which reads any source by its length.
func checkSet(b *Bounds, name string, c goja.FunctionCall) { b.visit(name, lengthOf(c.Argument(0))) }

const sparseSize = 24 // bytes per element of an array with holes

// checkFill checks builtins that write elements which need not exist before.
func checkFill(b *Bounds, name string, c goja.FunctionCall) {
	n := lengthOf(c.This)
	b.Allocate(name, product(n, sparseSize))
	b.visit(name, n)
}

func checkSourceMemory(b *Bounds, name string, c goja.FunctionCall) {
	n := sourceLength(c.Argument(0))
	b.Allocate(name, product(n, itemSize))
	b.visit(name, n)
}

func checkSpread(arg int) check {
	return func(b *Bounds, name string, c goja.FunctionCall) { b.visit(name, lengthOf(c.Argument(arg))) }
}

// checkFlat walks the array on which flat is called: nested arrays may be deep, and may contain one another repeatedly.
func checkFlat(b *Bounds, name string, c goja.FunctionCall) {
	depth := 1
	if d := c.Argument(0); !goja.IsUndefined(d) {
		depth = int(min(count(d), math.MaxInt32))
	}
	type level struct {
		array   *goja.Object
		next, n uint64
	}
	top, ok := c.This.(*goja.Object)
	if !ok {
		return
	}
	stack := []level{{top, 0, lengthOf(top)}}
	total := uint64(0)
	for len(stack) > 0 {
		l := &stack[len(stack)-1]
		if l.next == 0 {
			b.visit(name, l.n)
		}
		if l.next == l.n {
			stack = stack[:len(stack)-1]
			continue
		}
		total++
		b.visit(name, total)
		o, ok := l.array.Get(itoa(l.next)).(*goja.Object)
		l.next++
		if ok && o.ClassName() == "Array" && len(stack) <= depth {
			if len(stack) >= maxDepth {
				b.fail("stack-overflow", "flatten in steps", "%s: arrays are nested more than %d deep", name, maxDepth)
			}
			stack = append(stack, level{o, 0, lengthOf(o)})
		}
	}
}

func checkRepeat(b *Bounds, name string, c goja.FunctionCall) {
	if noText(c.This) {
		return
	}
	b.Allocate(name, product(textLength(c.This), count(c.Argument(0))))
}

func checkPad(b *Bounds, name string, c goja.FunctionCall) {
	if !noText(c.This) {
		b.Allocate(name, count(c.Argument(0)))
	}
}

// noText reports whether a method of strings throws for this before it converts its arguments.
func noText(this goja.Value) bool { return goja.IsUndefined(this) || goja.IsNull(this) }

func checkConcat(b *Bounds, name string, c goja.FunctionCall) {
	b.Allocate(name, textLength(c.This)+textLengths(c.Arguments))
}

// checkJoin also counts the characters of the strings in an array.
func checkJoin(b *Bounds, name string, c goja.FunctionCall) {
	checkCopy(b, name, c)
	array, _ := c.This.(*goja.Object)
	if values, ok := internals.ArrayValues(array); ok {
		b.Allocate(name, textLengths(values)+product(uint64(len(values)), textLength(c.Argument(0))))
	}
}

// textLengths returns the sum of the lengths of the strings among values.
func textLengths(values []goja.Value) (sum uint64) {
	for _, v := range values {
		sum += textLength(v)
	}
	return sum
}

func checkPieces(b *Bounds, name string, c goja.FunctionCall) {
	const pieceSize = 2 * itemSize
	n := textLength(c.This)
	if limit := c.Argument(1); name == "split" && !goja.IsUndefined(limit) {
		if _, ok := limit.(*goja.Object); !ok { // whose conversion may run the script
			n = min(n, count(limit))
		}
	}
	b.visit(name, n/4)
	b.Allocate(name, n*pieceSize)
}

// checkReplace limits the length of the result of a replacement by a string. For a regular expression it assumes a match at every
// character.
func checkReplace(b *Bounds, name string, c goja.FunctionCall) {
	with, ok := c.Argument(1).(goja.String)
	if !ok {
		return
	}
	n, matches := textLength(c.This), uint64(1)
	if what, ok := c.Argument(0).(goja.String); ok {
		if name == "replaceAll" {
			matches = uint64(strings.Count(c.This.String(), what.String()))
		}
	} else {
		matches = n + 1
	}
	text := with.String()
	around := uint64(strings.Count(text, "$`") + strings.Count(text, "$'"))
	captures := uint64(strings.Count(text, "$"))
	b.Allocate(name, product(matches, uint64(with.Length()))+product(captures, n)+product(product(matches, around), n))
}

func checkNormalize(b *Bounds, name string, c goja.FunctionCall) {
	const growth = 18 // maximum growth per character
	b.Allocate(name, product(textLength(c.This), growth))
}

func checkRaw(b *Bounds, name string, c goja.FunctionCall) { b.raw(name, c) }

// checkRawTexts also counts the characters of the strings in an array.
func checkRawTexts(b *Bounds, name string, c goja.FunctionCall) {
	if values, ok := internals.ArrayValues(b.raw(name, c)); ok {
		b.Allocate(name, textLengths(values)+textLengths(c.Arguments[1:]))
	}
}

// raw checks the number of texts that String.raw joins. It returns the array-like object that has them, or nil.
func (b *Bounds) raw(name string, c goja.FunctionCall) *goja.Object {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return nil
	}
	raw := o.Get("raw")
	if raw == nil {
		return nil
	}
	b.visit(name, lengthOf(raw))
	list, _ := raw.(*goja.Object)
	return list
}

// product multiplies two numbers and saturates on overflow.
func product(x, y uint64) uint64 {
	if x != 0 && y > math.MaxUint64/x {
		return math.MaxUint64
	}
	return x * y
}
