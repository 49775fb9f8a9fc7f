package lang

import "github.com/dop251/goja"

// maxGenerators bounds generators that resume one another, as yield* does, in an engine with limits. The interpreter
// recurses in Go for each, which its call depth does not count, and unwinds an interrupt through them in quadratic time.
const maxGenerators = 1000

// maxBinds bounds functions bound again and again: a name has a word for each, and a call recurses in Go through all.
const maxBinds = 1000

// boundBind puts the bound before bind.
func (e *Engine) boundBind() error {
	native, err := e.native("Function.prototype.bind")
	if err != nil {
		return err
	}
	call := *native.call
	*native.call = func(c goja.FunctionCall) goja.Value {
		if f, ok := c.This.(*goja.Object); ok && textLength(f.Get("name")) > maxBinds*uint64(len("bound ")) {
			e.limit.bounds.fail("stack-overflow", "bind the function itself, or give it a short name", "bind: a function is bound more than %d times", maxBinds)
		}
		return call(c)
	}
	return nil
}

// polledSteps is the number of steps of builtin iterators between two polls for the end of the call.
const polledSteps = 1024

// boundIterators bounds generators that resume one another, and makes the builtin iterators end with the call: natives step
// through them, in spreads, rests and constructors, without looking at interrupts.
func (e *Engine) boundIterators() error {
	depth, deepest := 0, maxDepth
	if e.opts.Limits.bounded() {
		deepest = maxGenerators
	}
	for _, name := range []string{"next", "return", "throw"} {
		native, err := e.native("(function*(){}).prototype.__proto__." + name)
		if err != nil {
			return err
		}
		call := *native.call
		*native.call = func(c goja.FunctionCall) goja.Value {
			if depth >= deepest {
				e.limit.bounds.fail("stack-overflow", "is there a recursion without an end?", "generators are nested more than %d deep", deepest)
			}
			depth++
			defer func() { depth-- }()
			return call(c)
		}
	}
	for _, iterator := range []string{"''[Symbol.iterator]()", "[].values()", "new Map().values()", "new Set().values()", "''.matchAll(/a/g)"} {
		native, err := e.native(iterator + ".next")
		if err != nil {
			return err
		}
		call, steps := *native.call, 0
		*native.call = func(c goja.FunctionCall) goja.Value {
			if steps++; steps%polledSteps == 0 {
				e.poll()
			}
			return call(c)
		}
	}
	return nil
}
