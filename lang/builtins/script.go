package builtins

import (
	_ "embed"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

//go:embed iterator.js
var iteratorText string

//go:embed atomics.js
var atomicsText string

//go:embed dispose.js
var disposeText string

// installScripts defines the builtins that are written as scripts.
func (b *set) installScripts() error {
	b.wantedGlobals(func() error {
		v, err := b.Run("orepl:atomics.js", atomicsText)
		if err != nil {
			return err
		}
		b.transfer()
		b.call(callable(v), goja.Undefined(), b.global)
		return nil
	}, "Atomics")
	b.wanted(func() error { b.transfer(); return nil }, "transfer", "detached", "resizable", "maxByteLength")
	disposables := func() error {
		v, err := b.Run("orepl:dispose.js", disposeText)
		if err != nil {
			return err
		}
		b.call(callable(v), goja.Undefined(), b.global)
		return nil
	}
	b.wanted(disposables, "ispos", "SuppressedError", "using")
	done := false
	iterators := func() error {
		if done {
			return nil
		}
		done = true
		v, err := b.Run("orepl:iterator.js", iteratorText)
		if err != nil {
			return err
		}
		b.call(callable(v), goja.Undefined(), b.global)
		return nil
	}
	b.wantedGlobals(iterators, "Iterator")
	b.wanted(iterators, "values(", "keys(", "entries(", "iterator", "function*", "function *", "yield", "matchAll", "fromAsync", ".try", "'try'", `"try"`)
	return nil
}

// installBuffer makes the constructor refuse buffers that change their size, which the interpreter does not have.
func (b *set) installBuffer() error {
	native, ok := internals.NativeOf(b.object("ArrayBuffer"))
	if !ok || native.Construct == nil || *native.Construct == nil {
		return internals.Unknown("ArrayBuffer")
	}
	construct := *native.Construct
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) > 1 {
			if o, ok := args[1].(*goja.Object); ok && !isUndefined(o.Get("maxByteLength")) {
				b.fail("TypeError", "unsupported", "new ArrayBuffer: maxByteLength: buffers cannot change their size", "copy with buffer.transfer(newLength)")
			}
		}
		return construct(args, newTarget)
	}
	return nil
}

// transfer defines the methods of ArrayBuffer that move its memory, and its state.
func (b *set) transfer() {
	if b.transfers {
		return
	}
	b.transfers = true
	proto := b.object("ArrayBuffer", "prototype")
	buffer := func(v goja.Value, name string) goja.ArrayBuffer {
		if o, ok := v.(*goja.Object); ok {
			if a, ok := o.Export().(goja.ArrayBuffer); ok {
				return a
			}
		}
		b.typeError("ArrayBuffer.prototype.%s: this is not an ArrayBuffer", name)
		return goja.ArrayBuffer{}
	}
	for _, name := range []string{"transfer", "transferToFixedLength"} {
		b.method(proto, name, 0, func(c goja.FunctionCall) goja.Value {
			a := buffer(c.This, name)
			size := len(a.Bytes())
			if n := c.Argument(0); !isUndefined(n) {
				f := b.number(n).ToFloat()
				if f != f {
					f = 0
				}
				if f <= -1 || f > maxSafe {
					b.fail("RangeError", "invalid-argument", "ArrayBuffer.prototype."+name+": the length must be an integer, not negative and below 2^53", "")
				}
				size = int(f)
			}
			if a.Detached() {
				b.typeError("ArrayBuffer.prototype.%s: the buffer is detached", name)
			}
			b.Allocate(name, uint64(size))
			fresh := make([]byte, size)
			copy(fresh, a.Bytes())
			a.Detach()
			return b.vm.ToValue(b.vm.NewArrayBuffer(fresh))
		})
	}
	b.getter(proto, "detached", func(c goja.FunctionCall) goja.Value {
		a := buffer(c.This, "detached")
		return b.vm.ToValue(a.Detached())
	})
	b.getter(proto, "resizable", func(c goja.FunctionCall) goja.Value {
		buffer(c.This, "resizable")
		return b.vm.ToValue(false)
	})
	b.getter(proto, "maxByteLength", func(c goja.FunctionCall) goja.Value {
		return b.vm.ToValue(len(buffer(c.This, "maxByteLength").Bytes()))
	})
}
