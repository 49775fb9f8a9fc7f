package convert

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// BenchmarkCall measures a call from a script, including the loop around it: of a function with reflection, and of a native
// function that takes the interpreter's values.
func BenchmarkCall(b *testing.B) {
	add := func(x, y int) int { return x + y }
	var native lang.NativeFunc = func(c goja.FunctionCall) (goja.Value, error) { return c.Argument(0), nil }
	for _, name := range []string{"reflection", "native"} {
		b.Run(name, func(b *testing.B) {
			e, err := lang.New(lang.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			f := native
			if name == "reflection" {
				if f, err = Func(e, "add", add); err != nil {
					b.Fatal(err)
				}
			}
			if err := e.VM().Set("add", e.Func("add", f)); err != nil {
				b.Fatal(err)
			}
			v, err := e.Eval(context.Background(), "b", "(function (n) { for (let i = 0; i < n; i++) add(i, 1) })")
			if err != nil {
				b.Fatal(err)
			}
			loop, _ := goja.AssertFunction(v)
			b.ResetTimer()
			if _, err := loop(nil, e.VM().ToValue(b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
