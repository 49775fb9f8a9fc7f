package bounds

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// maxGenerators is the maximum number of generators that resume one another, as yield* does, in an engine with limits. The
// interpreter recurses in Go for each, outside its call depth, and its unwinding takes quadratic time.
const maxGenerators = 1000

// maxBinds is the maximum number of nested binds of a function. Each adds a word to the name, and a call recurses in Go through
// all of them.
const maxBinds = 1000

// Bind adds a check of the nesting to Function.prototype.bind, which it tells from the length of the function's name.
func (b *Bounds) Bind() error {
	native, err := b.host.Native("Function.prototype.bind")
	if err != nil {
		return err
	}
	call := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		if f, ok := c.This.(*goja.Object); ok && textLength(f.Get("name")) > maxBinds*uint64(len("bound ")) {
			b.fail("stack-overflow", "bind the function itself, or give it a short name", "bind: a function is bound more than %d times", maxBinds)
		}
		return call(c)
	}
	return nil
}

// polledSteps is the number of steps of a builtin iterator between two polls for cancellation.
const polledSteps = 1024

// Iterators limits generators that resume one another, and lets builtin iterators poll for cancellation. Spreads, rests
// and constructors step through iterators natively, without checking interrupts.
func (b *Bounds) Iterators() error {
	depth, deepest := 0, maxDepth
	if b.limits.Any {
		deepest = maxGenerators
	}
	for _, name := range []string{"next", "return", "throw"} {
		native, err := method(b.host.Generators(), name)
		if err != nil {
			return err
		}
		call := *native.Call
		*native.Call = func(c goja.FunctionCall) goja.Value {
			if depth >= deepest {
				b.fail("stack-overflow", "is there a recursion without an end?", "generators are nested more than %d deep", deepest)
			}
			depth++
			defer func() { depth-- }()
			return call(c)
		}
	}
	for _, class := range []string{"String", "Array", "Map", "Set"} {
		native, err := b.next(class)
		if err != nil {
			return err
		}
		call, steps := *native.Call, 0
		*native.Call = func(c goja.FunctionCall) goja.Value {
			if steps++; steps%polledSteps == 0 {
				b.host.Poll()
			}
			return call(c)
		}
	}
	return nil
}

// next returns the Go functions of the method next of the iterators of a class.
func (b *Bounds) next(class string) (internals.Native, error) {
	constructor, ok := b.vm.GlobalObject().Get(class).(*goja.Object)
	if !ok {
		return internals.Native{}, internals.Unknown(class)
	}
	o, err := b.vm.New(constructor)
	if err != nil {
		return internals.Native{}, err
	}
	iterate, ok := goja.AssertFunction(o.GetSymbol(goja.SymIterator))
	if !ok {
		return internals.Native{}, internals.Unknown(class + ".prototype[Symbol.iterator]")
	}
	v, err := iterate(o)
	if err != nil {
		return internals.Native{}, err
	}
	return method(v, "next")
}

// method returns the Go functions of a builtin method of an object.
func method(v goja.Value, name string) (internals.Native, error) {
	if o, ok := v.(*goja.Object); ok {
		f, _ := o.Get(name).(*goja.Object)
		if n, ok := internals.NativeOf(f); ok && *n.Call != nil {
			return n, nil
		}
	}
	return internals.Native{}, internals.Unknown(name)
}
