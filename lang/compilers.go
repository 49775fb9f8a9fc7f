package lang

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/instructions"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/source"
	"github.com/orepl/orepl/lang/traps"
)

// boundCompilers adds checks to functions that compile text at run time, because the parser and the compiler recurse without
// checking interrupts. Direct calls of eval are checked by code that package source inserts around the argument. It fails if
// the interpreter lacks a builtin, which would stay unchecked.
func (e *Engine) boundCompilers() error {
	vm := e.vm
	var last struct {
		text, checked string
		context       source.EvalContext
	} // caches the last text, because loops often compile the same text again
	check := func(text string, context source.EvalContext) string {
		if text == last.text && context == last.context {
			return last.checked
		}
		e.builtins.Want(text)
		var checked string
		var err error
		quick := source.IsQuick(text)
		if quick {
			checked, err = source.EvalText(text, context)
		} else {
			checked, err = UntilCallEnds(e, func() (string, error) { return source.EvalText(text, context) })
		}
		if err != nil {
			e.Throw(err)
		}
		if quick {
			last.text, last.checked, last.context = text, checked, context
		}
		return checked
	}
	checkValue := func(v goja.Value, context source.EvalContext) goja.Value {
		s, ok := v.(goja.String)
		if !ok {
			return v
		}
		was := s.String()
		if text := check(was, context); text != was {
			return vm.ToValue(text)
		}
		return v
	}
	e.intrinsics.evalText = vm.ToValue(func(c goja.FunctionCall) goja.Value {
		return checkValue(c.Argument(0), source.EvalContext(c.Argument(1).ToInteger()))
	})
	eval, err := e.native("eval")
	if err != nil {
		return err
	}
	callEval := *eval.Call
	*eval.Call = func(c goja.FunctionCall) goja.Value {
		return callEval(goja.FunctionCall{This: c.This, Arguments: []goja.Value{checkValue(c.Argument(0), 0)}})
	}
	for _, kind := range []string{"function", "async function", "function*"} {
		native, err := e.native("(" + kind + "(){}).constructor")
		if err != nil {
			return err
		}
		if native.Construct == nil || *native.Construct == nil {
			return internals.Unknown(kind)
		}
		arguments := func(args []goja.Value) []goja.Value {
			return functionText(vm, kind, args, func(text string) string { return check(text, 0) })
		}
		call, construct := *native.Call, *native.Construct
		*native.Call = func(c goja.FunctionCall) goja.Value {
			v := call(goja.FunctionCall{This: c.This, Arguments: arguments(c.Arguments)})
			o, _ := v.(*goja.Object)
			instructions.CorrectFunction(o)
			return v
		}
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			o := construct(arguments(args), newTarget)
			instructions.CorrectFunction(o)
			return o
		}
	}
	return nil
}

// ownProxyArguments makes proxies of functions pass arguments of their own to the traps apply and construct.
func (e *Engine) ownProxyArguments() error {
	own := func(args []goja.Value) []goja.Value {
		if len(args) < 2 {
			return args
		}
		handler, ok := args[1].(*goja.Object)
		if _, callable := goja.AssertFunction(args[0]); !callable || !ok {
			return args
		}
		args = slices.Clone(args)
		args[1] = traps.Handler(e.vm, handler, e.Throw)
		return args
	}
	class, err := e.native("Proxy")
	if err != nil {
		return err
	}
	construct := *class.Construct
	*class.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object { return construct(own(args), newTarget) }
	revocable, err := e.native("Proxy.revocable")
	if err != nil {
		return err
	}
	call := *revocable.Call
	*revocable.Call = func(c goja.FunctionCall) goja.Value {
		return call(goja.FunctionCall{This: c.This, Arguments: own(c.Arguments)})
	}
	return nil
}

// functionText checks the text compiled by a Function constructor, and returns arguments that produce it.
func functionText(vm *goja.Runtime, kind string, args []goja.Value, check func(string) string) []goja.Value {
	if len(args) == 0 {
		return args
	}
	texts := make([]string, len(args))
	for i, v := range args {
		texts[i] = v.String()
	}
	const between = "\n) {\n"
	last := len(texts) - 1
	head := "(" + kind + " anonymous("
	params := strings.Join(texts[:last], ",")
	whole := check(head + params + between + texts[last] + "\n})")
	parts := []string{source.IndirectEvals(params), source.IndirectEvals(texts[last])}
	const tail = "\n})"
	switch plain := head + parts[0] + between + parts[1] + tail; {
	case source.IndirectEvals(head+params+between+texts[last]+tail) != plain: // a token crosses the end of an argument
		parts = []string{"*/", ""} // forces a syntax error: the language requires each argument to be well-formed by itself
	case plain != whole: // literals were replaced, which contain no end of a line
		at := len(head)
		for range strings.Count(params, between) {
			at += strings.Index(whole[at:], between) + len(between)
		}
		at += strings.Index(whole[at:], between)
		parts = []string{whole[len(head):at], whole[at+len(between) : len(whole)-len(tail)]}
	}
	return []goja.Value{vm.ToValue(parts[0]), vm.ToValue(parts[1])}
}

// native returns the fields of the builtin that expression evaluates to.
func (e *Engine) native(expression string) (internals.Native, error) {
	v, err := runOwn(e.vm, expression, "("+expression+")")
	if err != nil {
		return internals.Native{}, err
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return internals.Native{}, internals.Unknown(expression)
	}
	n, ok := internals.NativeOf(o)
	if !ok || *n.Call == nil {
		return internals.Native{}, internals.Unknown(expression)
	}
	return n, nil
}
