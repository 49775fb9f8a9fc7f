package builtins

import (
	_ "embed"

	"github.com/dop251/goja"
)

//go:embed iterator.js
var iteratorText string

//go:embed atomics.js
var atomicsText string

//go:embed accessors.js
var accessorsText string

//go:embed dispose.js
var disposeText string

// installScripts defines the builtins that are written as scripts.
func (b *set) installScripts() error {
	b.wantedGlobals(func() error {
		v, err := b.Run("orepl:atomics.js", atomicsText)
		if err != nil {
			return err
		}
		b.buffers.transfer()
		b.call(callable(v), goja.Undefined(), b.global)
		return nil
	}, "Atomics")
	b.wanted(b.buffers.detachedKeys, "transfer")
	b.wanted(func() error { b.buffers.transfer(); return nil }, "transfer", "detached", "resiz", "maxByteLength")
	b.wanted(func() error { _, err := b.Run("orepl:accessors.js", accessorsText); return err }, "Getter__", "Setter__")
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
