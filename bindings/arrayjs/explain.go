package arrayjs

import (
	"fmt"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/runtime/offload"
)

// watchers holds the function that records launches, by the engine whose script calls explain.
var watchers sync.Map

// watching returns the function that records an engine's launches, or nil.
func watching(e *lang.Engine) func(array.Launched) {
	if w, ok := watchers.Load(e); ok {
		return w.(func(array.Launched))
	}
	return nil
}

// explainEntry documents explain.
func explainEntry() bindings.Entry {
	return bindings.NewFunction("explain", "Calls a function and returns a report on the launches of the array operations in it: which operations were joined, the work-items, and the kernel's parameters. A map, zip or slice is joined with a map, zip or reduction that is called directly on its result.",
		"import { device, f32 } from 'offload'\nimport { explain } from 'array'\nconst x = device('cpu').ones(f32, 1000)\nconsole.log(explain(() => x.map(v => v * 2).sum()))", "(fn: () => unknown): string")
}

// explain implements the function explain.
func explain(e *lang.Engine) lang.NativeFunc {
	return func(js goja.FunctionCall) (goja.Value, error) {
		fn, ok := goja.AssertFunction(js.Argument(0))
		if !ok {
			return nil, script.Explain(e, offload.Errorf(offload.InvalidArgument, "explain", "expected a function, not %s", convert.Describe(js.Argument(0))).
				WithHint("write explain(() => x.map(v => v * 2).sum())"))
		}
		var lines []string
		outer, nested := watchers.Swap(e, func(l array.Launched) { lines = append(lines, describe(l)) })
		defer func() {
			if watchers.Delete(e); nested {
				watchers.Store(e, outer)
			}
		}()
		if _, err := fn(goja.Undefined()); err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			return e.VM().ToValue("no array operation launched a kernel"), nil
		}
		return e.VM().ToValue(strings.Join(lines, "\n")), nil
	}
}

// describe returns the report of a launch.
func describe(l array.Launched) string {
	var b strings.Builder
	b.WriteString(l.Op)
	if joined := l.Joined; len(joined) > 0 && (len(joined) > 1 || joined[0] != l.Op) {
		list := joined
		if joined[len(joined)-1] != l.Op {
			list = append(list[:len(list):len(list)], l.Op)
		}
		fmt.Fprintf(&b, ": %s in one launch", strings.Join(list, ", "))
	}
	fmt.Fprintf(&b, ", %s work-items", array.Shape(l.Size))
	if l.GroupSize != nil {
		fmt.Fprintf(&b, " in groups of %s", array.Shape(l.GroupSize))
	}
	fmt.Fprintf(&b, ", %s", l.Signature)
	return b.String()
}
