package lang

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/orepl/orepl/lang/texts"
)

// heapAfterGC returns the heap size after a garbage collection.
func heapAfterGC() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestCallsLeaveNoMemory checks that an engine keeps no memory of finished texts.
func TestCallsLeaveNoMemory(t *testing.T) {
	dir := files(t, map[string]string{"m.js": "export const a = 1; export let b = 2; export function f() { b++ }", "main.js": "import { a } from './m.js'; export const c = () => a"})
	for name, call := range map[string]func(*Engine, int) error{
		"an expression": func(e *Engine, i int) error { _, err := e.Eval(t.Context(), "p", "1 + 1"); return err },
		"a function": func(e *Engine, i int) error {
			_, err := e.Eval(t.Context(), "p", "(x => y => x + y)(1)(2)")
			return err
		},
		"a declaration": func(e *Engine, i int) error {
			_, err := e.Eval(t.Context(), "p", "let x = 1; function g() { return x }; class K {}")
			return err
		},
		"many names": func(e *Engine, i int) error {
			_, err := e.Eval(t.Context(), fmt.Sprint("line", i), "let x = 1; const k = g => x")
			return err
		},
		"an await": func(e *Engine, i int) error {
			_, err := e.Eval(t.Context(), "p", "await Promise.resolve(x => x)")
			return err
		},
		"an exception": func(e *Engine, i int) error { _, _ = e.Eval(t.Context(), "p", "throw new Error('e')"); return nil },
		"imports": func(e *Engine, i int) error {
			_, err := e.Run(t.Context(), "t.js", "import { a, b, f } from './m.js'; import * as m from './m.js'; export const c = () => a + b + m.b")
			return err
		},
		"many modules": func(e *Engine, i int) error {
			_, err := e.Run(t.Context(), fmt.Sprint("t", i, ".js"), "import { a, b, f } from './m.js'; export const c = () => a + b")
			return err
		},
		"a file": func(e *Engine, i int) error { _, err := e.RunFile(t.Context(), "main.js"); return err },
		"import at a prompt": func(e *Engine, i int) error {
			_, err := e.Eval(t.Context(), "p", "import { b } from './m.js'; b")
			return err
		},
		"an import()": func(e *Engine, i int) error { _, err := e.Eval(t.Context(), "p", "await import('./m.js')"); return err },
	} {
		e, _ := testEngine(t, Options{Dir: dir})
		for i := range texts.Most {
			e.report.sources.Set(fmt.Sprint("text", i), "1 + 1", true)
		}
		const calls, most, tries = 120, 1000, 3
		n := 0
		each := int64(0)
		for range 1 + tries { // the first iteration fills caches
			before := heapAfterGC()
			for range calls {
				if err := call(e, n); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				n++
			}
			if each = (int64(heapAfterGC()) - int64(before)) / calls; each <= most && n > calls {
				break
			}
		}
		if each > most {
			t.Errorf("%s: %d bytes stay of each call", name, each)
		}
		runtime.KeepAlive(e)
	}
}
