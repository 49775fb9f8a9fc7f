package builtins

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// classesOfErrors are the constructors whose objects have the interpreter's stack.
var classesOfErrors = []string{"Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"}

// stacks is the stacks of an engine's errors.
type stacks struct{ *set }

// install replaces the interpreter's property stack, which shows its own calls. The accessor Error.prototype.stack has the
// script's calls, in the form of V8; https://github.com/tc39/proposal-error-stack-accessor describes the accessor. install also
// defines Error.captureStackTrace.
func (b stacks) install() error {
	for _, name := range classesOfErrors {
		native, ok := internals.NativeOf(b.object(name))
		if !ok || native.Construct == nil || *native.Construct == nil {
			return internals.Unknown(name)
		}
		construct, call := *native.Construct, *native.Call
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			o := construct(args, newTarget)
			internals.HoldStack(o)
			return o
		}
		*native.Call = func(c goja.FunctionCall) goja.Value {
			v := call(c)
			internals.HoldStack(v.(*goja.Object))
			return v
		}
	}
	class := b.object("Error")
	proto := b.object("Error", "prototype")
	getter := b.function("get stack", 0, func(c goja.FunctionCall) goja.Value {
		o := b.receiver(c.This)
		if _, ok := internals.FramesOf(o); !ok {
			return goja.Undefined()
		}
		return b.vm.ToValue(b.title(o) + b.calls(o))
	})
	setter := b.function("set stack", 1, func(c goja.FunctionCall) goja.Value {
		o, v := b.receiver(c.This), c.Argument(0)
		if o == proto {
			b.typeError("Error.prototype.stack cannot be set: set the stack of an error")
		}
		if _, ok := v.(goja.String); !ok {
			b.typeError("stack is a string, not %s", b.text(v))
		}
		b.setOwn(o, b.vm.ToValue("stack").(goja.String), v)
		return goja.Undefined()
	})
	b.method(class, "captureStackTrace", 2, func(c goja.FunctionCall) goja.Value {
		o := b.receiver(c.Argument(0))
		frames := b.Calls(b.vm.CaptureCallStack(0, nil))
		if until, ok := c.Argument(1).(*goja.Object); ok {
			frames = behind(frames, get(until, "name").String())
		}
		text := b.vm.ToValue(b.title(o) + diag.Calls(frames))
		if err := o.DefineDataProperty("stack", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
		return goja.Undefined()
	})
	return proto.DefineAccessorProperty("stack", getter, setter, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// receiver returns a value as an object, or throws a TypeError for any other value.
func (b stacks) receiver(v goja.Value) *goja.Object {
	o, ok := v.(*goja.Object)
	if !ok {
		b.typeError("stack belongs to an object, not to %s", b.text(v))
	}
	return o
}

// setOwn sets an own property of an object, through its setter if it has one, or creates the property. It throws if the object
// does not accept it.
func (b stacks) setOwn(o *goja.Object, key goja.String, v goja.Value) {
	if !isUndefined(b.call(b.describe, nil, o, key)) {
		b.put(o, key.String(), v)
	} else if !b.defineKey(o, key, v) {
		b.typeError("the property %s cannot be made: the object takes no properties", key)
	}
}

// title returns the name and message of an object as Error.prototype.toString does.
func (b stacks) title(o *goja.Object) string {
	name, message := "Error", ""
	if v := get(o, "name"); !isUndefined(v) {
		name = b.text(v).String()
	}
	if v := get(o, "message"); !isUndefined(v) {
		message = b.text(v).String()
	}
	if name == "" || message == "" {
		return name + message
	}
	return name + ": " + message
}

// calls returns the script's calls during which an error was made, each as a line after a line break. It returns "" for an object that
// is no error.
func (b stacks) calls(o *goja.Object) string {
	frames, _ := internals.FramesOf(o)
	return diag.Calls(b.Calls(frames))
}

// behind returns the frames that follow the innermost call of a function. It returns all frames if none is such a call, or the
// name is empty.
func behind(frames []diag.Frame, function string) []diag.Frame {
	for i, f := range frames {
		if function != "" && strings.TrimPrefix(f.Function, "new ") == function {
			return frames[i+1:]
		}
	}
	return frames
}
